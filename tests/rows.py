"""Delete what earlier tests wrote to a shared PostgreSQL database."""

from __future__ import annotations

from typing import Any, Final

import psycopg

# Like TRUNCATE, this waits for open transactions. It is faster, because it creates no file for each table and index.
_DELETE: Final = b"""
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tablename FROM pg_catalog.pg_tables
        WHERE schemaname = 'tickbird' AND tablename NOT IN ('meta', 'migrations', 'sql_settings')
        -- Last, because other tables reference them.
        ORDER BY
            array_position('{events, consumer_groups, tokens, schedules, schedule_ids}', tablename::text) NULLS FIRST
    LOOP
        EXECUTE format('LOCK TABLE tickbird.%I', name);
        EXECUTE format('DELETE FROM tickbird.%I', name);
    END LOOP;
END
$$
"""


async def delete_rows(connection: psycopg.AsyncConnection[Any]) -> None:
    """Delete all rows but those about the schema itself."""
    await connection.execute(_DELETE)
