"""Limits of concurrency keys on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, ConcurrencyLimit
from tickbird.domain.runs.run import RunRecord
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore
from tickbird.store.postgres.planning.waiting_runs import lock_keys, release
from tickbird.store.postgres.rows import to_run
from tickbird.store.protocol.concurrency import LimitStore
from tickbird.store.shared.planning.revision_cache import RevisionCache


class PostgresLimits(NounStore, LimitStore):
    async def set(
        self, namespace: str, key: str, max_running: int | None, actor: str, *, now: datetime | None = None
    ) -> ConcurrencyLimit:
        limit, released = await self._db.transact(
            lambda db: set_limit(db, self._db.revisions, namespace, key, max_running, actor, now)
        )
        if released:
            self._db.notifier.notify()
        return limit

    async def list(
        self, namespace: str, *, key: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[ConcurrencyLimit]:
        bounds = {"namespace": namespace, "key": key, "after": after, "limit": limit, "default": DEFAULT_LIMIT}
        return [ConcurrencyLimit(*row) for row in await self._db.fetch("list_limits", **bounds)]

    async def list_runs(self, namespace: str, key: str, *, limit: int = 100) -> Sequence[RunRecord]:
        rows = await self._db.fetch_named("list_runs_of_key", namespace=namespace, key=key, limit=limit)
        return [to_run(row) for row in rows]


async def set_limit(
    db: Session,
    revisions: RevisionCache,
    namespace: str,
    key: str,
    max_running: int | None,
    actor: str,
    now: datetime | None,
) -> tuple[ConcurrencyLimit, list[int]]:
    """Set or remove a limit; returns it with its counts, and the runs that were released."""
    await lock_keys(db, [(namespace, key)])
    before = await db.fetch("stored_limit", namespace=namespace, key=key)
    if max_running is None:
        await db.execute("remove_limit", namespace=namespace, key=key)
    else:
        await db.execute("set_limit", namespace=namespace, key=key, max_running=max_running)
    [(at,)] = await db.fetch("clock", now=now)
    released = await release(db, revisions, [], at, keys=[(namespace, key)])
    detail = {"key": key, "before": before[0][0] if before else None, "after": max_running}
    await write_audit(db, at, actor, "limit", namespace, detail=detail)
    rows = await db.fetch("list_limits", namespace=namespace, key=key, after="", limit=None, default=DEFAULT_LIMIT)
    return ConcurrencyLimit(*rows[0]) if rows else ConcurrencyLimit(key, DEFAULT_LIMIT, False, 0, 0), released
