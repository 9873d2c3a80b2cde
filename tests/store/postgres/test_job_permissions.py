"""Who may define, see and operate jobs with plain SQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.store.postgres.database import Database, create_role, opened
from tickbird.store.postgres.database.schema_name import statements

FUNCTION = "CREATE FUNCTION {}() RETURNS jsonb LANGUAGE sql AS $$ SELECT tickbird.result(true, 'done') $$"
INSERT = "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, payload) VALUES (%s, %s, '0 3 * * *', %s)"


class Session:
    """A session of one login, as with psql."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    async def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        cursor = await self._connection.execute(statement.encode(), values)
        return await cursor.fetchall() if cursor.description else []

    async def refusal(self, statement: str, *values: Any) -> psycopg.Error:
        with pytest.raises(psycopg.Error) as caught:
            await self.sql(statement, *values)
        return caught.value


class Team:
    """A database with jobs of two roles, and with viewers, operators and admins."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @asynccontextmanager
    async def session(self, login: str, role: str | None = None) -> AsyncIterator[Session]:
        async with await psycopg.AsyncConnection.connect(self.database.url, autocommit=True) as connection:
            await connection.execute(f"SET SESSION AUTHORIZATION {login}".encode())
            if role is not None:
                await connection.execute(f"SET ROLE {role}".encode())
            yield Session(connection)


@pytest.fixture
async def team(any_migrated_url: str) -> AsyncIterator[Team]:
    database = Database(any_migrated_url)
    await database.execute(statements()["create_roles"])
    for name in ("job_ann", "job_bob", "job_guest", "job_viewer", "job_operator", "job_admin", "job_proxy"):
        await create_role(database, name)
    for group in ("viewer", "operator", "admin"):
        await database.execute(f"GRANT tickbird_{group} TO job_{group}")
    await database.execute("GRANT job_ann TO job_proxy")
    for name in ("ann", "bob"):
        await database.execute(f"SELECT tickbird.allow_job_role('job_{name}')")
        await database.execute(FUNCTION.format(f"work_of_{name}"))
        await database.execute(f"REVOKE EXECUTE ON FUNCTION work_of_{name}() FROM PUBLIC")
        await database.execute(f"ALTER FUNCTION work_of_{name}() OWNER TO job_{name}")
    team = Team(database)
    async with opened(any_migrated_url) as store:
        for name in ("ann", "bob"):
            async with team.session(f"job_{name}") as session:
                await session.sql(INSERT, f"of_{name}", f"work_of_{name}", f'{{"secret": "{name}"}}')
        await store.planning.plan_due()
        yield team


async def test_owner_sees_and_edits_only_own_jobs(team: Team) -> None:
    async with team.session("job_ann") as session:
        assert await session.sql("SELECT name, payload FROM tickbird.scheduled_jobs") == [("of_ann", {"secret": "ann"})]
        assert await session.sql("SELECT name FROM tickbird.scheduled_job_status") == [("of_ann",)]
        await session.sql("UPDATE tickbird.scheduled_jobs SET schedule = '0 4 * * *'")
        await session.sql("DELETE FROM tickbird.scheduled_jobs WHERE name = 'of_bob'")
        error = await session.refusal("SELECT tickbird.trigger_scheduled_job('of_bob')")
        assert isinstance(error, errors.InsufficientPrivilege)
        [(answer,)] = await session.sql("SELECT tickbird.trigger_scheduled_job('of_ann')")
        assert answer["success"]
    rows = await team.database.execute("SELECT name, schedule, role FROM tickbird.scheduled_jobs ORDER BY name")
    assert rows == [("of_ann", "0 4 * * *", "job_ann"), ("of_bob", "0 3 * * *", "job_bob")]


async def test_job_of_another_role_is_refused(team: Team) -> None:
    async with team.session("job_ann") as session:
        text = """INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, role)
        VALUES ('x', 'work_of_bob', '* * * * *', 'job_bob')"""
        assert "not a member of role job_bob" in str(await session.refusal(text))
        assert "may not execute it" in str(await session.refusal(INSERT, "x", "work_of_bob", "{}"))
        assert "not a member" in str(await session.refusal("UPDATE tickbird.scheduled_jobs SET role = 'job_bob'"))
        for table in ("schedules", "cursors", "runs", "run_payloads", "revisions", "job_functions", "audit_log"):
            error = await session.refusal(f"SELECT * FROM tickbird.{table}")
            assert isinstance(error, errors.InsufficientPrivilege), table
        for call in ("mirror_job(1)", "request_change(1, '{}')", "allow_job_role('job_ann')"):
            error = await session.refusal(f"SELECT tickbird.{call}")
            assert isinstance(error, errors.InsufficientPrivilege), call


async def test_role_without_permission_is_refused(team: Team) -> None:
    async with team.session("job_guest") as session:
        for statement in ("SELECT * FROM tickbird.scheduled_jobs", "SELECT tickbird.pause('of_ann')"):
            assert isinstance(await session.refusal(statement), errors.InsufficientPrivilege)
    await team.database.execute("GRANT USAGE ON SCHEMA tickbird TO job_guest")
    async with team.session("job_guest") as session:
        for call in ("pause('of_ann')", "trigger_scheduled_job('of_ann')", "enqueue('digest')", "cancel(1)"):
            assert isinstance(await session.refusal(f"SELECT tickbird.{call}"), errors.InsufficientPrivilege), call


async def test_viewer_sees_everything_but_payloads_and_changes_nothing(team: Team) -> None:
    async with team.session("job_viewer") as session:
        rows = await session.sql("SELECT name FROM tickbird.scheduled_job_status ORDER BY 1")
        assert rows == [("of_ann",), ("of_bob",)]
        statements = (
            "SELECT payload FROM tickbird.scheduled_jobs",
            "SELECT * FROM tickbird.run_payloads",
            "SELECT detail FROM tickbird.audit_log",
            "SELECT tickbird.trigger_scheduled_job('of_ann')",
            "SELECT tickbird.reschedule('of_ann', now() + interval '1 day')",
            "SELECT tickbird.cancel(1)",
            "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule) VALUES ('x', 'work_of_ann', '@daily')",
            "SELECT tickbird.pause('of_ann')",
            "UPDATE tickbird.scheduled_jobs SET enabled = false",
            "DELETE FROM tickbird.scheduled_jobs",
            "UPDATE tickbird.sql_settings SET allowed_schemas = '{pg_catalog}'",
        )
        for statement in statements:
            assert isinstance(await session.refusal(statement), errors.InsufficientPrivilege), statement


async def test_operator_operates_and_admin_defines(team: Team) -> None:
    async with team.session("job_operator") as session:
        await session.sql("SELECT tickbird.pause('of_ann', 'upgrade')")
        await session.sql("SELECT tickbird.trigger_scheduled_job('of_bob')")
        error = await session.refusal("SELECT payload FROM tickbird.scheduled_jobs")
        assert isinstance(error, errors.InsufficientPrivilege)
    async with team.session("job_admin") as session:
        await session.sql("UPDATE tickbird.scheduled_jobs SET retries = 2")
        assert await session.sql("SELECT DISTINCT retries FROM tickbird.scheduled_jobs") == [(2,)]
    rows = await team.database.execute("SELECT name, enabled FROM tickbird.scheduled_jobs ORDER BY name")
    assert rows == [("of_ann", False), ("of_bob", True)]


async def test_audit_log_names_the_role_and_the_login(team: Team) -> None:
    """A pooler such as PostgREST logs in once and sets the role of each request."""
    async with team.session("job_proxy", role="job_ann") as session:
        await session.sql("UPDATE tickbird.scheduled_jobs SET retries = 3")
    actor = await team.database.one("SELECT actor FROM tickbird.audit_log ORDER BY id DESC LIMIT 1")
    assert actor == "job_ann (login job_proxy)"


async def test_check_jobs_lints_every_job(team: Team) -> None:
    await team.database.execute("ALTER FUNCTION work_of_ann() SECURITY DEFINER")
    await team.database.execute("DROP FUNCTION work_of_bob()")
    rows = await team.database.execute("SELECT job, level, problem FROM tickbird.check_jobs()")
    unserved = "no live worker serves queue default"
    assert [row for row in rows if row[2] == unserved] == [(job, "problem", unserved) for job in ("of_ann", "of_bob")]
    rows = [row for row in rows if row[2] != unserved]
    assert [row[:2] for row in rows] == [("of_ann", "warning"), ("of_bob", "problem")]
    assert "search_path" in rows[0][2]
    assert "does not exist" in rows[1][2]
