"""Pings: reports of another scheduler that it ran a job, for a shadow schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol


class PingStore(Protocol):
    async def add(self, schedule_id: int, at: datetime | None = None, *, now: datetime | None = None) -> datetime:
        """Record a ping, now or at an instant; retains the newest 100,000 of a schedule."""

    async def list(
        self, schedule_id: int, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        """The pings of a schedule from `first` to `last`, oldest first; with `after`, only later ones."""
