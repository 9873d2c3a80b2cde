"""Planning: decisions about due ticks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.planning.plan_result import PlanResult, UnknownSchedule
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.workers import HandOff


class PlanningStore(Protocol):
    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        term: int | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        """Plan up to `limit` due schedules: runs, skips and cursors commit together or not at all.

        With `hand_off`, the planning worker may lease runs of ticks that are on time, instead of queueing them. If the
        store's clock is outside of `expected`, nothing is planned. With `term`, in leader mode, each transaction holds
        the term to its commit and records it; raises TermEndedError if the term has ended.
        """

    async def ignored(self, limit: int = 20) -> Sequence[UnknownSchedule]:
        """Up to `limit` active schedules, of all namespaces, that this process cannot plan."""
