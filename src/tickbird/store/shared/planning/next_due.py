"""When something should be due, so that a planner locks it at once instead of looking first."""

from __future__ import annotations

import time
from datetime import datetime
from math import inf

from tickbird.domain.planning.plan_result import PlanResult


class NextDue:
    """What this process last saw; it may be wrong, and costs a round trip then."""

    def __init__(self) -> None:
        self._next_at: datetime | None = None
        # The same instant by the clock of this process.
        self._due = inf

    def note(self, planned: PlanResult) -> None:
        """Remember what a step has seen."""
        self._next_at = planned.now if planned.more else planned.next_at
        wait = inf if self._next_at is None else (self._next_at - planned.now).total_seconds()
        self._due = time.monotonic() + wait

    def has_come(self, now: datetime | None) -> bool:
        """Should something be due by now?"""
        if now is not None:
            return self._next_at is not None and self._next_at <= now
        return self._due <= time.monotonic()
