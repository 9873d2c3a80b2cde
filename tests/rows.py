"""A database that is used again."""

from __future__ import annotations

from typing import Any, Final

import psycopg

# As TRUNCATE does, it waits for whoever still writes; but it makes no new file for each table and index.
_DELETE: Final = b"""
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tablename FROM pg_catalog.pg_tables
        WHERE schemaname = 'tickbird' AND tablename NOT IN ('meta', 'migrations')
        ORDER BY tablename = 'schedules'
    LOOP
        EXECUTE format('LOCK TABLE tickbird.%I', name);
        EXECUTE format('DELETE FROM tickbird.%I', name);
    END LOOP;
END
$$
"""


async def delete_rows(connection: psycopg.AsyncConnection[Any]) -> None:
    """Leave nothing but the schema."""
    await connection.execute(_DELETE)
