"""Held runs: they wait for an operator after a long outage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.runs.held import Drop, HeldSchedule, Release
from tickbird.domain.runs.run import RunRecord


class HeldStore(Protocol):
    async def list_schedules(self, namespace: str, *, schedule: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules with held runs, by name; with `schedule`, only that one."""

    async def list_runs(
        self, namespace: str, schedule: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, with ids above `after`."""

    async def resolve(self, namespace: str, name: str, decision: Release | Drop, *, now: datetime | None = None) -> int:
        """Release or drop the oldest held runs of a schedule; returns their number."""
