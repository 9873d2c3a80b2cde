"""Jobs in transactions of several sessions: isolation levels, settings, deadlocks."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg import errors

from tests.store.postgres.steps import until
from tests.store.postgres.test_scheduled_jobs import INSERT, NAME, Jobs, jobs

__all__ = ["jobs"]

UPSERT = f"{INSERT} ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule, description = excluded.description"
DELETE = "DELETE FROM tickbird.scheduled_jobs WHERE name = 'daily_cleanup'"
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtext('deployment of jobs'))"


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
async def test_wait_is_refused_if_it_could_never_see_the_end(jobs: Jobs, level: str) -> None:
    run_id = await jobs.one("SELECT tickbird.enqueue('digest')")
    async with await psycopg.AsyncConnection.connect(jobs.database.url) as connection:
        await connection.execute(f"BEGIN ISOLATION LEVEL {level}")
        at_once = await (await connection.execute("SELECT tickbird.wait(%s, '0')", (run_id,))).fetchone()
        assert at_once == (None,)
        with pytest.raises(psycopg.Error) as refused:
            await connection.execute("SELECT tickbird.wait(%s)", (run_id,))
        assert refused.value.sqlstate == "TB422"
        message, hint = refused.value.diag.message_primary, refused.value.diag.message_hint
        assert message == f"wait: a transaction with the isolation level {level} never sees the end of run {run_id}"
        assert hint is not None
        assert hint.startswith("Begin the transaction with READ COMMITTED")
        await connection.rollback()
        await jobs.sql("SELECT tickbird.cancel(%s)", run_id)
        # The end of a run that the transaction sees is returned.
        await connection.execute(f"BEGIN ISOLATION LEVEL {level}")
        ended = await (await connection.execute("SELECT tickbird.wait(%s) ->> 'status'", (run_id,))).fetchone()
        assert ended == ("cancelled",)


async def test_the_namespace_cannot_change_while_there_are_jobs(jobs: Jobs) -> None:
    text = await jobs.refusal("UPDATE tickbird.sql_settings SET namespace = 'ops'")
    assert text == (
        "sql_settings: the namespace cannot change from 'default' to 'ops' while tickbird.scheduled_jobs has jobs "
        "Delete the jobs, commit, change the namespace, then insert them again. Their runs stay in the old namespace."
    )
    await jobs.sql("UPDATE tickbird.sql_settings SET namespace = 'default', allowed_schemas = '{public, other}'")
    await jobs.sql("DELETE FROM tickbird.scheduled_jobs")
    # A job that another session has inserted and not committed counts too.
    async with await psycopg.AsyncConnection.connect(jobs.database.url) as other:
        await other.execute(INSERT)
        changing = asyncio.create_task(jobs.refusal("UPDATE tickbird.sql_settings SET namespace = 'ops'"))
        waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'tickbird.scheduled_jobs'::regclass AND NOT granted"
        while not await jobs.one(waiting):
            assert not changing.done()
        await other.commit()
    assert "the namespace cannot change" in await changing


async def test_an_upsert_next_to_delete_and_insert_is_retried(jobs: Jobs) -> None:
    """The trigger of an insert locks the name before the row; a delete locks the row first. PostgreSQL ends one."""
    ended = []
    upsert = UPSERT.replace("'Clean up'", "'upserted'")
    async with await psycopg.AsyncConnection.connect(jobs.database.url) as replacing:
        await replacing.execute(DELETE)
        upserting = asyncio.create_task(jobs.sql(upsert))
        await until(jobs.database.lock_waits)
        try:
            await replacing.execute(INSERT)
            await replacing.commit()
        except errors.DeadlockDetected:
            ended.append("replacing")
            await replacing.rollback()
            for statement in (DELETE, INSERT):
                await replacing.execute(statement)
            await replacing.commit()
        try:
            await upserting
        except errors.DeadlockDetected:
            ended.append("upserting")
            await jobs.sql(upsert)
    assert len(ended) == 1
    [(name, description)] = await jobs.sql("SELECT name, description FROM tickbird.scheduled_jobs")
    assert name == NAME
    assert description in ("Clean up", "upserted")
    await jobs.plan()
    assert (await jobs.schedule()).state == "active"


async def test_deployments_that_follow_one_another_do_not_deadlock(jobs: Jobs) -> None:
    async def replace() -> None:
        async with await psycopg.AsyncConnection.connect(jobs.database.url) as session:
            for statement in (ONE_AT_A_TIME, DELETE, INSERT):
                await session.execute(statement)

    async def upsert() -> None:
        async with await psycopg.AsyncConnection.connect(jobs.database.url) as session:
            for statement in (ONE_AT_A_TIME, UPSERT):
                await session.execute(statement)

    for _ in range(5):
        await asyncio.gather(replace(), upsert(), replace(), upsert(), jobs.plan())
    await jobs.plan()
    assert (await jobs.schedule()).state == "active"
