"""The API never waits for planning, nor planning for the API; a store that is blocked is told as a problem."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta

import psycopg
import pytest

from tests.api.conftest import Api, refused
from tickbird.api.middleware.guard import RequestLimits
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

SCHEDULES = "/api/v1/schedules"


@pytest.fixture
async def planner(postgres_store: Store, shared_url: str) -> AsyncIterator[Store]:
    """The store of a worker beside the server, with a schedule that is due."""
    store = open_store(shared_url)
    await store.open()
    hourly = Definition(trigger=every(hours=1), target=Target("report"))
    command = Create(actor="ana", namespace="default", definition=hourly)
    await store.schedules.change("default", "digest", command, now=await store.now() - timedelta(hours=3))
    yield store
    await store.close()


async def test_the_api_answers_while_planning_is_held_up(
    postgres_store: Store, planner: Store, shared_url: str
) -> None:
    api = Api(postgres_store)
    async with await psycopg.AsyncConnection.connect(shared_url) as locked:
        await locked.execute("LOCK TABLE tickbird.cursors IN EXCLUSIVE MODE")
        planning = asyncio.create_task(planner.planning.plan_due())
        for path in (SCHEDULES, f"{SCHEDULES}/digest", f"{SCHEDULES}/digest/next", "/api/v1/audit"):
            assert (await api.ask("GET", path, "viewer")).status_code == 200
        assert not planning.done()
    assert (await planning).runs == 1
    await api.app.state.authority.settle()


async def test_planning_goes_on_while_the_api_is_held_up(
    postgres_store: Store, planner: Store, shared_url: str
) -> None:
    # The short limit is only for requests that cannot be answered.
    blocked = Api(postgres_store, RequestLimits(answer_within=0.5))
    token = await blocked.token("viewer")
    async with await psycopg.AsyncConnection.connect(shared_url) as locked:
        await locked.execute("LOCK TABLE tickbird.audit_log IN ACCESS EXCLUSIVE MODE")
        # More of them than the server has connections.
        asking = [asyncio.create_task(blocked.ask("GET", "/api/v1/audit", token=token)) for _ in range(15)]
        assert (await planner.planning.plan_due()).runs == 1
        for answer in await asyncio.gather(*asking):
            said = refused(answer, 503, "busy")
            assert "in time" in said
            assert answer.headers["retry-after"]
        assert (await blocked.plain("GET", "/healthz")).status_code == 200
    again = Api(postgres_store)
    assert (await again.ask("GET", "/api/v1/audit", token=token)).status_code == 200
    for each in (blocked, again):
        await each.app.state.authority.settle()


async def test_a_server_gives_a_statement_less_time_than_planning_does(shared_url: str) -> None:
    async def settings(store: Store) -> list[str]:
        assert isinstance(store, PostgresStore)
        async with store._connections.dedicated() as connection:
            asked = [f"SELECT current_setting('{name}')" for name in ("statement_timeout", "lock_timeout")]
            return [(await (await connection.execute(each.encode())).fetchone() or ("",))[0] for each in asked]

    assert await settings(open_store(shared_url, within=5)) == ["5s", "2500ms"]
    assert await settings(open_store(shared_url)) == ["15s", "3s"]
    # What the URL says counts before all else.
    given = f"{shared_url}?options=-c%20statement_timeout%3D7s"
    assert await settings(open_store(given, within=5)) == ["7s", "2500ms"]


async def test_a_lock_that_is_not_given_is_a_problem(postgres_store: Store, shared_url: str) -> None:
    # Only locks have a short limit: on a busy machine a statement may take longer.
    store = open_store(f"{shared_url}?options=-c%20lock_timeout%3D50ms")
    await store.open()
    api = Api(store)
    await api.token("viewer")
    async with await psycopg.AsyncConnection.connect(shared_url) as locked:
        await locked.execute("LOCK TABLE tickbird.audit_log IN ACCESS EXCLUSIVE MODE")
        answer = await api.ask("GET", "/api/v1/audit", "viewer")
    refused(answer, 503, "store-unavailable")
    await api.app.state.authority.settle()
    await store.close()


async def test_on_sqlite_reads_go_on_while_somebody_writes(sqlite_store: Store) -> None:
    api, blocked = Api(sqlite_store), Api(sqlite_store, RequestLimits(answer_within=0.5))
    await api.create("digest")
    await api.token("viewer")
    operator = await api.token("operator")
    path = str(getattr(sqlite_store, "path"))  # noqa: B009 - only this store has one
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        pausing = asyncio.create_task(blocked.ask("POST", f"{SCHEDULES}/digest/pause", token=operator))
        assert (await api.ask("GET", SCHEDULES, "viewer")).status_code == 200
        refused(await pausing, 503, "busy")
        assert (await api.ask("GET", f"{SCHEDULES}/digest", "viewer")).json()["state"] == "active"
    finally:
        other.execute("ROLLBACK")
        other.close()
    for each in (api, blocked):
        await each.app.state.authority.settle()
    # It was on its way, and may be made all the same, as the problem says.
    assert (await api.ask("POST", f"{SCHEDULES}/digest/pause", "operator")).status_code in (200, 409)
