"""What planning reports: of one transaction, or of a whole step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.runs.run import ClaimedRun


@dataclass(frozen=True, slots=True)
class RefusedPlan:
    """A schedule that was not planned though it is due: why, and when it is tried again."""

    schedule: str
    error: str
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class UnknownSchedule:
    """An active schedule that this process leaves to others, and why."""

    namespace: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlanResult:
    """What was planned, and when the next schedule is due."""

    now: datetime
    schedules: int = 0
    runs: int = 0
    skips: int = 0
    parked: tuple[str, ...] = ()
    # None: nothing is planned for any future instant.
    next_at: datetime | None = None
    # More was due than was planned.
    more: bool = False
    # Runs that were leased to this worker as they were made.
    leased: Sequence[ClaimedRun] = ()
    # Schedules that the database refused to plan, for a cause that is not in their rows.
    refused: tuple[RefusedPlan, ...] = ()

    def plus(self, later: PlanResult) -> PlanResult:
        """Both as one, of which the other one came later."""
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
        )


def earliest(instants: Iterable[datetime | None]) -> datetime | None:
    """The first of these instants, if there is any."""
    return min((at for at in instants if at is not None), default=None)
