"""The schema: check whether it fits this code, and migrate it."""

from __future__ import annotations

import psycopg
from psycopg import errors

from tickbird.domain.doctor.snapshot import CORRECTED_VERSION
from tickbird.domain.errors import StoreError
from tickbird.store.postgres.database.connection import Connection, Session
from tickbird.store.postgres.database.pooled import PooledConnection
from tickbird.store.postgres.database.schema_name import in_schema
from tickbird.store.shared.migrations import (
    GENERATION,
    Migration,
    check_not_newer,
    check_schema_generation,
    check_version,
    is_stale,
    pending,
    read_migrations,
    read_version,
)
from tickbird.store.shared.sql import load_statements

MIGRATIONS = read_migrations("tickbird.store.postgres")
INDEXES = load_statements("tickbird.store.postgres.database", "indexes")


async def check(connection: Connection, schema: str) -> None:
    """Raise SchemaError unless the schema fits this code."""
    meta = await _read_meta(connection, schema)
    check_schema_generation(meta)
    check_version(MIGRATIONS, *read_version(meta))


async def check_migratable(connection: Connection, schema: str) -> None:
    """Raise SchemaError if the schema is of another generation, or too new."""
    meta = await _read_meta(connection, schema)
    check_schema_generation(meta)
    check_not_newer(MIGRATIONS, meta)


async def _read_meta(connection: Connection, schema: str) -> dict[str, str]:
    try:
        return dict(await Session(connection, schema).fetch("read_meta"))
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        return {}


async def migrate(connection: Connection, schema: str) -> list[str]:
    """Apply pending migrations, all or none, one process at a time; returns their names."""
    db = Session(connection, schema)
    async with connection.transaction():
        # Waits for short locks of running workers; fails on a long one, because all others would queue behind it.
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute("SET LOCAL lock_timeout = '30s'")
        await db.execute("lock_schema")
        await connection.execute("SET LOCAL lock_timeout = '5s'")
        [(exists,)] = await db.fetch("schema_exists")
        applied = dict(await db.fetch("read_applied")) if exists else {}
        meta = dict(await db.fetch("read_meta")) if exists else {}
        check_schema_generation(meta, MIGRATIONS, applied)
        done = []
        for migration in pending(MIGRATIONS, applied):
            await apply(connection, in_schema(migration.text, schema))
            await db.execute("write_applied", number=migration.number, name=migration.name, checksum=migration.checksum)
            await _write_version(db, migration)
            done.append(f"{migration.number:04}_{migration.name}")
        if not done and is_stale(meta, len(MIGRATIONS)):
            await _write_version(db, MIGRATIONS[-1])
            done.append(CORRECTED_VERSION)
        if done:
            await db.execute("notify_migrated")
        return done


async def build_indexes(connection: Connection, guard: Connection, schema: str) -> list[str]:
    """Build missing indexes, and those left unusable by an interrupted build, without blocking writers."""
    db = Session(connection, schema)
    if not await missing_indexes(db):
        return []
    async with guard.transaction():
        # CREATE INDEX CONCURRENTLY cannot run in a transaction; this one only prevents parallel builds.
        [(is_locked,)] = await Session(guard, schema).fetch("lock_indexes")
        # This also ends the previous statement, whose snapshot the build would wait for.
        await guard.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        missing = await missing_indexes(db) if is_locked else {}
        if missing and not isinstance(connection, PooledConnection):
            # The build waits for all earlier transactions, and reads the whole table. A pooler's session has no timeout
            # of ours, and would keep this one.
            await connection.execute("SET statement_timeout = 0")
            await connection.execute("SET lock_timeout = 0")
        for name, broken in missing.items():
            if broken:
                await apply(connection, in_schema(f"DROP INDEX CONCURRENTLY tickbird.{name}", schema))
            await apply(connection, in_schema(INDEXES[name], schema))
    return [f"index {name}" for name in missing]


async def missing_indexes(db: Session) -> dict[str, bool]:
    """The missing indexes, and the unusable ones."""
    usable = dict(await db.fetch("read_indexes"))
    return {name: name in usable for name in INDEXES if not usable.get(name)}


async def _write_version(db: Session, migration: Migration) -> None:
    await db.execute(
        "write_meta",
        generation=GENERATION,
        version=str(migration.number),
        min_compatible=str(migration.min_compatible),
    )


async def apply(connection: Connection, text: str) -> None:
    """Execute a script."""
    try:
        async with psycopg.AsyncClientCursor(connection) as cursor:
            await cursor.execute(text.encode())
    except errors.InsufficientPrivilege as error:
        role, database = connection.info.user, connection.info.dbname
        raise StoreError(
            f"the role {role!r} lacks a permission to migrate the database {database!r}: {error.diag.message_primary}.",
            hint="Grant it CREATE on the database, or migrate as the role that owns the schema tickbird.",
        ) from None
