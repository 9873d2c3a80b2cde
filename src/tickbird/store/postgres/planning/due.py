"""Due schedules on PostgreSQL: lock their cursors, and read facts for the planner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tickbird.domain.planning.fast_path import Due, DueCursor
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.revisions import load_revisions
from tickbird.store.postgres.rows import numbers, to_schedule
from tickbird.store.shared.planning.due import (
    DueSchedule,
    LockedCursor,
    edited_by_sql,
    plain_schedule,
)
from tickbird.store.shared.planning.revision_cache import RevisionCache, leave_large
from tickbird.store.shared.row_types import as_rows


class LockResult(NamedTuple):
    """The clock when cursors were locked, the next due instant, and whether another planner holds a due cursor."""

    now: datetime
    next_at: datetime | None
    # Another planner holds a due cursor, and may never commit.
    others_due: bool


async def lock_due(db: Session, limit: int, bounds: dict[str, Any]) -> tuple[LockResult, list[DueCursor]]:
    """Lock up to `limit` due cursors that are not locked."""
    return _locked(*await db.fetch_table("lock_due", limit=limit, **bounds))


async def lock_due_by_id(db: Session, ids: Sequence[int], bounds: dict[str, Any]) -> tuple[LockResult, list[DueCursor]]:
    """Lock the cursors of these schedules that are still due and not locked."""
    return _locked(*await db.fetch_table("lock_due_by_id", ids=numbers(ids), **bounds))


def _locked(columns: list[str], rows: list[tuple[Any, ...]]) -> tuple[LockResult, list[DueCursor]]:
    [locked] = as_rows(LockResult, columns, rows[:1])
    return locked, as_rows(DueCursor, columns, rows[1:])


async def load_due_revisions(db: Session, revisions: RevisionCache, locked: Sequence[DueCursor]) -> list[Due]:
    """Pair due cursors with their revisions; omits cursors whose definitions do not fit into memory together."""
    due: list[Due] = [(cursor, revisions.get(cursor[:2])) for cursor in locked]
    missing = {cursor.schedule_id: cursor for cursor, revision in due if revision is None}
    if missing:
        sizes = dict(await db.fetch("definition_sizes", ids=numbers(missing)))
        left = leave_large((schedule_id, sizes.get(schedule_id, 0)) for schedule_id in missing)
        keys = [cursor[:2] for cursor in missing.values() if cursor.has_fast_path and cursor.schedule_id not in left]
        loaded = (await load_revisions(db, revisions, keys)).by_key
        due = [
            (cursor, revision or loaded.get(cursor[:2])) for cursor, revision in due if cursor.schedule_id not in left
        ]
    return [(cursor, revision if cursor.has_fast_path else None) for cursor, revision in due]


async def read_due_schedules(db: Session, revisions: RevisionCache, ids: Iterable[int]) -> list[DueSchedule]:
    """The schedules of locked cursors; a cached revision and a plain state need no further read."""
    rows = await db.fetch_as(LockedCursor, "read_cursors", ids=numbers(ids))
    prior = [(row.schedule_id, row.prior_revision) for row in rows if row.prior_revision is not None]
    before = (await load_revisions(db, revisions, prior)).by_key
    # Keep references, because reading the others may evict them from the cache.
    ready = {row.schedule_id: revisions.get((row.schedule_id, row.revision)) for row in rows if row.is_complete}
    details: dict[int, dict[str, Any]] = {}
    if others := [row.schedule_id for row in rows if ready.get(row.schedule_id) is None]:
        details = {row["id"]: row for row in await db.fetch_named("read_schedules", ids=numbers(others))}
    schedules = []
    for row in rows:
        if (info := ready.get(row.schedule_id)) is not None:
            schedules.append(plain_schedule(row, info))
            continue
        schedule, edited = to_schedule(details[row.schedule_id], explain=True), None
        if row.prior_revision is not None and row.edited_at is not None:
            old = before.get((row.schedule_id, row.prior_revision))
            edited = edited_by_sql(old, schedule, row.prior_revision, row.edited_at)
        schedules.append(DueSchedule(schedule, row.last_skip_id, edited, row.zone_generation))
    return schedules
