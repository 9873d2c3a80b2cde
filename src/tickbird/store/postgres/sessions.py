"""Sessions on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.postgres.rows import texts
from tickbird.store.postgres.tokens import audit_access, lock_token
from tickbird.store.protocol.sessions import SessionStore

_FIELDS = frozenset(field.name for field in fields(SessionRecord))


class PostgresSessions(NounStore, SessionStore):
    @transaction
    async def open(self, db: Session, namespace: str, new: NewSession, *, now: datetime | None = None) -> SessionRecord:
        token = await lock_token(db, new.token_id, now)
        check_opens(token)
        rows = await db.fetch(
            "insert_session",
            id=new.id,
            digest=new.digest,
            token_id=new.token_id,
            user_agent=new.user_agent,
            seconds=float(new.seconds),
            now=now,
        )
        if not rows:
            raise ConflictError("another session has this id.", hint="Try again.")
        actor = holder(token.name, token.id)
        opened = await _get(db, new.id, now)
        await _audit(db, namespace, opened, "open_session", actor, opened.opened_at)
        over = {"token_id": token.id, "but": new.id, "newest": MAX_SESSIONS - 1}
        for (old,) in await db.fetch("close_sessions", **over, actor=actor, now=now):
            await _audit(db, namespace, await _get(db, old, now), "close_session", actor, opened.opened_at)
        return opened

    async def find(self, session_id: str, *, now: datetime | None = None) -> SessionRecord | None:
        rows = await self._db.fetch_named("find_session", id=session_id, now=now)
        return _record(rows[0]) if rows else None

    async def list(
        self,
        *,
        token_id: str | None = None,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[SessionRecord]:
        names = None if within is None else texts(sorted(within))
        bounds = {"token_id": token_id, "within": names, "live": live, "after": after, "limit": limit, "now": now}
        return [_record(row) for row in await self._db.fetch_named("list_sessions", **bounds)]

    @transaction
    async def close(
        self, db: Session, namespace: str, session_id: str, actor: str, *, now: datetime | None = None
    ) -> SessionRecord:
        closed = await db.fetch("close_session", id=session_id, actor=actor, now=now)
        session = await _get(db, session_id, now)
        if closed:
            assert session.closed_at is not None
            await _audit(db, namespace, session, "close_session", actor, session.closed_at)
        return session

    @transaction
    async def close_all(
        self, db: Session, namespace: str, token_id: str, actor: str, *, now: datetime | None = None
    ) -> int:
        token = await lock_token(db, token_id, now)
        if token.state != "live":
            return 0
        closed = await db.fetch("close_sessions", token_id=token_id, but="", newest=0, actor=actor, now=now)
        if closed:
            last = await _get(db, closed[0][0], now)
            assert last.closed_at is not None
            detail = {"token": token.id, "name": token.name, "closed": len(closed)}
            await audit_access(db, namespace, token.namespaces, "close_sessions", actor, last.closed_at, detail)
        return len(closed)

    async def touch(self, session_id: str, *, now: datetime | None = None) -> None:
        await self._db.execute("touch_session", id=session_id, now=now, every=USE_NOTED_EVERY)


async def _get(db: Session, session_id: str, now: datetime | None) -> SessionRecord:
    rows = await db.fetch_named("find_session", id=session_id, now=now)
    if not rows:
        raise no_such_session(session_id)
    return _record(rows[0])


async def _audit(db: Session, namespace: str, session: SessionRecord, action: str, actor: str, now: datetime) -> None:
    await audit_access(db, namespace, session.namespaces, action, actor, now, session_detail(session))


def _record(row: dict[str, Any]) -> SessionRecord:
    # A newer schema may have more columns.
    columns = {name: value for name, value in row.items() if name in _FIELDS}
    if columns["namespaces"] is not None:
        columns["namespaces"] = tuple(columns["namespaces"])
    token = token_state(row["token_revoked_at"], row["token_expires_at"], row["now"])
    return SessionRecord(**columns, state=session_state(row["closed_at"], row["expires_at"], row["now"], token))
