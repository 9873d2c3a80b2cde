"""Real worker processes, what they noted, and what a store must hold beside it."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.faults.app import Setup, work
from tickbird import every
from tickbird.client import Client
from tickbird.domain.runs import FINAL, RunRecord, SkipRecord
from tickbird.store.protocol import Store

ROOT = Path(__file__).resolve().parents[2]
# Processes are forked from one that has imported everything: an interpreter each would take most of the time.
forks = multiprocessing.get_context("forkserver")
forks.set_forkserver_preload(["tests.faults.app", "psycopg", "psycopg_pool", "tickbird.store.postgres"])


class Fleet:
    """The worker processes of one test; none outlives it."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.processes: list[BaseProcess] = []
        self.apart: list[subprocess.Popen[bytes]] = []

    def start(self, **setup: Any) -> BaseProcess:
        """One more worker."""
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
        process = forks.Process(target=work, args=(Setup(url=self.url, folder=str(self.folder), **setup),))
        process.start()
        self.processes.append(process)
        return process

    def start_with_wrong_clock(self, ahead: int) -> subprocess.Popen[bytes]:
        """One whose clock is so many seconds ahead."""
        setup = json.dumps(asdict(Setup(url=self.url, folder=str(self.folder))))
        command = [sys.executable, "-m", "tests.faults.wrong_clock", str(ahead), setup]
        self.apart.append(subprocess.Popen(command, cwd=ROOT))
        return self.apart[-1]

    def notes(self, event: str | None = None, run: int | None = None) -> list[dict[str, Any]]:
        """What the processes noted, of this kind and run; a line cut off by a kill is no note."""
        paths = self.folder.glob("*.ledger")
        found = [json.loads(line) for path in paths for line in path.read_bytes().split(b"\n")[:-1]]
        return [n for n in found if event in (None, n["event"]) and run in (None, n["run"])]

    def logs(self) -> str:
        """What all processes logged."""
        return "".join(path.read_text() for path in self.folder.glob("*.log"))

    async def started(self, count: int) -> None:
        """Wait until so many have started."""
        await until(lambda: len(self.notes("started")) >= count)

    async def ran_more(self, count: int) -> None:
        """Wait until so many more runs were executed."""
        seen = len(self.notes("ran"))
        await until(lambda: len(self.notes("ran")) >= seen + count)

    def open(self, gate: str) -> None:
        """Let the runs go on that wait for it."""
        (self.folder / gate).touch()

    def kill_all(self) -> None:
        """End every process that is left."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.kill(int(process.pid or 0), signal.SIGKILL)
            process.join()
        for other in self.apart:
            other.kill()
            other.wait()


async def until(condition: Callable[[], Any | Awaitable[Any]], seconds: float = 40.0) -> Any:
    """What the condition gives once it is true."""
    ends = time.monotonic() + seconds
    while True:
        value = condition()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return value
        assert time.monotonic() < ends, f"not so after {seconds:.0f} s"
        await asyncio.sleep(0.03)


async def ended(process: BaseProcess) -> int | None:
    """The exit code of a process once it has one."""
    await until(lambda: process.exitcode is not None)
    return process.exitcode


async def final(client: Client, run_id: int) -> RunRecord:
    """A run once it is final."""

    async def look() -> RunRecord | None:
        run = await client.run(run_id)
        return run if run.status in FINAL else None

    record: RunRecord = await until(look)
    return record


async def all_runs(store: Store, schedule: str | None = None) -> list[RunRecord]:
    """Every run, oldest first."""
    return list(await store.list_runs("default", schedule=schedule, limit=100_000))[::-1]


async def all_skips(store: Store, schedule: str) -> Sequence[SkipRecord]:
    """Every skip of a schedule, oldest first."""
    stored = await store.get_schedule("default", schedule)
    assert stored is not None
    far = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
    return (await store.decisions(stored.id, *far, limit=100_000)).skips


async def at_rest(store: Store) -> list[RunRecord]:
    """Every run once all are final."""

    async def look() -> list[RunRecord]:
        runs = await all_runs(store)
        return runs if all(run.status in FINAL for run in runs) else []

    runs: list[RunRecord] = await until(look)
    return runs


async def accounted(store: Store, schedule: str, step: int, since: int) -> int:
    """Every tick behind `since`, so many seconds apart, has one run or lies in one skip; how many there were."""
    stored = await store.get_schedule("default", schedule)
    assert stored is not None
    assert stored.cursor.planned_until is not None
    runs = [run for run in await all_runs(store, schedule) if run.scheduled_for is not None]
    decided = Counter(int(run.scheduled_for.timestamp()) for run in runs if run.scheduled_for)
    for skip in await all_skips(store, schedule):
        ticks = range(int(skip.first.timestamp()), int(skip.last.timestamp()) + 1, step)
        assert len(ticks) == skip.count
        decided.update(ticks)
    first = since - since % step + step
    wanted = list(range(first, stored.cursor.planned_until + 1, step))
    assert sorted(decided.elements()) == [tick for tick in wanted if tick <= max(decided, default=0)]
    return len(decided)


async def agrees(fleet: Fleet, store: Store) -> None:
    """What the processes did and what the store says they did are the same."""
    runs = {run.id: run for run in await all_runs(store)}
    ran = fleet.notes("ran")
    for note in ran:
        run = runs[note["run"]]
        assert note["attempt"] <= run.attempt
        assert note["tick"] == (int(run.scheduled_for.timestamp()) if run.scheduled_for else None)
    times = Counter((note["run"], note["attempt"]) for note in ran)
    assert max(times.values(), default=1) == 1, "one attempt ran twice"
    for run in runs.values():
        if run.status == "succeeded":
            [note] = [note for note in ran if (note["run"], note["attempt"]) == (run.id, run.attempt)]
            assert note["pid"] == run.result, "the wrong process was believed"


async def ticking(client: Client, name: str = "clock", **policies: Any) -> int:
    """A schedule with a tick each second, none of which is skipped; the instant behind which they begin."""
    policies = {"overlap": "allow", **policies}
    schedule = await client.create(name, every(seconds=1), "brief", actor="ada", unknown_task_ok=True, **policies)
    assert schedule.cursor.planned_until is not None
    return schedule.cursor.planned_until


async def settled(client: Client, store: Store, fleet: Fleet, schedules: Mapping[str, int]) -> list[RunRecord]:
    """Once these schedules with a tick each second are paused and all is done: nothing was lost, nothing doubled."""
    for name in schedules:
        await client.pause(name, actor="ada")
    runs = await at_rest(store)
    assert {run.status for run in runs} == {"succeeded"}
    assert all(run.attempt == 1 + run.crashes for run in runs), "an attempt that no lost worker explains"
    for name, since in schedules.items():
        assert await accounted(store, name, 1, since) >= 2
    await agrees(fleet, store)
    return runs
