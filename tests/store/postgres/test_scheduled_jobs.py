"""Jobs that are defined, changed and run with plain SQL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest

from conformance.steps import NAMESPACE
from tests.store.postgres.database import Database, opened
from tests.store.postgres.steps import WORKER
from tickbird import cron
from tickbird.domain.errors import DefinitionError
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.sql import SqlSpec
from tickbird.domain.targets.target import target_of
from tickbird.store.postgres import PostgresStore

FUNCTION = """CREATE OR REPLACE FUNCTION {}() RETURNS jsonb LANGUAGE sql
AS $$ SELECT jsonb_build_object('success', true, 'message', 'done') $$"""
INSERT = """INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, timezone, description)
VALUES ('daily_cleanup', 'run_daily_cleanup', '0 3 * * *', 'America/New_York', 'Clean up')"""
NAME = "daily_cleanup"


class Jobs:
    """A database with a job, as a person with psql and as a store sees it."""

    def __init__(self, database: Database, store: PostgresStore) -> None:
        self.database, self.store = database, store

    async def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return await self.database.execute(statement, *values)

    async def one(self, statement: str, *values: Any) -> Any:
        return await self.database.one(statement, *values)

    async def plan(self) -> None:
        while (await self.store.planning.plan_due()).more:
            pass

    async def schedule(self, name: str = NAME) -> Schedule:
        schedule = await self.store.schedules.get(NAMESPACE, name)
        assert schedule is not None
        return schedule

    async def change(self, command: Any, name: str = NAME) -> Schedule:
        return (await self.store.schedules.change(NAMESPACE, name, command)).schedule

    async def row(self, columns: str, name: str = NAME) -> tuple[Any, ...] | None:
        rows = await self.sql(f"SELECT {columns} FROM tickbird.scheduled_jobs WHERE name = %s", name)
        return rows[0] if rows else None

    async def error(self, statement: str, *values: Any) -> psycopg.Error:
        with pytest.raises(psycopg.Error) as caught:
            await self.sql(statement, *values)
        return caught.value

    async def refusal(self, statement: str, *values: Any) -> str:
        error = await self.error(statement, *values)
        return f"{error.diag.message_primary} {error.diag.message_hint}"


@pytest.fixture
async def jobs(migrated_url: str) -> AsyncIterator[Jobs]:
    database = Database(migrated_url)
    async with opened(migrated_url) as store:
        for name in ("run_daily_cleanup", "run_report"):
            await database.execute(FUNCTION.format(name))
        await database.execute(INSERT)
        yield Jobs(database, store)


def sql_definition(function: str = "public.run_report", **policies: Any) -> Definition:
    return Definition(trigger=cron("0 4 * * *"), target=target_of(SqlSpec(function=function)), **policies)


async def test_insert_defines_a_schedule(jobs: Jobs) -> None:
    await jobs.plan()
    schedule = await jobs.schedule()
    spec = SqlSpec(function="public.run_daily_cleanup", run_as=await jobs.one("SELECT session_user"))
    expected = Definition(
        trigger=cron("0 3 * * *", tz="America/New_York"), target=target_of(spec), description="Clean up"
    )
    assert schedule.definition == expected
    assert schedule.definition_json == encode_definition(expected)
    assert (schedule.state, schedule.revision) == ("active", 1)
    assert await jobs.row("id, enabled, last_run_at, payload") == (schedule.id, True, None, {})
    [entry] = await jobs.sql("SELECT actor, action, schedule FROM tickbird.audit_log")
    assert entry == (await jobs.one("SELECT session_user::text"), "create", NAME)
    # The first pass computes the next tick and creates no run.
    assert await jobs.one("SELECT next_run_at > now() FROM tickbird.scheduled_job_status")
    assert await jobs.one("SELECT count(*) FROM tickbird.runs") == 0


async def test_columns_become_policies(jobs: Jobs) -> None:
    await jobs.sql(
        """UPDATE tickbird.scheduled_jobs SET schedule = '*/5 * * * *', timezone = 'UTC', payload = '{"days": 3}',
        timeout = '90 s', retries = 2, catch_up = 'all', overlap = 'queue', queue = 'etl', description = NULL"""
    )
    await jobs.plan()
    schedule = await jobs.schedule()
    definition = schedule.definition
    assert definition is not None
    assert definition.trigger == cron("*/5 * * * *")
    assert (definition.payload, definition.timeout, definition.retries) == ({"days": 3}, 90, 2)
    assert (definition.catch_up, definition.overlap, definition.queue) == ("all", "queue", "etl")
    assert definition.description == ""
    assert (schedule.state, schedule.revision) == ("active", 2)
    assert schedule.definition_json == encode_definition(definition)


async def test_upsert_updates_the_job(jobs: Jobs) -> None:
    await jobs.sql(
        INSERT.replace("0 3 * * *", "0 5 * * *")
        + " ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule, timezone = excluded.timezone"
    )
    definition = (await jobs.schedule()).definition
    assert definition is not None
    assert definition.trigger == cron("0 5 * * *", tz="America/New_York")
    assert "duplicate key" in await jobs.refusal(INSERT)


async def test_upsert_of_many_jobs_reads_the_zones_once(jobs: Jobs) -> None:
    """The server reads the files of all zones for its list of names."""
    upsert = """INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, timezone)
    SELECT 'job' || n, 'run_report', '0 3 * * *', 'Europe/Rome' FROM generate_series(1, 50) AS n
    ON CONFLICT (name) DO UPDATE SET schedule = excluded.schedule"""

    async def fastest(statement: str) -> float:
        seconds = []
        for _ in range(4):
            began = time.monotonic()
            await jobs.sql(statement)
            seconds.append(time.monotonic() - began)
        return min(seconds)

    assert await fastest(upsert) < 25 * await fastest("SELECT count(*) FROM pg_timezone_names")


async def test_next_run_of_an_edited_job_is_unknown_until_it_is_planned(jobs: Jobs) -> None:
    for edit in ("schedule = '0 4 * * *'", "retries = 2", "enabled = false", "enabled = true"):
        await jobs.plan()
        await jobs.sql(f"UPDATE tickbird.scheduled_jobs SET {edit}")
        assert await jobs.one("SELECT next_run_at FROM tickbird.scheduled_job_status") is None, edit
    await jobs.plan()
    assert await jobs.one("SELECT next_run_at > now() + interval '1 minute' FROM tickbird.scheduled_job_status")


async def test_disabled_job_is_paused(jobs: Jobs) -> None:
    await jobs.plan()
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET enabled = false")
    assert await jobs.row("enabled") == (False,)
    assert await jobs.one("SELECT next_run_at FROM tickbird.scheduled_job_status") is None
    await jobs.plan()
    schedule = await jobs.schedule()
    assert schedule.state == "paused"
    assert schedule.pause is not None
    assert schedule.pause.by == await jobs.one("SELECT session_user::text")
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET enabled = true")
    await jobs.plan()
    assert (await jobs.schedule()).state == "active"
    assert [action for (action,) in await jobs.sql("SELECT action FROM tickbird.audit_log ORDER BY id")] == [
        "create",
        "pause",
        "resume",
    ]


async def test_pause_comes_before_every_later_tick(jobs: Jobs) -> None:
    """Ticks before the pause run; ticks after it do not, although the planner is late."""
    await jobs.plan()
    await jobs.sql(
        """UPDATE tickbird.cursors SET planned_until = date_trunc('minute', now()) - interval '10 minutes',
        next_run_at = date_trunc('minute', now()) - interval '10 minutes'"""
    )
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET schedule = '* * * * *', timezone = 'UTC'")
    await jobs.plan()
    await jobs.sql(
        """UPDATE tickbird.cursors SET planned_until = date_trunc('minute', now()) - interval '10 minutes',
        next_run_at = date_trunc('minute', now()) - interval '9 minutes'"""
    )
    await jobs.sql("SELECT tickbird.pause('daily_cleanup', 'upgrade')")
    await jobs.plan()
    # The newest tick may be on time, and is then skipped, because the other run is active.
    [(origin, count)] = await jobs.sql("SELECT origin, covers_count FROM tickbird.runs")
    assert (origin, count in (9, 10)) == ("catch_up", True)
    assert (await jobs.schedule()).state == "paused"


async def test_delete_keeps_the_ledger_and_the_name_continues(jobs: Jobs) -> None:
    await jobs.plan()
    before = await jobs.schedule()
    await jobs.sql("DELETE FROM tickbird.scheduled_jobs WHERE name = 'daily_cleanup'")
    await jobs.plan()
    assert (await jobs.schedule()).state == "deleted"
    assert await jobs.row("id") is None
    await jobs.sql(INSERT)
    await jobs.plan()
    again = await jobs.schedule()
    assert (again.id, again.state) == (before.id, "active")
    assert again.revision > before.revision
    actions = await jobs.sql("SELECT action FROM tickbird.revisions ORDER BY revision")
    assert [action for (action,) in actions] == ["create", "delete", "create"]


async def test_delete_and_insert_at_once_is_an_edit(jobs: Jobs) -> None:
    await jobs.plan()
    await jobs.sql("DELETE FROM tickbird.scheduled_jobs")
    await jobs.sql(INSERT.replace("0 3 * * *", "0 6 * * *"))
    await jobs.plan()
    schedule = await jobs.schedule()
    assert schedule.definition is not None
    assert schedule.definition.trigger == cron("0 6 * * *", tz="America/New_York")
    assert schedule.state == "active"


async def test_bad_cron_expression_is_parked(jobs: Jobs) -> None:
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET schedule = '0 25 * * *'")
    await jobs.plan()
    schedule = await jobs.schedule()
    assert schedule.state == "parked"
    assert "25" in (schedule.error or "")
    [(state, error)] = await jobs.sql("SELECT state, error FROM tickbird.scheduled_job_status")
    assert (state, "25" in error) == ("parked", True)
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET schedule = '0 2 * * *'")
    await jobs.plan()
    assert (await jobs.schedule()).state == "active"


REFUSED = {
    "empty name": ("('', 'run_report', '0 3 * * *', 'UTC')", "name has 1 to 200"),
    "bad zone": ("('a', 'run_report', '0 3 * * *', 'Mars/Olympus')", "there is no time zone 'Mars/Olympus'"),
    "unknown function": ("('a', 'nothing', '0 3 * * *', 'UTC')", "nothing: does not exist"),
    "injection": ("('a', 'f(); drop table x', '0 3 * * *', 'UTC')", "is not the name of a function"),
    "catalog": ("('a', 'pg_catalog.pg_read_file', '0 3 * * *', 'UTC')", "pg_catalog are not executed"),
    "built-in": ("('a', 'pg_read_file', '0 3 * * *', 'UTC')", "does not exist"),
    "another schema": ("('a', 'pause', '0 3 * * *', 'UTC')", "is not in schema public, but there is tickbird.pause"),
    "foreign schema": ("('a', 'tickbird.pause', '0 3 * * *', 'UTC')", "schema tickbird are not executed"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_sql_refuses(jobs: Jobs, case: str) -> None:
    values, message = REFUSED[case]
    statement = f"INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, timezone) VALUES {values}"
    assert message in await jobs.refusal(statement)
    assert await jobs.one("SELECT count(*) FROM tickbird.schedules") == 1


async def test_name_cannot_change(jobs: Jobs) -> None:
    assert "cannot change" in await jobs.refusal("UPDATE tickbird.scheduled_jobs SET name = 'other'")


async def test_schedule_with_another_target_keeps_its_name(jobs: Jobs) -> None:
    await jobs.sql(
        """INSERT INTO tickbird.schedules (name, definition)
        VALUES ('digest', '{"v": 1, "trigger": {"cron": "0 3 * * *"}, "target": {"task": "digest"}}')"""
    )
    text = await jobs.refusal(INSERT.replace("'daily_cleanup'", "'digest'"))
    assert "another target" in text


# The other direction


async def test_schedule_of_a_client_gets_a_row(jobs: Jobs) -> None:
    definition = sql_definition(retries=3, timeout=60, description="Report", payload={"a": 1}, queue="etl")
    made = await jobs.change(Create(actor="ada", namespace=NAMESPACE, definition=definition), "report")
    columns = "id, description, function_name, schedule, timezone, enabled, payload, retries, queue, timeout"
    assert await jobs.row(columns, "report") == (
        made.id, "Report", "public.run_report", "0 4 * * *", "UTC", True, {"a": 1}, 3, "etl", timedelta(seconds=60),
    )  # fmt: skip
    await jobs.change(Pause(actor="ada"), "report")
    assert await jobs.row("enabled", "report") == (False,)
    await jobs.change(Resume(actor="ada"), "report")
    assert await jobs.row("enabled", "report") == (True,)
    assert await jobs.one("SELECT sql_commands FROM tickbird.cursors WHERE schedule_id = %s", made.id) is None
    await jobs.change(Delete(actor="ada"), "report")
    assert await jobs.row("id", "report") is None


async def test_neither_direction_loops(jobs: Jobs) -> None:
    """An edit of one side makes one revision, whichever side it is."""
    await jobs.plan()
    definition = (await jobs.schedule()).definition
    assert definition is not None
    changed = await jobs.change(Update(actor="ada", fields={"retries": 4}))
    assert changed.revision == 2
    assert await jobs.row("retries") == (4,)
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET description = 'New'")
    await jobs.plan()
    schedule = await jobs.schedule()
    assert schedule.revision == 3
    assert schedule.definition is not None
    assert (schedule.definition.retries, schedule.definition.description) == (4, "New")
    assert await jobs.one("SELECT count(*) FROM tickbird.revisions") == 3


async def test_edits_from_both_sides_at_once(jobs: Jobs) -> None:
    await jobs.plan()

    async def by_sql(number: int) -> None:
        await jobs.sql("UPDATE tickbird.scheduled_jobs SET payload = jsonb_build_object('n', %s::integer)", number)

    async def by_client(number: int) -> None:
        await jobs.change(Update(actor="ada", fields={"retries": number}))

    for number in range(1, 21):
        await asyncio.gather(by_sql(number), by_client(number), jobs.plan())
    await jobs.plan()
    schedule = await jobs.schedule()
    assert schedule.definition is not None
    assert (schedule.definition.retries, schedule.definition.payload) == (20, {"n": 20})
    assert await jobs.row("retries, payload") == (20, {"n": 20})
    assert schedule.state == "active"


async def test_jobs_are_in_the_namespace_of_the_settings(jobs: Jobs) -> None:
    await jobs.sql("DELETE FROM tickbird.scheduled_jobs")
    await jobs.sql("UPDATE tickbird.sql_settings SET namespace = 'ops'")
    await jobs.sql(INSERT.replace(f"'{NAME}'", "'of_ops'"))
    await jobs.sql("SELECT tickbird.trigger_scheduled_job('of_ops')")
    await jobs.change(Create(actor="ada", namespace=NAMESPACE, definition=sql_definition()), "of_default")
    rows = await jobs.sql(
        "SELECT j.name, s.namespace, r.namespace FROM tickbird.scheduled_jobs AS j "
        "JOIN tickbird.schedules AS s ON s.id = j.id JOIN tickbird.runs AS r ON r.schedule_id = j.id"
    )
    assert rows == [("of_ops", "ops", "ops")]
    assert await jobs.row("name", "of_default") is None


async def test_unknown_function_of_a_client_is_refused(jobs: Jobs) -> None:
    with pytest.raises(DefinitionError, match=r"public\.nothing: does not exist"):
        await jobs.change(
            Create(actor="ada", namespace=NAMESPACE, definition=sql_definition("public.nothing")), "report"
        )


# Operate with SQL


async def test_trigger_returns_the_run(jobs: Jobs) -> None:
    await jobs.plan()
    answer = await jobs.one("SELECT tickbird.trigger_scheduled_job('daily_cleanup')")
    assert (answer["success"], answer["job_name"]) == (True, NAME)
    record = await jobs.store.runs.get(answer["run_id"])
    assert record is not None
    assert (record.status, record.origin, record.schedule) == ("waiting", "manual", NAME)
    await jobs.plan()
    claimed = await jobs.store.leases.claim(WORKER, 10, 60, queues=("default",), targets=(("sql", "store"),))
    assert [run.id for run in claimed.runs] == [answer["run_id"]]
    [run] = claimed.runs
    result = {"success": True, "message": "Deleted 3", "details": {"count": 3}}
    outcome = Outcome(run.id, run.attempt, "succeeded", result=result, incarnation=run.incarnation)
    await jobs.store.leases.finish([outcome])
    columns = "success, message, details, triggered_by, scheduled_for, duration_ms >= 0"
    [row] = await jobs.sql(f"SELECT {columns} FROM tickbird.scheduled_job_runs WHERE job_id = %s", run.schedule_id)
    assert row == (True, "Deleted 3", {"count": 3}, "manual", None, True)
    columns = "last_run_success, last_run_message, total_runs, successful_runs, failed_runs, success_rate_percent"
    [row] = await jobs.sql(f"SELECT {columns} FROM tickbird.scheduled_job_status")
    assert row == (True, "Deleted 3", 1, 1, 0, 100)
    assert await jobs.one("SELECT name FROM tickbird.scheduled_job_averages()") == NAME


async def test_second_trigger_waits_for_the_first(jobs: Jobs) -> None:
    await jobs.plan()
    first, second = [
        (await jobs.one("SELECT tickbird.trigger_scheduled_job('daily_cleanup')"))["run_id"] for _ in range(2)
    ]
    await jobs.plan()
    statuses = dict(await jobs.sql("SELECT id, status FROM tickbird.runs"))
    assert statuses == {first: "queued", second: "waiting"}
    assert await jobs.one("SELECT tickbird.cancel(%s, 'not needed')", first)
    await jobs.plan()
    statuses = dict(await jobs.sql("SELECT id, status FROM tickbird.runs"))
    assert statuses == {first: "cancelled", second: "queued"}
    assert not await jobs.one("SELECT tickbird.cancel(%s)", first)


async def test_reschedule_moves_the_next_tick(jobs: Jobs) -> None:
    await jobs.plan()
    await jobs.sql("SELECT tickbird.reschedule('daily_cleanup', now() + interval '90 seconds')")
    await jobs.plan()
    assert await jobs.one("SELECT next_run_at < now() + interval '100 seconds' FROM tickbird.scheduled_job_status")


async def test_wait_for_an_enqueued_run(jobs: Jobs) -> None:
    run_id = await jobs.one("SELECT tickbird.enqueue('digest', '{\"limit\": 5}', idempotency_key => 'once')")
    assert await jobs.one("SELECT tickbird.enqueue('digest', '{\"limit\": 5}', idempotency_key => 'once')") == run_id
    assert await jobs.one("SELECT tickbird.wait(%s, '0 s')", run_id) is None
    waiting = asyncio.create_task(jobs.one("SELECT tickbird.wait(%s)", run_id))
    [run] = (await jobs.store.leases.claim(WORKER, 1, 60, queues=("default",), targets=(("task", "digest"),))).runs
    assert run.payload == {"limit": 5}
    await jobs.store.leases.finish([Outcome(run.id, run.attempt, "succeeded", result=7, incarnation=run.incarnation)])
    assert await waiting == {"status": "succeeded", "success": True, "result": 7, "error": None}
    text = await jobs.refusal("SELECT tickbird.wait(tickbird.enqueue('digest'))")
    assert "COMMIT first" in text


async def test_rolled_back_changes_leave_nothing(jobs: Jobs) -> None:
    await jobs.plan()
    async with await psycopg.AsyncConnection.connect(jobs.database.url) as connection:
        await connection.execute("SELECT tickbird.trigger_scheduled_job('daily_cleanup')")
        await connection.execute("SELECT tickbird.pause('daily_cleanup')")
        await connection.rollback()
    await jobs.plan()
    assert (await jobs.schedule()).state == "active"
    assert await jobs.one("SELECT count(*) FROM tickbird.runs") == 0


# Retention

RUNS = """INSERT INTO tickbird.runs (
    schedule_id, revision, status, origin, namespace, target_kind, target, queue, priority, crash_limit,
    due_at, available_at, created_at, started_at, finished_at, result
)
SELECT
    j.id, 1, v.status, 'manual', 'default', 'sql', 'store', 'default', 0, 3,
    v.at, v.at, v.at, v.at, v.at, json_build_object('success', true, 'message', v.message)
