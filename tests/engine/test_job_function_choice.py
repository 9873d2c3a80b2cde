"""A job runs the function that it was defined with, whatever else has its name, as the role that it was allowed for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from tests.engine.test_sql_functions import Shop, working
from tests.engine.test_worker import final, until
from tests.store.postgres.database import Database, create_role, opened
from tests.store.postgres.steps import WORKER
from tickbird import every, sql
from tickbird.domain.runs.sql_calls import SqlCall

INSERT = "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, role) VALUES ('job', %s, '0 3 * * *', %s)"


@pytest.fixture
async def shop(any_migrated_url: str) -> AsyncIterator[Shop]:
    """Two roles with jobs that may create functions in the same schema."""
    database = Database(any_migrated_url)
    for role in ("job_ann", "mallory"):
        await create_role(database, role)
        await database.execute(f"GRANT CREATE ON SCHEMA public TO {role}")
        await database.execute(f"SELECT tickbird.allow_job_role('{role}')")
    async with working(database) as shop:
        yield shop


async def create(shop: Shop, role: str, function: str, message: str) -> None:
    await shop.database.execute(
        f"SET ROLE {role}; CREATE OR REPLACE FUNCTION {function} RETURNS jsonb LANGUAGE sql "
        f"AS $$ SELECT tickbird.result(true, '{message}') $$"
    )


async def trigger(shop: Shop, name: str = "job") -> dict[str, Any]:
    run_id = (await shop.database.one("SELECT tickbird.trigger_scheduled_job(%s)", name))["run_id"]
    ended: dict[str, Any] = await shop.database.one("SELECT tickbird.wait(%s)", run_id)
    return ended


async def message(shop: Shop, name: str = "job") -> Any:
    ended = await trigger(shop, name)
    return ended["result"]["message"] if ended["success"] else ended["error"]


NOT_NAMES = [
    "f(); drop table x",
    "f()",
    '"f"(); drop table x',
    '"f";',
    '"f',
    'f"',
    '"f""',
    "f.f.f",
    "f -- x",
    "f\ng",
    '"f\ng"',
    "",
    "pg_catalog.pg_read_file",
    '"pg_catalog"."pg_read_file"',
    "pg_read_file",
    "information_schema.f",
    "tickbird.result",
]


class Silence:
    """Ignores the messages of a function."""

    def line(self, level: int, text: str) -> None: ...

    def progress(self, value: float) -> None: ...

    async def before_finish(self) -> None: ...


class TestOverloads:
    async def test_overload_that_is_created_later_changes_nothing(self, shop: Shop) -> None:
        await create(shop, "job_ann", "public.f()", "of ann")
        await shop.database.execute(INSERT, "f", "job_ann")
        await shop.client.schedules.create("api", every(days=900), sql("f", role="job_ann"), actor="ada")
        await create(shop, "mallory", "public.f(jsonb)", "of mallory")
        assert await message(shop) == "of ann"
        run = await shop.client.schedules.trigger("api", actor="ada")
        assert (await final(shop.client, run.id)).result["message"] == "of ann"
        # An edit of another field keeps the function.
        await shop.database.execute("UPDATE tickbird.scheduled_jobs SET description = 'x', retries = 1")
        assert await message(shop) == "of ann"

    async def test_own_function_is_chosen_first(self, shop: Shop) -> None:
        await create(shop, "mallory", "public.f(jsonb)", "of mallory")
        await create(shop, "job_ann", "public.f()", "of ann")
        await shop.database.execute(INSERT, "f", "job_ann")
        assert await message(shop) == "of ann"
        await create(shop, "job_ann", "public.g()", "without")
        await create(shop, "job_ann", "public.g(jsonb)", "with an argument")
        await shop.database.execute("UPDATE tickbird.scheduled_jobs SET function_name = 'g'")
        assert await message(shop) == "with an argument"

    async def test_function_in_an_earlier_schema_changes_nothing(self, shop: Shop) -> None:
        await create(shop, "job_ann", "public.f()", "of ann")
        await shop.client.schedules.create("api", every(days=900), sql("f", role="job_ann"), actor="ada")
        await shop.database.execute(
            "CREATE SCHEMA first; GRANT ALL ON SCHEMA first TO mallory, job_ann; "
            "UPDATE tickbird.sql_settings SET allowed_schemas = '{first, public}'"
        )
        await create(shop, "mallory", "first.f()", "of mallory")
        assert await message(shop, "api") == "of ann"

    async def test_dropped_function_is_not_replaced_by_its_overload(self, shop: Shop) -> None:
        await create(shop, "job_ann", "public.f()", "of ann")
        await shop.database.execute(INSERT, "f", "job_ann")
        await create(shop, "mallory", "public.f(jsonb)", "of mallory")
        await shop.database.execute("DROP FUNCTION public.f()")
        assert (await message(shop)).startswith("function public.f(): does not exist. ")
        [(problem,)] = await shop.database.execute("SELECT problem FROM tickbird.check_jobs()")
        assert problem == "function public.f(): does not exist"
        # The same owner may create it again, or choose the other one.
        await create(shop, "job_ann", "public.f()", "again")
        assert await message(shop) == "again"
        await shop.database.execute("DROP FUNCTION public.f()")
        await shop.database.execute("UPDATE tickbird.scheduled_jobs SET function_name = 'f'")
        assert await message(shop) == "of mallory"

    async def test_function_of_another_owner_runs_after_it_was_set_again(self, shop: Shop) -> None:
        await create(shop, "job_ann", "public.f()", "of ann")
        await shop.database.execute(INSERT, "f", "job_ann")
        await shop.database.execute("ALTER FUNCTION public.f() OWNER TO mallory")
        for change in ("retries = 2", "enabled = false", "enabled = true"):
            await shop.database.execute(f"UPDATE tickbird.scheduled_jobs SET {change}")
        await shop.database.execute("SELECT tickbird.pause('job'), tickbird.resume('job')")
        assert "belongs to mallory, but belonged to job_ann" in await message(shop)
        refused = "SELECT detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse'"
        assert "belongs to mallory" in await shop.database.one(refused)
        await shop.database.execute("UPDATE tickbird.scheduled_jobs SET function_name = function_name")
        assert await message(shop) == "of ann"
        accepted = "SELECT detail - 'by' FROM tickbird.audit_log WHERE action = 'update' ORDER BY id DESC LIMIT 1"
        assert await shop.database.one(accepted) == {"function": "public.f()", "owner": "mallory"}


AGAIN = "DROP FUNCTION place.work(jsonb); CREATE {} place.work(job jsonb) {}; ALTER ROUTINE place.work OWNER TO job_ann"
WRAPPER = "ALTER FUNCTION tickbird.call_as_job_ann(regprocedure, jsonb)"


class TestChanges:
    """A run is refused if its function passed every check before, and then something changed."""

    @pytest.mark.parametrize(
        "change, reason",
        [
            ("REVOKE EXECUTE ON FUNCTION place.work(jsonb) FROM PUBLIC, job_ann", "role job_ann may not execute it"),
            ("REVOKE USAGE ON SCHEMA place FROM job_ann", "role job_ann may not execute it"),
            ("UPDATE tickbird.sql_settings SET allowed_schemas = '{public}'", "schema place are not executed"),
            (AGAIN.format("FUNCTION", "RETURNS text RETURN 'x'"), "does not exist"),
            (AGAIN.format("FUNCTION", "RETURNS SETOF jsonb LANGUAGE sql AS 'SELECT $1'"), "does not exist"),
            (AGAIN.format("PROCEDURE", "LANGUAGE sql AS ''"), "does not exist"),
            ("ALTER FUNCTION place.work(jsonb) RENAME TO labour", "does not exist"),
            ("ALTER FUNCTION place.work(jsonb) OWNER TO mallory", "belongs to mallory"),
            (f"{WRAPPER} SECURITY INVOKER", "role job_ann: may not execute jobs"),
            (f"{WRAPPER} OWNER TO mallory", "role job_ann: may not execute jobs"),
            (f"{WRAPPER} RENAME TO call_as_nobody", "role job_ann: may not execute jobs"),
        ],
    )
    async def test_next_run_is_refused(self, shop: Shop, change: str, reason: str) -> None:
        await shop.database.execute(
            "CREATE SCHEMA place; GRANT USAGE ON SCHEMA place TO job_ann; "
            "UPDATE tickbird.sql_settings SET allowed_schemas = '{public, place}'; "
            "CREATE FUNCTION place.work(job jsonb) RETURNS jsonb RETURN tickbird.result(true, 'done'); "
            "ALTER FUNCTION place.work(jsonb) OWNER TO job_ann"
        )
        await shop.database.execute(INSERT, "place.work", "job_ann")
        assert await message(shop) == "done"
        await shop.database.execute(change)
        assert reason in await message(shop)
        audit = "SELECT detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse'"
        assert reason in await shop.database.one(audit)


class TestNames:
    @pytest.mark.parametrize(
        "written, called",
        [
            ('"MyFunc"', 'public."MyFunc"()'),
            ('"Odd Schema"."My ""Func"" 1.0"', '"Odd Schema"."My ""Func"" 1.0"()'),
            ("PUBLIC.MyFunc", "public.myfunc()"),
            ('public."myfunc"', "public.myfunc()"),
        ],
    )
    async def test_quoted_name_keeps_its_case(self, shop: Shop, written: str, called: str) -> None:
        await shop.database.execute(
            'CREATE SCHEMA "Odd Schema" AUTHORIZATION job_ann; '
            "UPDATE tickbird.sql_settings SET allowed_schemas = '{public, Odd Schema}'"
        )
        for function in ("public.myfunc()", 'public."MyFunc"()', '"Odd Schema"."My ""Func"" 1.0"()'):
            await create(shop, "job_ann", function, function)
        await shop.database.execute(INSERT, written, "job_ann")
        assert await message(shop) == called
        assert await shop.database.one("SELECT function_name FROM tickbird.scheduled_jobs") == written
        schedule = await shop.client.schedules.get("job")
        assert schedule.definition is not None
        await shop.client.schedules.create("api", every(days=900), sql(written, role="job_ann"), actor="ada")
        assert await message(shop, "api") == called

    async def test_other_text_is_refused_at_definition_and_at_execution(self, any_migrated_url: str) -> None:
        database = Database(any_migrated_url)
        await database.execute("CREATE TABLE x (); CREATE FUNCTION f() RETURNS jsonb RETURN tickbird.result(true)")
        insert = "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule) VALUES ('job', %s, '0 3 * * *')"
        await database.execute(insert, "f")
        await database.execute("SELECT tickbird.trigger_scheduled_job('job')")
        async with opened(database.url) as store:
            await store.planning.plan_due()
            claimed = await store.leases.claim(WORKER, 1, 600, queues=("default",), targets=(("sql", "store"),))
            [run] = claimed.runs
            for text in NOT_NAMES:
                with pytest.raises(psycopg.DatabaseError) as caught:
                    await database.execute(insert.replace("'job'", "'other'"), text)
                assert caught.value.sqlstate == "TB422", text
                assert caught.value.diag.message_hint
                call = SqlCall(
                    run_id=run.id,
                    attempt=run.attempt,
                    incarnation=run.incarnation,
                    worker=WORKER.id,
                    function=text,
                    role=None,
                    argument={},
                )
                report = await store.sql_functions.call(call, Silence())
                assert report.ending == "refused", text
                assert "\n" not in (report.error or "").replace(text, "")
            refused = (
                "SELECT detail ->> 'function', detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse'"
            )
            entries = await database.execute(f"{refused} ORDER BY id")
            assert [function for function, _ in entries] == NOT_NAMES
            assert all(reason.startswith("function ") for _, reason in entries)
            # The same call with the name of the function.
            call = replace(call, function="public.f")
            assert (await store.sql_functions.call(call, Silence())).ending == "succeeded"
        assert await database.one("SELECT to_regclass('public.x') IS NOT NULL")


class TestRevoke:
    async def test_jobs_of_the_role_are_refused(self, shop: Shop) -> None:
        await create(shop, "job_ann", "public.f()", "of ann")
        await shop.database.execute(INSERT, "f", "job_ann")
        assert await message(shop) == "of ann"
        await shop.database.execute("SELECT tickbird.revoke_job_role('job_ann')")
        hint = "An administrator allows it: SELECT tickbird.allow_job_role('job_ann')."
        assert await message(shop) == f"role job_ann: may not execute jobs. {hint}"
        refused = "SELECT detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse'"
        assert await shop.database.one(refused) == "role job_ann: may not execute jobs"
        checked = await shop.database.execute("SELECT job, level, problem FROM tickbird.check_jobs()")
        assert checked == [("job", "problem", "role job_ann: may not execute jobs")]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await shop.database.execute("SET ROLE job_ann; SELECT * FROM tickbird.scheduled_jobs")
        granted = "SELECT has_schema_privilege('job_ann', 'tickbird', 'USAGE')"
        assert not await shop.database.one(granted)
        with pytest.raises(psycopg.DatabaseError, match="role job_ann: is not allowed to execute jobs"):
            await shop.database.execute("SELECT tickbird.revoke_job_role('job_ann')")
        await shop.database.execute("SELECT tickbird.allow_job_role('job_ann')")
        assert await message(shop) == "of ann"

    async def test_only_an_administrator_revokes(self, shop: Shop) -> None:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await shop.database.execute("SET ROLE job_ann; SELECT tickbird.revoke_job_role('mallory')")


class TestDeletedJob:
    @pytest.mark.parametrize("is_planned", [True, False])
    async def test_owner_waits_for_its_run_and_cancels_it(self, shop: Shop, is_planned: bool) -> None:
        await shop.database.execute(
            "SET ROLE job_ann; CREATE FUNCTION public.f() RETURNS jsonb LANGUAGE plpgsql AS "
            "$$ BEGIN LOOP PERFORM pg_sleep(0.01); END LOOP; END $$"
        )
        await shop.database.execute(INSERT, "f", "job_ann")
        run_id = (await shop.database.one("SELECT tickbird.trigger_scheduled_job('job')"))["run_id"]

        async def is_running() -> bool:
            return bool(await shop.database.one("SELECT status = 'running' FROM tickbird.runs WHERE id = %s", run_id))

        async def is_deleted() -> bool:
            return bool(await shop.database.one("SELECT state = 'deleted' FROM tickbird.cursors"))

        await until(is_running)
        calls = f"SELECT tickbird.wait({run_id}, '0'), tickbird.cancel({run_id}, 'not needed')"
        if is_planned:
            await shop.database.execute("SET ROLE job_ann; DELETE FROM tickbird.scheduled_jobs")
            await until(is_deleted)
            with pytest.raises(psycopg.DatabaseError) as caught:
                await shop.database.execute(f"SET ROLE mallory; SELECT tickbird.wait({run_id}, '0')")
            assert caught.value.sqlstate == "TB404"
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await shop.database.execute(f"SET ROLE mallory; SELECT tickbird.cancel({run_id})")
            await shop.database.execute(f"SET ROLE job_ann; {calls}")
        else:
            # In one transaction, so that no planner has applied the delete.
            await shop.database.execute(
                f"BEGIN; SET ROLE job_ann; DELETE FROM tickbird.scheduled_jobs; {calls}; COMMIT"
            )
        async with await psycopg.AsyncConnection.connect(shop.database.url, autocommit=True) as session:
            await session.execute("SET ROLE job_ann")
            cursor = await session.execute("SELECT tickbird.wait(%s) ->> 'status'", [run_id])
            assert await cursor.fetchone() == ("cancelled",)
