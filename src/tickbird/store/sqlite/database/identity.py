"""The identity of the store: the path and inode of its file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from tickbird.domain.store_identity import StoreIdentity
from tickbird.store.protocol.identity import IdentityStore
from tickbird.store.shared.identity import compare, encode, same_file
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import Database, NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.url import MEMORY


class SqliteIdentity(NounStore, IdentityStore):
    def __init__(self, database: Database, path: str) -> None:
        super().__init__(database)
        self._path = path
        self._checked: StoreIdentity | None = None

    @read_transaction
    def read(self, db: Session) -> StoreIdentity:
        return read_identity(db, read_database(self._path))

    @write_transaction
    def check(self, db: Session) -> StoreIdentity:
        self._checked = read_identity(db, read_database(self._path))
        here, stored = self._checked.here, self._checked.stored
        # A store without a recorded identity belongs to this file, and so does a file that was moved.
        if here and not self._checked.copy_reason and here != stored:
            db.execute(SQL["accept_identity"], {"identity": encode(here)})
        return self._checked

    @read_transaction
    def incarnation(self, db: Session) -> int:
        [(incarnation,)] = db.execute(SQL["read_incarnation"]).fetchall()
        return int(incarnation)

    @write_transaction
    def accept_copy(self, db: Session, namespace: str, actor: str, *, now: datetime | None = None) -> StoreIdentity:
        copy = read_identity(db, read_database(self._path))
        db.execute(SQL["accept_identity"], {"identity": encode(copy.here)})
        db.execute(SQL["renew_incarnation"])
        detail = {"from": dict(copy.stored), "to": dict(copy.here)}
        write_audit(db, read_clock(now), actor, "accept_copy", namespace, detail=detail)
        self._checked = StoreIdentity(copy.here, copy.here)
        return self._checked

    async def cached(self) -> StoreIdentity:
        return await self.check() if self._checked is None else self._checked

    def update(self, db: Session, here: Mapping[str, str]) -> StoreIdentity:
        """Update the last result, as part of another verb."""
        self._checked = read_identity(db, here)
        return self._checked


def read_database(path: str) -> Mapping[str, str]:
    """The file of a path; empty for a database in memory."""
    if path == MEMORY:
        return {}
    file = Path(path).resolve()
    status = file.stat()
    return {"path": str(file), "file": f"{status.st_dev}:{status.st_ino}"}


def read_identity(db: Session, here: Mapping[str, str]) -> StoreIdentity:
    """Compare a file with the recorded one."""
    row = db.execute(SQL["read_identity"]).fetchone()
    return compare(here, row[0] if row else None, same_file)
