"""Due schedules on SQLite: their cursors, and facts for the planner."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tickbird.domain.planning.fast_path import Due, DueCursor, RevisionInfo
from tickbird.domain.schedules.schedule import PauseState, Schedule
from tickbird.store.shared.planning.due import (
    DueSchedule,
    LockedCursor,
    edited_by_sql,
    plain_schedule,
)
from tickbird.store.shared.planning.revision_cache import RevisionCache, leave_large
from tickbird.store.shared.stored_definitions import read_definition
from tickbird.store.sqlite.database.statements import SQL, fetch_as
from tickbird.store.sqlite.planning.revisions import read_revision
from tickbird.store.sqlite.rows import dump


class _ScheduleRow(NamedTuple):
    id: int
    namespace: str
    name: str
    definition: str | None
    paused_by: str | None
    pause_note: str | None
    paused_until: int | None
    error: str | None


def read_due(db: sqlite3.Connection, limit: int, bounds: dict[str, Any]) -> list[DueCursor]:
    """Due cursors: if there are too many, half the oldest and half the newest; and those never planned."""
    due = fetch_as(db, DueCursor, "oldest_due", {**bounds, "limit": limit})
    if len(due) == limit > 1:
        newest = fetch_as(db, DueCursor, "newest_due", {**bounds, "limit": limit // 2})
        due = list({cursor.schedule_id: cursor for cursor in due[: limit - limit // 2] + newest}.values())
    room = max(1, limit - len(due))
    return due + fetch_as(db, DueCursor, "never_planned", {**bounds, "limit": room})


def read_due_of(db: sqlite3.Connection, ids: Sequence[int], bounds: dict[str, Any]) -> list[DueCursor]:
    """The cursors that no other process has planned meanwhile."""
    return fetch_as(db, DueCursor, "still_due", {**bounds, "ids": dump(ids)})


def load_due_revisions(db: sqlite3.Connection, revisions: RevisionCache, cursors: Sequence[DueCursor]) -> list[Due]:
    """Pair due cursors with their revisions; omits cursors whose definitions do not fit into memory together.

    A definition that cannot be decoded counts as none.
    """
    due: list[Due] = [(cursor, revisions.get(cursor[:2])) for cursor in cursors]
    missing = {cursor.schedule_id: cursor[:2] for cursor, revision in due if revision is None}
    if missing:
        sizes = dict(db.execute(SQL["definition_sizes"], {"ids": dump(list(missing))}))
        excluded = leave_large((schedule_id, sizes.get(schedule_id, 0)) for schedule_id in missing)
        loaded: dict[int, RevisionInfo] = {}
        for row in _read_schedules(db, missing.keys() - excluded):
            definition, _ = read_definition(row.definition)
            if definition is not None:
                loaded[row.id] = revisions.add(missing[row.id], RevisionInfo(row.namespace, row.name, definition))
        due = [
            (cursor, revision or loaded.get(cursor.schedule_id))
            for cursor, revision in due
            if cursor.schedule_id not in excluded
        ]
    return [(cursor, revision if cursor.has_fast_path else None) for cursor, revision in due]


def read_due_schedules(db: sqlite3.Connection, revisions: RevisionCache, ids: Iterable[int]) -> list[DueSchedule]:
    """The schedules of these cursors; a cached revision and a plain state need no further read."""
    rows = fetch_as(db, LockedCursor, "cursors_by_id", {"ids": dump(list(ids))})
    # Keep references, because reading the others may evict them from the cache.
    ready = {row.schedule_id: revisions.get((row.schedule_id, row.revision)) for row in rows if row.is_complete}
    others = [row.schedule_id for row in rows if ready.get(row.schedule_id) is None]
    details = {detail.id: detail for detail in _read_schedules(db, others)}
    schedules = []
    for row in rows:
        if (info := ready.get(row.schedule_id)) is not None:
            schedules.append(plain_schedule(row, info))
            continue
        schedule, edited = _schedule(row, details[row.schedule_id]), None
        if row.prior_revision is not None and row.edited_at is not None:
            before = read_revision(db, revisions, row.schedule_id, row.prior_revision)
            edited = edited_by_sql(before, schedule, row.prior_revision, row.edited_at)
        schedules.append(DueSchedule(schedule, row.last_skip_id, edited, row.zone_generation))
    return schedules


def _read_schedules(db: sqlite3.Connection, ids: Iterable[int]) -> list[_ScheduleRow]:
    schedule_ids = list(ids)
    return fetch_as(db, _ScheduleRow, "schedules_by_id", {"ids": dump(schedule_ids)}) if schedule_ids else []


def _schedule(row: LockedCursor, detail: _ScheduleRow) -> Schedule:
    pause = None
    if detail.paused_by is not None:
        pause = PauseState(detail.paused_by, detail.pause_note or "", detail.paused_until)
    definition, unreadable = read_definition(detail.definition, to_plan=True)
    return Schedule(
        row.schedule_id,
        detail.namespace,
        detail.name,
        row.revision,
        row.state,
        definition,
        row.cursor,
        pause,
        unreadable or detail.error,
    )
