"""What a dashboard reads, on SQLite; each verb sees one state of the database."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
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
from tickbird.domain.targets.target import Target
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.dashboard import DashboardStore
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.rows import dump, to_audit_entry, to_run, to_schedule

# Of what has ended lately in all namespaces, so much is looked through for one.
_RECENT: Final = 10_000


class SqliteDashboard(NounStore, DashboardStore):
    @read_transaction
    def schedules(
        self,
        db: Session,
        namespace: str,
        wanted: ScheduleFilter,
        *,
        after: str = "",
        before: str | None = None,
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        bounds = {**_filter(db, namespace, wanted), "after": after, "before": before, "limit": limit}
        name = "find_schedules" if before is None else "find_schedules_before"
        ids = [row[0] for row in db.execute(SQL[name], bounds)]
        rows = {row["id"]: row for row in fetch_named(db, "list_these", {"ids": dump(ids)})}
        runs = _these_runs(db, [row["last_run_id"] for row in rows.values() if row["last_run_id"] is not None])
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
        self, db: Session, namespace: str, wanted: ScheduleFilter, maximum: int = 10_000
    ) -> CappedCount:
        bounds = {**_filter(db, namespace, wanted), "limit": maximum + 1}
        [number] = db.execute(SQL["count_schedules"], bounds).fetchone()
        return CappedCount(min(number, maximum), number > maximum)

    @read_transaction
    def newest_points(
        self, db: Session, ids: Collection[int], each: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        return _points(db, ids, each)

    @read_transaction
    def timeline(
        self, db: Session, namespace: str, first: datetime, last: datetime, *, schedules: int = 50, each: int = 100
    ) -> Timeline:
        bounds = {
            "namespace": namespace,
            "first": to_micros(first),
            "last": to_micros(last),
            "maximum": _RECENT,
            "limit": schedules + 1,
        }
        lively = [row[0] for row in db.execute(SQL["lively_schedules"], bounds)]
        coming = [row[0] for row in db.execute(SQL["coming_schedules"], bounds)]
        ids = list(dict.fromkeys((*lively[:schedules], *coming[:schedules])))
        return Timeline(
            schedules=_these_schedules(db, ids),
            marks=newest_points(*_points(db, ids, each, first, last), each),
            capped=max(len(lively), len(coming)) > schedules,
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
            newest = db.execute(SQL["newest_told"], {"id": schedule_id}).fetchall()
            failures = next((place for place, row in enumerate(newest) if row[1] == "succeeded"), len(newest))
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
        return _these_schedules(db, [row[0] for row in db.execute(SQL["coming_schedules"], bounds)])

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
            "statuses": dump(sorted(statuses)) if statuses else None,
            "origin": wanted.origin,
            "target": wanted.target,
            "target_kind": wanted.target_kind,
            "worker": wanted.worker,
            "queue": wanted.queue,
            "key": wanted.key,
            "since": to_micros(wanted.since),
            "until": to_micros(wanted.until),
            "error": wanted.error,
        }
        rare = wanted.schedule is None and len(statuses) == 1 and statuses <= {"failed", "cancelled"}
        name = "find_unwell" if rare else "find_runs" if wanted.schedule is None else "find_runs_of"
        page = _going(db, wanted, bounds, before, after, limit) if wanted.is_going else None
        if page is None:
            rows, reached = _find(db, name, bounds, before, after, limit)
            page = KeysetPage([row[0] for row in rows], reached)
        runs = _these_runs(db, page.rows)
        return KeysetPage([runs[run_id] for run_id in page.rows], page.reached)

    @read_transaction
    def audit(
        self,
        db: Session,
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
            "since": to_micros(wanted.since),
            "until": to_micros(wanted.until),
        }
        name = "find_audit" if wanted.schedule is None else "find_audit_of"
        rows, reached = _find(db, name, bounds, before, after, limit)
        return KeysetPage([to_audit_entry(row) for row in rows], reached)

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


def _filter(db: Session, namespace: str, wanted: ScheduleFilter) -> dict[str, Any]:
    states = dump(list(wanted.states or LISTED_STATES))
    among = frozenset(_failing(db, namespace)) if wanted.failing else None
    if wanted.states and "active" not in wanted.states:
        rows = db.execute(SQL["resting_schedules"], {"states": states, "maximum": MAX_IDLE}).fetchall()
        # Where there are more, a page of them is soon found without knowing which.
        if len(rows) < MAX_IDLE:
            resting = frozenset(row[0] for row in rows)
            among = resting if among is None else among & resting
    return {
        "namespace": namespace,
        # SQLite knows small and capital letters of ASCII alone; for others it asks Python, which takes longer.
        "folded": not wanted.contains.isascii(),
        "contains": wanted.contains.casefold(),
        "states": states,
        "tag": wanted.tag,
        "app": wanted.app,
        "queue": wanted.queue,
        "among": None if among is None else dump(list(among)),
    }


def _failing(db: Session, namespace: str) -> list[int]:
    bounds = {"namespace": namespace, "maximum": MAX_FAILED}
    return [row[0] for row in db.execute(SQL["failing_schedules"], bounds)]


def _points(
    db: Session, ids: Iterable[int], each: int, first: datetime | None = None, last: datetime | None = None
) -> tuple[list[RunPoint], list[SkipPoint]]:
    runs: list[RunPoint] = []
    skips: list[SkipPoint] = []
    between = {"each": each, "first": to_micros(first), "last": to_micros(last)}
    for one in ids:
        bounds = {**between, "id": one}
        runs += [RunPoint(*row[:4], *map(from_micros, row[4:])) for row in db.execute(SQL["run_marks"], bounds)]
        skips += [
            SkipPoint(schedule_id, skip_id, reason, from_micros(begin), from_micros(end), count)
            for schedule_id, skip_id, reason, begin, end, count in db.execute(SQL["skip_marks"], bounds)
        ]
    return runs, skips


def _these_schedules(db: Session, ids: Sequence[int]) -> list[Schedule]:
    rows = {row["id"]: row for row in fetch_named(db, "read_schedules", {"ids": dump(ids)})}
    return [to_schedule(rows[one]) for one in ids if one in rows]


def _these_runs(db: Session, ids: Sequence[int]) -> dict[int, RunRecord]:
    return {row["id"]: to_run(row) for row in fetch_named(db, "some_runs", {"ids": dump(ids)})} if ids else {}


def _median(db: Session, schedule_id: int) -> float | None:
    taken = [row[0] for row in db.execute(SQL["newest_durations"], {"id": schedule_id})]
    return timedelta(microseconds=taken[(len(taken) - 1) // 2]).total_seconds() if taken else None


def _going(
    db: Session, wanted: RunFilter, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
) -> KeysetPage[int] | None:
    """A page of ids of runs that are not over; None where there are so many that they are found by their ids."""
    name = "pick_going" if wanted.key is None else "pick_going_of_key"
    found = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED, "limit": limit + 1}
    [(looked, ids)] = db.execute(SQL[name], found).fetchall()
    return page_of_going(looked, json.loads(ids), MAX_EXAMINED, after, limit)


def _find(
    db: Session, name: str, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
) -> tuple[list[NamedRow], int | None]:
    """The page, newest first, and where the next begins; the last column tells if a row is wanted."""
    bounds = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED}
    found: list[NamedRow] = []
    reached = None
    # One after the other: most of them need not be read.
    cursor = db.cursor()
    cursor.row_factory = NamedRow
    for looked, row in enumerate(cursor.execute(SQL[name if after is None else f"{name}_after"], bounds), 1):
        if row[-1]:
            if len(found) == limit:
                reached = found[-1][0]
                break
            found.append(row)
        if looked == MAX_EXAMINED:
            reached = row[0]
    return (found if after is None else found[::-1]), reached
