"""Sessions on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from datetime import datetime
from typing import Any

from tickbird.domain.access.sessions import (
    MAX_SESSIONS,
    NewSession,
    SessionRecord,
    check_opens,
    no_such_session,
    session_detail,
    session_state,
)
from tickbird.domain.access.tokens import USE_NOTED_EVERY, holder
from tickbird.domain.access.tokens import state_at as token_state
from tickbird.domain.errors import ConflictError
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import texts
from tickbird.store.postgres.tokens import audit_access, lock_token

_FIELDS = frozenset(each.name for each in fields(SessionRecord))


async def open_one(db: Session, namespace: str, new: NewSession, now: datetime | None) -> SessionRecord:
    """Insert a session, and close the oldest where its token has too many."""
    token = await lock_token(db, new.token_id, now)
    check_opens(token)
    rows = await db.fetch(
        "insert_session",
        id=new.id,
        digest=new.digest,
        token_id=new.token_id,
        agent=new.agent,
        seconds=float(new.seconds),
        now=now,
    )
    if not rows:
        raise ConflictError("another session has this id already;", hint="try again.")
    actor = holder(token.name, token.id)
    opened = await _get(db, new.id, now)
    await _audit(db, namespace, opened, "open_session", actor, opened.opened_at)
    over = {"token_id": token.id, "but": new.id, "newest": MAX_SESSIONS - 1}
    for (old,) in await db.fetch("close_sessions", **over, actor=actor, now=now):
        await _audit(db, namespace, await _get(db, old, now), "close_session", actor, opened.opened_at)
    return opened


async def find(db: Session, session_id: str, now: datetime | None) -> SessionRecord | None:
    """A session by its id."""
    rows = await db.fetch_named("find_session", id=session_id, now=now)
    return _record(rows[0]) if rows else None


async def listed(
    db: Session,
    token_id: str | None,
    within: Collection[str] | None,
    live: bool,
    after: str,
    limit: int,
    now: datetime | None,
) -> list[SessionRecord]:
    """Sessions by id."""
    names = None if within is None else texts(sorted(within))
    bounds = {"token_id": token_id, "within": names, "live": live, "after": after, "limit": limit, "now": now}
    return [_record(row) for row in await db.fetch_named("list_sessions", **bounds)]


async def close(db: Session, namespace: str, session_id: str, actor: str, now: datetime | None) -> SessionRecord:
    """End a session; one that has ended stays as it is."""
    ended = await db.fetch("close_session", id=session_id, actor=actor, now=now)
    found = await _get(db, session_id, now)
    if ended:
        assert found.closed_at is not None
        await _audit(db, namespace, found, "close_session", actor, found.closed_at)
    return found


async def close_all(db: Session, namespace: str, token_id: str, actor: str, now: datetime | None) -> int:
    """End all sessions of a token; how many that were."""
    token = await lock_token(db, token_id, now)
    if token.state != "live":
        return 0
    ended = await db.fetch("close_sessions", token_id=token_id, but="", newest=0, actor=actor, now=now)
    if ended:
        last = await _get(db, ended[0][0], now)
        assert last.closed_at is not None
        detail = {"token": token.id, "name": token.name, "closed": len(ended)}
        await audit_access(db, namespace, token.namespaces, "close_sessions", actor, last.closed_at, detail)
    return len(ended)


async def note_use(db: Session, session_id: str, now: datetime | None) -> None:
    """Write that a session was used, unless that was written just before."""
    await db.execute("touch_session", id=session_id, now=now, every=USE_NOTED_EVERY)


async def _get(db: Session, session_id: str, now: datetime | None) -> SessionRecord:
    found = await find(db, session_id, now)
    if found is None:
        raise no_such_session(session_id)
    return found


async def _audit(db: Session, namespace: str, record: SessionRecord, action: str, actor: str, now: datetime) -> None:
    await audit_access(db, namespace, record.namespaces, action, actor, now, session_detail(record))


def _record(row: dict[str, Any]) -> SessionRecord:
    # A newer schema may have columns that this code has never heard of.
    known = {name: value for name, value in row.items() if name in _FIELDS}
    if known["namespaces"] is not None:
        known["namespaces"] = tuple(known["namespaces"])
    token = token_state(row["token_revoked_at"], row["token_expires_at"], row["now"])
    return SessionRecord(**known, state=session_state(row["closed_at"], row["expires_at"], row["now"], token))
