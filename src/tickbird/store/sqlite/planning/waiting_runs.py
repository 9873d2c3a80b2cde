"""Waiting runs, and the release of the next ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, Key, WaitingRun, pick_releasable
from tickbird.domain.limits.fairness import MINUTE, NOT_DEFERRED, defer_released
from tickbird.domain.time.instants import to_micros, to_seconds
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.planning.waiting_runs import waiter
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.revisions import read_revision
from tickbird.store.sqlite.rows import Row, dump

# The number of waiting runs of a schedule or key that are read; later ones are not next.
MAX_WAITERS = 1_000


def room(db: sqlite3.Connection, keys: Iterable[Key]) -> dict[Key, int]:
    """The number of free slots of each key; negative if a limit was lowered."""
    free_slots: dict[Key, int] = {}
    for namespace, key in keys:
        values = {"namespace": namespace, "key": key, "default": DEFAULT_LIMIT}
        [(free,)] = db.execute(SQL["busy_key"], values).fetchall()
        free_slots[namespace, key] = free
    return free_slots


def release(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    schedule_ids: Iterable[int],
    now: datetime,
    *,
    keys: Iterable[Key] = (),
) -> list[int]:
    """Queue the next waiting runs of these schedules and keys, if slots are free."""
    ids, freed = list(schedule_ids), set(keys)
    schedules: set[int] = set()
    if ids:
        schedules = {row[0] for row in db.execute(SQL["with_waiters"], {"ids": dump(ids)})}
    loose: list[Row] = []
    for (namespace, key), free in room(db, freed).items():
        if free > 0:
            bounds = {"namespace": namespace, "key": key, "limit": free}
            schedules |= {row[0] for row in db.execute(SQL["schedules_of_key"], bounds)}
            loose += db.execute(SQL["waiters_without_schedule"], bounds)
    if not schedules and not loose:
        return []
    busy: dict[int, int] = {}
    own: dict[int, int] = {}
    waiters: list[WaitingRun] = []
    for schedule_id in schedules:
        bounds = {"schedule_id": schedule_id, "limit": MAX_WAITERS}
        counts = dict(db.execute(SQL["count_busy"], bounds).fetchall())
        busy[schedule_id] = sum(counts.values())
        own |= counts
        for statement in ("waiters_of_schedule", "waiters_of_backfills"):
            waiters += [_waiter(db, revisions, row) for row in db.execute(SQL[statement], bounds).fetchall()]
    waiters += [_waiter(db, revisions, row) for row in loose]
    chosen = pick_releasable(waiters, busy, room(db, {run.key for run in waiters if run.key is not None}), own)
    by_id = {waiter.id: waiter for waiter in waiters}
    deferred = defer_released((by_id[run_id] for run_id in chosen), own, to_seconds(now) // MINUTE)
    released_at = to_micros(now)
    values = [
        {"id": run_id, "now": released_at, "deferred_until_minute": deferred.get(run_id, NOT_DEFERRED)}
        for run_id in chosen
    ]
    db.executemany(SQL["release_run"], values)
    return chosen


def _waiter(db: sqlite3.Connection, revisions: RevisionCache, row: Row) -> WaitingRun:
    run_id, schedule_id, revision, priority, namespace, key, backfill_id, concurrency = row
    info = None if schedule_id is None else read_revision(db, revisions, schedule_id, revision)
    concurrency_key = None if key is None else (namespace, key)
    return waiter(info, run_id, schedule_id, priority, concurrency_key, backfill_id, concurrency)
