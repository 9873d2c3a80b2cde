"""Bounded reads of one namespace for the pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from tickbird.client import StoreClient
from tickbird.cpu_threads import compute_now
from tickbird.domain.dashboard_rows import (
    AuditFilter,
    CappedCount,
    EventFilter,
    EventRow,
    KeysetPage,
    Marked,
    RunFilter,
    RunTiming,
    ScheduleFilter,
    ScheduleSummary,
    Timeline,
    newest_points,
)
from tickbird.domain.doctor.checks.lateness import LATE
from tickbird.domain.doctor.findings_overview import FindingsInput, FindingsOverview, overview_findings
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.week_load import HOURS, WeekLoad, WeekLoadCounter
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.text import check_text

# Findings read at most this many late runs, their queues, and running runs.
_LATE_RUNS, _QUEUES, _RUNNING = 500, 20, 1_000
# Schedules that the upcoming load counts, and reads at a time.
_MAX_LOAD, _LOAD_PAGE = 100_000, 2_000
_ALL = ScheduleFilter()
_RUNS = RunFilter()
_AUDIT = AuditFilter()
_EVENTS = EventFilter()


class DashboardReads:
    """Reads of one namespace. The duration of each read is bounded, even with millions of runs."""

    def __init__(self, client: StoreClient) -> None:
        self._store = client.store
        self._dashboard = client.store.dashboard
        self._namespace = client.namespace

    async def schedules(
        self, wanted: ScheduleFilter = _ALL, *, after: str = "", before: str | None = None, limit: int = 100
    ) -> Sequence[ScheduleSummary]:
        """Return schedules by name: the first ones after `after`, or with `before` the last ones before it."""
        for name, text in (("after", after), ("before", before or "")):
            check_text(text, name)
        return await self._dashboard.schedules(
            self._namespace, wanted, after=after, before=before, limit=_within(limit, "limit", 1_000)
        )

    async def find(self, name: str) -> Schedule | None:
        """A schedule by name, even if it is deleted."""
        return await self._store.schedules.get(self._namespace, check_text(name, "schedule"))

    async def revisions(
        self, schedule_id: int, *, before: int | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """Return revisions, newest first, even of a deleted schedule."""
        return await self._store.schedules.list_revisions(
            schedule_id, before=before, limit=_within(limit, "limit", 1_000)
        )

    async def dependents(self, name: str, *, limit: int = 100) -> Sequence[str]:
        """The names of schedules that depend on this one, sorted."""
        name = check_text(name, "schedule")
        return await self._dashboard.dependents(self._namespace, name, _within(limit, "limit", 1_000))

    async def count(self, wanted: ScheduleFilter = _ALL, *, maximum: int = 10_000) -> CappedCount:
        return await self._dashboard.count_schedules(self._namespace, wanted, _within(maximum, "maximum", 100_000))

    async def newest_points(self, ids: Collection[int], *, each: int = 60) -> Mapping[int, Sequence[Marked]]:
        """The newest runs and skips of at most 200 schedules by their ids, oldest first."""
        if len(ids) > 200:
            raise InvalidError("ids: at most 200 schedules can be requested at once.", field="ids")
        return newest_points(*await self._dashboard.newest_points(ids, _within(each, "each", 500)), each)

    async def timeline(self, first: datetime, last: datetime, *, schedules: int = 50, each: int = 100) -> Timeline:
        """Runs and skips between two instants, and the schedules that are due until the last."""
        if first > last:
            raise InvalidError("last must not be before first.", field="last")
        maximum, runs = _within(schedules, "schedules", 200), _within(each, "each", 500)
        return await self._dashboard.timeline(self._namespace, first, last, schedules=maximum, per_schedule=runs)

    async def timings(
        self, since: datetime, *, schedule_id: int | None = None, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        """When the newest runs since an instant were due, started and finished; newest first."""
        limit = _within(limit, "limit", 2_000)
        return await self._dashboard.timings(self._namespace, schedule_id=schedule_id, since=since, limit=limit)

    async def findings(self, *, late: float = LATE, maximum: int = 20) -> FindingsOverview:
        """Problems, the most serious first: failing, late, parked, held and rate-limited work."""
        maximum = _within(maximum, "maximum", 100)
        store, namespace, dashboard = self._store, self._namespace, self._dashboard
        now, workers = await store.workers.snapshot(namespace)
        before = now - timedelta(seconds=late)
        streaks, more_streaks = await dashboard.streaks(namespace, maximum)
        waiting, more_waiting = await dashboard.late_runs(namespace, before, _LATE_RUNS)
        parked = await dashboard.schedules(namespace, ScheduleFilter(states=["parked"]), limit=maximum + 1)
        overdue = await dashboard.overdue(namespace, before, maximum + 1)
        held = await store.held.list_schedules(namespace) if "held" in store.capabilities else ()
        queues = sorted({run.queue for run in waiting})[:_QUEUES] if "queues" in store.capabilities else ()
        limited = [queue for name in queues for queue in await store.queues.list(namespace, queue=name)]
        findings_input = FindingsInput(
            now=now,
            workers=workers,
            planners=await store.workers.count_planners(),
            streaks=streaks,
            parked=[row.schedule for row in parked],
            late=waiting,
            rates={queue.name: queue.rate for queue in limited if queue.rate is not None},
            running=await store.runs.list(namespace, status="running", limit=_RUNNING),
            overdue=overdue,
            held=held,
            groups=await store.consumers.list(namespace) if "consumers" in store.capabilities else (),
            capped=more_streaks or more_waiting or max(len(parked), len(overdue)) > maximum,
        )
        return overview_findings(findings_input, maximum)

    async def load(self, *, hours: int = HOURS, durations: bool = True) -> WeekLoad:
        """The upcoming load by hour, of at most 100,000 active schedules; without `durations`, only their ticks."""
        counter = WeekLoadCounter(self._namespace, await self._store.now(), _within(hours, "hours", 31 * 24))
        after = 0
        for _ in range(_MAX_LOAD // _LOAD_PAGE):
            rows = await self._dashboard.load(self._namespace, after=after, limit=_LOAD_PAGE, durations=durations)
            await compute_now(counter.add, rows)
            if len(rows) < _LOAD_PAGE:
                break
            after = rows[-1].id
        # Not queued behind other computations: all pages share the result.
        return await compute_now(counter.week)

    async def key(self, run_id: int) -> str | None:
        """The idempotency key of a run, or None."""
        return await self._dashboard.key_of_run(self._namespace, run_id) if 0 < run_id < 2**63 else None

    async def runs(
        self, wanted: RunFilter = _RUNS, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> KeysetPage[RunRecord]:
        """Return runs, newest first: ids below `before`, or the next ones above `after`.

        If a page is not full and has `reached`, the scan limit was reached: continue from there.
        """
        limit = _within(limit, "limit", 1_000)
        return await self._dashboard.runs(self._namespace, wanted, before=before, after=after, limit=limit)

    async def audit(
        self, wanted: AuditFilter = _AUDIT, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> KeysetPage[AuditEntry]:
        """Return audit entries, newest first; pages work like those of `runs`."""
        limit = _within(limit, "limit", 1_000)
        return await self._dashboard.audit(self._namespace, wanted, before=before, after=after, limit=limit)

    async def events(
        self, wanted: EventFilter = _EVENTS, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> KeysetPage[EventRow]:
        """Return events without their data, newest first, by position; pages work like those of `runs`."""
        limit = _within(limit, "limit", 1_000)
        return await self._dashboard.events(self._namespace, wanted, before=before, after=after, limit=limit)

    async def last_lines(
        self, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        """The last lines of a run, in order, before an attempt and line number; empty if the run does not exist."""
        run = await self._store.runs.get(run_id)
        if run is None or run.namespace != self._namespace:
            return []
        return await self._dashboard.last_lines(run_id, before=before, limit=_within(limit, "limit", 10_000))


def _within(number: int, field: str, maximum: int) -> int:
    if not 1 <= number <= maximum:
        raise InvalidError(f"{field} must be from 1 to {maximum}.", field=field)
    return number