FROM tickbird.scheduled_jobs AS j
CROSS JOIN (
    SELECT
        n,
        now() - make_interval(hours => 12 - n) AS at,
        CASE WHEN n IN (4, 5) THEN 'failed' ELSE 'succeeded' END AS status,
        CASE WHEN n < 8 THEN 'a' ELSE 'b' END AS message
    FROM generate_series(1, 10) AS n
) AS v
ORDER BY v.n"""


@pytest.mark.parametrize(
    "settings, kept",
    [
        ("log = 'all'", range(1, 11)),
        ("keep_runs = 3", (8, 9, 10)),
        ("keep_for = '5 hours 30 minutes'", (7, 8, 9, 10)),
        ("keep_for = '1000000 years'", range(1, 11)),
        ("log = 'failures'", (4, 5, 10)),
        ("log = 'changes'", (1, 4, 6, 8, 10)),
    ],
)
async def test_retention_of_a_job(jobs: Jobs, settings: str, kept: Any) -> None:
    await jobs.sql(RUNS)
    ids = [run_id for (run_id,) in await jobs.sql("SELECT id FROM tickbird.runs ORDER BY id")]
    await jobs.sql(f"UPDATE tickbird.scheduled_jobs SET {settings}")
    await jobs.store.runs.prune(older_than=86_400 * 90, keep=100)
    rows = await jobs.sql("SELECT id FROM tickbird.runs ORDER BY id")
    assert [ids.index(run_id) + 1 for (run_id,) in rows] == list(kept)
    assert (await jobs.schedule()).revision == 1


async def test_next_ticks(jobs: Jobs) -> None:
    await jobs.plan()
    zone = "AT TIME ZONE 'America/New_York'"
    rows = await jobs.sql(f"SELECT t {zone} FROM tickbird.next_ticks('daily_cleanup', 3) AS t")
    assert [(at.hour, at.minute) for (at,) in rows] == [(3, 0)] * 3
    assert [after[0] - before[0] for before, after in pairwise(rows)] == [timedelta(days=1)] * 2
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET schedule = '*/5 * * * *'")
    await jobs.plan()
    [(count, minutes)] = await jobs.sql(
        """SELECT count(*), sum(mod(extract(minute FROM t)::integer, 5))
        FROM tickbird.next_ticks('daily_cleanup', 100) AS t"""
    )
    assert (count, minutes) == (100, 0)
    # Most of them have passed: the list is written again.
    await jobs.sql("UPDATE tickbird.upcoming_ticks SET ticks = ticks[1:5], refresh_at = now()")
    await jobs.store.runs.prune(older_than=86_400, keep=10)
    assert await jobs.one("SELECT count(*) FROM tickbird.next_ticks('daily_cleanup', 100)") == 100
    await jobs.sql("UPDATE tickbird.scheduled_jobs SET enabled = false")
    assert await jobs.sql("SELECT tickbird.next_ticks('daily_cleanup')") == []
    assert "there is no job 'other'" in await jobs.refusal("SELECT tickbird.next_ticks('other')")
