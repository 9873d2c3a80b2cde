"""The errors that start a fallback: the schedules cannot be planned. A slow store is not among them."""

from __future__ import annotations

import psycopg
import pytest

from conformance.steps import create, later
from lab.servers import PostgresServer
from tests.store.postgres.database import Database, create_role, opened
from tickbird.domain.errors import SchedulesUnusableError, StoreUnavailableError


@pytest.fixture
def database(migrated_url: str) -> Database:
    return Database(migrated_url)


async def test_a_lost_permission_on_schedules_is_one(database: Database, postgres_server: PostgresServer) -> None:
    role = await create_role(database, "unprivileged")
    await database.execute(
        f"""GRANT USAGE ON SCHEMA tickbird TO {role}; GRANT ALL ON ALL TABLES IN SCHEMA tickbird TO {role};
        GRANT ALL ON ALL SEQUENCES IN SCHEMA tickbird TO {role}; REVOKE ALL ON tickbird.cursors FROM {role}"""
    )
    async with opened(database.url.replace("postgres@", f"{role}@")) as store:
        with pytest.raises(
            SchedulesUnusableError, match="a permission is missing: permission denied for table cursors"
        ):
            await store.planning.plan_due(now=later(60))
        with pytest.raises(SchedulesUnusableError):
            await store.worker_ticks.read("default", None, {})


@pytest.mark.parametrize("table", ["cursors", "schedules", "revisions", "skips"])
async def test_a_missing_table_is_one(database: Database, table: str) -> None:
    async with opened(database.url) as store:
        await create(store, "on-time", at=0)
        await create(store, "late", at=0)
        await database.execute("UPDATE tickbird.cursors SET revision = 1")
        await database.execute(f"ALTER TABLE tickbird.{table} RENAME TO lost")
        async with opened(database.url) as other:
            with pytest.raises(SchedulesUnusableError, match="a table is missing"):
                await other.planning.plan_due(now=later(3_600))


async def test_a_locked_table_is_none(database: Database) -> None:
    async with opened(f"{database.url}?options=-c%20lock_timeout%3D100") as store:
        await create(store)
        async with await psycopg.AsyncConnection.connect(database.url) as holder:
            await holder.execute("LOCK TABLE tickbird.cursors IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreUnavailableError):
                await store.planning.plan_due(now=later(60))
