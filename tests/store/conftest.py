"""Each store of ours, open, migrated and empty, for the conformance suite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tickbird.store.postgres import PostgresStore
from tickbird.store.protocol import Store
from tickbird.store.sqlite import SqliteStore
from tickbird.testing.conformance import Plain
from tickbird.testing.servers import PostgresServer

pytest.register_assert_rewrite("tickbird.testing.conformance")

Pair = tuple[Store, Store]

INSERT = "INSERT INTO schedules (namespace, name, definition) VALUES ({0}, {0}, {0})"
UPDATE = "UPDATE schedules SET definition = {0} WHERE id = {0}"
EMPTY = """TRUNCATE tickbird.schedules, tickbird.cursors, tickbird.revisions, tickbird.runs, tickbird.run_payloads,
    tickbird.attempts, tickbird.skips, tickbird.workers, tickbird.audit"""


class PlainSqlite:
    """Another program with the same file open."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def insert(self, namespace: str, name: str, definition: Mapping[str, Any]) -> None:
        """INSERT a schedule with nothing but its definition."""
        self._execute(INSERT, (namespace, name, json.dumps(definition)))

    async def redefine(self, schedule_id: int, definition: Mapping[str, Any]) -> None:
        """UPDATE a schedule's definition and nothing else."""
        self._execute(UPDATE, (json.dumps(definition), schedule_id))

    def _execute(self, statement: str, values: tuple[Any, ...]) -> None:
        connection = sqlite3.connect(self.path)
        try:
            with connection:
                connection.execute(statement.format("?"), values)
        finally:
            connection.close()


class PlainPostgres:
    """A person with psql."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def insert(self, namespace: str, name: str, definition: Mapping[str, Any]) -> None:
        """INSERT a schedule with nothing but its definition."""
        await self._execute(INSERT, (namespace, name, json.dumps(definition)))

    async def redefine(self, schedule_id: int, definition: Mapping[str, Any]) -> None:
        """UPDATE a schedule's definition and nothing else."""
        await self._execute(UPDATE, (json.dumps(definition), schedule_id))

    async def _execute(self, statement: str, values: tuple[Any, ...]) -> None:
        connect = psycopg.AsyncConnection.connect(self.url, options="-c search_path=tickbird")
        async with await connect as connection:
            await connection.execute(statement.format("%s").encode(), values)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store under test is."""
    if request.param == "memory":
        return ":memory:"
    if request.param == "sqlite":
        return str(tmp_path / "tickbird.db")
    url: str = request.getfixturevalue("exercise_url")
    return url


@pytest.fixture(scope="session")
def exercise_url(postgres_server: PostgresServer) -> str:
    """A database that all tests of the exercise use in turn: a new one each would take most of the time."""
    return postgres_server.create_database()


@pytest.fixture(scope="session")
async def opened() -> AsyncIterator[dict[str, Pair]]:
    """The instances on that database, open until the last test."""
    pairs: dict[str, Pair] = {}
    yield pairs
    for pair in pairs.values():
        for store in pair:
            await store.close()


async def _open(first: Store, second: Store) -> Pair:
    await first.migrate()
    await first.open()
    await second.open()
    return first, second


@pytest.fixture
async def pair(address: str, opened: dict[str, Pair]) -> AsyncIterator[Pair]:
    """Two instances on an empty database; in memory there can be only one."""
    if address.startswith("postgresql"):
        if address not in opened:
            opened[address] = await _open(PostgresStore(address), PostgresStore(address))
        async with await psycopg.AsyncConnection.connect(address) as connection:
            await connection.execute("SET lock_timeout = '10s'")
            await connection.execute(EMPTY)
        yield opened[address]
        return
    first = SqliteStore(address)
    second = first if address == ":memory:" else SqliteStore(address)
    yield await _open(first, second)
    await second.close()
    await first.close()


@pytest.fixture
def store(pair: Pair) -> Store:
    """The store under test."""
    return pair[0]


@pytest.fixture
def other(pair: Pair) -> Store:
    """A second instance on the same database."""
    return pair[1]


@pytest.fixture
def plain(address: str) -> Plain:
    """Writes rows behind the store's back."""
    if address == ":memory:":
        pytest.skip("nothing but the store can reach a database in memory")
    return PlainPostgres(address) if address.startswith("postgresql") else PlainSqlite(address)
