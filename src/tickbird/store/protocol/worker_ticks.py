"""Ticks that workers compute themselves: schedules in memory, and durable ones in fallback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.planning.worker_ticks import WorkerSchedules, WorkerTick, WrittenTicks
from tickbird.domain.schedules.schedule import Schedule


class WorkerTickStore(Protocol):
    async def read(
        self, namespace: str, app: str | None, known: Mapping[int, int], *, now: datetime | None = None
    ) -> WorkerSchedules:
        """Read the active schedules in memory, of all namespaces, that this process can plan.

        With `app`, also the durable schedules of that app in `namespace`, active or paused, for a fallback. `known` has
        the revisions that the worker has read, by id; only other ones are read. `due` is for the durable ones.
        """

    async def write(
        self, ticks: Sequence[WorkerTick], *, fallback: bool = False, now: datetime | None = None
    ) -> WrittenTicks:
        """Create the runs of ticks that have none; a tick that `overlap` forbids now gets no run and no record.

        Nothing is created for a schedule whose revision is no longer in force. With `fallback`, that is not checked,
        and the runs have the payload of the schedule that was read: its tables may be missing.
        """

    async def restore(self, schedules: Sequence[Schedule], actor: str, *, now: datetime | None = None) -> Sequence[str]:
        """Insert the rows of schedules that are missing after a repair; returns their names.

        The cursor continues from `planned_until`, so the planner decides the ticks since then. A schedule whose row
        exists is not changed, also if it was deleted with a tombstone.
        """
