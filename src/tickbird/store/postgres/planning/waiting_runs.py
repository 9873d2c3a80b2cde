"""Waiting runs, and the release of the next ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, Key, WaitingRun, pick_releasable
from tickbird.domain.limits.fairness import MINUTE, defer_released
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.concurrency_keys import key_columns, stripes
from tickbird.store.postgres.planning.revisions import LoadedRevisions, load_revisions
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.planning.waiting_runs import waiter

# The number of waiting runs of a schedule that are read; later ones are not next.
_MAX_WAITERS: Final = 1_000


async def lock_active_runs(db: Session, schedule_ids: Collection[int]) -> None:
    """Lock the active runs of these schedules, and prevent the start of deferred ones."""
    locked: set[int] = set()
    while True:
        rows = await db.fetch("lock_active", ids=numbers(schedule_ids))
        before, locked = locked, locked | {row[0] for row in rows}
        # Without deferred runs, no run started unseen.
        if locked == before or not any(was_deferred for _, was_deferred in rows):
            return


async def lock_keys(db: Session, keys: Collection[Key]) -> dict[Key, int]:
    """Lock keys until the end of the transaction; returns the number of free slots of each.

    Negative if a limit was lowered. Rows of runs that will change must be locked before.
    """
    if not keys:
        return {}
    await db.execute("lock_keys", stripes=stripes(keys))
    # A later statement, which sees the changes of earlier lock holders.
    rows = await db.fetch("read_room", **key_columns(keys), default=DEFAULT_LIMIT)
    return {(namespace, key): free for namespace, key, free in rows}


async def release(
    db: Session, revisions: RevisionCache, schedule_ids: Collection[int], now: datetime, *, keys: Collection[Key] = ()
) -> list[int]:
    """Queue the next waiting runs of these schedules and keys, if slots are free. Call it after slots were freed."""
    if not schedule_ids and not keys:
        return []
    # A session that finishes another run of the same schedule must see the runs released here, and vice versa: both
    # must lock the oldest waiting run, and count in a later statement.
    schedules: set[int] = set()
    if schedule_ids:
        schedules = {row[0] for row in await db.fetch("lock_waiters", ids=numbers(schedule_ids))}
    if not schedules and not keys:
        return []
    waiting = await _waiters(db, schedules)
    keys = {*keys, *_keys(waiting)}
    room = await lock_keys(db, keys)
    if free := [key for key, slots in room.items() if slots > 0]:
        more = {row[0] for row in await db.fetch("schedules_of_keys", **key_columns(free))} - schedules
        if more:
            # The holder of another schedule's waiting run will lock its key next; waiting for it would be a deadlock.
            others = {row[0] for row in await db.fetch("try_waiters", ids=numbers(more))}
            waiting += await _waiters(db, others)
            schedules |= others
        waiting += await db.fetch(
            "waiters_without_schedule", **key_columns(free), room=numbers(room[key] for key in free)
        )
    if not waiting:
        return []
    loaded = await load_revisions(db, revisions, {(row[1], row[2]) for row in waiting if row[1] is not None})
    busy: Counter[int] = Counter()
    own: dict[int, int] = {}
    for schedule_id, backfill_id, active in await db.fetch("read_busy", ids=numbers(schedules)) if schedules else ():
        busy[schedule_id] += active
        own[backfill_id] = active
    waiters = {row[0]: _waiter(loaded, row) for row in waiting}
    chosen = pick_releasable(waiters.values(), busy, room, own)
    if not chosen:
        return []
    until = defer_released((waiters[run_id] for run_id in chosen), own, int(now.timestamp()) // MINUTE)
    deferred = {"those": numbers(until), "until": numbers(until.values())}
    return [row[0] for row in await db.fetch("release_runs", ids=numbers(chosen), now=now, **deferred)]


async def _waiters(db: Session, schedules: Collection[int]) -> list[tuple[Any, ...]]:
    if not schedules:
        return []
    return await db.fetch("read_waiters", ids=numbers(schedules), limit=_MAX_WAITERS)


def _waiter(loaded: LoadedRevisions, row: Sequence[Any]) -> WaitingRun:
    run_id, schedule_id, revision, priority, _, _, backfill_id, concurrency = row
    revision_info = loaded.by_key.get((schedule_id, revision))
    return waiter(revision_info, run_id, schedule_id, priority, _key(row), backfill_id, concurrency)


def _keys(rows: Iterable[Sequence[Any]]) -> set[Key]:
    return {key for row in rows if (key := _key(row)) is not None}


def _key(row: Sequence[Any]) -> Key | None:
    return None if row[5] is None else (row[4], row[5])
