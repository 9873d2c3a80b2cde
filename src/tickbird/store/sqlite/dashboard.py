"""What a dashboard reads, on SQLite; each verb sees one state of the database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
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
from tickbird.store.sqlite.database.instants import MICROS, to_instant, to_micros
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import Row, audit_record, dump, run_record, schedule_record

Read = Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]]
# Of what has ended lately in all namespaces, so much is looked through for one.
_RECENT: Final = 10_000


class SqliteDashboard:
    """The verbs of `DashboardStore`; `read` does something with a connection in one transaction."""

    def __init__(self, read: Read) -> None:
        self._read = read

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

        def query(db: sqlite3.Connection) -> list[ScheduleSummary]:
            bounds = {**_filter(db, namespace, wanted), "after": after, "before": before, "limit": limit}
            name = "find_schedules" if before is None else "find_schedules_before"
            ids = [row[0] for row in db.execute(SQL[name], bounds)]
            rows = {row[0]: row for row in db.execute(SQL["list_these"], {"ids": dump(ids)})}
            runs = _these_runs(db, [row[-3] for row in rows.values() if row[-3] is not None])
            listed = [rows[each] for each in (ids if before is None else ids[::-1]) if each in rows]
            return [
                ScheduleSummary(
                    schedule=schedule_record(row), last_run=runs.get(row[-3]), failure_streak=row[-2], held=row[-1]
                )
                for row in listed
            ]

        return await self._read(query)  # type: ignore[no-any-return]

    async def count_schedules(self, namespace: str, wanted: ScheduleFilter, maximum: int = 10_000) -> CappedCount:
        """How many schedules are wanted, counted up to `maximum`."""

        def query(db: sqlite3.Connection) -> int:
            bounds = {**_filter(db, namespace, wanted), "limit": maximum + 1}
            return int(db.execute(SQL["count_schedules"], bounds).fetchone()[0])

        number = await self._read(query)
        return CappedCount(min(number, maximum), number > maximum)

    async def newest_points(
        self, ids: Collection[int], each: int = 60
    ) -> tuple[Sequence[RunPoint], Sequence[SkipPoint]]:
        """The newest runs and skips of each of these schedules, so many of each."""
        return await self._read(lambda db: _points(db, ids, each))  # type: ignore[no-any-return]

    async def timeline(
        self, namespace: str, first: datetime, last: datetime, *, schedules: int = 50, each: int = 100
    ) -> Timeline:
        """What went on in this time and what is to come, of so many schedules at most, so many runs of each."""
        since, until = to_micros(first), to_micros(last)
        bounds = {"namespace": namespace, "first": since, "last": until, "maximum": _RECENT, "limit": schedules + 1}

        def query(db: sqlite3.Connection) -> Timeline:
            lively = [row[0] for row in db.execute(SQL["lively_schedules"], bounds)]
            coming = [row[0] for row in db.execute(SQL["coming_schedules"], bounds)]
            ids = list(dict.fromkeys((*lively[:schedules], *coming[:schedules])))
            return Timeline(
                schedules=_these_schedules(db, ids),
                marks=newest_points(*_points(db, ids, each, since, until), each),
                capped=max(len(lively), len(coming)) > schedules,
            )

        return await self._read(query)  # type: ignore[no-any-return]

    async def timings(
        self, namespace: str, *, schedule_id: int | None = None, since: datetime, limit: int = 2_000
    ) -> Sequence[RunTiming]:
        """The newest runs that have begun and were due since an instant, newest first; of all, those that ended."""
        bounds = {"namespace": namespace, "since": to_micros(since), "limit": limit, "maximum": _RECENT}
        bounds["schedule_id"] = schedule_id
        statement = SQL["timings" if schedule_id is None else "timings_of"]
        rows = await self._read(lambda db: db.execute(statement, bounds).fetchall())
        return [RunTiming(*row[:3], *map(to_instant, row[3:])) for row in rows]

    async def streaks(self, namespace: str, limit: int = 100) -> tuple[Sequence[FailureStreak], bool]:
        """Schedules that fail now, those whose newest failure is newest first; and whether there are more."""

        def query(db: sqlite3.Connection) -> list[FailureStreak]:
            bounds = {"ids": dump(_failing(db, namespace)), "limit": limit + 1}
            found = []
            for name, schedule_id, _ in db.execute(SQL["failing_names"], bounds).fetchall():
                told = db.execute(SQL["newest_told"], {"id": schedule_id}).fetchall()
                good = next((place for place, row in enumerate(told) if row[1] == "succeeded"), len(told))
                [error] = db.execute(SQL["error_of"], {"id": told[0][0]}).fetchone()
                since = to_instant(min(row[2] for row in told[:good]))
                found.append(FailureStreak(schedule=name, failures=good, since=since, run_id=told[0][0], error=error))
            return found

        found = await self._read(query)
        return found[:limit], len(found) > limit

    async def late_runs(self, namespace: str, before: datetime, limit: int = 100) -> tuple[Sequence[OverdueRun], bool]:
        """Queued runs that could have begun before an instant, oldest first of those in front; and if there is more."""
        bounds = {"namespace": namespace, "before": to_micros(before), "limit": limit + 1, "maximum": _RECENT}

        def query(db: sqlite3.Connection) -> list[Row]:
            queues = db.execute(SQL["examine_queues"], {"namespace": namespace}).fetchall()
            found = [row for (queue,) in queues for row in db.execute(SQL["late_runs"], {**bounds, "queue": queue})]
            return sorted(found, key=lambda row: (row[4], row[0]))

        rows = await self._read(query)
        late = [
            OverdueRun(id=run_id, schedule=schedule, queue=queue, target=target, available_at=to_instant(available_at))
            for run_id, schedule, queue, target, available_at in rows[:limit]
        ]
        return late, len(rows) > limit

    async def overdue(self, namespace: str, before: datetime, limit: int = 100) -> Sequence[Schedule]:
        """Schedules that a planner should have looked at before an instant, oldest first."""
        bounds = {"namespace": namespace, "last": to_micros(before), "maximum": _RECENT, "limit": limit}

        def query(db: sqlite3.Connection) -> list[Schedule]:
            return _these_schedules(db, [row[0] for row in db.execute(SQL["coming_schedules"], bounds)])

        return await self._read(query)  # type: ignore[no-any-return]

    async def load(
        self, namespace: str, *, after: int = 0, limit: int = 1_000, durations: bool = True
    ) -> Sequence[LoadRow]:
        """Active schedules by id, behind `after`, with what their load is computed from."""
        bounds = {"namespace": namespace, "after": after, "limit": limit}

        def query(db: sqlite3.Connection) -> list[LoadRow]:
            return [
                LoadRow(
                    id=schedule_id,
                    name=name,
                    definition=definition,
                    queue=queue,
                    next_run_at=to_instant(next_run_at),
                    duration=_median(db, schedule_id) if durations else None,
                )
                for schedule_id, name, definition, queue, next_run_at in db.execute(SQL["load_page"], bounds).fetchall()
            ]

        return await self._read(query)  # type: ignore[no-any-return]

    async def key_of_run(self, namespace: str, run_id: int) -> str | None:
        """The idempotency key that a run was asked for with."""
        bounds = {"namespace": namespace, "id": run_id}
        row = await self._read(lambda db: db.execute(SQL["key_of_run"], bounds).fetchone())
        return None if row is None else row[0]

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
        statuses = set(wanted.statuses)
        bounds = {
            "namespace": namespace,
            "schedule": wanted.schedule,
            "status": min(statuses, default=None),
            "statuses": dump(sorted(statuses)) if statuses else None,
            "origin": wanted.origin,
            "target": wanted.target,
            "worker": wanted.worker,
            "queue": wanted.queue,
            "key": wanted.key,
            "since": to_micros(wanted.since),
            "until": to_micros(wanted.until),
            "error": wanted.error,
        }
        rare = wanted.schedule is None and len(statuses) == 1 and statuses <= {"failed", "cancelled"}
        name = "find_unwell" if rare else "find_runs" if wanted.schedule is None else "find_runs_of"

        def query(db: sqlite3.Connection) -> KeysetPage[RunRecord]:
            page = _going(db, wanted, bounds, before, after, limit) if wanted.is_going else None
            if page is None:
                rows, reached = _find(db, name, bounds, before, after, limit)
                page = KeysetPage([row[0] for row in rows], reached)
            runs = _these_runs(db, page.rows)
            return KeysetPage([runs[each] for each in page.rows], page.reached)

        return await self._read(query)  # type: ignore[no-any-return]

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
        bounds = {
            "namespace": namespace,
            "actor": wanted.actor,
            "action": wanted.action,
            "schedule": wanted.schedule,
            "since": to_micros(wanted.since),
            "until": to_micros(wanted.until),
        }
        name = "find_audit" if wanted.schedule is None else "find_audit_of"

        def query(db: sqlite3.Connection) -> KeysetPage[AuditEntry]:
            rows, reached = _find(db, name, bounds, before, after, limit)
            return KeysetPage([audit_record(row[:-1]) for row in rows], reached)

        return await self._read(query)  # type: ignore[no-any-return]

    async def last_lines(
        self, run_id: int, *, before: tuple[int, int] | None = None, limit: int = 1_000
    ) -> Sequence[LogLine]:
        """The last lines of a run, in order; with `before`, of those in front of this attempt and number."""
        attempt, number = before or END
        bounds = {"id": run_id, "attempt": attempt, "number": number, "limit": limit}
        rows = await self._read(lambda db: db.execute(SQL["last_lines"], bounds).fetchall())
        return [LogLine(row[0], row[1], row[2], to_instant(row[3]), *row[4:]) for row in reversed(rows)]

    async def dependents(self, namespace: str, name: str, limit: int = 100) -> Sequence[str]:
        """The first of the schedules that depend on this one, by name."""

        def query(db: sqlite3.Connection) -> list[str]:
            bounds = {"namespace": namespace, "name": name, "limit": limit}
            return [row[0] for row in db.execute(SQL["dependents"], bounds)]

        return await self._read(query)  # type: ignore[no-any-return]


def _filter(db: sqlite3.Connection, namespace: str, wanted: ScheduleFilter) -> dict[str, Any]:
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


def _failing(db: sqlite3.Connection, namespace: str) -> list[int]:
    bounds = {"namespace": namespace, "maximum": MAX_FAILED}
    return [row[0] for row in db.execute(SQL["failing_schedules"], bounds)]


def _points(
    db: sqlite3.Connection, ids: Iterable[int], each: int, first: int | None = None, last: int | None = None
) -> tuple[list[RunPoint], list[SkipPoint]]:
    runs: list[RunPoint] = []
    skips: list[SkipPoint] = []
    for one in ids:
        bounds = {"id": one, "each": each, "first": first, "last": last}
        runs += [RunPoint(*row[:4], *map(to_instant, row[4:])) for row in db.execute(SQL["run_marks"], bounds)]
        skips += [
            SkipPoint(schedule_id, skip_id, reason, to_instant(begin), to_instant(end), count)
            for schedule_id, skip_id, reason, begin, end, count in db.execute(SQL["skip_marks"], bounds)
        ]
    return runs, skips


def _these_schedules(db: sqlite3.Connection, ids: Sequence[int]) -> list[Schedule]:
    rows = {row[0]: row for row in db.execute(SQL["read_schedules"], {"ids": dump(ids)})}
    return [schedule_record(rows[one]) for one in ids if one in rows]


def _these_runs(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, RunRecord]:
    return {row[0]: run_record(row) for row in db.execute(SQL["some_runs"], {"ids": dump(ids)})} if ids else {}


def _median(db: sqlite3.Connection, schedule_id: int) -> float | None:
    taken = [row[0] for row in db.execute(SQL["newest_durations"], {"id": schedule_id})]
    return taken[(len(taken) - 1) // 2] / MICROS if taken else None


def _going(
    db: sqlite3.Connection,
    wanted: RunFilter,
    bounds: dict[str, Any],
    before: int | None,
    after: int | None,
    limit: int,
) -> KeysetPage[int] | None:
    """A page of ids of runs that are not over; None where there are so many that they are found by their ids."""
    name = "pick_going" if wanted.key is None else "pick_going_of_key"
    found = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED, "limit": limit + 1}
    [(looked, ids)] = db.execute(SQL[name], found).fetchall()
    return page_of_going(looked, json.loads(ids), MAX_EXAMINED, after, limit)


def _find(
    db: sqlite3.Connection, name: str, bounds: dict[str, Any], before: int | None, after: int | None, limit: int
) -> tuple[list[Row], int | None]:
    """The page, newest first, and where the next begins; the last column tells if a row is wanted."""
    bounds = {**bounds, "before": before, "after": after, "maximum": MAX_EXAMINED}
    found: list[Row] = []
    reached = None
    for looked, row in enumerate(db.execute(SQL[name if after is None else f"{name}_after"], bounds), 1):
        if row[-1]:
            if len(found) == limit:
                reached = found[-1][0]
                break
            found.append(row)
        if looked == MAX_EXAMINED:
            reached = row[0]
    return (found if after is None else found[::-1]), reached
