"""A job uses Tickbird's SQL with the rights of its role, not with those of the worker that executes it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.engine.test_sql_functions import Shop, working
from tests.store.postgres.database import Database, create_role

CREATE = "SET ROLE mallory; CREATE FUNCTION public.{}() RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN {} END $$"
INSERT = "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule, role)"


@pytest.fixture
async def shop(any_worker_url: str) -> AsyncIterator[Shop]:
    """A role with jobs, and a job of the store's owner."""
    database = Database(any_worker_url)
    await create_role(database, "mallory")
    await database.execute("GRANT CREATE ON SCHEMA public TO mallory")
    await database.execute("SELECT tickbird.allow_job_role('mallory')")
    await database.execute(CREATE.format("work", "RETURN tickbird.result(true, tickbird.caller()::text);"))
    async with working(database) as shop:
        yield shop


async def test_caller_is_the_role_of_the_job(shop: Shop) -> None:
    assert (await shop.run("work", role="mallory")).result["message"] == "mallory"
    owner = await shop.database.one("SELECT tickbird.job_owner()")
    assert (await shop.run("work")).result["message"] == owner


@pytest.mark.parametrize(
    "statement, refusal",
    [
        (
            f"{INSERT} VALUES ('raised', 'work', '@daily', tickbird.job_owner())",
            "not a member of role",
        ),
        ("PERFORM tickbird.pause('s0')", "role mallory may not change it"),
        ("PERFORM tickbird.enqueue('digest')", "role mallory may not enqueue runs"),
    ],
)
async def test_job_cannot_use_the_rights_of_the_worker(shop: Shop, statement: str, refusal: str) -> None:
    await shop.run("work")
    await shop.database.execute(CREATE.format("try", f"{statement}; RETURN tickbird.result(true);"))
    run = await shop.run("try", role="mallory")
    assert run.status == "failed"
    assert refusal in (run.error or "")


async def test_job_changes_jobs_of_its_own_role(shop: Shop) -> None:
    insert = f"{INSERT} VALUES ('own', 'work', '@daily', 'mallory')"
    await shop.database.execute(CREATE.format("define", f"{insert}; RETURN tickbird.result(true);"))
    run = await shop.run("define", role="mallory")
    assert run.status == "succeeded", run.error
    query = (
        "SELECT j.role::text, a.actor FROM tickbird.scheduled_jobs j JOIN tickbird.audit_log a ON a.schedule = j.name"
    )
    [(role, actor)] = await shop.database.execute(f"{query} WHERE j.name = 'own' AND a.action = 'create'")
    assert role == "mallory"
    assert actor.startswith("mallory (login ")
