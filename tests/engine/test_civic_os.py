"""The SQL examples of Civic OS run unchanged but for the schema, from the INSERT to the history of runs.

`metadata.` becomes `tickbird.`; names without a schema are found by the search_path of the session.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tests.engine.test_sql_functions import working
from tests.engine.test_worker import until
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import WORKER
from tickbird.domain.runs.run import Outcome

FUNCTION = """
-- Create your scheduled function
CREATE OR REPLACE FUNCTION run_daily_cleanup()
RETURNS JSONB
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = metadata, public
AS $$
DECLARE
    v_deleted INT;
BEGIN
    DELETE FROM some_temp_table WHERE created_at < NOW() - INTERVAL '30 days';
    GET DIAGNOSTICS v_deleted = ROW_COUNT;

    RETURN jsonb_build_object(
        'success', true,
        'message', format('Deleted %s old records', v_deleted),
        'details', jsonb_build_object('deleted_count', v_deleted)
    );
END;
$$;
"""
REGISTER = """
-- Register the job
INSERT INTO metadata.scheduled_jobs (name, function_name, schedule, timezone, description)
VALUES (
    'daily_cleanup',
    'run_daily_cleanup',
    '0 3 * * *',           -- 3 AM daily
    'America/New_York',    -- Eastern time
    'Clean up temporary records older than 30 days'
)"""
TRIGGER = "SELECT trigger_scheduled_job('daily_cleanup');"
STATUS = """
-- Quick status overview
SELECT name, enabled, last_run_at, last_run_success, total_runs, success_rate_percent
FROM scheduled_job_status;
"""
HISTORY = """
-- Recent run history
SELECT started_at, completed_at, success, message, triggered_by
FROM metadata.scheduled_job_runs
WHERE job_id = 1
ORDER BY started_at DESC
LIMIT 10;
"""
AVERAGES = """
-- Average execution time by job
SELECT
    sj.name,
    COUNT(*) as total_runs,
    AVG(duration_ms) as avg_duration_ms,
    MAX(duration_ms) as max_duration_ms,
    SUM(CASE WHEN success THEN 1 ELSE 0 END)::float / COUNT(*) * 100 as success_rate
FROM metadata.scheduled_job_runs r
JOIN metadata.scheduled_jobs sj ON r.job_id = sj.id
WHERE r.started_at > NOW() - INTERVAL '7 days'
GROUP BY sj.name;
"""
CONTRACT = """
CREATE OR REPLACE FUNCTION my_scheduled_job()
RETURNS JSONB
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = metadata, public
AS $$
BEGIN
    -- Do work...
    RETURN jsonb_build_object(
        'success', true,
        'message', 'Processed 5 records',
        'details', jsonb_build_object('count', 5)  -- optional
    );
EXCEPTION WHEN OTHERS THEN
    RETURN jsonb_build_object(
        'success', false,
        'message', SQLERRM
    );
END;
$$;
"""
HANDLER = """
EXCEPTION WHEN OTHERS THEN
    RETURN jsonb_build_object(
        'success', false,
        'message', SQLERRM,
        'details', jsonb_build_object(
            'sqlstate', SQLSTATE,
            'context', pg_exception_context()
        )
    );
"""
DIVIDE = "CREATE OR REPLACE FUNCTION {}() RETURNS jsonb LANGUAGE plpgsql AS $$ {} BEGIN PERFORM 1 / 0; {} END $$"
IDEMPOTENT = """
-- Good: Uses INSERT ... ON CONFLICT
INSERT INTO processed_items (item_id, processed_at)
SELECT id, NOW() FROM items WHERE status = 'pending'
ON CONFLICT (item_id) DO NOTHING;

