"""A worker in this process with real children, and a check for leftover processes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.engine.processes.app import MARK, MARK_NAME, bird
from tickbird import Tickbird
from tickbird.client import Client, StoreClient
from tickbird.domain.runs.run import FINAL, RunRecord
from tickbird.engine.engine import EngineOptions
from tickbird.engine.processes.supervised_process import CHILD_VARIABLE as VARIABLE
from tickbird.store.protocol.store import Store
from tickbird.worker import WorkerProcess

QUICK = EngineOptions(lease=10.0, heartbeat=1.0, safety_poll=0.5, drain=10.0)


class Place:
    """A running worker and a client of its store."""

    def __init__(self, client: Client, process: WorkerProcess) -> None:
        self.client, self.process = client, process

    async def send(self, task: str, **payload: Any) -> int:
        """Enqueue a run."""
        return await self.client.runs.enqueue(task, payload, actor="test")

    @property
    def store(self) -> Store:
        """The store that the client works on."""
        assert isinstance(self.client, StoreClient)
        return self.client._store

    async def final(self, run_id: int, seconds: float = 90.0) -> RunRecord:
        """A run once it is final."""
        ends = time.monotonic() + seconds
        while (run := await self.client.runs.get(run_id)).status not in FINAL:
            assert time.monotonic() < ends, f"run {run_id} of {run.target.name} is still {run.status}"
            await asyncio.sleep(0.02)
        return run

    async def run(self, task: str, **payload: Any) -> RunRecord:
        """Enqueue a run and wait for its end."""
        return await self.final(await self.send(task, **payload))


@asynccontextmanager
async def working(app: Tickbird = bird, **options: Any) -> AsyncIterator[Place]:
    """A worker until the end of the block, then drained."""
    process = WorkerProcess(app, **{"options": QUICK, **options})
    started, loop = asyncio.Event(), asyncio.get_running_loop()

    def on_started() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = on_started
    client = await app.client()
    task = asyncio.create_task(process.run())
    waiting = asyncio.create_task(started.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        yield Place(client, process)
    finally:
        waiting.cancel()
        process.drain()
        await task


@pytest.fixture(autouse=True)
def app_on_its_own_store(tmp_path: Path) -> Iterator[None]:
    """Each test has its own store, and leaves no process behind."""
    kept, bird.url = bird.url, f"sqlite:///{tmp_path}/isolated.db"
    yield
    bird.url = kept
    assert not leftovers()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    """A worker with four slots."""
    async with working(slots=4) as place:
        yield place


def leftovers() -> list[str]:
    """Every process of this machine that a child of this test was or started."""
    found = []
    for path in Path("/proc").iterdir():
        if not path.name.isdigit() or int(path.name) == os.getpid():
            continue
        try:
            environment = (path / "environ").read_bytes()
            command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (path / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        ours = f"{MARK_NAME}={MARK}".encode() in environment and f"{VARIABLE}=".encode() in environment
        if state != b"Z" and (ours or f".{MARK}" in command):
            found.append(f"{path.name} {command}")
    return found


async def until(condition: Callable[[], Any]) -> Any:
    """Wait for other processes until the (possibly async) condition is true; returns its value."""
    async with asyncio.timeout(90):
        while True:
            value = condition()
            if isinstance(value, Awaitable):
                value = await value
            if value:
                return value
            await asyncio.sleep(0.01)
