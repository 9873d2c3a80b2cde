"""Held runs on PostgreSQL: let go at a rate, or dropped."""

from __future__ import annotations

from datetime import datetime

from psycopg.types.json import Jsonb

from tickbird.domain.errors import NotFoundError
from tickbird.domain.runs.held import DROPPED, MAX_COUNT, Drop, Release, none_held
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.waiting_runs import release
from tickbird.store.postgres.rows import numbers
from tickbird.store.postgres.schedule_changes import hold
from tickbird.store.shared.planning.revision_cache import RevisionCache


async def resolve_held(
    db: Session, known: RevisionCache, namespace: str, name: str, decision: Release | Drop, now: datetime | None
) -> int:
    """Release or drop the oldest held runs of a schedule; how many that were."""
    found = await db.fetch("lock_schedule", namespace=namespace, name=name)
    if not found:
        raise NotFoundError(f"there is no schedule {name[:200]!r};", hint="`tickbird ls` shows those that exist.")
    # The active runs are held too: those that are released wait for them.
    schedule_id, now = found[0][0], (await hold(db, found[0][0], now)).now
    rows = await db.fetch("lock_held", schedule_id=schedule_id, count=decision.count or MAX_COUNT)
    if not rows:
        raise none_held(name)
    ids, detail = numbers(row[0] for row in rows), {"count": len(rows), "note": decision.note}
    if isinstance(decision, Release):
        await db.execute("release_held", ids=ids, now=now, actor=decision.actor, apart=decision.interval)
        action, detail = "release_held", {**detail, "per_minute": decision.per_minute}
    else:
        await db.execute("cancel_waiting", ids=ids, now=now, actor=decision.actor, reason=DROPPED)
        action = "drop_held"
    # Also where they were dropped: who wanted to release a waiter that was held here has left it.
    await release(db, known, [schedule_id], now)
    await db.execute(
        "write_audit",
        now=now,
        actor=decision.actor,
        action=action,
        namespace=namespace,
        schedule_id=schedule_id,
        schedule=name,
        run_id=None,
        detail=Jsonb(detail),
    )
    await db.execute("wake")
    return len(rows)
