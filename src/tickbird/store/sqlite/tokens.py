"""Tokens on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

from tickbird.domain.access.tokens import (
    USE_NOTED_EVERY,
    Namespaces,
    NewToken,
    TokenRecord,
    audit_detail,
    audited_in,
    no_such_token,
)
from tickbird.domain.access.tokens import state_at as token_state
from tickbird.domain.errors import ConflictError
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.sqlite.database.instants import to_instant, to_micros
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import Row, dump
from tickbird.store.sqlite.runs import write_audit


def create(db: sqlite3.Connection, namespace: str, new: NewToken, actor: str, now: int) -> TokenRecord:
    """Insert a token."""
    row = {
        "id": new.id,
        "digest": new.digest,
        "name": new.name,
        "role": new.role,
        "namespaces": None if new.namespaces is None else dump(list(new.namespaces)),
        "expires_at": to_micros(new.expires_at),
        "actor": actor,
        "now": now,
    }
    rows = db.execute(SQL["insert_token"], row).fetchall()
    if not rows:
        raise ConflictError("another token has this id already;", hint="try again.")
    record = _record(rows[0], now)
    audit(db, namespace, record.namespaces, "create_token", actor, now, audit_detail(record))
    return record


def find(db: sqlite3.Connection, token_id: str, now: int) -> TokenRecord | None:
    """A token by its id."""
    rows = db.execute(SQL["find_token"], {"id": token_id, "now": now}).fetchall()
    return _record(rows[0], now) if rows else None


def listed(
    db: sqlite3.Connection, within: Collection[str] | None, live: bool, after: str, limit: int, now: int
) -> list[TokenRecord]:
    """Tokens by id."""
    names = None if within is None else dump(sorted(within))
    bounds = {"within": names, "live": live, "after": after, "limit": limit, "now": now}
    return [_record(row, now) for row in db.execute(SQL["list_tokens"], bounds)]


def revoke(db: sqlite3.Connection, namespace: str, token_id: str, actor: str, now: int) -> TokenRecord:
    """End a token; one that was revoked stays as it is."""
    rows = db.execute(SQL["revoke_token"], {"id": token_id, "actor": actor, "now": now}).fetchall()
    if rows:
        record = _record(rows[0], now)
        audit(db, namespace, record.namespaces, "revoke_token", actor, now, audit_detail(record))
        return record
    found = find(db, token_id, now)
    if found is None:
        raise no_such_token(token_id)
    return found


def live(db: sqlite3.Connection, ids: Collection[str], now: int) -> frozenset[str]:
    """Those that can be used."""
    return frozenset(row[0] for row in db.execute(SQL["filter_live_tokens"], {"ids": dump(sorted(ids)), "now": now}))


def note_use(db: sqlite3.Connection, token_id: str, now: int) -> None:
    """Write that a token was used, unless that was written just before."""
    db.execute(SQL["touch_token"], {"id": token_id, "now": now, "every": USE_NOTED_EVERY})


def audit(
    db: sqlite3.Connection,
    namespace: str,
    opened: Namespaces,
    action: str,
    actor: str,
    now: int,
    detail: Mapping[str, Any],
) -> None:
    """Record what was done to a token, or to what was opened with it, where that opens."""
    for each in audited_in(opened, namespace):
        write_audit(db, now, actor, action, each, detail=detail)


def _record(row: Row, now: int) -> TokenRecord:
    token_id, digest, name, role, namespaces, created_at, created_by, expires_at, revoked_at, revoked_by, *rest = row
    used_at, sessions = rest
    state = token_state(to_instant(revoked_at), to_instant(expires_at), to_instant(now))
    return TokenRecord(
        id=token_id,
        digest=digest,
        name=name,
        role=role,
        namespaces=None if namespaces is None else tuple(as_list(decode(namespaces))),
        created_at=to_instant(created_at),
        created_by=created_by,
        expires_at=to_instant(expires_at),
        revoked_at=to_instant(revoked_at),
        revoked_by=revoked_by,
        last_used_at=to_instant(used_at),
        state=state,
        # They end with it, without being closed.
        sessions=sessions if state == "live" else 0,
    )
