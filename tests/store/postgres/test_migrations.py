"""Migrations: their exclusive application, their indexes, and workers that are older than the schema."""

from __future__ import annotations

import asyncio

import psycopg

from lab.servers import PostgresServer
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import WORKER, claim, create, later
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database import schema


class TestMigrations:
    async def test_only_one_of_many_processes_migrates(self, postgres_url: str) -> None:
        applied = await asyncio.gather(*(PostgresStore(postgres_url).migrate() for _ in range(5)))
        names = [f"{migration.number:04}_{migration.name}" for migration in schema.MIGRATIONS]
        done = [[name for name in each if not name.startswith("index ")] for each in applied]
        assert sorted(done) == [[], [], [], [], names]
        built = [name for each in applied for name in each if name.startswith("index ")]
        assert sorted(built) == sorted(f"index {name}" for name in schema.INDEXES)

    async def test_an_interrupted_index_build_is_repeated(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        database = Database(postgres_url)
        await database.execute("DROP INDEX tickbird.runs_schedule_unsuccessful_idx")
        broken = "UPDATE pg_index SET indisvalid = %s WHERE indexrelid = 'tickbird.runs_unsuccessful_idx'::regclass"
        await database.execute(broken, False)
        assert await PostgresStore(postgres_url).migrate() == [
            "index runs_unsuccessful_idx",
            "index runs_schedule_unsuccessful_idx",
        ]
        valid = "SELECT count(*) FROM pg_index WHERE indrelid = 'tickbird.runs'::regclass AND NOT indisvalid"
        assert await database.execute(valid) == [(0,)]
        assert await PostgresStore(postgres_url).migrate() == []

    async def test_indexes_are_built_while_others_write(self, postgres_url: str) -> None:
        await PostgresStore(postgres_url).migrate()
        database = Database(postgres_url)
        await database.execute("DROP INDEX tickbird.runs_unsuccessful_idx")
        async with opened(postgres_url) as store, await psycopg.AsyncConnection.connect(postgres_url) as other:
            await other.execute("INSERT INTO tickbird.concurrency_limits VALUES ('default', 'open', 1)")
            building = asyncio.create_task(PostgresStore(postgres_url).migrate())
            for _ in range(5):
                await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
            await other.commit()
            assert await building == ["index runs_unsuccessful_idx"]
            assert len(await store.runs.list("default")) == 5

    async def test_debians_version_serves_too(self, debian_postgres: int) -> None:
        with PostgresServer(debian_postgres) as server:
            url = server.create_database()
            await PostgresStore(url).migrate()
            async with opened(url) as store:
                await create(store)
                assert (await store.planning.plan_due(now=later(60))).runs == 1
                [run] = await claim(store, now=later(60))
                await store.leases.finish([Outcome(run.id, run.attempt, "succeeded")], now=later(61))
                assert [run.status for run in await store.runs.list("default")] == ["succeeded"]


async def test_a_heartbeat_notices_a_schema_that_it_cannot_write(postgres_server: PostgresServer) -> None:
    url = postgres_server.create_database()
    store = PostgresStore(url)
    await store.migrate()
    await store.open()
    try:
        assert (await store.workers.heartbeat(WORKER, 30)).outdated_reason == ""
        async with await psycopg.AsyncConnection.connect(url) as other:
            await other.execute("ALTER TABLE tickbird.workers RENAME COLUMN health TO wellness")
            await other.execute("UPDATE tickbird.meta SET value = '999' WHERE key IN ('version', 'min_compatible')")
        assert "Upgrade tickbird" in (await store.workers.heartbeat(WORKER, 30)).outdated_reason
    finally:
        await store.close()
