"""The expected next due instant, so that a planner locks at once instead of reading first."""

from __future__ import annotations

import time
from datetime import datetime
from math import inf

from tickbird.domain.planning.plan_result import PlanResult


class NextDue:
    """The instant that this process last saw. It may be wrong, which costs a round trip."""

    def __init__(self) -> None:
        self._next_at: datetime | None = None
        # The same instant on the clock of this process.
        self._due = inf

    def note(self, planned: PlanResult) -> None:
        """Record the result of a planning step."""
        self._next_at = planned.now if planned.more else planned.next_at
        wait = inf if self._next_at is None else (self._next_at - planned.now).total_seconds()
        self._due = time.monotonic() + wait

    def has_come(self, now: datetime | None) -> bool:
        """True if a schedule should be due by now."""
        if now is not None:
            return self._next_at is not None and self._next_at <= now
        return self._due <= time.monotonic()
