"""Jobs by plain SQL under unusual use: odd roles, several sessions, savepoints, and jobs that vanish while they run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from tests.engine.test_sql_functions import Shop, working
from tests.engine.test_worker import until
from tests.store.postgres.database import Database

INSERT = "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule) VALUES ('job', 'work', '0 3 * * *')"
ROLE = 'Odd "Role"; x'


@pytest.fixture
async def shop(migrated_url: str) -> AsyncIterator[Shop]:
    database = Database(migrated_url)
    await database.execute(
        "CREATE FUNCTION work() RETURNS jsonb LANGUAGE sql AS $$ SELECT tickbird.result(true, current_user::text) $$"
    )
    await database.execute(INSERT)
    async with working(database) as shop:
        yield shop


async def trigger(shop: Shop) -> dict[str, Any]:
    """The end of a run of the job."""
    run_id = (await shop.database.one("SELECT tickbird.trigger_scheduled_job('job')"))["run_id"]
    ended: dict[str, Any] = await shop.database.one("SELECT tickbird.wait(%s)", run_id)
    return ended


async def test_role_with_quotes_and_its_new_name(shop: Shop) -> None:
    await shop.database.execute(f"""CREATE ROLE "{ROLE.replace('"', '""')}" """)
    try:
        await shop.database.execute("SELECT tickbird.allow_job_role(%s)", ROLE)
        await shop.database.execute("UPDATE tickbird.scheduled_jobs SET role = %s", ROLE)
        assert (await trigger(shop))["result"]["message"] == ROLE
        await shop.database.execute(f"""ALTER ROLE "{ROLE.replace('"', '""')}" RENAME TO plain_role""")
        ended = await trigger(shop)
        assert ended["error"].startswith(f"role {ROLE}: may not execute jobs.")
        await shop.database.execute("SELECT tickbird.allow_job_role('plain_role')")
        await shop.database.execute("UPDATE tickbird.scheduled_jobs SET role = 'plain_role'")
        assert (await trigger(shop))["result"]["message"] == "plain_role"
    finally:
        for role in (ROLE, "plain_role"):
            quoted = role.replace('"', '""')
            if await shop.database.execute("SELECT FROM pg_roles WHERE rolname = %s", role):
                await shop.database.execute(f'DROP OWNED BY "{quoted}"')
                await shop.database.execute(f'DROP ROLE "{quoted}"')


async def test_job_that_is_deleted_while_it_runs_finishes(shop: Shop) -> None:
    await shop.database.execute("CREATE TABLE gate (is_open boolean); INSERT INTO gate VALUES (false)")
    await shop.database.execute(
        "CREATE OR REPLACE FUNCTION work() RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN "
        "WHILE NOT (SELECT is_open FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP; "
        "RETURN tickbird.result(true, 'finished'); END $$"
    )
    run_id = (await shop.database.one("SELECT tickbird.trigger_scheduled_job('job')"))["run_id"]

    async def is_running() -> bool:
        return bool(await shop.database.one("SELECT status = 'running' FROM tickbird.runs WHERE id = %s", run_id))

    await until(is_running)
    await shop.database.execute("DELETE FROM tickbird.scheduled_jobs")
    assert await shop.database.execute("SELECT * FROM tickbird.scheduled_job_executions") == []
    await shop.database.execute("UPDATE gate SET is_open = true")
    assert (await shop.database.one("SELECT tickbird.wait(%s)", run_id))["result"]["message"] == "finished"
    await shop.database.execute(INSERT)
    assert await shop.database.one("SELECT message FROM tickbird.scheduled_job_runs") == "finished"


async def test_savepoints_undo_their_part(shop: Shop) -> None:
    async with await psycopg.AsyncConnection.connect(shop.database.url) as session:
        await session.execute("UPDATE tickbird.scheduled_jobs SET enabled = false")
        await session.execute("SAVEPOINT before")
        await session.execute("SELECT tickbird.trigger_scheduled_job('job')")
        await session.execute("SELECT tickbird.resume('job')")
        await session.execute("ROLLBACK TO before")
        await session.commit()

    async def is_paused() -> bool:
        return bool(await shop.database.one("SELECT state = 'paused' FROM tickbird.scheduled_job_status"))

    await until(is_paused)
    assert await shop.database.one("SELECT count(*) FROM tickbird.runs") == 0


async def test_sessions_that_upsert_delete_and_trigger_at_once(shop: Shop) -> None:
    """In any order, the table and the schedule agree at the end, and every run is final."""

    async def try_to(statement: str, *values: Any) -> None:
        try:
            await shop.database.execute(statement, *values)
        except psycopg.Error as error:
            # Another session has deleted or resumed the job.
            if error.sqlstate not in ("TB404", "TB422"):
                raise

    async def use(number: int) -> None:
        await try_to("DELETE FROM tickbird.scheduled_jobs")
        await try_to(f"{INSERT} ON CONFLICT (name) DO UPDATE SET schedule = %s", f"{number} 4 * * *")
        for call in ("trigger_scheduled_job('job')", "pause('job')", "resume('job')"):
            await try_to(f"SELECT tickbird.{call}")

    await asyncio.gather(*(use(number) for number in range(8)))
    await try_to("UPDATE tickbird.scheduled_jobs SET enabled = true")

    async def is_settled() -> bool:
        query = """SELECT c.state = 'active' AND c.sql_commands IS NULL
            AND s.definition #>> '{trigger,cron}' = j.schedule
        FROM tickbird.scheduled_jobs AS j JOIN tickbird.schedules AS s ON s.id = j.id
        JOIN tickbird.cursors AS c ON c.schedule_id = j.id"""
        unfinished = await shop.database.one("SELECT count(*) FROM tickbird.runs WHERE finished_at IS NULL")
        return bool(await shop.database.one(query)) and not unfinished

    await until(is_settled)
    failed = "SELECT status, error FROM tickbird.runs WHERE status <> 'succeeded'"
    assert await shop.database.execute(failed) == []


async def test_upsert_of_every_column_is_not_an_edit(shop: Shop) -> None:
    columns = [
        name
        for (name,) in await shop.database.execute(
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = 'tickbird' AND table_name = 'scheduled_jobs'"
        )
    ]
    assignments = ", ".join(f"{name} = excluded.{name}" for name in columns)
    await shop.database.execute(
        "INSERT INTO tickbird.scheduled_jobs SELECT * FROM tickbird.scheduled_jobs "
        f"ON CONFLICT (name) DO UPDATE SET {assignments}"
    )
    assert await shop.database.one("SELECT count(*) FROM tickbird.revisions") == 1


async def test_job_in_a_queue_that_no_worker_serves_is_a_problem(shop: Shop) -> None:
    check = "SELECT problem, next_step FROM tickbird.check_jobs()"
    assert await shop.database.execute(check) == []
    await shop.database.execute("UPDATE tickbird.scheduled_jobs SET queue = 'etl'")
    assert await shop.database.execute(check) == [("no live worker serves queue etl", "tickbird worker --queues etl")]


async def test_job_that_no_worker_plans_is_a_problem(shop: Shop) -> None:
    check = "SELECT problem, next_step FROM tickbird.check_jobs()"

    async def is_reported() -> bool:
        # Its next heartbeat corrects the row.
        await shop.database.execute("UPDATE tickbird.workers SET kind = 'executor'")
        found = await shop.database.execute(check)
        return bool(found == [("no live worker plans: all of them only execute", "tickbird worker")])

    await until(is_reported)
