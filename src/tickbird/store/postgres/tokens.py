"""Tokens on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

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
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import texts

_FIELDS = frozenset(each.name for each in fields(TokenRecord))


async def create(db: Session, namespace: str, new: NewToken, actor: str, now: datetime | None) -> TokenRecord:
    """Insert a token."""
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
        raise ConflictError("another token has this id already;", hint="try again.")
    record = _record(rows[0])
    await audit(db, namespace, record.namespaces, "create_token", actor, record.created_at, audit_detail(record))
    return record


async def find(db: Session, token_id: str, now: datetime | None) -> TokenRecord | None:
    """A token by its id."""
    rows = await db.fetch_named("find_token", id=token_id, now=now)
    return _record(rows[0]) if rows else None


async def listed(
    db: Session, within: Collection[str] | None, live: bool, after: str, limit: int, now: datetime | None
) -> list[TokenRecord]:
    """Tokens by id."""
    names = None if within is None else texts(sorted(within))
    rows = await db.fetch_named("list_tokens", within=names, live=live, after=after, limit=limit, now=now)
    return [_record(row) for row in rows]


async def revoke(db: Session, namespace: str, token_id: str, actor: str, now: datetime | None) -> TokenRecord:
    """End a token; one that was revoked stays as it is."""
    rows = await db.fetch_named("revoke_token", id=token_id, actor=actor, now=now)
    if rows:
        record = _record(rows[0])
        assert record.revoked_at is not None
        await audit(db, namespace, record.namespaces, "revoke_token", actor, record.revoked_at, audit_detail(record))
        return record
    found = await find(db, token_id, now)
    if found is None:
        raise no_such_token(token_id)
    return found


async def lock(db: Session, token_id: str, now: datetime | None) -> TokenRecord:
    """A token, which nobody else locks until the transaction ends."""
    rows = await db.fetch_named("lock_token", id=token_id, now=now)
    if not rows:
        raise no_such_token(token_id)
    return _record(rows[0])


async def note_use(db: Session, token_id: str, now: datetime | None) -> None:
    """Write that a token was used, unless that was written just before."""
    await db.execute("touch_token", id=token_id, now=now, every=USE_NOTED_EVERY)


async def audit(
    db: Session,
    namespace: str,
    opened: Namespaces,
    action: str,
    actor: str,
    now: datetime,
    detail: Mapping[str, Any],
) -> None:
    """Record what was done to a token, or to what was opened with it, where that opens."""
    for each in audited_in(opened, namespace):
        await db.execute(
            "write_audit",
            now=now,
            actor=actor,
            action=action,
            namespace=each,
            schedule_id=None,
            schedule=None,
            run_id=None,
            detail=Jsonb(dict(detail)),
        )


def _record(row: dict[str, Any]) -> TokenRecord:
    # A newer schema may have columns that this code has never heard of.
    known = {name: value for name, value in row.items() if name in _FIELDS}
    if known["namespaces"] is not None:
        known["namespaces"] = tuple(known["namespaces"])
    state = token_state(row["revoked_at"], row["expires_at"], row["now"])
    if state != "live":
        # They end with it, without being closed.
        known["sessions"] = 0
    return TokenRecord(**known, state=state)
