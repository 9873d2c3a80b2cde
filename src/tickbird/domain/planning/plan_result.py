"""Result of planning: of one transaction, or of a whole step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.runs.run import ClaimedRun


@dataclass(frozen=True, slots=True)
class RefusedPlan:
    """A due schedule that could not be planned: why, and when it is retried."""

    schedule: str
    error: str
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownSchedule:
    """An active schedule that this process ignores, and why."""

    namespace: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlanResult:
    """Planned schedules, runs and skips, and when the next schedule is due."""

    now: datetime
    schedules: int = 0
    runs: int = 0
    skips: int = 0
    parked: tuple[str, ...] = ()
    # None: nothing is planned for any future instant.
    next_at: datetime | None = None
    # More schedules are due than were planned.
    more: bool = False
    # Runs that were leased to this worker when they were created.
    leased: Sequence[ClaimedRun] = ()
    # Schedules that the database rejected, for a cause outside of their rows.
    refused: tuple[RefusedPlan, ...] = ()
    # The ids of due schedules that plain SQL requested changes of; the changes come before later ticks.
    requested: tuple[int, ...] = ()
    # Events that were published.
    events: int = 0

    def plus(self, later: PlanResult) -> PlanResult:
        """Combine with a later result."""
        return PlanResult(
            later.now,
            self.schedules + later.schedules,
            self.runs + later.runs,
            self.skips + later.skips,
            self.parked + later.parked,
            earliest((self.next_at, later.next_at)),
            self.more or later.more,
            (*self.leased, *later.leased),
            self.refused + later.refused,
            self.requested + later.requested,
            self.events + later.events,
        )


def earliest(instants: Iterable[datetime | None]) -> datetime | None:
    """Return the earliest instant; None if there is none."""
    return min((at for at in instants if at is not None), default=None)
