"""What a dashboard shows: bounded reads of one namespace of a store; a client over HTTP has no use for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from tickbird.cpu_threads import compute_now
from tickbird.domain.dashboard_rows import (
    AuditFilter,
    CappedCount,
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
from tickbird.domain.runs.run import Origin, RunRecord, Status
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.text import check_text
from tickbird.store.protocol.store import Store

# So many late runs, queues of theirs and running runs are looked at for what needs a person.
_LATE_RUNS, _QUEUES, _RUNNING = 500, 20, 1_000
# The coming load is counted of so many schedules, read so many at a time.
_MAX_LOAD, _LOAD_PAGE = 100_000, 2_000
_ALL = ScheduleFilter()
_RUNS = RunFilter()
_AUDIT = AuditFilter()


class DashboardReads:
    """The reads of a dashboard, each as quick beside millions of runs as beside a few."""

    def __init__(self, store: Store, namespace: str) -> None:
        self._store = store
        self._readings = store.dashboard
        self._namespace = namespace

    async def schedules(
        self, wanted: ScheduleFilter = _ALL, *, after: str = "", before: str | None = None, limit: int = 100
    ) -> Sequence[ScheduleSummary]:
        """Schedules by name: those behind `after`, or with `before` the last in front of that name."""
        _check_schedules(wanted)
        for name, text in (("after", after), ("before", before or "")):
            check_text(text, name)
        return await self._readings.schedules(
            self._namespace, wanted, after=after, before=before, limit=_within(limit, "limit", 1_000)
        )

    async def find(self, name: str) -> Schedule | None:
        """A schedule by name, also one that was deleted."""
        return await self._store.schedules.get(self._namespace, check_text(name, "schedule"))

    async def revisions(
        self, schedule_id: int, *, before: int | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """The revisions of a schedule, also of a deleted one, newest first."""
        return await self._store.schedules.list_revisions(
            schedule_id, before=before, limit=_within(limit, "limit", 1_000)
        )

    async def dependents(self, name: str, *, limit: int = 100) -> Sequence[str]:
        """The first of the schedules that depend on this one, by name."""
        limit = _within(limit, "limit", 1_000)
        return await self._readings.dependents(self._namespace, check_text(name, "schedule"), limit)

    async def count(self, wanted: ScheduleFilter = _ALL, *, maximum: int = 10_000) -> CappedCount:
        """How many schedules are wanted; beyond `maximum` it says only that there are more."""
        _check_schedules(wanted)
        return await self._readings.count_schedules(self._namespace, wanted, _within(maximum, "maximum", 100_000))

    async def newest_points(self, ids: Collection[int], *, each: int = 60) -> Mapping[int, Sequence[Marked]]:
        """The newest runs and skips of each of up to 200 schedules, by the id of the schedule, oldest first."""
        if len(ids) > 200:
            raise InvalidError("ids: at most 200 schedules can be asked for at once.", field="ids")
        return newest_points(*await self._readings.newest_points(ids, _within(each, "each", 500)), each)

    async def timeline(self, first: datetime, last: datetime, *, schedules: int = 50, each: int = 100) -> Timeline:
        """What went on between two instants, and which schedules are to come until the last."""
        if first > last:
            raise InvalidError("last: must not lie before first.", field="last")
        maximum, runs = _within(schedules, "schedules", 200), _within(each, "each", 500)
        return await self._readings.timeline(self._namespace, first, last, schedules=maximum, each=runs)

    async def timings(
        self, since: datetime, *, schedule_id: int | None = None, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        """When the newest runs since an instant were due, began and ended; newest first."""
        limit = _within(limit, "limit", 2_000)
        return await self._readings.timings(self._namespace, schedule_id=schedule_id, since=since, limit=limit)

    async def findings(self, *, late: float = LATE, maximum: int = 20) -> FindingsOverview:
        """What needs a person now, the most serious first: what fails, is late, parked, held, or held back."""
        maximum = _within(maximum, "maximum", 100)
        store, namespace, readings = self._store, self._namespace, self._readings
        now, workers = await store.workers.snapshot(namespace)
        before = now - timedelta(seconds=late)
        streaks, more_streaks = await readings.streaks(namespace, maximum)
        waiting, more_waiting = await readings.late_runs(namespace, before, _LATE_RUNS)
        parked = await readings.schedules(namespace, ScheduleFilter(states=["parked"]), limit=maximum + 1)
        overdue = await readings.overdue(namespace, before, maximum + 1)
        held = await store.held.list_schedules(namespace) if "held" in store.capabilities else ()
        queues = sorted({run.queue for run in waiting})[:_QUEUES] if "queues" in store.capabilities else ()
        found = [queue for name in queues for queue in await store.queues.list(namespace, queue=name)]
        seen = FindingsInput(
            now=now,
            workers=workers,
            streaks=streaks,
            parked=[row.schedule for row in parked],
            late=waiting,
            rates={queue.name: queue.rate for queue in found if queue.rate is not None},
            running=await store.runs.list(namespace, status="running", limit=_RUNNING),
            overdue=overdue,
            held=held,
            capped=more_streaks or more_waiting or max(len(parked), len(overdue)) > maximum,
        )
        return overview_findings(seen, maximum)

    async def load(self, *, hours: int = HOURS, durations: bool = True) -> WeekLoad:
        """What is to come, hour by hour, of up to 100,000 active schedules; without durations, their ticks alone."""
        counter = WeekLoadCounter(self._namespace, await self._store.now(), _within(hours, "hours", 31 * 24))
        after = 0
        for _ in range(_MAX_LOAD // _LOAD_PAGE):
            rows = await self._readings.load(self._namespace, after=after, limit=_LOAD_PAGE, durations=durations)
            await compute_now(counter.add, rows)
            if len(rows) < _LOAD_PAGE:
                break
            after = rows[-1].id
        # Not queued: it takes seconds for many different triggers, and all pages share it.
        return await compute_now(counter.week)

    async def key(self, run_id: int) -> str | None:
        """The idempotency key that a run was asked for with; None where there was none."""
        return await self._readings.key_of_run(self._namespace, run_id) if 0 < run_id < 2**63 else None

    async def runs(
        self, wanted: RunFilter = _RUNS, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> KeysetPage[RunRecord]:
        """Runs, newest first: those below `before`, or with `after` the next ones above it.

        A page that is not full and has `reached` looked at as many runs as it may: go on from there.
        """
        _check_choices("status", wanted.statuses, get_args(Status))
        _check_choices("origin", [wanted.origin] if wanted.origin else (), get_args(Origin))
        narrowed = {
            "schedule": wanted.schedule,
            "target": wanted.target,
            "target_kind": wanted.target_kind,
            "worker": wanted.worker,
        }
        narrowed |= {"queue": wanted.queue, "key": wanted.key, "error": wanted.error}
        for name, text in narrowed.items():
            check_text(text or "", name)
        limit = _within(limit, "limit", 1_000)
        return await self._readings.runs(self._namespace, wanted, before=before, after=after, limit=limit)

    async def audit(
        self, wanted: AuditFilter = _AUDIT, *, before: int | None = None, after: int | None = None, limit: int = 100
    ) -> KeysetPage[AuditEntry]:
        """Who did what, newest first; pages as those of runs."""
        for name, text in (("actor", wanted.actor), ("action", wanted.action), ("schedule", wanted.schedule)):
            check_text(text or "", name)
        limit = _within(limit, "limit", 1_000)
        return await self._readings.audit(self._namespace, wanted, before=before, after=after, limit=limit)

    async def last_lines(
        self, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        """The last lines of a run of this namespace, in order; with `before`, in front of this attempt and number."""
        run = await self._store.runs.get(run_id)
        if run is None or run.namespace != self._namespace:
            return []
        return await self._readings.last_lines(run_id, before=before, limit=_within(limit, "limit", 10_000))


def _check_schedules(wanted: ScheduleFilter) -> None:
    _check_choices("state", wanted.states, get_args(State))
    for name in ("contains", "tag", "app", "queue"):
        check_text(getattr(wanted, name) or "", name)


def _check_choices(field: str, given: Collection[str], known: Sequence[str]) -> None:
    for word in given:
        if word not in known:
            raise InvalidError(f"{field}: {str(word)[:60]!r} is not one of {', '.join(known)}.", field=field)


def _within(number: int, field: str, maximum: int) -> int:
    if not 1 <= number <= maximum:
        raise InvalidError(f"{field}: must be from 1 to {maximum}.", field=field)
    return number
