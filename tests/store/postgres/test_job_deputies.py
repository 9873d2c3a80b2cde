"""SECURITY DEFINER functions that people of other roles call: the role in force decides, not the login."""

from __future__ import annotations

import pytest
from psycopg import errors

from tests.store.postgres.test_job_permissions import Team, team

__all__ = ["team"]

DEPUTY = """CREATE OR REPLACE FUNCTION public.deputy() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS
$$ DECLARE answer text; BEGIN {} RETURN answer; END $$"""
COUNT = "EXECUTE 'SELECT count(*) FROM {}' INTO answer;"


async def hire(team: Team, owner: str, body: str) -> None:
    """A function of a role that everybody may call."""
    await team.database.execute("DROP FUNCTION IF EXISTS public.deputy()")
    await team.database.execute(DEPUTY.format(body.replace("%", "%%")))
    await team.database.execute(f"ALTER FUNCTION public.deputy() OWNER TO {owner}")


CHANGES = [
    "PERFORM tickbird.pause('of_bob');",
    "PERFORM tickbird.resume('of_bob');",
    "PERFORM tickbird.reschedule('of_bob', now() + interval '1 day');",
    "PERFORM tickbird.trigger_scheduled_job('of_bob');",
    "PERFORM tickbird.enqueue('digest');",
    "PERFORM tickbird.cancel((SELECT max(run_id) FROM public.bait));",
    # Around the functions.
    "INSERT INTO tickbird.requests (action, role, name) VALUES ('pause', 'job_admin', 'of_bob');",
    "INSERT INTO tickbird.requests (action, role, name) VALUES ('pause', session_user, 'of_bob');",
    "PERFORM tickbird.pause_as('job_admin', 'of_bob', '', NULL);",
    "PERFORM tickbird.record_job_function(1);",
    "UPDATE tickbird.sql_settings SET allowed_schemas = '{pg_catalog}';",
]


@pytest.mark.parametrize("login", ["job_admin", "job_operator", "postgres"])
async def test_function_of_a_low_role_has_no_rights_of_its_caller(team: Team, login: str) -> None:
    async with team.session("job_bob") as session:
        [(answer,)] = await session.sql("SELECT tickbird.trigger_scheduled_job('of_bob')")
    await team.database.execute("CREATE TABLE bait AS SELECT %s::bigint AS run_id", answer["run_id"])
    await team.database.execute("GRANT SELECT ON bait TO PUBLIC")
    state = """SELECT array_agg(j::text ORDER BY id), (SELECT count(*) FROM tickbird.runs),
        (SELECT count(*) FROM tickbird.audit_log), (SELECT array_agg(sql_commands::text) FROM tickbird.cursors)
        FROM tickbird.scheduled_jobs AS j"""
    before = await team.database.execute(state)
    for body in CHANGES:
        await hire(team, "job_ann", body)
        async with team.session(login) as session:
            error = await session.refusal("SELECT deputy()")
            assert isinstance(error, errors.InsufficientPrivilege), body
    assert await team.database.execute(state) == before


@pytest.mark.parametrize("login", ["job_admin", "postgres"])
async def test_function_of_a_low_role_does_not_define_jobs_of_others(team: Team, login: str) -> None:
    columns = "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, role) VALUES"
    for body, reason in (
        (f"{columns} ('x', 'work_of_bob', '@daily', 'job_bob');", "not a member of role job_bob"),
        (f"{columns} ('x', 'work_of_bob', '@daily', session_user);", "may not execute|not a member"),
        ("UPDATE tickbird.scheduled_jobs SET role = 'job_bob';", "not a member of role job_bob"),
        (f"{columns} ('of_bob', 'work_of_ann', '@daily', 'job_ann');", "belongs to a job of role job_bob"),
    ):
        await hire(team, "job_ann", body)
        async with team.session(login) as session:
            with pytest.raises(errors.DatabaseError, match=reason):
                await session.sql("SELECT deputy()")
    # Row-level security shows the deputy only its owner's row.
    await hire(team, "job_ann", "UPDATE tickbird.scheduled_jobs SET retries = 7; DELETE FROM tickbird.scheduled_jobs;")
    async with team.session(login) as session:
        await session.sql("SELECT deputy()")
    assert await team.database.execute("SELECT name, retries FROM tickbird.scheduled_jobs") == [("of_bob", 0)]