-- Good: Uses row-level locking to prevent double-processing
UPDATE items SET status = 'processing'
WHERE id IN (
    SELECT id FROM items WHERE status = 'pending'
    FOR UPDATE SKIP LOCKED
    LIMIT 100
);
"""
EXPRESSIONS = ("0 8 * * *", "*/15 * * * *", "0 0 * * 0", "0 9 1 * *", "0 8 * * 1-5")
DETROIT = ZoneInfo("America/Detroit")
MORNING = """INSERT INTO metadata.scheduled_jobs (name, function_name, schedule, timezone)
VALUES ('daily_cleanup', 'run_daily_cleanup', '0 8 * * *', 'America/Detroit')"""


class Integrator:
    """A person with psql who has set the search_path."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)

    async def sql(self, text: str) -> list[dict[str, Any]]:
        """The rows of a statement, by the names of their columns; text without values needs no escapes."""
        options = "-c search_path=tickbird,public"
        async with await psycopg.AsyncConnection.connect(
            self.database.url, autocommit=True, options=options
        ) as connection:
            cursor = await connection.execute(text.replace("metadata", "tickbird").encode())
            if cursor.description is None:
                return []
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in await cursor.fetchall()]

    async def one(self, text: str) -> Any:
        [row] = await self.sql(text)
        [value] = row.values()
        return value

    async def trigger(self, text: str = TRIGGER) -> dict[str, Any]:
        """Trigger a job, and wait for the end of its run."""
        answer = await self.one(text)
        ended: dict[str, Any] = await self.one(f"SELECT wait({answer['run_id']})")
        return ended

    async def define(self, function: str) -> None:
        """A job with the name of its function."""
        await self.sql(
            "INSERT INTO scheduled_jobs (name, function_name, schedule) "
            f"VALUES ('{function}', '{function}', '0 3 * * *')"
        )

    async def runs(self) -> Sequence[dict[str, Any]]:
        return await self.sql("SELECT * FROM metadata.scheduled_job_runs ORDER BY id")


@pytest.fixture
async def integrator(any_worker_url: str) -> Integrator:
    """A database with the table and the function of the examples."""
    integrator = Integrator(any_worker_url)
    await integrator.sql(
        """CREATE TABLE public.some_temp_table AS
        SELECT now() - (day - 0.5) * interval '1 day' AS created_at FROM generate_series(1, 40) AS day"""
    )
    await integrator.sql("SET search_path = public;" + FUNCTION)
    return integrator


@pytest.fixture
async def worker(integrator: Integrator) -> AsyncIterator[Integrator]:
    async with working(integrator.database):
        yield integrator


async def test_job_from_registration_to_history(worker: Integrator) -> None:
    await worker.sql(REGISTER)
    answer = await worker.one(TRIGGER)
    assert (answer["success"], answer["job_name"]) == (True, "daily_cleanup")
    ended = await worker.one(f"SELECT wait({answer['run_id']})")
    assert (ended["success"], ended["result"]["details"]) == (True, {"deleted_count": 10})
    [status] = await worker.sql(STATUS)
    assert status.pop("last_run_at") is not None
    assert status == {
        "name": "daily_cleanup",
        "enabled": True,
        "last_run_success": True,
        "total_runs": 1,
        "success_rate_percent": 100,
    }
    [run] = await worker.sql(HISTORY)
    assert run.pop("started_at") <= run.pop("completed_at")
    assert run == {"success": True, "message": "Deleted 10 old records", "triggered_by": "manual"}
    [average] = await worker.sql(AVERAGES)
    assert average["avg_duration_ms"] == average["max_duration_ms"] >= 0
    assert (average["name"], average["total_runs"], average["success_rate"]) == ("daily_cleanup", 1, 100)
    assert await worker.one("SELECT last_run_at IS NOT NULL FROM metadata.scheduled_jobs")


async def test_registration_again_is_an_upsert(integrator: Integrator) -> None:
    """A deployment script inserts its jobs each time."""
    upsert = (
        "{} ON CONFLICT (name) DO UPDATE SET function_name = EXCLUDED.function_name, schedule = EXCLUDED.schedule, "
        "timezone = EXCLUDED.timezone, description = EXCLUDED.description, enabled = EXCLUDED.enabled RETURNING id"
    )
    first = await integrator.one(upsert.format(REGISTER))
    assert await integrator.one(upsert.format(REGISTER)) == first
    assert await integrator.one("SELECT count(*) FROM revisions") == 1, "equal values are not an edit"
    assert await integrator.one(upsert.format(REGISTER.replace("0 3 * * *", "0 4 * * *"))) == first
    assert await integrator.one("SELECT definition #>> '{trigger,cron}' FROM schedules") == "0 4 * * *"


