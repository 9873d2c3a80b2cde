"""What a planning step reports."""

from __future__ import annotations

from collections.abc import Sequence
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
class PlanResult:
    """What a planning step did, and when the next schedule is due."""

    now: datetime
    schedules: int = 0
    runs: int = 0
    skips: int = 0
    parked: tuple[str, ...] = ()
    # None: nothing is planned for any future instant.
    next_at: datetime | None = None
    # More was due than the limit let through.
    more: bool = False
    # Runs that were leased to this worker as they were made.
    leased: Sequence[ClaimedRun] = ()
    # Schedules that the database refused to plan, for a cause that is not in their rows.
    refused: tuple[RefusedPlan, ...] = ()
