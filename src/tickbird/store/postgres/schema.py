"""The schema: is it the one this code needs, and bringing it there."""

from __future__ import annotations

import psycopg
from psycopg import errors

from tickbird.store.migrations import check_version, pending, read_migrations
from tickbird.store.postgres.connection import Connection, Session

MIGRATIONS = read_migrations("tickbird.store.postgres")


async def check(connection: Connection) -> None:
    """Raise SchemaError unless the schema fits this code."""
    try:
        meta = dict(await Session(connection).fetch("read_meta"))
    except (errors.UndefinedTable, errors.InvalidSchemaName):
        meta = {}
    version = meta.get("version")
    check_version(MIGRATIONS, None if version is None else int(version), int(meta.get("min_compatible", 0)))


async def migrate(connection: Connection) -> list[str]:
    """Apply what is left, all or nothing, one process at a time; the names of what was applied."""
    db = Session(connection)
    async with connection.transaction():
        # A running worker's short locks are waited for; a long one makes this fail rather than queue up all others.
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute("SET LOCAL lock_timeout = '30s'")
        await db.execute("lock_schema")
        await connection.execute("SET LOCAL lock_timeout = '5s'")
        [(exists,)] = await db.fetch("schema_exists")
        applied = dict(await db.fetch("read_applied")) if exists else {}
        done = []
        for migration in pending(MIGRATIONS, applied):
            await _apply(connection, migration.text)
            await db.execute("write_applied", number=migration.number, name=migration.name, checksum=migration.checksum)
            await db.execute("write_meta", version=str(migration.number), min_compatible=str(migration.min_compatible))
            done.append(f"{migration.number:04}_{migration.name}")
        return done


async def _apply(connection: Connection, text: str) -> None:
    async with psycopg.AsyncClientCursor(connection) as cursor:
        await cursor.execute(text.encode())
