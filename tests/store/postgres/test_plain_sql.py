"""Schedules written with psql."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import psycopg
import pytest

from tests.store.contenders import PATIENCE
from tests.store.postgres.database import Database
from tests.store.postgres.steps import MINUTELY, create, create_many
from tickbird.domain.schedules.codec import definition_text, encode_definition
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore


class TestPlainSql:
    async def test_an_insert_makes_cursor_and_revision_and_wakes_planners(
        self, store: PostgresStore, database: Database
    ) -> None:
        async with store.wakeups() as wakeups:
            await create_many(database, 1)
            await asyncio.wait_for(anext(wakeups), PATIENCE)
        schedule = await store.schedules.get("default", "s1")
        assert schedule is not None
        [revision] = await store.schedules.list_revisions(schedule.id)
        assert (revision.revision, revision.action, revision.actor) == (1, "create", "postgres")

    async def test_an_update_makes_a_revision_and_wakes_planners(
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

    async def test_an_update_that_changes_nothing_makes_no_revision(
        self, store: PostgresStore, database: Database
    ) -> None:
        schedule_id = await create(store)
        await database.execute("UPDATE tickbird.schedules SET definition = definition, pause_note = 'seen'")
        assert len(await store.schedules.list_revisions(schedule_id)) == 1

    async def test_a_row_with_history_cannot_be_deleted(self, store: PostgresStore, database: Database) -> None:
        await create(store)
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            await database.execute("DELETE FROM tickbird.schedules")
