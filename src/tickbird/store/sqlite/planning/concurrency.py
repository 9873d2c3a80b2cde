"""Limits of concurrency keys on SQLite."""

from __future__ import annotations

import sqlite3

from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, ConcurrencyLimit
from tickbird.domain.runs.run import RunRecord
from tickbird.store.shared.plans import RevisionCache
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import run_record


def change(
    db: sqlite3.Connection,
    known: RevisionCache,
    namespace: str,
    key: str,
    max_running: int | None,
    actor: str,
    now: int,
) -> tuple[ConcurrencyLimit, list[int]]:
    """Set or remove a limit; it as it stands then, and which runs were released."""
    names = {"namespace": namespace, "key": key}
    before = db.execute(SQL["stored_limit"], names).fetchone()
    if max_running is None:
        db.execute(SQL["remove_limit"], names)
    else:
        db.execute(SQL["set_limit"], {**names, "max_running": max_running})
    released = release(db, known, [], now, keys=[(namespace, key)])
    detail = {"key": key, "before": before[0] if before else None, "after": max_running}
    write_audit(db, now, actor, "limit", namespace, detail=detail)
    if released:
        db.execute(SQL["wake_others"])
    found = read(db, namespace, key)
    return found[0] if found else ConcurrencyLimit(key, DEFAULT_LIMIT, False, 0, 0), released


def read(
    db: sqlite3.Connection, namespace: str, key: str | None, after: str = "", limit: int | None = None
) -> list[ConcurrencyLimit]:
    """The keys that have a limit or active runs."""
    rows_limit = -1 if limit is None else limit
    bounds = {"namespace": namespace, "key": key, "after": after, "limit": rows_limit, "default": DEFAULT_LIMIT}
    rows = db.execute(SQL["list_limits"], bounds)
    return [
        ConcurrencyLimit(name, max_running, bool(is_explicit), active, waiting)
        for name, max_running, is_explicit, active, waiting in rows
    ]


def list_runs_of_key(db: sqlite3.Connection, namespace: str, key: str, limit: int) -> list[RunRecord]:
    """The runs that have a place of a key, oldest first."""
    rows = db.execute(SQL["list_runs_of_key"], {"namespace": namespace, "key": key, "limit": limit})
    return [run_record(row) for row in rows]
