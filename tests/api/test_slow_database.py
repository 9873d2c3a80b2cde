"""A database that is slow: however many requests wait for it, the server takes few connections and answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest

from lab.servers import PostgresServer, ServerMissing
from tests.api.conftest import Api
from tests.conftest import leave_out
from tickbird.api.middleware.guard import RequestLimits
from tickbird.server import STATEMENT_WITHIN
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

REQUESTS = 250
# Ten in the pool, and a few outside of it. A storm takes all that the server has.
MAX_COUNT = 18
CONNECTIONS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tickbird'
"""
LIMITS = RequestLimits(per_second=10_000, burst=10_000)


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """A database on a server of its own, whose connections nobody else uses."""
    try:
        server = PostgresServer(settings={"max_connections": "60"})
    except ServerMissing as missing:
        leave_out(str(missing))
    with server:
        made = server.create_database()
        await open_store(made).migrate()
        yield made


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """The store as the server opens it."""
    opened = open_store(url, within=STATEMENT_WITHIN)
    await opened.open()
    yield opened
    await opened.close()


async def count_most(url: str, ended: asyncio.Event) -> int:
    """The most connections of Tickbird at a time, until it has ended."""
    maximum = 0
    async with await psycopg.AsyncConnection.connect(f"{url}?application_name=counter", autocommit=True) as counter:
        while not ended.is_set():
            row = await (await counter.execute(CONNECTIONS)).fetchone()
            assert row is not None
            maximum = max(maximum, row[0])
            await asyncio.sleep(0.05)
    return maximum


@pytest.mark.parametrize("path", ["/api/v1/runs", "/api/v1/workers"])
async def test_waiting_requests_share_the_connections(url: str, store: Store, path: str) -> None:
    """They are answered while the lock is held: with 503, and when to come back."""
    api = Api(store, LIMITS)
    token = await api.token("viewer")
    assert (await api.ask("GET", path, token=token)).status_code == 200
    ended = asyncio.Event()
    counted = asyncio.create_task(count_most(url, ended))
    async with await psycopg.AsyncConnection.connect(f"{url}?application_name=holder") as holder:
        await holder.execute("LOCK TABLE tickbird.runs, tickbird.workers IN ACCESS EXCLUSIVE MODE")
        asked = [asyncio.create_task(api.ask("GET", path, token=token)) for _ in range(REQUESTS)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        # While the others wait: somebody logs in, and a worker opens the store and asks it.
        async with await psycopg.AsyncConnection.connect(url) as another:
            await another.execute("SELECT 1")
        worker = open_store(url)
        await worker.open()
        await worker.now()
        await worker.close()
        answers = await asyncio.gather(*asked)
        await holder.rollback()
    ended.set()
    assert {answer.status_code for answer in answers} == {503}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
    assert await counted <= MAX_COUNT
    assert (await api.ask("GET", path, token=token)).status_code == 200


async def test_many_examinations_share_the_connections(url: str, store: Store) -> None:
    """Each of them takes three connections of its own."""
    api = Api(store, LIMITS)
    token = await api.token("admin", "*")
    ended = asyncio.Event()
    counted = asyncio.create_task(count_most(url, ended))
    answers = await asyncio.gather(
        *(api.ask("GET", "/api/v1/doctor?namespace=default", token=token) for _ in range(40))
    )
    ended.set()
    codes = {answer.status_code for answer in answers}
    assert codes <= {200, 503}
    assert 200 in codes
    assert await counted <= MAX_COUNT
