"""What a dashboard reads of a store: every verb is bounded by what it is asked for, however much is stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from tickbird.domain.dashboard_rows import (
    AuditFilter,
    CappedCount,
    FailureStreak,
    KeysetPage,
    LoadRow,
    OverdueRun,
    RunFilter,
    RunPoint,
    RunTiming,
    ScheduleFilter,
    SkipPoint,
    Timeline,
)
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule

if TYPE_CHECKING:
    from tickbird.domain.dashboard_rows import ScheduleSummary


class DashboardStore(Protocol):
    """The verbs, each of one namespace."""

    async def schedules(
        self,
        namespace: str,
        wanted: ScheduleFilter,
        *,
        after: str = "",
        before: str | None = None,
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        """Schedules by name: the first behind `after`, or with `before` the last in front of it."""
        ...

    async def count_schedules(self, namespace: str, wanted: ScheduleFilter, maximum: int = 10_000) -> CappedCount:
        """How many schedules are wanted, counted up to `maximum`."""
        ...

    async def newest_points(
        self, ids: Collection[int], each: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        """The newest runs and skips of each of these schedules, so many of each."""
        ...

    async def timeline(
        self, namespace: str, first: datetime, last: datetime, *, schedules: int = 50, each: int = 100
    ) -> Timeline:
        """What went on in this time and what is to come, of so many schedules at most, so many runs of each."""
        ...

    async def timings(
        self, namespace: str, *, schedule_id: int | None = None, since: datetime, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        """The newest runs that have begun and were due since an instant, newest first; of all, those that ended."""
        ...

    async def streaks(self, namespace: str, limit: int = 100) -> tuple[Sequence[FailureStreak], bool]:
        """Schedules that fail now, those whose newest failure is newest first; and whether there are more."""
        ...

    async def late_runs(self, namespace: str, before: datetime, limit: int = 100) -> tuple[Sequence[OverdueRun], bool]:
        """Queued runs that could have begun before an instant, oldest first of those in front; and if there is more."""
        ...

    async def overdue(self, namespace: str, before: datetime, limit: int = 100) -> Sequence[Schedule]:
        """Schedules that a planner should have looked at before an instant, oldest first."""
        ...

    async def load(
        self, namespace: str, *, after: int = 0, limit: int = 1_000, durations: bool = True
    ) -> Sequence[LoadRow]:
        """Active schedules by id, behind `after`, with what their load is computed from."""
        ...

    async def key_of_run(self, namespace: str, run_id: int) -> str | None:
        """The idempotency key that a run was asked for with."""
        ...

    async def runs(
        self,
        namespace: str,
        wanted: RunFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[RunRecord]:
        """Runs, newest first: those below `before`, or with `after` the oldest above it."""
        ...

    async def audit(
        self,
        namespace: str,
        wanted: AuditFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[AuditEntry]:
        """Who did what, newest first: entries below `before`, or with `after` the oldest above it."""
        ...

    async def last_lines(
        self, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        """The last lines of a run, in order; with `before`, of those in front of this attempt and number."""
        ...

    async def dependents(self, namespace: str, name: str, limit: int = 100) -> Sequence[str]:
        """The first of the schedules that depend on this one, by name."""
        ...
