"""Sessions on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

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
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.sessions import SessionStore
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import Row, dump
from tickbird.store.sqlite.tokens import audit_access, find_token


class SqliteSessions(NounStore, SessionStore):
    @write_transaction
    def open(self, db: Session, namespace: str, new: NewSession, *, now: datetime | None = None) -> SessionRecord:
        at = read_clock(now)
        token = _get_token(db, new.token_id, at)
        check_opens(token)
        row = {
            "id": new.id,
            "digest": new.digest,
            "token_id": new.token_id,
            "user_agent": new.user_agent,
            "seconds": new.seconds,
            "now": to_micros(at),
        }
        if not db.execute(SQL["insert_session"], row).fetchall():
            raise ConflictError("another session has this id.", hint="Try again.")
        actor = holder(token.name, token.id)
        opened = _get(db, new.id, at)
        _audit(db, namespace, opened, "open_session", actor, at)
        over = {"token_id": token.id, "but": new.id, "newest": MAX_SESSIONS - 1, "actor": actor, "now": to_micros(at)}
        for (old,) in db.execute(SQL["close_sessions"], over).fetchall():
            _audit(db, namespace, _get(db, old, at), "close_session", actor, at)
        return opened

    @read_transaction
    def find(self, db: Session, session_id: str, *, now: datetime | None = None) -> SessionRecord | None:
        return _find(db, session_id, read_clock(now))

    @read_transaction
    def list(
        self,
        db: Session,
        *,
        token_id: str | None = None,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[SessionRecord]:
        at, names = read_clock(now), None if within is None else dump(sorted(within))
        bounds = {
            "token_id": token_id,
            "within": names,
            "live": live,
            "after": after,
            "limit": limit,
            "now": to_micros(at),
        }
        return [_record(row, at) for row in db.execute(SQL["list_sessions"], bounds)]

    @write_transaction
    def close(
        self, db: Session, namespace: str, session_id: str, actor: str, *, now: datetime | None = None
    ) -> SessionRecord:
        at = read_clock(now)
        closed = db.execute(SQL["close_session"], {"id": session_id, "actor": actor, "now": to_micros(at)}).fetchall()
        session = _get(db, session_id, at)
        if closed:
            _audit(db, namespace, session, "close_session", actor, at)
        return session

    @write_transaction
    def close_all(self, db: Session, namespace: str, token_id: str, actor: str, *, now: datetime | None = None) -> int:
        at = read_clock(now)
        token = _get_token(db, token_id, at)
        if token.state != "live":
            return 0
        bounds = {"token_id": token_id, "but": "", "newest": 0, "actor": actor, "now": to_micros(at)}
        closed = len(db.execute(SQL["close_sessions"], bounds).fetchall())
        if closed:
            detail = {"token": token.id, "name": token.name, "closed": closed}
            audit_access(db, namespace, token.namespaces, "close_sessions", actor, at, detail)
        return closed

    @write_transaction
    def touch(self, db: Session, session_id: str, *, now: datetime | None = None) -> None:
        db.execute(
            SQL["touch_session"], {"id": session_id, "now": to_micros(read_clock(now)), "every": USE_NOTED_EVERY}
        )


def _get_token(db: Session, token_id: str, now: datetime) -> TokenRecord:
    token = find_token(db, token_id, now)
    if token is None:
        raise no_such_token(token_id)
    return token


def _find(db: Session, session_id: str, now: datetime) -> SessionRecord | None:
    rows = db.execute(SQL["find_session"], {"id": session_id}).fetchall()
    return _record(rows[0], now) if rows else None


def _get(db: Session, session_id: str, now: datetime) -> SessionRecord:
    session = _find(db, session_id, now)
    if session is None:
        raise no_such_session(session_id)
    return session


def _audit(db: Session, namespace: str, session: SessionRecord, action: str, actor: str, now: datetime) -> None:
    audit_access(db, namespace, session.namespaces, action, actor, now, session_detail(session))


def _record(row: Row, now: datetime) -> SessionRecord:
    session_id, digest, token_id, name, role, namespaces, user_agent, opened_at, expires_at, closed_at, *rest = row
    closed_by, used_at, token_revoked_at, token_expires_at = rest
    token = token_state(from_micros(token_revoked_at), from_micros(token_expires_at), now)
    return SessionRecord(
        id=session_id,
        digest=digest,
        token_id=token_id,
        name=name,
        role=role,
        namespaces=None if namespaces is None else tuple(as_list(decode(namespaces))),
        user_agent=user_agent,
        opened_at=from_micros(opened_at),
        expires_at=from_micros(expires_at),
        closed_at=from_micros(closed_at),
        closed_by=closed_by,
        last_used_at=from_micros(used_at),
        state=session_state(from_micros(closed_at), from_micros(expires_at), now, token),
    )
