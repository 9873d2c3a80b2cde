"""The measured workers: each can be filled with no-op runs, and works in a separate process until it is stopped."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import psycopg

from bench.bare import STATEMENTS as BARE
from bench.bare import connect
from tickbird import Tickbird
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.postgres import PostgresStore
from tickbird.worker import WorkerProcess

SPAWN: Final = multiprocessing.get_context("spawn")
CHUNK: Final = 1_000


@dataclass(slots=True)
class Seen:
    """Observations of a worker process, in shared memory, so that counting is cheap."""

    first: Any = field(default_factory=lambda: SPAWN.RawValue("d", 0.0))
    count: Any = field(default_factory=lambda: SPAWN.RawValue("q", 0))
    stop: Any = field(default_factory=SPAWN.Event)
    # (schedule, tick, lateness in seconds) or, for triggers, (run, instant); None: not recorded.
    starts: Any = None

    def started(self) -> None:
        """Count the start of a no-op run."""
        if not self.count.value:
            self.first.value = time.perf_counter()
        self.count.value += 1

    async def until_stopped(self) -> None:
        """Wait without a thread, which could outlive its loop."""
        while not self.stop.is_set():
            await asyncio.sleep(0.02)


class Contender(Protocol):
    """A worker that executes runs."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    async def prepare(self, url: str) -> None:
        """Create its tables."""
        ...

    async def fill(self, url: str, count: int) -> float:
        """Enqueue no-op runs in batches; returns the seconds."""
        ...

    async def work(self, url: str, seen: Seen) -> None:
        """Execute until stopped."""
        ...

    async def left(self, url: str) -> bool:
        """True if a run is not recorded as finished."""
        ...


def chunks(count: int) -> list[int]:
    """Split a count into calls of at most a thousand."""
    return [min(CHUNK, count - done) for done in range(0, count, CHUNK)]


async def ask(url: str, statement: bytes) -> Any:
    """The single value of a statement."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        cursor = await connection.execute(statement)
        while cursor.nextset():
            pass
        return (await cursor.fetchall())[0][0]


@dataclass(frozen=True, slots=True)
class TickbirdWorker:
    """The real worker: its engine, its threads, its store."""

    slots: int = 100
    name: str = "Tickbird"

    async def prepare(self, url: str) -> None:
        await PostgresStore(url).migrate()

    async def fill(self, url: str, count: int) -> float:
        await ask(url, b"TRUNCATE tickbird.runs, tickbird.run_payloads; SELECT 1")
        store = PostgresStore(url)
        await store.open()
        began = time.perf_counter()
        for size in chunks(count):
            await store.runs.enqueue("default", [NewRun(Target("noop"), {})] * size, "bench")
        seconds = time.perf_counter() - began
        await store.close()
        return seconds

    async def work(self, url: str, seen: Seen) -> None:
        bird = Tickbird(url)

        @bird.task
        async def noop() -> None:
            seen.started()

        await run_worker(WorkerProcess(bird, slots=self.slots), seen)

    async def left(self, url: str) -> bool:
        return bool(await ask(url, b"SELECT EXISTS (SELECT FROM tickbird.runs WHERE finished_at IS NULL)"))


async def run_worker(process: WorkerProcess, seen: Seen) -> None:
    """Run a worker until it is stopped."""
    working = asyncio.create_task(process.run())
    waiting = asyncio.create_task(seen.until_stopped())
    await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    process.drain()
    waiting.cancel()
    await working


@dataclass(frozen=True, slots=True)
class Raw:
    """Dequeue in one transaction and finish in another, in a narrow table, with nothing in between."""

    batch: int = 100
    name: str = "raw dequeue + finish"

    async def prepare(self, url: str) -> None:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute(BARE["make_narrow"])

    async def fill(self, url: str, count: int) -> float:
        """As many rows per statement as the others."""
        connection = await connect(url)
        await connection.execute("TRUNCATE bare.runs")
        began = time.perf_counter()
        for first in range(1, count + 1, CHUNK):
            last = min(count, first + CHUNK - 1)
            await connection.execute(BARE["enqueue_narrow"], {"first": first, "last": last}, prepare=True)
        seconds = time.perf_counter() - began
        await connection.close()
        return seconds

    async def work(self, url: str, seen: Seen) -> None:
        """Work until nothing is left."""
        connection = await connect(url)
        values = {"limit": self.batch}
        while True:
            done = await connection.execute(BARE["dequeue_narrow"], values, prepare=True, binary=True)
            ids = [row[0] for row in await done.fetchall()]
            if not ids:
                break
            for _ in ids:
                seen.started()
            await connection.execute(BARE["finish_narrow"], {"ids": "{" + ",".join(map(str, ids)) + "}"}, prepare=True)
        await seen.until_stopped()
        await connection.close()

    async def left(self, url: str) -> bool:
        return bool(await ask(url, BARE["left_narrow"]))


def process(work: Callable[[str, Seen], Awaitable[None]], url: str, seen: Seen) -> Any:
    """Run this in a separate process."""
    worker = SPAWN.Process(target=_main, args=(work, url, seen))
    worker.start()
    return worker


def _main(work: Callable[[str, Seen], Any], url: str, seen: Seen) -> None:
    asyncio.run(work(url, seen))


async def execute(contender: Contender, url: str, count: int, workers: int, patience: float) -> float:
    """Fill, then execute with this number of processes; returns runs per second, first start to last record."""
    await contender.fill(url, count)
    seen = [Seen() for _ in range(workers)]
    processes = [process(contender.work, url, counter) for counter in seen]
    try:
        deadline = time.perf_counter() + patience
        while sum(counter.count.value for counter in seen) < count and time.perf_counter() < deadline:
            await asyncio.sleep(0.002)
        while await contender.left(url) and time.perf_counter() < deadline:
            await asyncio.sleep(0.002)
        ended = time.perf_counter()
        done = sum(counter.count.value for counter in seen)
        assert done >= count or ended >= deadline, f"{contender.name}: {done} of {count}"
        return float(done / (ended - min(counter.first.value for counter in seen if counter.first.value)))
    finally:
        for counter in seen:
            counter.stop.set()
        for worker in processes:
            worker.join(10)
            if worker.is_alive():
                worker.kill()
                worker.join()
