"""The worker processes of the fault lab: those of the proof with more options and tasks; `python -m … SETUP`."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from lab.faults.commits import die_before_commit_of
from tickbird import Run, Tickbird, every
from tickbird.proof import worker
from tickbird.proof.journal import Journal


@dataclass(frozen=True, kw_only=True)
class Setup(worker.Setup):
    """The setup of one worker process."""

    # Schedules that its code declares: name and seconds between ticks.
    declares: tuple[tuple[str, int], ...] = ()
    # The other ones that its code declares are in memory.
    declares_in_memory: tuple[tuple[str, int], ...] = ()
    fallback: bool = True
    # SQLite: killed before it commits a transaction with a statement that contains this text.
    die_before_commit_of: str = ""


def run_worker(setup: Setup) -> None:
    """Run a worker until SIGTERM."""
    journal = worker.open_journal(setup)
    if setup.die_before_commit_of:
        die_before_commit_of(setup.die_before_commit_of)
    app = make_app(setup.url, Path(setup.folder), journal)
    for name, seconds in setup.declares:
        app.schedule(name, app.tasks["succeed"], every(seconds=seconds), overlap="allow")
    for name, seconds in setup.declares_in_memory:
        app.schedule(name, app.tasks["succeed"], every(seconds=seconds), overlap="allow", durable=False)
    if not setup.fallback:
        app.fallback_max_age = None
    worker.run_app(app, setup, journal)


def make_app(url: str, folder: Path, journal: Journal) -> Tickbird:
    """The app of the proof with two more tasks."""
    app = worker.make_app(url, journal)

    @app.task
    async def do_nothing() -> int:
        """Writes no entries, for thousands of runs."""
        return os.getpid()

    @app.task
    def write_effect(run: Run) -> None:
        """Its row and its success are one transaction, on a connection of its own."""
        time.sleep(0.02)
        connection: Any
        if url.startswith("sqlite:"):
            connection = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)
        else:
            connection = psycopg.connect(url)
        with closing(connection):
            with run.transaction(connection) as success:
                connection.execute(f"INSERT INTO effects VALUES ({run.id}, {run.attempt})")
                success.result = run.attempt
                if not url.startswith("sqlite:"):
                    time.sleep(0.02)
            # A worker may also be lost between the commit and the report of the engine.
            time.sleep(0.01)

    @app.task
    async def wait_for_file(run: Run, file: str) -> int:
        """Wait for a file of this name, alone or followed by the process's pid."""
        journal.write("began", run)
        paths = folder / file, folder / f"{file}-{os.getpid()}"
        try:
            while not any(path.exists() for path in paths):  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            journal.write("stopped", run)
            raise
        journal.write("done", run)
        return os.getpid()

    return app


if __name__ == "__main__":
    run_worker(Setup(**json.loads(sys.argv[1])))
