"""The identity of the store: the names of its database and server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from psycopg import errors

from tickbird.domain.store_identity import StoreIdentity
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore, autocommit, transaction
from tickbird.store.protocol.identity import IdentityStore
from tickbird.store.shared.identity import compare, encode, same_database


class PostgresIdentity(NounStore, IdentityStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._checked: StoreIdentity | None = None

    @autocommit
    async def read(self, db: Session) -> StoreIdentity:
        here = await read_database(db)
        rows = await db.fetch("read_identity")
        return compare(here, rows[0][0] if rows else None, same_database)

    @autocommit
    async def check(self, db: Session) -> StoreIdentity:
        here = await read_database(db)
        rows = await db.fetch("read_identity")
        if not rows:
            # A store without a recorded identity belongs to this database.
            await db.execute("record_identity", identity=encode(here))
        self._checked = compare(here, rows[0][0] if rows else None, same_database)
        return self._checked

    async def incarnation(self) -> int:
        [(incarnation,)] = await self._db.fetch("read_incarnation")
        return int(incarnation)

    async def accept_copy(self, namespace: str, actor: str, *, now: datetime | None = None) -> StoreIdentity:
        self._checked = await self._accept(await self.check(), namespace, actor, now)
        return self._checked

    @transaction
    async def _accept(
        self, db: Session, copy: StoreIdentity, namespace: str, actor: str, now: datetime | None
    ) -> StoreIdentity:
        [(at,)] = await db.fetch("clock", now=now)
        await db.execute("accept_identity", identity=encode(copy.here))
        detail = {"from": dict(copy.stored), "to": dict(copy.here)}
        await write_audit(db, at, actor, "accept_copy", namespace, detail=detail)
        return StoreIdentity(copy.here, copy.here)

    async def cached(self) -> StoreIdentity:
        return await self.check() if self._checked is None else self._checked

    def update(self, here: Mapping[str, str], stored: str | None) -> StoreIdentity:
        """Update the last result with a value that another verb has read."""
        self._checked = compare(here, stored, same_database)
        return self._checked


async def read_database(db: Session) -> Mapping[str, str]:
    """The database and, if this role may read it, the identity of its server."""
    try:
        [row] = await db.fetch_named("read_database")
    except errors.InsufficientPrivilege:
        [row] = await db.fetch_named("read_database_name")
    return row