async def test_every_cron_expression_is_planned(integrator: Integrator) -> None:
    for number, expression in enumerate(EXPRESSIONS):
        await integrator.sql(REGISTER.replace("'daily_cleanup'", f"'job_{number}'").replace("0 3 * * *", expression))
    async with opened(integrator.database.url) as store:
        await store.planning.plan_due()
    states = await integrator.sql("SELECT schedule, state, next_run_at > now() AS is_planned FROM scheduled_job_status")
    assert {row["schedule"] for row in states} == set(EXPRESSIONS)
    assert all(row["state"] == "active" and row["is_planned"] for row in states)


async def test_function_of_the_contract(worker: Integrator) -> None:
    await worker.sql("SET search_path = public;" + CONTRACT)
    await worker.define("my_scheduled_job")
    await worker.trigger("SELECT trigger_scheduled_job('my_scheduled_job')")
    [run] = await worker.runs()
    assert (run["success"], run["message"], run["details"]) == (True, "Processed 5 records", {"count": 5})


async def test_handled_error_is_reported(worker: Integrator) -> None:
    await worker.sql("SET search_path = public;" + CONTRACT.replace("-- Do work...", "PERFORM 1 / 0;"))
    await worker.define("my_scheduled_job")
    await worker.trigger("SELECT trigger_scheduled_job('my_scheduled_job')")
    [run] = await worker.runs()
    assert (run["success"], run["message"], run["details"]) == (False, "division by zero", None)


async def test_message_of_a_raised_error_is_in_the_history(worker: Integrator) -> None:
    await worker.sql(DIVIDE.format("public.raising", "", ""))
    await worker.define("raising")
    await worker.trigger("SELECT trigger_scheduled_job('raising')")
    [run] = await worker.runs()
    assert (run["success"], run["message"]) == (False, "division by zero (SQLSTATE 22012)")
    [status] = await worker.sql("SELECT last_run_message FROM scheduled_job_status")
    assert status["last_run_message"] == run["message"]


async def test_error_handler_needs_stacked_diagnostics(worker: Integrator) -> None:
    """PostgreSQL has no pg_exception_context(): GET STACKED DIAGNOSTICS reads the context."""
    await worker.sql(DIVIDE.format("public.printed", "", HANDLER))
    await worker.define("printed")
    ended = await worker.trigger("SELECT trigger_scheduled_job('printed')")
    assert "function pg_exception_context() does not exist (SQLSTATE 42883)" in ended["error"]
    assert await worker.one("SELECT failure_kind FROM runs") == "raised"

    reading = "EXCEPTION WHEN OTHERS THEN\n    GET STACKED DIAGNOSTICS v_context = PG_EXCEPTION_CONTEXT;"
    handler = HANDLER.replace("EXCEPTION WHEN OTHERS THEN", reading).replace("pg_exception_context()", "v_context")
    await worker.sql(DIVIDE.format("public.adapted", "DECLARE v_context text;", handler))
    await worker.define("adapted")
    ended = await worker.trigger("SELECT trigger_scheduled_job('adapted')")
    assert (ended["success"], ended["error"]) == (False, "division by zero")
    details = (await worker.runs())[-1]["details"]
    assert details["sqlstate"] == "22012"
    assert "function adapted() line 1 at PERFORM" in details["context"]


async def test_idempotent_statements(worker: Integrator) -> None:
    await worker.sql(
        """CREATE TABLE public.items (id integer PRIMARY KEY, status text);
        CREATE TABLE public.processed_items (item_id integer PRIMARY KEY, processed_at timestamptz);
        INSERT INTO public.items SELECT n, 'pending' FROM generate_series(1, 150) AS n"""
    )
    await worker.sql(
        "CREATE FUNCTION public.process_items() RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN "
        f"{IDEMPOTENT} RETURN tickbird.result(true, 'done'); END $$"
    )
    await worker.define("process_items")
    for _ in range(3):
        ended = await worker.trigger("SELECT trigger_scheduled_job('process_items')")
        assert ended["success"]
    assert await worker.one("SELECT count(*) FROM processed_items") == 150
    assert await worker.one("SELECT count(*) FROM items WHERE status = 'processing'") == 150


async def test_unfinished_runs_are_listed(integrator: Integrator) -> None:
    """Instead of metadata.river_job."""
    await integrator.sql(REGISTER)
    run_id = (await integrator.one(TRIGGER))["run_id"]
    query = """SELECT id, job_name, state, attempt, created_at FROM metadata.scheduled_job_executions
    ORDER BY created_at DESC"""
    [execution] = await integrator.sql(query)
    assert execution.pop("created_at") is not None
    assert execution == {"id": run_id, "job_name": "daily_cleanup", "state": "waiting", "attempt": 0}


