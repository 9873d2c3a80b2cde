"""Runs that are finished in a transaction of their task, on any connection; and the runs that wait for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.runs.leases import LeaseRef
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.dependencies import record_successes
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import json_text, numbers
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import StatementScript

_MAX_SETTLED = 1_000


def committing_run(lease: LeaseRef, worker: str, result: Any) -> StatementScript[bool]:
    """Record the success of an attempt; False if it is no longer current."""
    values = {
        "id": lease.run_id,
        "attempt": lease.attempt,
        "incarnation": lease.incarnation,
        "worker": worker,
        "result": None if result is None else json_text(result),
    }
    return bool((yield "commit_run", values))


async def read_commits(db: Session, refs: Sequence[LeaseRef]) -> tuple[frozenset[int], frozenset[int]]:
    """The runs that these attempts have finished, and the runs that a transaction still locks."""
    rows = await db.fetch(
        "confirm_runs",
        ids=numbers(ref.run_id for ref in refs),
        attempts=numbers(ref.attempt for ref in refs),
        incarnations=numbers(ref.incarnation for ref in refs),
    )
    seen = {row[0] for row in rows}
    rest = [ref.run_id for ref in refs if ref.run_id not in seen]
    locked = await db.fetch("locked_runs", ids=numbers(rest)) if rest else []
    return frozenset(run_id for run_id, is_done in rows if is_done), frozenset(row[0] for row in locked)


async def settle(db: Session, revisions: RevisionCache, now: datetime, ids: Collection[int] | None = None) -> list[int]:
    """Release the runs that waited for these runs, or for any that a lost worker has left."""
    rows = await db.fetch("settle_runs", ids=None if ids is None else numbers(ids), limit=_MAX_SETTLED)
    freed: set[int] = set()
    for finished_at, schedule_id, _, _, is_watched in rows:
        if schedule_id is not None:
            freed.add(schedule_id)
            if is_watched:
                freed.update(await record_successes(db, [schedule_id], [], finished_at))
    keys = {(namespace, key) for _, _, namespace, key, _ in rows if key is not None}
    return await release(db, revisions, freed, now, keys=keys)
