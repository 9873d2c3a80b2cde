"""Where the store is: a file, by its path and by its number on the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from tickbird.domain.store_identity import StoreIdentity
from tickbird.store.shared.identity import compare, encode, same_file
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.url import MEMORY


def here(path: str) -> Mapping[str, str]:
    """The file behind a path; nothing for a database in memory."""
    if path == MEMORY:
        return {}
    found = Path(path).resolve()
    status = found.stat()
    return {"path": str(found), "file": f"{status.st_dev}:{status.st_ino}"}


def stored(db: sqlite3.Connection, place: Mapping[str, str]) -> StoreIdentity:
    """Compare with what the store says."""
    row = db.execute(SQL["read_place"]).fetchone()
    return compare(place, row[0] if row else None, same_file)


def check(db: sqlite3.Connection, path: str) -> StoreIdentity:
    """Compare with what the store says; a store that says nothing yet belongs here, and so does one that was moved."""
    place = stored(db, here(path))
    if place.here and not place.copy_reason and place.here != place.stored:
        db.execute(SQL["accept_place"], {"place": encode(place.here)})
    return place


def accept(db: sqlite3.Connection, path: str, namespace: str, actor: str, now: int) -> StoreIdentity:
    """From now on the store belongs here."""
    place = stored(db, here(path))
    db.execute(SQL["accept_place"], {"place": encode(place.here)})
    detail = {"from": dict(place.stored), "to": dict(place.here)}
    write_audit(db, now, actor, "accept_copy", namespace, detail=detail)
    return StoreIdentity(place.here, place.here)
