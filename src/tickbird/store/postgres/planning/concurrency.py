"""Limits of concurrency keys on PostgreSQL."""

from __future__ import annotations

from datetime import datetime

from psycopg.types.json import Jsonb

from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, ConcurrencyLimit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.waiting_runs import hold_keys, release
from tickbird.store.shared.planning.revision_cache import RevisionCache


async def change(
    db: Session,
    known: RevisionCache,
    namespace: str,
    key: str,
    max_running: int | None,
    actor: str,
    now: datetime | None,
) -> tuple[ConcurrencyLimit, list[int]]:
    """Set or remove a limit; it as it stands then, and which runs were released."""
    await hold_keys(db, [(namespace, key)])
    before = await db.fetch("stored_limit", namespace=namespace, key=key)
    if max_running is None:
        await db.execute("remove_limit", namespace=namespace, key=key)
    else:
        await db.execute("set_limit", namespace=namespace, key=key, max_running=max_running)
    [(now,)] = await db.fetch("clock", now=now)
    assert now is not None
    released = await release(db, known, [], now, keys=[(namespace, key)])
    await db.execute(
        "write_audit",
        now=now,
        actor=actor,
        action="limit",
        namespace=namespace,
        schedule_id=None,
        schedule=None,
        run_id=None,
        detail=Jsonb({"key": key, "before": before[0][0] if before else None, "after": max_running}),
    )
    found = await read(db, namespace, key)
    return found[0] if found else ConcurrencyLimit(key, DEFAULT_LIMIT, False, 0, 0), released


async def read(
    db: Session, namespace: str, key: str | None, after: str = "", limit: int | None = None
) -> list[ConcurrencyLimit]:
    """The keys that have a limit or active runs."""
    bounds = {"namespace": namespace, "key": key, "after": after, "limit": limit, "default": DEFAULT_LIMIT}
    return [ConcurrencyLimit(*row) for row in await db.fetch("list_limits", **bounds)]
