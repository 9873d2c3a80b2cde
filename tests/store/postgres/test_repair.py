"""A repaired schema equals a fresh one, and existing parts do not change."""

from __future__ import annotations

import psycopg
import pytest

from tickbird.domain.errors import SchemaError
from tickbird.store.postgres.database.repair import read_parts
from tickbird.stores import open_store

LOSSES = {
    "cursors": "DROP TABLE tickbird.cursors CASCADE",
    "schedules": "DROP TABLE tickbird.schedules CASCADE",
    "planning": "DROP TABLE tickbird.schedules, tickbird.cursors, tickbird.revisions, tickbird.schedule_search CASCADE",
    "a column": "ALTER TABLE tickbird.cursors DROP COLUMN deferred_until_minute CASCADE",
    "a trigger and an index": "DROP TRIGGER schedules_create_cursor ON tickbird.schedules;"
    " DROP INDEX tickbird.runs_tick_key",
    "a view": "DROP VIEW tickbird.schedule_details CASCADE",
    "everything but runs": "DROP TABLE tickbird.schedule_ids, tickbird.schedules, tickbird.cursors, tickbird.revisions,"
    " tickbird.workers, tickbird.skips, tickbird.backfills CASCADE",
}


async def _parts(url: str) -> dict[tuple[str, str], str]:
    async with await psycopg.AsyncConnection.connect(url.partition("?")[0], autocommit=True) as connection:
        return await read_parts(connection, "tickbird")


@pytest.mark.parametrize("loss", LOSSES)
async def test_repaired_schema_equals_a_fresh_one(migrated_url: str, loss: str) -> None:
    fresh = await _parts(migrated_url)
    with psycopg.connect(migrated_url.partition("?")[0], autocommit=True) as connection:
        connection.execute(LOSSES[loss])  # type: ignore[call-overload,unused-ignore]
    assert await _parts(migrated_url) != fresh
    store = open_store(migrated_url)
    created = await store.repair()
    assert created
    await store.migrate()
    repaired = await _parts(migrated_url)
    assert sorted(repaired) == sorted(fresh)
    if loss != "a column":  # It comes last now.
        assert repaired == fresh
    assert await store.repair() == []


async def test_a_renamed_table_is_named_with_the_next_step(migrated_url: str) -> None:
    fresh = await _parts(migrated_url)
    with psycopg.connect(migrated_url.partition("?")[0], autocommit=True) as connection:
        connection.execute("ALTER TABLE tickbird.cursors RENAME TO cursors_old")
        with pytest.raises(SchemaError, match=r"in use: relation .* already exists\. If a table was renamed"):
            await open_store(migrated_url).repair()
        connection.execute("ALTER TABLE tickbird.cursors_old RENAME TO cursors")
    assert await _parts(migrated_url) == fresh