async def test_deleted_job_keeps_its_history_for_its_next_life(worker: Integrator) -> None:
    """Civic OS deletes the runs with the job."""
    await worker.sql(REGISTER)
    await worker.trigger()
    await worker.sql("DELETE FROM metadata.scheduled_jobs WHERE name = 'daily_cleanup'")
    assert await worker.runs() == []
    await worker.sql(REGISTER)
    [run] = await worker.runs()
    assert run["message"] == "Deleted 10 old records"


class TestDowntime:
    """Three hours without a worker, over 08:00 in Detroit."""

    @pytest.mark.parametrize("manual", ["before", "during", "none"])
    async def test_missed_tick_runs_once(self, integrator: Integrator, manual: str) -> None:
        await integrator.sql(MORNING)
        async with opened(integrator.database.url) as store:
            await store.planning.plan_due()
            tick: datetime = await integrator.one("SELECT next_run_at FROM scheduled_job_status")
            assert tick.astimezone(DETROIT).time().isoformat() == "08:00:00"
            # Less than two hours before the tick if it is that late in the day: a manual run is due now.
            stopped, started = max(tick - timedelta(hours=2), await store.now()), tick + timedelta(hours=1)

            async def work(now: datetime) -> None:
                """Claim and finish the runs that can start."""
                claimed = await store.leases.claim(
                    WORKER, 10, 60, queues=("default",), targets=(("sql", "store"),), now=now
                )
                result = {"success": True, "message": "done"}
                outcomes = [
                    Outcome(run.id, run.attempt, "succeeded", result=result, incarnation=run.incarnation)
                    for run in claimed.runs
                ]
                await store.leases.finish(outcomes, now=now)

            if manual != "none":
                await integrator.one(TRIGGER)
            # In the two hours before the tick, the run was triggered later than that.
            stopped = max(stopped, await integrator.one("SELECT clock_timestamp()"))
            if manual == "before":
                await store.planning.plan_due(now=stopped)
                await work(stopped)
                assert [run["triggered_by"] for run in await integrator.runs()] == ["manual"]
            while (await store.planning.plan_due(now=started)).more:
                pass
            for _ in range(2):
                await work(started)
                await store.planning.plan_due(now=started)
            next_run_at = await integrator.one("SELECT next_run_at FROM scheduled_job_status")
        runs = await integrator.runs()
        assert [run["triggered_by"] for run in runs] == (["manual"] if manual != "none" else []) + ["catchup"]
        assert all(run["success"] for run in runs)
        assert runs[-1]["scheduled_for"] == tick
        following = (tick.astimezone(DETROIT) + timedelta(days=1)).replace(hour=8)
        assert next_run_at == following
        assert await integrator.one("SELECT count(*) FROM skips") == 0

    async def test_worker_runs_the_missed_tick_and_the_manual_run(self, integrator: Integrator) -> None:
        await integrator.sql(MORNING)
        async with opened(integrator.database.url) as store:
            await store.planning.plan_due()
        # The last worker has planned until before the last 08:00.
        await integrator.sql(
            """UPDATE cursors SET planned_until = last.tick - interval '2 hours', next_run_at = last.tick FROM (
                SELECT max(day + time '08:00') AT TIME ZONE 'America/Detroit' AS tick
                FROM unnest(ARRAY[current_date - 2, current_date - 1, current_date]) AS day
                WHERE (day + time '08:01') AT TIME ZONE 'America/Detroit' < now()
            ) AS last"""
        )
        await integrator.one(TRIGGER)
        async with working(integrator.database):

            async def both_ran() -> Sequence[dict[str, Any]] | None:
                runs = await integrator.runs()
                return runs if len(runs) == 2 and all(run["completed_at"] for run in runs) else None

            runs = await until(both_ran)
        by_origin = {run["triggered_by"]: run for run in runs}
        assert set(by_origin) == {"manual", "catchup"}
        assert all(run["success"] for run in runs)
        assert by_origin["manual"]["scheduled_for"] is None
        assert by_origin["catchup"]["scheduled_for"].astimezone(DETROIT).time().isoformat() == "08:00:00"
