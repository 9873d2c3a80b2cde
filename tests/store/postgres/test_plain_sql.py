"""Schedules written with psql."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import psycopg
import pytest
from psycopg import errors

from tests.store.contenders import PATIENCE
from tests.store.postgres.database import Database
from tests.store.postgres.steps import MINUTELY, T0, create, create_many, later
from tickbird.domain.planning.commands.define import Delete
from tickbird.domain.schedules.codec import definition_text, encode_definition
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore


class TestPlainSql:
    async def test_an_insert_creates_cursor_and_revision_and_wakes_planners(
        self, store: PostgresStore, database: Database
    ) -> None:
        async with store.wakeups() as wakeups:
            await create_many(database, 1)
            await asyncio.wait_for(anext(wakeups), PATIENCE)
        schedule = await store.schedules.get("default", "s1")
        assert schedule is not None
        [revision] = await store.schedules.list_revisions(schedule.id)
        assert (revision.revision, revision.action, revision.actor) == (1, "create", "postgres")

    async def test_an_update_creates_a_revision_and_wakes_planners(
        self, store: PostgresStore, database: Database
    ) -> None:
        schedule_id = await create(store)
        hourly = definition_text(encode_definition(replace(MINUTELY, trigger=every(hours=1))))
        async with store.wakeups() as wakeups:
            await database.execute("UPDATE tickbird.schedules SET definition = %s", hourly)
            await asyncio.wait_for(anext(wakeups), PATIENCE)
        newest = (await store.schedules.list_revisions(schedule_id))[0]
        assert (newest.revision, newest.action, newest.actor) == (2, "update", "postgres")
        assert (await store.planning.plan_due()).schedules == 1
        schedule = await store.schedules.get("default", "clock")
        assert schedule is not None
        assert schedule.definition == replace(MINUTELY, trigger=every(hours=1))
        assert schedule.cursor.next_run_at is not None
        assert schedule.cursor.next_run_at % 3_600 == 0

    async def test_an_update_without_change_creates_no_revision(self, store: PostgresStore, database: Database) -> None:
        schedule_id = await create(store)
        await database.execute("UPDATE tickbird.schedules SET definition = definition, pause_note = 'seen'")
        assert len(await store.schedules.list_revisions(schedule_id)) == 1

    async def test_a_row_with_history_cannot_be_deleted(self, store: PostgresStore, database: Database) -> None:
        await create(store)
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match=r"leaves a tombstone, .* use `tickbird rm`"):
            await database.execute("DELETE FROM tickbird.schedules")

    async def test_the_name_of_a_deleted_schedule_is_refused_with_the_next_step(
        self, store: PostgresStore, database: Database
    ) -> None:
        await create(store)
        await store.schedules.change("default", "clock", Delete(actor="ana"))
        again = "INSERT INTO tickbird.schedules (name, definition) VALUES ('clock', '{}')"
        for statement in (again, f"{again} ON CONFLICT (namespace, name) DO UPDATE SET definition = '{{}}'"):
            with pytest.raises(psycopg.errors.UniqueViolation, match="schedule 'clock': was deleted") as refusal:
                await database.execute(statement)
            assert "`tickbird apply`" in str(refusal.value.diag.message_hint)
        # The client creates it again, and a later INSERT is a duplicate as for any other schedule.
        await create(store)
        with pytest.raises(psycopg.errors.UniqueViolation, match="duplicate key"):
            await database.execute(again)


INCOMPLETE = {
    "a session without a token": (
        errors.ForeignKeyViolation,
        """INSERT INTO tickbird.sessions (id, digest, token_id, user_agent, opened_at, expires_at)
        VALUES ('s', '', 'unknown', '', now(), now())""",
    ),
    "a backfill without a schedule": (
        errors.ForeignKeyViolation,
        """INSERT INTO tickbird.backfills (namespace, schedule_id, revision, first_at, last_at, total, newest_first,
            concurrency, actor, note, created_at)
        VALUES ('default', 7777777, 1, now(), now(), 1, false, 1, '', '', now())""",
    ),
    "an id that the store did not assign": (
        errors.GeneratedAlways,
        "INSERT INTO tickbird.schedule_ids (id, namespace, name) VALUES (1, 'default', 'new')",
    ),
    "a run without a queue": (
        errors.NotNullViolation,
        """INSERT INTO tickbird.runs (namespace, target, status, origin, due_at, available_at, created_at)
        VALUES ('default', 'work', 'queued', 'manual', now(), now(), now())""",
    ),
}


@pytest.mark.parametrize("name", INCOMPLETE)
async def test_an_incomplete_row_is_refused(store: PostgresStore, database: Database, name: str) -> None:
    error, statement = INCOMPLETE[name]
    with pytest.raises(error):
        await database.execute(statement)


FORGET = """
DELETE FROM tickbird.revisions; DELETE FROM tickbird.cursors; DELETE FROM tickbird.schedules;
"""


async def test_a_schedule_that_is_created_once_more_has_the_ticks_of_its_name(
    store: PostgresStore, database: Database
) -> None:
    schedule_id, other = await create(store, "clock"), await create(store, "other")
    assert (await store.planning.plan_due(now=later(60))).runs == 2
    async with await psycopg.AsyncConnection.connect(database.url) as connection:
        await connection.execute(FORGET)
    assert await database.one("SELECT count(*) FROM tickbird.schedule_search") == 0
    # In any order and with any id.
    await database.execute(
        "INSERT INTO tickbird.schedules (id, name, definition) VALUES (%s, 'new', %s)",
        schedule_id,
        definition_text(encode_definition(MINUTELY)),
    )
    assert (await create(store, "other"), await create(store, "clock")) == (other, schedule_id)
    await database.execute("UPDATE tickbird.cursors SET planned_until = %s, next_run_at = %s", T0, later(60))
    assert (await store.planning.plan_due(now=later(60))).schedules == 3
    ran = [run.schedule for run in await store.runs.list("default") if run.scheduled_for == later(60)]
    assert sorted(name for name in ran if name) == ["clock", "new", "other"]


async def test_a_renamed_schedule_keeps_its_id(store: PostgresStore, database: Database) -> None:
    schedule_id = await create(store, "before")
    await database.execute("UPDATE tickbird.schedules SET name = 'after' WHERE name = 'before'")
    assert await create(store, "before") != schedule_id
    renamed = await store.schedules.get("default", "after")
    assert renamed is not None
    assert renamed.id == schedule_id
