"""The schema of a database: created and migrated on opening, because an embedded file has no administrator."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from tickbird.domain.doctor.snapshot import CORRECTED_VERSION
from tickbird.domain.errors import SchemaError
from tickbird.domain.time.instants import to_micros
from tickbird.store.shared.migrations import (
    GENERATION,
    Migration,
    check_not_newer,
    check_schema_generation,
    check_version,
    is_stale,
    outdated,
    pending,
    read_migrations,
    read_version,
)
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import read, write

MIGRATIONS = read_migrations("tickbird.store.sqlite")


def prepare(db: sqlite3.Connection) -> None:
    """Migrate a database that is older than this code; refuse one that is too new."""
    meta = read(db, lambda: meta_of(db) or {})
    check_schema_generation(meta)
    version, min_compatible = read_version(meta)
    if version is None or version < len(MIGRATIONS):
        migrate(db)
    else:
        check_version(MIGRATIONS, version, min_compatible)


def check_stored_generation(db: sqlite3.Connection) -> None:
    """Raise SchemaError if the file has a schema of another generation; only reads."""
    meta = meta_of(db)
    if meta is not None:
        check_schema_generation(meta, MIGRATIONS, dict(db.execute(SQL["applied_migrations"])))


def check_migratable(db: sqlite3.Connection) -> None:
    """Raise SchemaError if the schema is too new; connecting has refused another generation."""
    check_not_newer(MIGRATIONS, read(db, lambda: meta_of(db) or {}))


def changed(db: sqlite3.Connection) -> str:
    """The reason why the schema is too new for this code, after another process migrated it; empty if it is not."""
    return outdated(MIGRATIONS, dict(db.execute(SQL["read_meta"])))


def migrate(db: sqlite3.Connection) -> list[str]:
    """Apply pending migrations, in one transaction; returns their names."""
    return write(db, lambda: _migrate(db))


def meta_of(db: sqlite3.Connection) -> dict[str, str] | None:
    """The table `meta`; None if there is no schema."""
    if db.execute(SQL["has_schema"]).fetchone()[0] < 2:
        return None
    return dict(db.execute(SQL["read_meta"]))


def _migrate(db: sqlite3.Connection) -> list[str]:
    meta = meta_of(db)
    applied: dict[int, str] = {} if meta is None else dict(db.execute(SQL["applied_migrations"]))
    check_schema_generation(meta or {}, MIGRATIONS, applied)
    todo = pending(MIGRATIONS, applied)
    for migration in todo:
        for statement in _statements(migration):
            try:
                db.execute(statement)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                    raise
                raise SchemaError(
                    f"migration {migration.number:04} does not fit this database: {error}.",
                    hint="Choose a file without tables of another program.",
                ) from None
        record = {"number": migration.number, "name": migration.name, "checksum": migration.checksum}
        db.execute(SQL["record_migration"], {**record, "now": to_micros(read_clock())})
        _record_version(db, migration)
    if not todo and is_stale(meta or {}, len(MIGRATIONS)):
        _record_version(db, MIGRATIONS[-1])
        return [CORRECTED_VERSION]
    return [f"{migration.number:04}_{migration.name}" for migration in todo]


def _record_version(db: sqlite3.Connection, migration: Migration) -> None:
    version = {"version": str(migration.number), "min_compatible": str(migration.min_compatible)}
    db.execute(SQL["record_version"], {**version, "generation": GENERATION})


def _statements(migration: Migration) -> Iterator[str]:
    """Yield one statement at a time: running a whole script would commit first."""
    statement = ""
    for line in migration.text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
