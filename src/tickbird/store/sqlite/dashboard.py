"""Queries of the dashboard on SQLite; each verb sees one snapshot of the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

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
from tickbird.domain.events.topics import matches
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.runs.logs import END, LogLine
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import LISTED_STATES, Schedule
from tickbird.domain.targets.target import Target
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.dashboard import DashboardStore
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.rows import dump, to_audit_entry, to_run, to_schedule

# The number of recently ended runs of all namespaces that are read for one namespace.
_RECENT: Final = 10_000


class SqliteDashboard(NounStore, DashboardStore):
    @read_transaction
    def schedules(
        self,
        db: Session,
        namespace: str,
        filters: ScheduleFilter,
        *,
        after: str = "",
        before: str | None = None,
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        bounds = {**_filter(db, namespace, filters), "after": after, "before": before, "limit": limit}
        name = "find_schedules" if before is None else "find_schedules_before"
        ids = [row[0] for row in db.execute(SQL[name], bounds)]
        rows = {row["id"]: row for row in fetch_named(db, "summarize_schedules", {"ids": dump(ids)})}
        runs = _read_runs(db, [row["last_run_id"] for row in rows.values() if row["last_run_id"] is not None])
        listed = [rows[schedule_id] for schedule_id in (ids if before is None else ids[::-1]) if schedule_id in rows]
        return [
            ScheduleSummary(
                schedule=to_schedule(row),
                last_run=runs.get(row["last_run_id"]),
                failure_streak=row["failure_streak"],
                held=row["held"],
                last_run_at=from_micros(row["last_run_at"]),
            )
            for row in listed
        ]

    @read_transaction
    def count_schedules(
        self, db: Session, namespace: str, filters: ScheduleFilter, maximum: int = 10_000
    ) -> CappedCount:
        bounds = {**_filter(db, namespace, filters), "limit": maximum + 1}
        [number] = db.execute(SQL["count_schedules"], bounds).fetchone()
        return CappedCount(min(number, maximum), number > maximum)

    @read_transaction
    def newest_points(
        self, db: Session, ids: Collection[int], per_schedule: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        return _points(db, ids, per_schedule)

    @read_transaction
    def timeline(
        self,
        db: Session,
        namespace: str,
        first: datetime,
        last: datetime,
        *,
        schedules: int = 50,
        per_schedule: int = 100,
    ) -> Timeline:
        bounds = {
            "namespace": namespace,
            "first": to_micros(first),
            "last": to_micros(last),
            "maximum": _RECENT,
            "limit": schedules + 1,
        }
        active = [row[0] for row in db.execute(SQL["active_schedules"], bounds)]
        upcoming = [row[0] for row in db.execute(SQL["upcoming_schedules"], bounds)]
        ids = list(dict.fromkeys((*active[:schedules], *upcoming[:schedules])))
        return Timeline(
            schedules=_read_schedules(db, ids),
            marks=newest_points(*_points(db, ids, per_schedule, first, last), per_schedule),
            capped=max(len(active), len(upcoming)) > schedules,
        )

    @read_transaction
    def timings(
        self, db: Session, namespace: str, *, schedule_id: int | None = None, since: datetime, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        bounds = {"namespace": namespace, "since": to_micros(since), "limit": limit, "maximum": _RECENT}
        statement = SQL["timings" if schedule_id is None else "timings_of"]
        rows = db.execute(statement, {**bounds, "schedule_id": schedule_id})
        return [RunTiming(*row[:3], *map(from_micros, row[3:])) for row in rows]

    @read_transaction
    def streaks(self, db: Session, namespace: str, limit: int = 100) -> tuple[Sequence[FailureStreak], bool]:
        bounds = {"ids": dump(_failing(db, namespace)), "limit": limit + 1}
        streaks = []
        for name, schedule_id, _ in db.execute(SQL["failing_names"], bounds).fetchall():
            newest = db.execute(SQL["newest_ended"], {"id": schedule_id}).fetchall()
            failures = next((index for index, row in enumerate(newest) if row[1] == "succeeded"), len(newest))
            run_id, since = newest[0][0], from_micros(min(row[2] for row in newest[:failures]))
            [error] = db.execute(SQL["error_of"], {"id": run_id}).fetchone()
            streaks.append(FailureStreak(schedule=name, failures=failures, since=since, run_id=run_id, error=error))
        return streaks[:limit], len(streaks) > limit

    @read_transaction
    def late_runs(
        self, db: Session, namespace: str, before: datetime, limit: int = 100
    ) -> tuple[Sequence[OverdueRun], bool]:
        bounds = {"namespace": namespace, "before": to_micros(before), "limit": limit + 1, "maximum": _RECENT}
        queues = db.execute(SQL["examine_queues"], {"namespace": namespace}).fetchall()
        rows = [row for (queue,) in queues for row in db.execute(SQL["late_runs"], {**bounds, "queue": queue})]
        rows.sort(key=lambda row: (row[5], row[0]))
        late = [
            OverdueRun(
                id=run_id,
                schedule=schedule,
                queue=queue,
                target=Target(name, kind),
                available_at=from_micros(available_at),
            )
            for run_id, schedule, queue, kind, name, available_at in rows[:limit]
        ]
        return late, len(rows) > limit

    @read_transaction
    def overdue(self, db: Session, namespace: str, before: datetime, limit: int = 100) -> Sequence[Schedule]:
        bounds = {"namespace": namespace, "last": to_micros(before), "maximum": _RECENT, "limit": limit}
        return _read_schedules(db, [row[0] for row in db.execute(SQL["upcoming_schedules"], bounds)])

    @read_transaction
    def load(
        self, db: Session, namespace: str, *, after: int = 0, limit: int = 1_000, durations: bool = True
    ) -> Sequence[LoadRow]:
        bounds = {"namespace": namespace, "after": after, "limit": limit}
        return [
            LoadRow(
                id=schedule_id,
                name=name,
                definition=definition,
                queue=queue,
                next_run_at=from_micros(next_run_at),
                duration=_median(db, schedule_id) if durations else None,
            )
            for schedule_id, name, definition, queue, next_run_at in db.execute(SQL["load_page"], bounds).fetchall()
        ]

    @read_transaction
    def key_of_run(self, db: Session, namespace: str, run_id: int) -> str | None:
        row = db.execute(SQL["key_of_run"], {"namespace": namespace, "id": run_id}).fetchone()
        return None if row is None else row[0]

    @read_transaction
    def runs(
        self,
        db: Session,
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
            "statuses": dump(sorted(statuses)) if statuses else None,
            "origin": filters.origin,
            "target": filters.target,
            "target_kind": filters.target_kind,
            "worker": filters.worker,
            "queue": filters.queue,
            "key": filters.key,
            "since": to_micros(filters.since),
            "until": to_micros(filters.until),
            "error": filters.error,
            "undecided": filters.undecided,
        }
        rare = filters.schedule is None and len(statuses) == 1 and statuses <= {"failed", "cancelled"}
        name = "find_unsuccessful" if rare else "find_runs" if filters.schedule is None else "find_runs_of"
        page = _pick_active(db, filters, bounds, before, after, limit) if filters.is_going else None
        if page is None:
            rows, reached = _find(db, name, bounds, before, after, limit)
            page = KeysetPage([row[0] for row in rows], reached)
        runs = _read_runs(db, page.rows)
        return KeysetPage([runs[run_id] for run_id in page.rows], page.reached)

    @read_transaction
    def audit(
        self,
        db: Session,
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
            "since": to_micros(filters.since),
            "until": to_micros(filters.until),
        }
        name = "find_audit" if filters.schedule is None else "find_audit_of"
        rows, reached = _find(db, name, bounds, before, after, limit)
        return KeysetPage([to_audit_entry(row) for row in rows], reached)

    @read_transaction
    def events(
        self,
        db: Session,
        namespace: str,
        filters: EventFilter,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 100,
    ) -> KeysetPage[EventRow]:
        bounds = {"namespace": namespace, "key": filters.key, "partition": filters.partition}
        name = "find_events" if filters.key is None else "find_events_of"

        def matches_filter(row: NamedRow) -> bool:
            return bool(row[-1]) and (not filters.topics or matches(row["topic"], filters.topics))

        rows, reached = _find(db, name, bounds, before, after, limit, matches_filter)
        return KeysetPage([_to_event_row(row) for row in rows], reached)

    @read_transaction
    def last_lines(
        self, db: Session, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        attempt, number = before or END
        bounds = {"id": run_id, "attempt": attempt, "number": number, "limit": limit}
        rows = db.execute(SQL["last_lines"], bounds).fetchall()
        return [LogLine(row[0], row[1], row[2], from_micros(row[3]), *row[4:]) for row in reversed(rows)]

    @read_transaction
    def dependents(self, db: Session, namespace: str, name: str, limit: int = 100) -> Sequence[str]:
        rows = db.execute(SQL["dependents"], {"namespace": namespace, "name": name, "limit": limit})
        return [row[0] for row in rows]


def _filter(db: Session, namespace: str, filters: ScheduleFilter) -> dict[str, Any]:
    states = dump(list(filters.states or LISTED_STATES))
    among = frozenset(_failing(db, namespace)) if filters.failing else None
    if filters.states and "active" not in filters.states:
        rows = db.execute(SQL["idle_schedules"], {"states": states, "maximum": MAX_IDLE}).fetchall()
        # If there are more, a page of them is read quickly without their ids.
        if len(rows) < MAX_IDLE:
            resting = frozenset(row[0] for row in rows)
            among = resting if among is None else among & resting
    return {
        "namespace": namespace,
        # SQLite compares without case only in ASCII; other letters need a slower Python function.
        "folded": not filters.contains.isascii(),
        "contains": filters.contains.casefold(),
        "states": states,
        "tag": filters.tag,
        "app": filters.app,
        "queue": filters.queue,
        "among": None if among is None else dump(list(among)),
    }


def _failing(db: Session, namespace: str) -> list[int]:
    bounds = {"namespace": namespace, "maximum": MAX_FAILED}
    return [row[0] for row in db.execute(SQL["failing_schedules"], bounds)]


def _points(
    db: Session, ids: Iterable[int], per_schedule: int, first: datetime | None = None, last: datetime | None = None
) -> tuple[list[RunPoint], list[SkipPoint]]:
    runs: list[RunPoint] = []
    skips: list[SkipPoint] = []
    between = {"each": per_schedule, "first": to_micros(first), "last": to_micros(last)}
    for schedule_id in ids:
        bounds = {**between, "id": schedule_id}
        runs += [RunPoint(*row[:4], *map(from_micros, row[4:])) for row in db.execute(SQL["run_points"], bounds)]
        skips += [
            SkipPoint(schedule_id, skip_id, reason, from_micros(begin), from_micros(end), count)
            for schedule_id, skip_id, reason, begin, end, count in db.execute(SQL["skip_points"], bounds)
        ]
    return runs, skips


def _read_schedules(db: Session, ids: Sequence[int]) -> list[Schedule]:
    rows = {row["id"]: row for row in fetch_named(db, "read_schedules", {"ids": dump(ids)})}
    return [to_schedule(rows[schedule_id]) for schedule_id in ids if schedule_id in rows]


def _read_runs(db: Session, ids: Sequence[int]) -> dict[int, RunRecord]:
    return {row["id"]: to_run(row) for row in fetch_named(db, "runs_by_id", {"ids": dump(ids)})} if ids else {}


def _median(db: Session, schedule_id: int) -> float | None:
    durations = [row[0] for row in db.execute(SQL["newest_durations"], {"id": schedule_id})]
    return timedelta(microseconds=durations[(len(durations) - 1) // 2]).total_seconds() if durations else None


def _pick_active(
    db: Session, filters: RunFilter, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
) -> KeysetPage[int] | None:
    """A page of ids of active runs; None if there are too many, so that a walk by id is faster."""
    name = "pick_active" if filters.key is None else "pick_active_of_key"
    values = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED, "limit": limit + 1}
    [(examined, ids)] = db.execute(SQL[name], values).fetchall()
    return page_of_going(examined, json.loads(ids), MAX_EXAMINED, after, limit)


def _to_event_row(row: NamedRow) -> EventRow:
    transaction = row["transaction_id"]
    return EventRow(
        position=row["position"],
        id=UUID(row["event_id"]),
        topic=row["topic"],
        type=row["type"],
        key=row["key"],
        version=row["version"],
        partition=row["partition"],
        published_at=from_micros(row["published_at"]),
        run_id=row["run_id"],
        transaction_id=None if transaction is None else UUID(transaction),
        ordinal=row["ordinal"],
        count=row["count"],
    )


def _find(
    db: Session,
    name: str,
    bounds: dict[str, Any],
    before: int | None,
    after: int | None,
    limit: int,
    matches_filter: Callable[[NamedRow], bool] = lambda row: bool(row[-1]),
) -> tuple[list[NamedRow], int | None]:
    """Return the page, newest first, and the start of the next one. The last column shows whether a row matches."""
    bounds = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED}
    matching: list[NamedRow] = []
    reached = None
    # One by one: most of them need not be read.
    cursor = db.cursor()
    cursor.row_factory = NamedRow
    for examined, row in enumerate(cursor.execute(SQL[name if after is None else f"{name}_after"], bounds), 1):
        if matches_filter(row):
            if len(matching) == limit:
                reached = matching[-1][0]
                break
            matching.append(row)
        if examined == MAX_EXAMINED:
            reached = row[0]
    return (matching if after is None else matching[::-1]), reached
