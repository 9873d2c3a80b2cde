"""What a dashboard reads, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from tickbird.domain.dashboard_rows import (
    MAX_EXAMINED,
    MAX_FAILED,
    MAX_IDLE,
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
    ScheduleSummary,
    SkipPoint,
    Timeline,
    newest_points,
    page_of_going,
)
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.runs.logs import END, LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import LISTED_STATES, Schedule
from tickbird.domain.sized_cache import size_of
from tickbird.domain.targets.target import Target
from tickbird.store.postgres.database.database import NounStore
from tickbird.store.postgres.rows import numbers, texts, to_run, to_schedules
from tickbird.store.protocol.dashboard import DashboardStore
from tickbird.store.shared.json_columns import as_object

# Of what has ended lately in all namespaces, so much is looked through for one.
_RECENT: Final = 10_000


class PostgresDashboard(NounStore, DashboardStore):
    async def schedules(
        self, namespace: str, wanted: ScheduleFilter, *, after: str = "", before: str | None = None, limit: int = 100
    ) -> Sequence[ScheduleSummary]:
        bounds = {**await self._filter(namespace, wanted), "limit": limit}
        if before is None:
            page: list[tuple[int, str | None]] = await self._db.fetch("list_versions", after=after, **bounds)
        else:
            rows = await self._db.fetch("find_schedules_before", before=before, **bounds)
            page = [(row[0], None) for row in reversed(rows)]
        cache = self._db.summaries
        cached = {one: summary for one, version in page if version and (summary := cache.get((one, version)))}
        if missing := {one: version for one, version in page if one not in cached}:
            for summary in await self._read_summaries(missing):
                cached[summary.schedule.id] = summary
                # One that cannot be read may become readable without a change, by an installed plug-in.
                if summary.version is not None and summary.schedule.definition is not None:
                    cache.put((summary.schedule.id, summary.version), summary, size_of(summary))
        return [cached[one] for one, _ in page if one in cached]

    async def _read_summaries(self, wanted: Mapping[int, str | None]) -> list[ScheduleSummary]:
        rows = await self._db.fetch_named("list_these", ids=numbers(list(wanted)))
        last = await self._these_runs([row["last_run_id"] for row in rows if row["last_run_id"] is not None])
        return [
            ScheduleSummary(
                schedule=schedule,
                last_run=last.get(row["last_run_id"]),
                failure_streak=row["failure_streak"],
                held=row["held"],
                last_run_at=row["last_run_at"],
                version=wanted[schedule.id],
            )
            for row, schedule in zip(rows, await to_schedules(rows), strict=True)
        ]

    async def count_schedules(self, namespace: str, wanted: ScheduleFilter, maximum: int = 10_000) -> CappedCount:
        [(number,)] = await self._db.fetch(
            "count_schedules", limit=maximum + 1, **await self._filter(namespace, wanted)
        )
        return CappedCount(min(number, maximum), number > maximum)

    async def dependents(self, namespace: str, name: str, limit: int = 100) -> Sequence[str]:
        rows = await self._db.fetch("dependents", namespace=namespace, name=name, limit=limit)
        return [row[0] for row in rows]

    async def _filter(self, namespace: str, wanted: ScheduleFilter) -> dict[str, Any]:
        states = texts(list(wanted.states or LISTED_STATES))
        among = frozenset(await self._failing(namespace)) if wanted.failing else None
        if wanted.states and "active" not in wanted.states:
            rows = await self._db.fetch("resting_schedules", states=states, maximum=MAX_IDLE)
            # Where there are more, a page of them is soon found without knowing which.
            if len(rows) < MAX_IDLE:
                resting = frozenset(row[0] for row in rows)
                among = resting if among is None else among & resting
        return {
            "namespace": namespace,
            "contains": wanted.contains,
            "states": states,
            "tag": wanted.tag,
            "app": wanted.app,
            "queue": wanted.queue,
            "among": None if among is None else numbers(among),
        }

    async def _failing(self, namespace: str) -> list[int]:
        return [row[0] for row in await self._db.fetch("failing_schedules", namespace=namespace, maximum=MAX_FAILED)]

    async def newest_points(
        self, ids: Collection[int], each: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        return await self._points(ids, each)

    async def _points(
        self, ids: Collection[int], each: int, first: datetime | None = None, last: datetime | None = None
    ) -> tuple[list[RunPoint], list[SkipPoint]]:
        bounds = {"ids": numbers(ids), "each": each, "first": first, "last": last}
        runs = [RunPoint(*row) for row in await self._db.fetch("run_marks", **bounds)]
        return runs, [SkipPoint(*row) for row in await self._db.fetch("skip_marks", **bounds)]

    async def timeline(
        self, namespace: str, first: datetime, last: datetime, *, schedules: int = 50, each: int = 100
    ) -> Timeline:
        bounds = {"namespace": namespace, "last": last, "maximum": _RECENT, "limit": schedules + 1}
        lively = [row[0] for row in await self._db.fetch("lively_schedules", first=first, **bounds)]
        coming = [row[0] for row in await self._db.fetch("coming_schedules", **bounds)]
        ids = list(dict.fromkeys((*lively[:schedules], *coming[:schedules])))
        marks = newest_points(*await self._points(ids, each, first, last), each)
        return Timeline(
            schedules=await self._these_schedules(ids),
            marks=marks,
            capped=max(len(lively), len(coming)) > schedules,
        )

    async def timings(
        self, namespace: str, *, schedule_id: int | None = None, since: datetime, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        bounds = {"namespace": namespace, "since": since, "limit": limit, "maximum": _RECENT}
        if schedule_id is None:
            rows = await self._db.fetch("timings", **bounds)
        else:
            rows = await self._db.fetch("timings_of", schedule_id=schedule_id, **bounds)
        return [RunTiming(*row) for row in rows]

    async def streaks(self, namespace: str, limit: int = 100) -> tuple[Sequence[FailureStreak], bool]:
        ids = await self._failing(namespace)
        rows = await self._db.fetch("streaks", ids=numbers(ids), limit=limit + 1) if ids else []
        errors = dict(await self._db.fetch("errors_of", ids=numbers(row[3] for row in rows)))
        found = [
            FailureStreak(schedule=name, failures=failures, since=since, run_id=run_id, error=errors.get(run_id, ""))
            for name, failures, since, run_id in rows
        ]
        return found[:limit], len(found) > limit

    async def late_runs(self, namespace: str, before: datetime, limit: int = 100) -> tuple[Sequence[OverdueRun], bool]:
        rows = await self._db.fetch_named(
            "late_runs", namespace=namespace, before=before, limit=limit + 1, maximum=_RECENT
        )
        late = [OverdueRun(target=Target(row.pop("target"), row.pop("target_kind")), **row) for row in rows[:limit]]
        return late, len(rows) > limit

    async def overdue(self, namespace: str, before: datetime, limit: int = 100) -> Sequence[Schedule]:
        rows = await self._db.fetch("coming_schedules", namespace=namespace, last=before, maximum=_RECENT, limit=limit)
        return await self._these_schedules([row[0] for row in rows])

    async def _these_schedules(self, ids: Sequence[int]) -> list[Schedule]:
        rows = {row["id"]: row for row in await self._db.fetch_named("read_schedules", ids=numbers(ids))} if ids else {}
        return await to_schedules([rows[one] for one in ids if one in rows])

    async def load(
        self, namespace: str, *, after: int = 0, limit: int = 1_000, durations: bool = True
    ) -> Sequence[LoadRow]:
        rows = await self._db.fetch_named(
            "load_page", namespace=namespace, after=after, limit=limit, durations=durations
        )
        return [LoadRow(**row) for row in rows]

    async def key_of_run(self, namespace: str, run_id: int) -> str | None:
        rows = await self._db.fetch("key_of_run", namespace=namespace, id=run_id)
        return rows[0][0] if rows else None

    async def runs(
        self,
        namespace: str,
        wanted: RunFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[RunRecord]:
        statuses = set(wanted.statuses)
        bounds = {
            "namespace": namespace,
            "schedule": wanted.schedule,
            "status": min(statuses, default=None),
            "statuses": texts(sorted(statuses)) if statuses else None,
            "origin": wanted.origin,
            "target": wanted.target,
            "target_kind": wanted.target_kind,
            "worker": wanted.worker,
            "queue": wanted.queue,
            "key": wanted.key,
            "since": wanted.since,
            "until": wanted.until,
            "error": wanted.error,
        }
        rare = wanted.schedule is None and len(statuses) == 1 and statuses <= {"failed", "cancelled"}
        name = "find_unwell" if rare else "find_runs" if wanted.schedule is None else "find_runs_of"
        page = await self._going(wanted, bounds, before, after, limit) if wanted.is_going else None
        if page is None:
            rows, reached = self._cut(await self._find(name, bounds, before, after, limit), limit, after)
            page = KeysetPage([row[0] for row in rows], reached)
        runs = await self._these_runs(page.rows)
        return KeysetPage([runs[each] for each in page.rows if each in runs], page.reached)

    async def _going(
        self, wanted: RunFilter, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
    ) -> KeysetPage[int] | None:
        """A page of ids of runs that are not over; None where there are so many that they are found by their ids."""
        name = "pick_going" if wanted.key is None else "pick_going_of_key"
        found = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED, "limit": limit + 1}
        [(looked, ids)] = await self._db.fetch(name, **found)
        return page_of_going(looked, ids, MAX_EXAMINED, after, limit)

    async def _these_runs(self, ids: Sequence[int]) -> dict[int, RunRecord]:
        if not ids:
            return {}
        return {row["id"]: to_run(row) for row in await self._db.fetch_named("read_runs", ids=numbers(ids))}

    async def audit(
        self,
        namespace: str,
        wanted: AuditFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[AuditEntry]:
        bounds = {
            "namespace": namespace,
            "actor": wanted.actor,
            "action": wanted.action,
            "schedule": wanted.schedule,
            "since": wanted.since,
            "until": wanted.until,
        }
        name = "find_audit" if wanted.schedule is None else "find_audit_of"
        rows, reached = self._cut(await self._find(name, bounds, before, after, limit), limit, after)
        return KeysetPage([AuditEntry(*(*row[:6], as_object(row[6]))) for row in rows], reached)

    async def last_lines(
        self, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        attempt, number = before or END
        rows = await self._db.fetch("last_lines", id=run_id, attempt=attempt, number=number, limit=limit)
        return [LogLine(*row) for row in reversed(rows)]

    async def _find(
        self, name: str, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
    ) -> list[tuple[Any, ...]]:
        bounds = {**bounds, "maximum": MAX_EXAMINED, "limit": limit + 1}
        if after is None:
            return await self._db.fetch(name, before=before, **bounds)
        return await self._db.fetch(f"{name}_after", after=after, **bounds)

    @staticmethod
    def _cut(rows: list[tuple[Any, ...]], limit: int, after: int | None) -> tuple[list[tuple[Any, ...]], int | None]:
        """The page, newest first, and where the next begins; the last two columns are the place and if it is wanted."""
        found = [row for row in rows if row[-1]][:limit]
        reached = None
        if sum(bool(row[-1]) for row in rows) > limit:
            reached = found[-1][0]
        elif rows and rows[-1][-2] == MAX_EXAMINED:
            reached = rows[-1][0]
        return (found if after is None else found[::-1]), reached
