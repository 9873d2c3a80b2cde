"""Repair of the schema: create the tables, indexes, triggers and views that are missing, as in a fresh file."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tickbird.store.sqlite.database.schema import migrate
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import write


def repair(db: sqlite3.Connection) -> list[str]:
    """Create what is missing, all or nothing; returns the names of the created parts."""
    wanted = _fresh_parts()

    def work() -> list[str]:
        existing = {(kind, name) for kind, name, _ in db.execute(SQL["schema_parts"])}
        missing = [part for part in wanted if part[:2] not in existing]
        for _, _, text in missing:
            db.execute(text)
        if missing:
            db.execute(SQL["wake_others"])
        return [f"{kind} {name}" for kind, name, _ in missing]

    return write(db, work)


def _fresh_parts() -> list[tuple[str, str, str]]:
    """Kind, name and statement of each part of a fresh database, tables first."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        migrate(fresh)
        return fresh.execute(SQL["schema_parts"]).fetchall()
