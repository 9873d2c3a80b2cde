"""The worker processes of a proof: their setup, and tasks that write to the journal of the process."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tickbird import Run, Tickbird
from tickbird.domain.leadership import SHARED, Coordination
from tickbird.domain.workers import WorkerRole
from tickbird.engine.engine import EngineOptions
from tickbird.proof.journal import Journal
from tickbird.worker import WorkerProcess

_STALL_POLL: Final = 0.05
# Seconds by which a sleeping thread may wake up late. More is a stall, because such a thread renews the leases.
_MAX_WAKE_DELAY: Final = 0.25


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The setup of one worker process; durations in seconds."""

    url: str = field(repr=False)
    # For the journal and the log of the process.
    folder: str
    lease: float = 2.0
    heartbeat: float = 1.0
    safety_poll: float = 2.0
    drain: float = 20.0
    slots: int = 10
    role: WorkerRole = "plan-and-execute"
    coordination: Coordination = SHARED
    leader_timeout: float = 2.0
    # Seconds by which its wall clock is ahead.
    clock_offset: int = 0

    def engine_options(self) -> EngineOptions:
        return EngineOptions(
            lease=self.lease,
            heartbeat=self.heartbeat,
            safety_poll=self.safety_poll,
            drain=self.drain,
            coordination=self.coordination,
            leader_timeout=self.leader_timeout,
        )


def run_worker(setup: Setup) -> None:
    """Run a worker until SIGTERM."""
    journal = open_journal(setup)
    run_app(make_app(setup.url, journal), setup, journal)


def open_journal(setup: Setup) -> Journal:
    """Set up the log, the journal and the clock of this process."""
    folder = Path(setup.folder)
    logging.basicConfig(filename=folder / f"{os.getpid()}.log", level=logging.INFO, format="%(name)s %(message)s")
    journal = Journal(folder)
    if setup.clock_offset:
        _set_clock(setup.clock_offset)
    return journal


def run_app(app: Tickbird, setup: Setup, journal: Journal) -> None:
    """Execute the tasks of an app until SIGTERM."""
    process = WorkerProcess(app, slots=setup.slots, role=setup.role, options=setup.engine_options())
    process.on_started = lambda: journal.write("started")
    threading.Thread(target=_watch_stalls, args=(journal,), daemon=True).start()
    asyncio.run(process.run(signals=True))
    journal.write("exited")


def make_app(url: str, journal: Journal) -> Tickbird:
    """An app whose tasks write `began`, and `done`, `raised` or `stopped`; they return their pid."""
    app = Tickbird(url)

    @app.task
    async def succeed(run: Run, edition: int = 0) -> int:
        journal.write("began", run, edition=edition)
        journal.write("done", run)
        return os.getpid()

    @app.task
    async def sleep(run: Run, seconds: float = 1.0) -> int:
        journal.write("began", run)
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            journal.write("stopped", run)
            raise
        journal.write("done", run)
        return os.getpid()

    @app.task
    def sleep_in_thread(run: Run, seconds: float = 1.0) -> int:
        journal.write("began", run)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if run.cancelled:
                journal.write("stopped", run)
                raise RuntimeError("cancelled")
            time.sleep(0.02)
        journal.write("done", run)
        return os.getpid()

    @app.task
    async def raise_sometimes(run: Run, odds: float = 0.5) -> int:
        """Raise in some attempts. Only the tick and the attempt number decide in which ones."""
        journal.write("began", run)
        if random.Random(f"{run.scheduled_for} {run.attempt}").random() < odds:
            journal.write("raised", run)
            raise RuntimeError("simulated error of a random attempt")
        journal.write("done", run)
        return os.getpid()

    @app.task
    async def report_unstorable(run: Run) -> object:
        """Produces a result, progress, a log entry or an error that no store can save; its run id decides which."""
        journal.write("began", run)
        await asyncio.sleep(0)
        endless: list[object] = []
        endless.append(endless)
        values = [10**5_000, {"rows": [10**5_000]}, "\ud800", endless, float("nan"), object()]
        value = values[run.id % len(values)]
        try:
            match run.id // len(values) % 4:
                case 0:
                    journal.write("done", run)
                    return value
                case 1:
                    run.heartbeat(progress=value)
                case 2:
                    logging.getLogger("unstorable").log(2**40, "\ud800\0")
                case _:
                    raise RuntimeError("\ud800\0", value)
        except Exception:
            journal.write("raised", run)
            raise
        journal.write("done", run)
        return os.getpid()

    return app


def _set_clock(offset: int) -> None:
    """Move the wall clock of this process."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() + offset
    time.time_ns = lambda: right_ns() + offset * 1_000_000_000


def _watch_stalls(journal: Journal) -> None:
    """Record stalls in the journal, because a busy machine acts like a freeze; exit when the parent exits."""
    before, parent = time.monotonic(), os.getppid()
    while True:
        time.sleep(_STALL_POLL)
        if os.getppid() != parent:
            os._exit(1)
        now = time.monotonic()
        if now - before > _STALL_POLL + _MAX_WAKE_DELAY:
            journal.write("stalled", since=before, until=now)
        before = now
