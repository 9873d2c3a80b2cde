"""Runs that are finished in a transaction of their task, on any connection; and the runs that wait for them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from tickbird.domain.limits.concurrency import Key
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import StatementScript
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.dependencies import record_successes
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import dump

_MAX_SETTLED = 1_000


def committing_run(lease: LeaseRef, worker: str, result: Any, now: datetime | None = None) -> StatementScript[bool]:
    """Record the success of an attempt; False if it is no longer current."""
    values = {
        "id": lease.run_id,
        "attempt": lease.attempt,
        "incarnation": lease.incarnation,
        "worker": worker,
        "result": None if result is None else dump(result),
        "now": to_micros(read_clock(now)),
    }
    if not (yield "commit_run", values):
        return False
    yield "note_committed", {"id": lease.run_id}
    return True


def settle(db: Session, revisions: RevisionCache, now: datetime, ids: Collection[int] | None = None) -> list[int]:
    """Release the runs that waited for these runs, or for any that a lost worker has left."""
    values = {"ids": None if ids is None else dump(list(ids)), "limit": _MAX_SETTLED}
    settled = [run_id for (run_id,) in db.execute(SQL["settle_runs"], values).fetchall()]
    if not settled:
        return []
    freed: set[int] = set()
    keys: set[Key] = set()
    for finished_at, schedule_id, namespace, key in db.execute(SQL["settled_runs"], {"ids": dump(settled)}).fetchall():
        if schedule_id is not None:
            freed.add(schedule_id)
            freed |= record_successes(db, [schedule_id], from_micros(finished_at))
        if key is not None:
            keys.add((namespace, key))
    return release(db, revisions, freed, now, keys=keys)
