"""Backoff of schedules that the database refuses to plan for a cause outside of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

_FIRST_DELAY: Final = timedelta(seconds=1)
_MAX_DELAY: Final = timedelta(seconds=15)
# Beyond this number, the schedules that were refused first return to the batches.
_MAX_SCHEDULES: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Refusal:
    error: str
    at: datetime
    retry_at: datetime
    failures: int


class PlanBackoff:
    """The refused schedules of one planner, in memory because the store may refuse every write; not thread-safe."""

    def __init__(self) -> None:
        self._refusals: dict[int, _Refusal] = {}

    @property
    def ids(self) -> Iterable[int]:
        """The schedules that no batch may contain."""
        return self._refusals.keys()

    def add(self, schedule_id: int, error: str, now: datetime) -> datetime:
        """Exclude a schedule, longer after each refusal; returns the instant of the next try."""
        before = self._refusals.pop(schedule_id, None)
        failures = 1 if before is None else before.failures + 1
        delay: timedelta = min(_MAX_DELAY, _FIRST_DELAY * 2 ** min(failures - 1, 10))
        retry_at = now + delay
        self._refusals[schedule_id] = _Refusal(error, now, retry_at, failures)
        if len(self._refusals) > _MAX_SCHEDULES:
            del self._refusals[next(iter(self._refusals))]
        return retry_at

    def due(self, now: datetime, limit: int) -> list[int]:
        """At most `limit` schedules whose backoff is over, oldest refusal first."""
        # A clock that was set back delays no schedule.
        due = [key for key, refusal in self._refusals.items() if refusal.retry_at <= now or now < refusal.at]
        return due[:limit]

    def next_at(self, other: datetime | None) -> datetime | None:
        """The earliest instant of `other` and of all next tries."""
        instants = [refusal.retry_at for refusal in self._refusals.values()]
        return min(instants if other is None else [*instants, other], default=None)

    def remove(self, schedule_id: int, now: datetime) -> None:
        """Remove a schedule that was planned; schedules that were refused with the same error are retried at once."""
        if (removed := self._refusals.pop(schedule_id, None)) is None:
            return
        for key, refusal in self._refusals.items():
            if refusal.error == removed.error:
                self._refusals[key] = replace(refusal, retry_at=min(refusal.retry_at, now))
