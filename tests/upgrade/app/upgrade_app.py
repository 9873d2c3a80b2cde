"""The app that workers of every version run; each attempt is noted in the process's own file."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from tickbird import Run, Tickbird, cron, every

bird = Tickbird(app="load")
folder = Path(os.environ["UPGRADE_FOLDER"])
ledger = os.open(folder / f"{os.getpid()}.ledger", os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def note(event: str, run: Run) -> None:
    """Written before anything else can go wrong."""
    line = {"event": event, "code": os.environ["UPGRADE_CODE"], "pid": os.getpid()}
    os.write(ledger, json.dumps({**line, "run": run.id, "attempt": run.attempt}).encode() + b"\n")
    os.fsync(ledger)


@bird.task
async def brief(run: Run) -> int:
    """Done at once."""
    note("ran", run)
    return os.getpid()


@bird.task
async def slow(run: Run) -> int:
    """Ends when the test allows it."""
    note("began", run)
    while not (folder / "gate").exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.02)
    note("ran", run)
    return os.getpid()


for number in range(3):
    bird.schedule(f"clock-{number}", brief, every(seconds=1), overlap="allow")
bird.schedule("slow", slow, cron("0 0 1 1 *"), overlap="allow")
