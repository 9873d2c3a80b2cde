"""Repair of the schema: create the parts that are missing, as in a fresh schema."""

from __future__ import annotations

import logging
import re
from typing import Final

from psycopg import errors

from tickbird.domain.errors import SchemaError
from tickbird.store.postgres.database.connection import Connection, Session
from tickbird.store.postgres.database.schema import MIGRATIONS, apply
from tickbird.store.postgres.database.schema_name import in_schema

log = logging.getLogger("tickbird.store")

# Without these tables, it is unknown which migrations were applied.
_VITAL: Final = ("meta", "migrations")
Part = tuple[str, str]


async def repair(connection: Connection, schema: str) -> list[str]:
    """Create what is missing, all or nothing; returns the names of the created parts.

    A fresh schema is made next to this one, compared with it, and removed again. Nothing that exists is changed.
    """
    fresh = f"{schema}_repair"
    db = Session(connection, schema)
    async with connection.transaction():
        await connection.execute("SET LOCAL statement_timeout = 0")
        await connection.execute("SET LOCAL lock_timeout = '30s'")
        await db.execute("lock_schema")
        for migration in MIGRATIONS:
            await apply(connection, in_schema(migration.text, fresh))
        existing = await read_parts(connection, schema)
        wanted = await read_parts(connection, fresh, as_schema=schema)
        missing = [part for part in wanted if part not in existing]
        if vital := [name for kind, name in missing if kind == "table" and name.rpartition(".")[2] in _VITAL]:
            raise SchemaError(
                f"the table {vital[0]} is missing, so the version of the schema is unknown.",
                hint="Restore it from a backup.",
            )
        new_tables = {name for kind, name in missing if kind == "table"}
        created = []
        for kind, name in missing:
            if kind == "column" and name.rpartition(".")[0] in new_tables:
                continue
            # The rows that a key refers to may be lost; workers restore them later.
            unchecked = " NOT VALID" if kind == "constraint" and " FOREIGN KEY " in wanted[kind, name] else ""
            try:
                await apply(connection, wanted[kind, name] + unchecked)
            except (errors.DuplicateTable, errors.DuplicateObject) as error:
                raise SchemaError(
                    f"{kind} {name}: cannot be created, because its name is in use: {error.diag.message_primary}.",
                    hint="If a table was renamed, its indexes have their old names: rename it back or drop it.",
                ) from error
            created.append(f"{kind} {name}")
        await _validate(connection, schema)
        await apply(connection, in_schema("DROP SCHEMA tickbird CASCADE", fresh))
        if created:
            await db.execute("wake")
        return created


async def _validate(connection: Connection, schema: str) -> None:
    """Check the foreign keys that are not valid yet; one whose rows are missing stays so until the next repair."""
    for constraint, validate in await Session(connection, schema).fetch("unchecked_keys", schema=schema):
        try:
            async with connection.transaction():
                await apply(connection, validate)
        except errors.ForeignKeyViolation:
            log.warning("constraint %s is not valid: rows that it refers to are missing", constraint)


async def read_parts(connection: Connection, schema: str, *, as_schema: str | None = None) -> dict[Part, str]:
    """The statements that create the parts of a schema, by kind and name, in order; as those of another schema."""
    [(path,)] = await (await connection.execute("SHOW search_path")).fetchall()
    # All names are complete then.
    await connection.execute("SELECT set_config('search_path', 'pg_catalog', true)")
    rows = await Session(connection, schema).fetch("schema_parts", schema=schema)
    await connection.execute("SELECT set_config('search_path', %s, true)", (path,))
    word = re.compile(rf"\b{re.escape(schema)}\b")
    return {
        (kind, word.sub(as_schema or schema, name)): word.sub(as_schema or schema, text) for kind, name, text in rows
    }
