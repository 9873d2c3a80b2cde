"""Decoded definitions by revision, read on demand and cached."""

from __future__ import annotations

import sqlite3

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.stored_definitions import read_definition
from tickbird.store.sqlite.database.statements import SQL


def read_revision(db: sqlite3.Connection, cache: RevisionCache, schedule_id: int, revision: int) -> RevisionInfo | None:
    """A revision of a schedule; None if it cannot be read."""
    return try_revision(db, cache, schedule_id, revision)[0]


def try_revision(
    db: sqlite3.Connection, cache: RevisionCache, schedule_id: int, revision: int
) -> tuple[RevisionInfo | None, str, str]:
    """A revision of a schedule; or None, the schedule's name, and the error."""
    if (cached := cache.get((schedule_id, revision))) is not None:
        return cached, cached.name, ""
    row = db.execute(SQL["read_revision"], (revision, schedule_id)).fetchone()
    if row is None:
        return None, "", "its schedule does not exist"
    namespace, name, stored = row
    definition, error = read_definition(stored)
    if definition is None:
        return None, name, error or "it cannot be read"
    return cache.add((schedule_id, revision), RevisionInfo(namespace, name, definition)), name, ""
