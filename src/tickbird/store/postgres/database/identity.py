"""Where the store is: a database of a server, by what each says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from psycopg import errors
from psycopg.types.json import Jsonb

from tickbird.domain.store_identity import StoreIdentity
from tickbird.store.postgres.database.connection import Session
from tickbird.store.shared.identity import compare, encode, same_database


async def here(db: Session) -> Mapping[str, str]:
    """The database and, where this role may read it, the identity of its server."""
    try:
        [found] = await db.fetch_named("read_here")
    except errors.InsufficientPrivilege:
        [found] = await db.fetch_named("read_here_plainly")
    return found


async def check(db: Session) -> StoreIdentity:
    """Compare with what the store says; a store that says nothing yet belongs here."""
    place = await here(db)
    rows = await db.fetch("read_place")
    if not rows:
        await db.execute("record_place", place=encode(place))
    return compare(place, rows[0][0] if rows else None, same_database)


async def accept(db: Session, place: StoreIdentity, namespace: str, actor: str, now: datetime | None) -> StoreIdentity:
    """From now on the store belongs here."""
    [(at,)] = await db.fetch("clock", now=now)
    await db.execute("accept_place", place=encode(place.here))
    await db.execute(
        "write_audit",
        now=at,
        actor=actor,
        action="accept_copy",
        namespace=namespace,
        schedule_id=None,
        schedule=None,
        run_id=None,
        detail=Jsonb({"from": dict(place.stored), "to": dict(place.here)}),
    )
    return StoreIdentity(place.here, place.here)
