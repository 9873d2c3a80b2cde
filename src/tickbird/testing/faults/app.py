"""The app that the lab's worker processes run; what its tasks do is noted in the process's own ledger."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from tickbird import Run, Tickbird, every
from tickbird.engine.engine import EngineOptions
from tickbird.testing.faults.commits import die_before_commit_of
from tickbird.testing.faults.ledger import Ledger
from tickbird.worker import WorkerProcess

# Seconds by which a thread that only sleeps may wake too late; more is noted, since leases are kept by such a thread.
_LATE = 0.25


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How one worker process is to be."""

    url: str = field(repr=False)
    # The process's ledger and log are written here; files of this folder also let held runs go.
    folder: str
    lease: float = 2.0
    heartbeat: float = 1.0
    safety_poll: float = 2.0
    drain: float = 20.0
    slots: int = 10
    # Schedules that its code declares: name and seconds between ticks.
    declares: tuple[tuple[str, int], ...] = ()
    plan: bool = True
    execute: bool = True
    # Seconds by which what it takes for the time is ahead of it.
    ahead: int = 0
    # SQLite: killed when it is about to commit a transaction with a statement that has these words.
    die_before_commit_of: str = ""


def work(setup: Setup) -> None:
    """Be a worker until told to end."""
    folder = Path(setup.folder)
    logging.basicConfig(filename=folder / f"{os.getpid()}.log", level=logging.INFO, format="%(name)s %(message)s")
    ledger = Ledger(folder)
    if setup.ahead:
        _go_wrong(setup.ahead)
    if setup.die_before_commit_of:
        die_before_commit_of(setup.die_before_commit_of)
    bird = make_app(setup.url, folder, ledger)
    for name, seconds in setup.declares:
        bird.schedule(name, bird.tasks["brief"], every(seconds=seconds), overlap="allow")
    options = EngineOptions(
        plan=setup.plan,
        execute=setup.execute,
        lease=setup.lease,
        heartbeat=setup.heartbeat,
        safety_poll=setup.safety_poll,
        drain=setup.drain,
    )
    process = WorkerProcess(bird, slots=setup.slots, options=options)
    process.on_started = lambda: ledger.note("started")
    threading.Thread(target=_watch_stalls, args=(ledger,), daemon=True).start()
    asyncio.run(process.run(signals=True))
    ledger.note("left")


def make_app(url: str, folder: Path, ledger: Ledger) -> Tickbird:
    """The tasks: each notes `began`, and how it ended."""
    bird = Tickbird(url)

    @bird.task
    async def brief(run: Run, edition: int = 0) -> int:
        ledger.note("began", run, edition=edition)
        ledger.note("done", run)
        return os.getpid()

    @bird.task
    async def silent() -> int:
        """Notes nothing, for those who come by the thousand."""
        return os.getpid()

    @bird.task
    async def held(run: Run, gate: str) -> int:
        """Until a file of this name, alone or with the process's id, is there."""
        ledger.note("began", run)
        gates = folder / gate, folder / f"{gate}-{os.getpid()}"
        try:
            while not any(path.exists() for path in gates):  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            ledger.note("stopped", run)
            raise
        ledger.note("done", run)
        return os.getpid()

    @bird.task
    async def steady(run: Run, seconds: float = 1.0, edition: int = 0) -> int:
        """Takes its time."""
        ledger.note("began", run, edition=edition)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            ledger.note("stopped", run)
            raise
        ledger.note("done", run)
        return os.getpid()

    @bird.task
    async def shaky(run: Run, odds: float = 0.5, edition: int = 0) -> int:
        """Raises now and then: by its run and attempt, so that a replay does the same."""
        ledger.note("began", run, edition=edition)
        if random.Random(f"{run.scheduled_for} {run.attempt}").random() < odds:
            ledger.note("raised", run)
            raise RuntimeError("shaky as ever")
        ledger.note("done", run)
        return os.getpid()

    @bird.task
    async def awkward(run: Run) -> object:
        """Produces a result, progress, a log entry or an error that no store can save; its run id decides which."""
        ledger.note("began", run)
        await asyncio.sleep(0)
        endless: list[object] = []
        endless.append(endless)
        values = [10**5_000, {"rows": [10**5_000]}, "\ud800", endless, float("nan"), object()]
        value = values[run.id % len(values)]
        try:
            match run.id // len(values) % 4:
                case 0:
                    ledger.note("done", run)
                    return value
                case 1:
                    run.heartbeat(progress=value)
                case 2:
                    logging.getLogger("awkward").log(2**40, "\ud800\0")
                case _:
                    raise RuntimeError("\ud800\0", value)
        except Exception:
            ledger.note("raised", run)
            raise
        ledger.note("done", run)
        return os.getpid()

    @bird.task
    def threaded(run: Run, seconds: float = 1.0, edition: int = 0) -> int:
        """In a thread, and looks whether it should stop."""
        ledger.note("began", run, edition=edition)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if run.cancelled:
                ledger.note("stopped", run)
                raise RuntimeError("told to stop")
            time.sleep(0.02)
        ledger.note("done", run)
        return os.getpid()

    return bird


def _go_wrong(ahead: int) -> None:
    """From now on, this process takes another instant for now."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() + ahead
    time.time_ns = lambda: right_ns() + ahead * 1_000_000_000


def _watch_stalls(ledger: Ledger) -> None:
    """Note when this process did not get to do anything: a machine that is busy enough does what a freeze does.

    And end with who started it, should that one be killed.
    """
    before, parent = time.monotonic(), os.getppid()
    while True:
        time.sleep(0.05)
        if os.getppid() != parent:
            os._exit(1)
        now = time.monotonic()
        if now - before > 0.05 + _LATE:
            ledger.note("stalled", since=before, until=now)
        before = now


if __name__ == "__main__":
    work(Setup(**json.loads(sys.argv[1])))
