"""The app that every worker process of these tests runs; each attempt is noted in the process's own file."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tickbird import Run, Tickbird, every
from tickbird.engine.engine import EngineOptions
from tickbird.worker import WorkerProcess


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How one worker process is to be."""

    url: str
    # One file per process and kind is written here; a file of this folder also lets held runs go.
    folder: str
    lease: float = 2.0
    drain: float = 20.0
    slots: int = 10
    # Schedules that its code declares: name → seconds between ticks.
    declares: tuple[tuple[str, int], ...] = ()
    plan: bool = True
    execute: bool = True
    # SQLite: killed when it is about to commit a transaction with a statement that has these words.
    die_before_commit_of: str = ""


def work(setup: Setup) -> None:
    """Be a worker until told to end."""
    folder = Path(setup.folder)
    logging.basicConfig(filename=folder / f"{os.getpid()}.log", level=logging.INFO, format="%(name)s %(message)s")
    ledger = os.open(folder / f"{os.getpid()}.ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(event: str, run: Run | None = None) -> None:
        tick = run.scheduled_for if run else None
        line = {
            "event": event,
            "pid": os.getpid(),
            "run": run.id if run else None,
            "attempt": run.attempt if run else None,
            "schedule": run.schedule if run else None,
            "tick": None if tick is None else int(tick.timestamp()),
            "clock": datetime.now(UTC).timestamp(),
        }
        os.write(ledger, json.dumps(line).encode() + b"\n")
        os.fsync(ledger)

    if setup.die_before_commit_of:
        sqlite3.connect = _fatal(setup.die_before_commit_of)  # type: ignore[assignment]
    bird = Tickbird(setup.url)

    @bird.task
    async def brief(run: Run) -> int:
        note("ran", run)
        return os.getpid()

    @bird.task
    async def held(run: Run, gate: str) -> int:
        note("began", run)
        while not ((folder / gate).exists() or (folder / f"{gate}-{os.getpid()}").exists()):  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.02)
        note("ran", run)
        return os.getpid()

    for name, seconds in setup.declares:
        bird.schedule(name, brief, every(seconds=seconds), overlap="allow")
    options = EngineOptions(
        plan=setup.plan, execute=setup.execute, lease=setup.lease, heartbeat=1.0, safety_poll=2.0, drain=setup.drain
    )
    process = WorkerProcess(bird, slots=setup.slots, options=options)
    process.on_started = lambda: note("started")
    asyncio.run(process.run(signals=True))


def _fatal(words: str) -> Callable[..., sqlite3.Connection]:
    connect = sqlite3.connect

    def connect_and_watch(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        armed = False

        def watch(statement: str) -> None:
            nonlocal armed
            armed = armed or words in statement
            if armed and statement.startswith("COMMIT"):
                os.kill(os.getpid(), signal.SIGKILL)

        connection.set_trace_callback(watch)
        return connection

    return connect_and_watch


if __name__ == "__main__":
    work(Setup(**json.loads(sys.argv[1])))
