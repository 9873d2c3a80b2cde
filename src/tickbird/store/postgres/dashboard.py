"""Queries of the dashboard on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from tickbird.domain.dashboard_rows import (
    MAX_EXAMINED,
    MAX_FAILED,
    MAX_IDLE,
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
    newest_points,
    page_of_going,
)
from tickbird.domain.events.topics import pattern_regex
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

# The number of recently ended runs of all namespaces that are read for one namespace.
_RECENT: Final = 10_000


class PostgresDashboard(NounStore, DashboardStore):
    async def schedules(
        self, namespace: str, filters: ScheduleFilter, *, after: str = "", before: str | None = None, limit: int = 100
    ) -> Sequence[ScheduleSummary]:
        bounds = {**await self._filter(namespace, filters), "limit": limit}
        if before is None:
            page: list[tuple[int, str | None]] = await self._db.fetch("list_versions", after=after, **bounds)
        else:
            rows = await self._db.fetch("find_schedules_before", before=before, **bounds)
            page = [(row[0], None) for row in reversed(rows)]
        cache = self._db.summaries
        cached = {key: summary for key, version in page if version and (summary := cache.get((key, version)))}
        if missing := {key: version for key, version in page if key not in cached}:
            for summary in await self._read_summaries(missing):
                cached[summary.schedule.id] = summary
                # An unreadable one may become readable without a change, by an installed plug-in.
                if summary.version is not None and summary.schedule.definition is not None:
                    cache.put((summary.schedule.id, summary.version), summary, size_of(summary))
        return [cached[schedule_id] for schedule_id, _ in page if schedule_id in cached]

    async def _read_summaries(self, versions: Mapping[int, str | None]) -> list[ScheduleSummary]:
        rows = await self._db.fetch_named("summarize_schedules", ids=numbers(list(versions)))
        last = await self._read_runs([row["last_run_id"] for row in rows if row["last_run_id"] is not None])
        return [
            ScheduleSummary(
                schedule=schedule,
                last_run=last.get(row["last_run_id"]),
                failure_streak=row["failure_streak"],
                held=row["held"],
                last_run_at=row["last_run_at"],
                version=versions[schedule.id],
            )
            for row, schedule in zip(rows, await to_schedules(rows), strict=True)
        ]

    async def count_schedules(self, namespace: str, filters: ScheduleFilter, maximum: int = 10_000) -> CappedCount:
        [(number,)] = await self._db.fetch(
            "count_schedules", limit=maximum + 1, **await self._filter(namespace, filters)
        )
        return CappedCount(min(number, maximum), number > maximum)

    async def dependents(self, namespace: str, name: str, limit: int = 100) -> Sequence[str]:
        rows = await self._db.fetch("dependents", namespace=namespace, name=name, limit=limit)
        return [row[0] for row in rows]

    async def _filter(self, namespace: str, filters: ScheduleFilter) -> dict[str, Any]:
        states = texts(list(filters.states or LISTED_STATES))
        among = frozenset(await self._failing(namespace)) if filters.failing else None
        if filters.states and "active" not in filters.states:
            rows = await self._db.fetch("idle_schedules", states=states, maximum=MAX_IDLE)
            # If there are more, a page of them is read quickly without their ids.
            if len(rows) < MAX_IDLE:
                resting = frozenset(row[0] for row in rows)
                among = resting if among is None else among & resting
        return {
            "namespace": namespace,
            "contains": filters.contains,
            "states": states,
            "tag": filters.tag,
            "app": filters.app,
            "queue": filters.queue,
            "among": None if among is None else numbers(among),
        }

    async def _failing(self, namespace: str) -> list[int]:
        return [row[0] for row in await self._db.fetch("failing_schedules", namespace=namespace, maximum=MAX_FAILED)]

    async def newest_points(
        self, ids: Collection[int], per_schedule: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        return await self._points(ids, per_schedule)

    async def _points(
        self, ids: Collection[int], per_schedule: int, first: datetime | None = None, last: datetime | None = None
    ) -> tuple[list[RunPoint], list[SkipPoint]]:
        bounds = {"ids": numbers(ids), "each": per_schedule, "first": first, "last": last}
        runs = [RunPoint(*row) for row in await self._db.fetch("run_points", **bounds)]
        return runs, [SkipPoint(*row) for row in await self._db.fetch("skip_points", **bounds)]

    async def timeline(
        self, namespace: str, first: datetime, last: datetime, *, schedules: int = 50, per_schedule: int = 100
    ) -> Timeline:
        bounds = {"namespace": namespace, "last": last, "maximum": _RECENT, "limit": schedules + 1}
        active = [row[0] for row in await self._db.fetch("active_schedules", first=first, **bounds)]
        upcoming = [row[0] for row in await self._db.fetch("upcoming_schedules", **bounds)]
        ids = list(dict.fromkeys((*active[:schedules], *upcoming[:schedules])))
        points = newest_points(*await self._points(ids, per_schedule, first, last), per_schedule)
        return Timeline(
            schedules=await self._read_schedules(ids),
            marks=points,
            capped=max(len(active), len(upcoming)) > schedules,
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
        streaks = [
            FailureStreak(schedule=name, failures=failures, since=since, run_id=run_id, error=errors.get(run_id, ""))
            for name, failures, since, run_id in rows
        ]
        return streaks[:limit], len(streaks) > limit

    async def late_runs(self, namespace: str, before: datetime, limit: int = 100) -> tuple[Sequence[OverdueRun], bool]:
        rows = await self._db.fetch_named(
            "late_runs", namespace=namespace, before=before, limit=limit + 1, maximum=_RECENT
        )
        late = [OverdueRun(target=Target(row.pop("target"), row.pop("target_kind")), **row) for row in rows[:limit]]
        return late, len(rows) > limit

    async def overdue(self, namespace: str, before: datetime, limit: int = 100) -> Sequence[Schedule]:
        rows = await self._db.fetch(
            "upcoming_schedules", namespace=namespace, last=before, maximum=_RECENT, limit=limit
        )
        return await self._read_schedules([row[0] for row in rows])

    async def _read_schedules(self, ids: Sequence[int]) -> list[Schedule]:
        rows = {row["id"]: row for row in await self._db.fetch_named("read_schedules", ids=numbers(ids))} if ids else {}
        return await to_schedules([rows[schedule_id] for schedule_id in ids if schedule_id in rows])

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
        filters: RunFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[RunRecord]:
        statuses = set(filters.statuses)
        bounds = {
            "namespace": namespace,
            "schedule": filters.schedule,
            "status": min(statuses, default=None),
            "statuses": texts(sorted(statuses)) if statuses else None,
            "origin": filters.origin,
            "target": filters.target,
            "target_kind": filters.target_kind,
            "worker": filters.worker,
            "queue": filters.queue,
            "key": filters.key,
            "since": filters.since,
            "until": filters.until,
            "error": filters.error,
            "undecided": filters.undecided,
        }
        rare = filters.schedule is None and len(statuses) == 1 and statuses <= {"failed", "cancelled"}
        name = "find_unsuccessful" if rare else "find_runs" if filters.schedule is None else "find_runs_of"
        page = await self._pick_active(filters, bounds, before, after, limit) if filters.is_going else None
        if page is None:
            rows, reached = self._cut(await self._find(name, bounds, before, after, limit), limit, after)
            page = KeysetPage([row[0] for row in rows], reached)
        runs = await self._read_runs(page.rows)
        return KeysetPage([runs[run_id] for run_id in page.rows if run_id in runs], page.reached)

    async def _pick_active(
        self, filters: RunFilter, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
    ) -> KeysetPage[int] | None:
        """A page of ids of active runs; None if there are too many, so that a walk by id is faster."""
        name = "pick_active" if filters.key is None else "pick_active_of_key"
        values = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED, "limit": limit + 1}
        [(examined, ids)] = await self._db.fetch(name, **values)
        return page_of_going(examined, ids, MAX_EXAMINED, after, limit)

    async def _read_runs(self, ids: Sequence[int]) -> dict[int, RunRecord]:
        if not ids:
            return {}
        return {row["id"]: to_run(row) for row in await self._db.fetch_named("read_runs", ids=numbers(ids))}

    async def audit(
        self,
        namespace: str,
        filters: AuditFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[AuditEntry]:
        bounds = {
            "namespace": namespace,
            "actor": filters.actor,
            "action": filters.action,
            "schedule": filters.schedule,
            "since": filters.since,
            "until": filters.until,
        }
        name = "find_audit" if filters.schedule is None else "find_audit_of"
        rows, reached = self._cut(await self._find(name, bounds, before, after, limit), limit, after)
        return KeysetPage([AuditEntry(*(*row[:6], as_object(row[6]))) for row in rows], reached)

    async def events(
        self,
        namespace: str,
        filters: EventFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[EventRow]:
        bounds = {
            "namespace": namespace,
            "topics": texts([pattern_regex(pattern) for pattern in filters.topics]) if filters.topics else None,
            "key": filters.key,
            "partition": filters.partition,
            "bound": before if after is None else after,
        }
        name = "find_events" if filters.key is None else "find_events_of"
        rows, reached = self._cut(await self._find(name, bounds, before, after, limit), limit, after)
        columns = [field.name for field in fields(EventRow)]
        return KeysetPage([EventRow(**dict(zip(columns, row, strict=False))) for row in rows], reached)

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
        """Return the page, newest first, and the start of the next one.

        The last two columns of a row are its position, and whether it matches.
        """
        matching = [row for row in rows if row[-1]][:limit]
        reached = None
        if sum(bool(row[-1]) for row in rows) > limit:
            reached = matching[-1][0]
        elif rows and rows[-1][-2] == MAX_EXAMINED:
            reached = rows[-1][0]
        return (matching if after is None else matching[::-1]), reached
