"""Decoded definitions by revision, read when needed and then cached."""

from __future__ import annotations

import sqlite3

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.stored_definitions import read_definition
from tickbird.store.sqlite.database.statements import SQL


def read_revision(db: sqlite3.Connection, known: RevisionCache, schedule_id: int, revision: int) -> RevisionInfo | None:
    """A revision of a schedule, if it can be read."""
    return try_revision(db, known, schedule_id, revision)[0]


def try_revision(
    db: sqlite3.Connection, known: RevisionCache, schedule_id: int, revision: int
) -> tuple[RevisionInfo | None, str, str]:
    """A revision of a schedule; or None, the schedule's name, and why the revision cannot be read."""
    if (one := known.get((schedule_id, revision))) is not None:
        return one, one.name, ""
    row = db.execute(SQL["read_revision"], (revision, schedule_id)).fetchone()
    if row is None:
        return None, "", "its schedule does not exist"
    namespace, name, stored = row
    definition, error = read_definition(stored)
    if definition is None:
        return None, name, error or "it cannot be read"
    return known.add((schedule_id, revision), RevisionInfo(namespace, name, definition)), name, ""
