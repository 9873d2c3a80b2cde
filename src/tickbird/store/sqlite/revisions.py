"""What a revision of a schedule says: read once, then known."""

from __future__ import annotations

import sqlite3

from tickbird.store.plans import Known, KnownRevisions, read_definition
from tickbird.store.sqlite.statements import SQL


def read_revision(db: sqlite3.Connection, known: KnownRevisions, schedule_id: int, revision: int) -> Known | None:
    """A revision of a schedule, if it can be read."""
    if (one := known.get(schedule_id, revision)) is not None:
        return one
    row = db.execute(SQL["read_revision"], (schedule_id, revision)).fetchone()
    definition = read_definition(row[2])[0] if row else None
    if definition is None:
        return None
    return known.add(schedule_id, revision, Known(row[0], row[1], definition))
