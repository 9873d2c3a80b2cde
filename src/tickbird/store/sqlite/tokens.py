"""Tokens on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
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
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.store.protocol.tokens import TokenStore
from tickbird.store.shared.json_columns import as_list, decode
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import Row, dump


class SqliteTokens(NounStore, TokenStore):
    @write_transaction
    def create(
        self, db: Session, namespace: str, new: NewToken, actor: str, *, now: datetime | None = None
    ) -> TokenRecord:
        at = read_clock(now)
        row = {
            "id": new.id,
            "digest": new.digest,
            "name": new.name,
            "role": new.role,
            "namespaces": None if new.namespaces is None else dump(list(new.namespaces)),
            "expires_at": to_micros(new.expires_at),
            "actor": actor,
            "now": to_micros(at),
        }
        rows = db.execute(SQL["insert_token"], row).fetchall()
        if not rows:
            raise ConflictError("another token has this id.", hint="Try again.")
        token = _record(rows[0], at)
        audit_access(db, namespace, token.namespaces, "create_token", actor, at, audit_detail(token))
        return token

    @read_transaction
    def find(self, db: Session, token_id: str, *, now: datetime | None = None) -> TokenRecord | None:
        return find_token(db, token_id, read_clock(now))

    @read_transaction
    def list(
        self,
        db: Session,
        *,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[TokenRecord]:
        at, names = read_clock(now), None if within is None else dump(sorted(within))
        bounds = {"within": names, "live": live, "after": after, "limit": limit, "now": to_micros(at)}
        return [_record(row, at) for row in db.execute(SQL["list_tokens"], bounds)]

    @write_transaction
    def revoke(
        self, db: Session, namespace: str, token_id: str, actor: str, *, now: datetime | None = None
    ) -> TokenRecord:
        at = read_clock(now)
        rows = db.execute(SQL["revoke_token"], {"id": token_id, "actor": actor, "now": to_micros(at)}).fetchall()
        token = _record(rows[0], at) if rows else find_token(db, token_id, at)
        if token is None:
            raise no_such_token(token_id)
        if rows:
            audit_access(db, namespace, token.namespaces, "revoke_token", actor, at, audit_detail(token))
        return token

    @read_transaction
    def filter_live(self, db: Session, ids: Collection[str], *, now: datetime | None = None) -> frozenset[str]:
        bounds = {"ids": dump(sorted(ids)), "now": to_micros(read_clock(now))}
        return frozenset(row[0] for row in db.execute(SQL["filter_live_tokens"], bounds))

    @write_transaction
    def touch(self, db: Session, token_id: str, *, now: datetime | None = None) -> None:
        db.execute(SQL["touch_token"], {"id": token_id, "now": to_micros(read_clock(now)), "every": USE_NOTED_EVERY})


def find_token(db: Session, token_id: str, now: datetime) -> TokenRecord | None:
    rows = db.execute(SQL["find_token"], {"id": token_id, "now": to_micros(now)}).fetchall()
    return _record(rows[0], now) if rows else None


def audit_access(
    db: Session, namespace: str, opened: Namespaces, action: str, actor: str, now: datetime, detail: Mapping[str, Any]
) -> None:
    """Audit a change of a token or of one of its sessions, in each namespace of the token."""
    for audited in audited_in(opened, namespace):
        write_audit(db, now, actor, action, audited, detail=detail)


def _record(row: Row, now: datetime) -> TokenRecord:
    token_id, digest, name, role, namespaces, created_at, created_by, expires_at, revoked_at, revoked_by, *rest = row
    used_at, sessions = rest
    state = token_state(from_micros(revoked_at), from_micros(expires_at), now)
    return TokenRecord(
        id=token_id,
        digest=digest,
        name=name,
        role=role,
        namespaces=None if namespaces is None else tuple(as_list(decode(namespaces))),
        created_at=from_micros(created_at),
        created_by=created_by,
        expires_at=from_micros(expires_at),
        revoked_at=from_micros(revoked_at),
        revoked_by=revoked_by,
        last_used_at=from_micros(used_at),
        state=state,
        # Sessions end with their token without being closed.
        sessions=sessions if state == "live" else 0,
    )
