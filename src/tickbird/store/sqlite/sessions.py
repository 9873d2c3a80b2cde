"""Sessions on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from tickbird.domain.access.sessions import (
    MAX_SESSIONS,
    NewSession,
    SessionRecord,
    check_opens,
    no_such_session,
    session_detail,
    session_state,
)
from tickbird.domain.access.tokens import USE_NOTED_EVERY, TokenRecord, holder, no_such_token
from tickbird.domain.access.tokens import state_at as token_state
from tickbird.domain.errors import ConflictError
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.sqlite.database.instants import to_instant
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import Row, dump
from tickbird.store.sqlite.tokens import audit_access, find_token


def open_one(db: sqlite3.Connection, namespace: str, new: NewSession, now: int) -> SessionRecord:
    """Insert a session, and close the oldest where its token has too many."""
    token = _token(db, new.token_id, now)
    check_opens(token)
    row = {
        "id": new.id,
        "digest": new.digest,
        "token_id": new.token_id,
        "agent": new.agent,
        "seconds": new.seconds,
        "now": now,
    }
    if not db.execute(SQL["insert_session"], row).fetchall():
        raise ConflictError("another session has this id already;", hint="try again.")
    actor = holder(token.name, token.id)
    opened = _get(db, new.id, now)
    _audit(db, namespace, opened, "open_session", actor, now)
    over = {"token_id": token.id, "but": new.id, "newest": MAX_SESSIONS - 1, "actor": actor, "now": now}
    for (old,) in db.execute(SQL["close_sessions"], over).fetchall():
        _audit(db, namespace, _get(db, old, now), "close_session", actor, now)
    return opened


def find(db: sqlite3.Connection, session_id: str, now: int) -> SessionRecord | None:
    """A session by its id."""
    rows = db.execute(SQL["find_session"], {"id": session_id}).fetchall()
    return _record(rows[0], now) if rows else None


def listed(
    db: sqlite3.Connection,
    token_id: str | None,
    within: Collection[str] | None,
    live: bool,
    after: str,
    limit: int,
    now: int,
) -> list[SessionRecord]:
    """Sessions by id."""
    names = None if within is None else dump(sorted(within))
    bounds = {"token_id": token_id, "within": names, "live": live, "after": after, "limit": limit, "now": now}
    return [_record(row, now) for row in db.execute(SQL["list_sessions"], bounds)]


def close(db: sqlite3.Connection, namespace: str, session_id: str, actor: str, now: int) -> SessionRecord:
    """End a session; one that has ended stays as it is."""
    ended = db.execute(SQL["close_session"], {"id": session_id, "actor": actor, "now": now}).fetchall()
    found = _get(db, session_id, now)
    if ended:
        _audit(db, namespace, found, "close_session", actor, now)
    return found


def close_all(db: sqlite3.Connection, namespace: str, token_id: str, actor: str, now: int) -> int:
    """End all sessions of a token; how many that were."""
    token = _token(db, token_id, now)
    if token.state != "live":
        return 0
    every = {"token_id": token_id, "but": "", "newest": 0, "actor": actor, "now": now}
    ended = len(db.execute(SQL["close_sessions"], every).fetchall())
    if ended:
        detail = {"token": token.id, "name": token.name, "closed": ended}
        audit_access(db, namespace, token.namespaces, "close_sessions", actor, now, detail)
    return ended


def note_use(db: sqlite3.Connection, session_id: str, now: int) -> None:
    """Write that a session was used, unless that was written just before."""
    db.execute(SQL["touch_session"], {"id": session_id, "now": now, "every": USE_NOTED_EVERY})


def _token(db: sqlite3.Connection, token_id: str, now: int) -> TokenRecord:
    found = find_token(db, token_id, now)
    if found is None:
        raise no_such_token(token_id)
    return found


def _get(db: sqlite3.Connection, session_id: str, now: int) -> SessionRecord:
    found = find(db, session_id, now)
    if found is None:
        raise no_such_session(session_id)
    return found


def _audit(db: sqlite3.Connection, namespace: str, record: SessionRecord, action: str, actor: str, now: int) -> None:
    audit_access(db, namespace, record.namespaces, action, actor, now, session_detail(record))


def _record(row: Row, now: int) -> SessionRecord:
    session_id, digest, token_id, name, role, namespaces, agent, opened_at, expires_at, closed_at, *rest = row
    closed_by, used_at, token_revoked_at, token_expires_at = rest
    token = token_state(to_instant(token_revoked_at), to_instant(token_expires_at), to_instant(now))
    return SessionRecord(
        id=session_id,
        digest=digest,
        token_id=token_id,
        name=name,
        role=role,
        namespaces=None if namespaces is None else tuple(as_list(decode(namespaces))),
        agent=agent,
        opened_at=to_instant(opened_at),
        expires_at=to_instant(expires_at),
        closed_at=to_instant(closed_at),
        closed_by=closed_by,
        last_used_at=to_instant(used_at),
        state=session_state(to_instant(closed_at), to_instant(expires_at), to_instant(now), token),
    )
