"""The app of the soak: tasks of every kind, on schedules that tick every few seconds."""

from __future__ import annotations

import asyncio
import os
import time

from tickbird import Run, Tickbird, every
from tickbird.domain.schedules.definition import Backoff

bird = Tickbird(app="soak")


@bird.task
async def brief(run: Run) -> int:
    """Ends at once."""
    return run.attempt


@bird.task
async def chatty(run: Run, lines: int = 20) -> None:
    """Logs a lot."""
    for number in range(lines):
        run.log.info("line %d of %d, for %s", number, lines, run.scheduled_for)
        run.heartbeat(progress=number / lines)


@bird.task(retries=2, backoff=Backoff(1, 2))
async def shaky(run: Run) -> None:
    """Every other attempt fails."""
    if (run.id + run.attempt) % 2:
        raise RuntimeError(f"attempt {run.attempt} of run {run.id} fails: every other attempt fails")


@bird.task
async def slow() -> None:
    """Takes longer than its interval, so that ticks are skipped."""
    await asyncio.sleep(2.5)


@bird.task
def threaded() -> None:
    """Runs in a thread."""
    time.sleep(0.05)


@bird.task(isolation="process")
def isolated(run: Run) -> int:
    """Runs in a child process, and prints."""
    print(f"run {run.id}", flush=True)
    return os.getpid()


for count in range(8):
    bird.schedule(f"brief-{count}", brief, every(seconds=1), overlap="allow", catch_up="all")
bird.schedule("chatty", chatty, every(seconds=2))
bird.schedule("shaky", shaky, every(seconds=2), overlap="allow")
bird.schedule("slow", slow, every(seconds=1))
bird.schedule("threaded", threaded, every(seconds=1), overlap="allow")
bird.schedule("isolated", isolated, every(seconds=3), overlap="allow")
