"""Limits of concurrency keys on SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, ConcurrencyLimit
from tickbird.domain.runs.run import RunRecord
from tickbird.store.protocol.concurrency import LimitStore
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import to_run


class SqliteLimits(NounStore, LimitStore):
    async def set(
        self, namespace: str, key: str, max_running: int | None, actor: str, *, now: datetime | None = None
    ) -> ConcurrencyLimit:
        limit, released = await self._db.write(
            lambda db: set_limit(db, self._db.revisions, namespace, key, max_running, actor, read_clock(now))
        )
        if released:
            self._db.signal()
        return limit

    @read_transaction
    def list(
        self, db: Session, namespace: str, *, key: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[ConcurrencyLimit]:
        return _read_limits(db, namespace, key, after, limit)

    @read_transaction
    def list_runs(self, db: Session, namespace: str, key: str, *, limit: int = 100) -> Sequence[RunRecord]:
        rows = fetch_named(db, "list_runs_of_key", {"namespace": namespace, "key": key, "limit": limit})
        return [to_run(row) for row in rows]


def set_limit(
    db: Session, revisions: RevisionCache, namespace: str, key: str, max_running: int | None, actor: str, now: datetime
) -> tuple[ConcurrencyLimit, list[int]]:
    """Set or remove a limit; returns it with its counts, and the runs that were released."""
    names = {"namespace": namespace, "key": key}
    before = db.execute(SQL["stored_limit"], names).fetchone()
    if max_running is None:
        db.execute(SQL["remove_limit"], names)
    else:
        db.execute(SQL["set_limit"], {**names, "max_running": max_running})
    released = release(db, revisions, [], now, keys=[(namespace, key)])
    detail = {"key": key, "before": before[0] if before else None, "after": max_running}
    write_audit(db, now, actor, "limit", namespace, detail=detail)
    if released:
        db.execute(SQL["wake_others"])
    limits = _read_limits(db, namespace, key, "", None)
    return limits[0] if limits else ConcurrencyLimit(key, DEFAULT_LIMIT, False, 0, 0), released


def _read_limits(db: Session, namespace: str, key: str | None, after: str, limit: int | None) -> list[ConcurrencyLimit]:
    maximum = -1 if limit is None else limit
    bounds = {"namespace": namespace, "key": key, "after": after, "limit": maximum, "default": DEFAULT_LIMIT}
    return [
        ConcurrencyLimit(name, max_running, bool(is_explicit), active, waiting)
        for name, max_running, is_explicit, active, waiting in db.execute(SQL["list_limits"], bounds)
    ]
