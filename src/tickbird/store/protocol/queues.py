"""Queues: their rates, and how many runs are in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus, RateLimit


class QueueStore(Protocol):
    """The verbs of queues."""

    async def set_rate(
        self, namespace: str, queue: str, rate: RateLimit | None, actor: str, *, now: datetime | None = None
    ) -> QueueStatus:
        """Set the rate of a queue, or remove it with None; runs that have started count towards the new rate."""

    async def list(
        self, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        """The queues that have a rate or active runs, by name; or one of them."""

    async def find_position(self, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        """The position of a queued run that a rate or fairness holds back; None if neither does."""
