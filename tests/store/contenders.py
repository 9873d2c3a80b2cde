"""Planners in processes of their own, that all begin at the same moment, each with its own idea of the time."""

from __future__ import annotations

import asyncio
import datetime
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

SPAWN = multiprocessing.get_context("spawn")
PATIENCE = 60


class Contenders:
    """The processes, spoken to all at once."""

    def __init__(self, lines: Sequence[Connection]) -> None:
        self._lines = lines

    def plan(self, limit: int = 500, now: datetime.datetime | None = None) -> list[list[tuple[int, int]]]:
        """Each plans until nothing is due; for each the (schedules, runs) of its steps."""
        for line in self._lines:
            line.send((limit, now))
        answers = []
        for line in self._lines:
            assert line.poll(PATIENCE), "a planner did not answer"
            answers.append(line.recv())
        return answers


@contextmanager
def contenders(url: str, offsets: Sequence[float]) -> Iterator[Contenders]:
    """As many planners as there are offsets, the seconds by which their clocks are wrong."""
    barrier = SPAWN.Barrier(len(offsets))
    lines, processes = [], []
    try:
        for offset in offsets:
            line, theirs = SPAWN.Pipe()
            process = SPAWN.Process(target=_contend, args=(url, offset, barrier, theirs), daemon=True)
            process.start()
            theirs.close()
            lines.append(line)
            processes.append(process)
        yield Contenders(lines)
    finally:
        for line in lines:
            line.close()
        for process in processes:
            process.join(PATIENCE)
            assert process.exitcode == 0


def _contend(url: str, offset: float, barrier: Barrier, line: Connection) -> None:
    set_clock(offset)
    asyncio.run(_plan(url, barrier, line))


async def _plan(url: str, barrier: Barrier, line: Connection) -> None:
    from tickbird.store.postgres import PostgresStore

    store = PostgresStore(url, connections=2)
    await store.open()
    while True:
        try:
            limit, now = line.recv()
        except EOFError:
            break
        barrier.wait(PATIENCE)
        steps = []
        while True:
            planned = await store.planning.plan_due(limit, now=now)
            steps.append((planned.schedules, planned.runs))
            if not planned.more:
                break
        line.send(steps)
    await store.close()


def set_clock(offset: float) -> None:
    """Set this process's clock, before all other imports."""
    real = time.time
    shift = datetime.timedelta(seconds=offset)

    class Wrong(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Wrong:
            return super().now(tz) + shift

        @classmethod
        def today(cls) -> Wrong:
            return super().today() + shift

    replaced: Any = time
    replaced.time = lambda: real() + offset
    replaced = datetime
    replaced.datetime = Wrong
