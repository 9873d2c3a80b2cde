"""Tokens on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
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
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, transaction
from tickbird.store.postgres.rows import texts
from tickbird.store.protocol.tokens import TokenStore

_FIELDS = frozenset(field.name for field in fields(TokenRecord))


class PostgresTokens(NounStore, TokenStore):
    @transaction
    async def create(
        self, db: Session, namespace: str, new: NewToken, actor: str, *, now: datetime | None = None
    ) -> TokenRecord:
        rows = await db.fetch_named(
            "insert_token",
            id=new.id,
            digest=new.digest,
            name=new.name,
            role=new.role,
            namespaces=None if new.namespaces is None else texts(list(new.namespaces)),
            expires_at=new.expires_at,
            actor=actor,
            now=now,
        )
        if not rows:
            raise ConflictError("another token has this id.", hint="Try again.")
        token = _record(rows[0])
        await audit_access(
            db, namespace, token.namespaces, "create_token", actor, token.created_at, audit_detail(token)
        )
        return token

    async def find(self, token_id: str, *, now: datetime | None = None) -> TokenRecord | None:
        rows = await self._db.fetch_named("find_token", id=token_id, now=now)
        return _record(rows[0]) if rows else None

    async def list(
        self,
        *,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[TokenRecord]:
        names = None if within is None else texts(sorted(within))
        bounds = {"within": names, "live": live, "after": after, "limit": limit, "now": now}
        return [_record(row) for row in await self._db.fetch_named("list_tokens", **bounds)]

    @transaction
    async def revoke(
        self, db: Session, namespace: str, token_id: str, actor: str, *, now: datetime | None = None
    ) -> TokenRecord:
        revoked = await db.fetch_named("revoke_token", id=token_id, actor=actor, now=now)
        rows = revoked or await db.fetch_named("find_token", id=token_id, now=now)
        if not rows:
            raise no_such_token(token_id)
        token = _record(rows[0])
        if revoked:
            assert token.revoked_at is not None
            await audit_access(
                db, namespace, token.namespaces, "revoke_token", actor, token.revoked_at, audit_detail(token)
            )
        return token

    async def filter_live(self, ids: Collection[str], *, now: datetime | None = None) -> frozenset[str]:
        rows = await self._db.fetch("filter_live_tokens", ids=texts(sorted(ids)), now=now)
        return frozenset(token_id for (token_id,) in rows)

    async def touch(self, token_id: str, *, now: datetime | None = None) -> None:
        await self._db.execute("touch_token", id=token_id, now=now, every=USE_NOTED_EVERY)


async def lock_token(db: Session, token_id: str, now: datetime | None) -> TokenRecord:
    """A token, locked until the transaction ends."""
    rows = await db.fetch_named("lock_token", id=token_id, now=now)
    if not rows:
        raise no_such_token(token_id)
    return _record(rows[0])


async def audit_access(
    db: Session, namespace: str, opened: Namespaces, action: str, actor: str, now: datetime, detail: Mapping[str, Any]
) -> None:
    """Audit a change of a token or of one of its sessions, in each namespace of the token."""
    for audited in audited_in(opened, namespace):
        await write_audit(db, now, actor, action, audited, detail=detail)


def _record(row: dict[str, Any]) -> TokenRecord:
    # A newer schema may have more columns.
    columns = {name: value for name, value in row.items() if name in _FIELDS}
    if columns["namespaces"] is not None:
        columns["namespaces"] = tuple(columns["namespaces"])
    state = token_state(row["revoked_at"], row["expires_at"], row["now"])
    if state != "live":
        # Sessions end with their token without being closed.
        columns["sessions"] = 0
    return TokenRecord(**columns, state=state)
