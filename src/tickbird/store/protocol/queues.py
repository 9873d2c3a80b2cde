"""Queues: their rate limits, and the number of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus, RateLimit


class QueueStore(Protocol):
    async def set_rate(
        self, namespace: str, queue: str, rate: RateLimit | None, actor: str, *, now: datetime | None = None
    ) -> QueueStatus:
        """Set the rate limit of a queue, or remove it with None; recent starts count towards the new limit."""

    async def list(
        self, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        """The queues with a rate limit or active runs, by name; with `queue`, only that one."""

    async def find_position(self, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        """The position of a queued run that a rate limit or fairness delays; None if neither does."""