async def test_function_of_a_low_role_sees_only_its_own_jobs(team: Team) -> None:
    async with team.session("job_bob") as session:
        [(answer,)] = await session.sql("SELECT tickbird.trigger_scheduled_job('of_bob')")
    views = {"scheduled_jobs": "1", "scheduled_job_status": "1", "job_checks": "1", "job_ticks": "1"}
    views |= {"scheduled_job_executions": "0", "run_results": "0"}
    for view, count in views.items():
        await hire(team, "job_ann", COUNT.format(f"tickbird.{view}"))
        async with team.session("job_admin") as session:
            assert await session.sql("SELECT deputy()") == [(count,)], view
            if view != "scheduled_jobs":
                expected = {"1": 2, "0": 1}[count]
                assert await session.sql(f"SELECT count(*) FROM tickbird.{view}") == [(expected,)], view
    for call in (f"PERFORM tickbird.wait({answer['run_id']}, '0');", "PERFORM tickbird.next_ticks('of_bob');"):
        await hire(team, "job_ann", call)
        async with team.session("job_admin") as session:
            assert (await session.refusal("SELECT deputy()")).sqlstate == "TB404"


async def test_function_of_an_operator_lends_its_rights(team: Team) -> None:
    """An operator who creates such a function wants it, as with every SECURITY DEFINER function."""
    await hire(team, "job_operator", "PERFORM tickbird.pause('of_bob', 'by the deputy');")
    async with team.session("job_guest") as session:
        await session.sql("SELECT deputy()")
    assert await team.database.one("SELECT enabled FROM tickbird.scheduled_jobs WHERE name = 'of_bob'") is False
    commands = await team.database.one(
        """
        SELECT sql_commands FROM tickbird.cursors c JOIN tickbird.schedules s ON s.id = c.schedule_id
        WHERE s.name = 'of_bob'
        """
    )
    assert commands[-1]["actor"] == "job_guest"


async def test_pooler_that_sets_the_role_has_only_its_rights(team: Team) -> None:
    """PostgREST logs in as a role that may become others."""
    await team.database.execute("GRANT job_guest TO job_admin")
    await team.database.execute("GRANT USAGE ON SCHEMA tickbird TO job_guest")
    try:
        async with team.session("job_admin", role="job_guest") as session:
            assert isinstance(await session.refusal("SELECT tickbird.pause('of_ann')"), errors.InsufficientPrivilege)
    finally:
        await team.database.execute("REVOKE job_guest FROM job_admin")


async def test_name_of_a_deleted_job_cannot_be_taken(team: Team) -> None:
    """Neither before nor after the planner has applied the delete."""
    async with team.session("job_ann") as session:
        await session.sql("DELETE FROM tickbird.scheduled_jobs")
    text = """INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule)
    VALUES ('of_ann', 'work_of_bob', '@daily')"""
    async with team.session("job_bob") as session:
        assert "belongs to a job of role job_ann" in str(await session.refusal(text))
    async with team.session("job_ann") as session:
        await session.sql(text.replace("work_of_bob", "work_of_ann"))


async def test_viewer_cannot_forge_a_request(team: Team) -> None:
    async with team.session("job_viewer") as session:
        for values in ("'pause', 'postgres', 'of_ann'", "'trigger', 'tickbird_admin', 'of_ann'"):
            error = await session.refusal(f"INSERT INTO tickbird.requests (action, role, name) VALUES ({values})")
            assert isinstance(error, errors.InsufficientPrivilege)
            assert "role job_viewer may not change it" in str(error)
        assert (await session.refusal("INSERT INTO tickbird.requests (action) VALUES ('drop')")).sqlstate == "TB422"
