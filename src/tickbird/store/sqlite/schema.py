"""The schema of a database: made and migrated on opening, since nobody else looks after an embedded file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tickbird.domain.errors import SchemaError
from tickbird.store.migrations import Migration, check_version, pending, read_migrations
from tickbird.store.sqlite.connection import read, write
from tickbird.store.sqlite.statements import SQL
from tickbird.store.sqlite.times import clock

MIGRATIONS = read_migrations("tickbird.store.sqlite")


def prepare(db: sqlite3.Connection) -> None:
    """Migrate a database that is older than this code; refuse one that is too new for it."""
    version, min_compatible = read(db, lambda: _version(db))
    if version is None or version < len(MIGRATIONS):
        migrate(db)
    else:
        check_version(MIGRATIONS, version, min_compatible)


def migrate(db: sqlite3.Connection) -> list[str]:
    """Apply what is missing, in one transaction; the names of what was."""
    return write(db, lambda: _migrate(db))


def _version(db: sqlite3.Connection) -> tuple[int | None, int]:
    if db.execute(SQL["has_schema"]).fetchone()[0] < 2:
        return None, 0
    version, min_compatible = db.execute(SQL["schema_version"]).fetchone()
    return version, min_compatible or 0


def _migrate(db: sqlite3.Connection) -> list[str]:
    applied: dict[int, str] = {}
    if _version(db)[0] is not None:
        applied = dict(db.execute(SQL["applied_migrations"]))
    todo = pending(MIGRATIONS, applied)
    for migration in todo:
        for statement in _statements(migration):
            try:
                db.execute(statement)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                    raise
                raise SchemaError(
                    f"migration {migration.number:04} does not fit this database: {error};",
                    hint="choose a file that no other program keeps its tables in.",
                ) from None
        now = clock()
        record = {"number": migration.number, "name": migration.name, "checksum": migration.checksum, "now": now}
        db.execute(SQL["record_migration"], record)
        version = {"version": str(migration.number), "min_compatible": str(migration.min_compatible), "now": str(now)}
        db.execute(SQL["record_version"], version)
    return [f"{migration.number:04}_{migration.name}" for migration in todo]


def _statements(migration: Migration) -> Iterator[str]:
    """One at a time: running a whole script would commit first."""
    statement = ""
    for line in migration.text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
