"""Queries of the dashboard. The cost of every verb is bounded by its arguments, not by the size of the store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.dashboard_rows import (
    AuditFilter,
    CappedCount,
    EventFilter,
    EventRow,
    FailureStreak,
    KeysetPage,
    LoadRow,
    OverdueRun,
    RunFilter,
    RunPoint,
    RunTiming,
    ScheduleFilter,
    ScheduleSummary,
    SkipPoint,
    Timeline,
)
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule


class DashboardStore(Protocol):
    """The verbs of the dashboard, each for one namespace."""

    async def schedules(
        self, namespace: str, filters: ScheduleFilter, *, after: str = "", before: str | None = None, limit: int = 100
    ) -> Sequence[ScheduleSummary]:
        """Schedules by name: the first ones after `after`, or with `before` the last ones before it."""

    async def count_schedules(self, namespace: str, filters: ScheduleFilter, maximum: int = 10_000) -> CappedCount:
        """The number of matching schedules, counted up to `maximum`."""

    async def newest_points(
        self, ids: Collection[int], per_schedule: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        """The newest runs and skips of these schedules, up to `per_schedule` of each."""

    async def timeline(
        self, namespace: str, first: datetime, last: datetime, *, schedules: int = 50, per_schedule: int = 100
    ) -> Timeline:
        """Runs and skips of a range and upcoming schedules: up to `schedules`, each with up to `per_schedule` runs."""

    async def timings(
        self, namespace: str, *, schedule_id: int | None = None, since: datetime, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        """Runs that have started and were due since an instant, newest first; without a schedule, only ended ones."""

    async def streaks(self, namespace: str, limit: int = 100) -> tuple[Sequence[FailureStreak], bool]:
        """Schedules whose last run failed, latest failure first; and whether there are more."""

    async def late_runs(self, namespace: str, before: datetime, limit: int = 100) -> tuple[Sequence[OverdueRun], bool]:
        """Queued runs that could have started before an instant, oldest first; and whether there are more."""

    async def overdue(self, namespace: str, before: datetime, limit: int = 100) -> Sequence[Schedule]:
        """Schedules whose planner pass was due before an instant, oldest first."""

    async def load(
        self, namespace: str, *, after: int = 0, limit: int = 1_000, durations: bool = True
    ) -> Sequence[LoadRow]:
        """Active schedules by id, after `after`, with the values from which their load is computed."""

    async def key_of_run(self, namespace: str, run_id: int) -> str | None:
        """The idempotency key that a run was requested with."""

    async def runs(
        self,
        namespace: str,
        filters: RunFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[RunRecord]:
        """Runs, newest first: with `before`, ids below it; with `after`, the oldest above it."""

    async def events(
        self,
        namespace: str,
        filters: EventFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[EventRow]:
        """Stamped events by position, newest first; pages as in `runs`. Only for stores with events."""

    async def audit(
        self,
        namespace: str,
        filters: AuditFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[AuditEntry]:
        """Entries of the audit log, newest first: with `before`, ids below it; with `after`, the oldest above it."""

    async def last_lines(
        self, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        """The last log lines of a run, in order; with `before`, only lines before this attempt and number."""

    async def dependents(self, namespace: str, name: str, limit: int = 100) -> Sequence[str]:
        """The first schedules that depend on this one, by name."""
