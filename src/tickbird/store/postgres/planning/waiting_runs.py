"""Waiting runs, and letting the next of them go."""

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

# So many waiters of a schedule are looked at; whoever stands behind them is not next.
_MAX_WAITERS: Final = 1_000


async def hold_active(db: Session, schedule_ids: Collection[int]) -> None:
    """Keep the active runs of these schedules from ending, and those that stand aside from beginning."""
    held: set[int] = set()
    while True:
        rows = await db.fetch("lock_active", ids=numbers(schedule_ids))
        found, held = held, held | {row[0] for row in rows}
        # Where nobody stood aside, nobody began unseen.
        if held == found or not any(stood_aside for _, stood_aside in rows):
            return


async def hold_keys(db: Session, keys: Collection[Key]) -> dict[Key, int]:
    """Take hold of keys until the end of the transaction; how many more runs of each may go on.

    Below none where a limit was lowered. Rows of runs that are to change must have been locked before.
    """
    if not keys:
        return {}
    await db.execute("lock_keys", stripes=stripes(keys))
    # A later statement, which sees what others did while they held them.
    rows = await db.fetch("read_room", **key_columns(keys), default=DEFAULT_LIMIT)
    return {(namespace, key): left for namespace, key, left in rows}


async def release(
    db: Session, known: RevisionCache, schedule_ids: Collection[int], now: datetime, *, keys: Collection[Key] = ()
) -> list[int]:
    """Queue the next waiters of these schedules and keys as far as there is room; call it after what made the room."""
    if not schedule_ids and not keys:
        return []
    # Who finishes another run of the same schedule at this moment must see what is released here, and the reverse:
    # both must hold the oldest waiter, and count in a later statement.
    schedules: set[int] = set()
    if schedule_ids:
        schedules = {row[0] for row in await db.fetch("lock_waiters", ids=numbers(schedule_ids))}
    if not schedules and not keys:
        return []
    waiting = await _waiters(db, schedules)
    keys = {*keys, *_keys(waiting)}
    room = await hold_keys(db, keys)
    if free := [key for key, left in room.items() if left > 0]:
        found = {row[0] for row in await db.fetch("schedules_of_keys", **key_columns(free))} - schedules
        if found:
            # Who holds the waiter of another schedule will ask for its key next; to wait for it would be a circle.
            others = {row[0] for row in await db.fetch("try_waiters", ids=numbers(found))}
            waiting += await _waiters(db, others)
            schedules |= others
        waiting += await db.fetch("loose_waiters", **key_columns(free), room=numbers(room[key] for key in free))
    if not waiting:
        return []
    loaded = await load_revisions(db, known, {(row[1], row[2]) for row in waiting if row[1] is not None})
    busy: Counter[int] = Counter()
    own: dict[int, int] = {}
    for schedule_id, backfill_id, going in await db.fetch("read_busy", ids=numbers(schedules)) if schedules else ():
        busy[schedule_id] += going
        own[backfill_id] = going
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
    one = loaded.found.get((schedule_id, revision))
    return waiter(one, run_id, schedule_id, priority, _key(row), backfill_id, concurrency)


def _keys(rows: Iterable[Sequence[Any]]) -> set[Key]:
    return {key for row in rows if (key := _key(row)) is not None}


def _key(row: Sequence[Any]) -> Key | None:
    return None if row[5] is None else (row[4], row[5])
