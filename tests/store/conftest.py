"""Each store of ours, open, migrated and empty, for the conformance suite."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from conformance import Plain
from lab.servers import PgBouncer, PostgresServer
from tests.core_store import CoreStore
from tests.rows import delete_rows
from tickbird.store.postgres import PostgresStore
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore

Pair = tuple[Store, Store]

INSERT = "INSERT INTO schedules (namespace, name, definition) VALUES ({0}, {0}, {0})"
UPDATE = "UPDATE schedules SET definition = {0} WHERE id = {0}"
REWRITE_REVISION = "UPDATE revisions SET definition = {0} WHERE schedule_id = {0} AND revision = {0}"
DELETE_REVISION = "DELETE FROM revisions WHERE schedule_id = {0} AND revision = {0}"
DELETE_OF_NAME = "DELETE FROM {0} WHERE {1} = (SELECT id FROM schedule_ids WHERE namespace = {2} AND name = {2})"
REWRITE_PAYLOAD = "UPDATE run_payloads SET payload = {0} WHERE run_id = {0}"
REFUSE = """
DROP FUNCTION IF EXISTS refuse() CASCADE;
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{message}' USING ERRCODE = '{sqlstate}';
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON {table} FOR EACH ROW {of} EXECUTE FUNCTION refuse();
"""


class PlainRows(ABC):
    """Rows written by plain SQL; `{0}` is replaced by a parameter."""

    async def insert(self, namespace: str, name: str, definition: Mapping[str, Any] | str) -> None:
        """INSERT a schedule with nothing but its definition."""
        await self.execute(INSERT, (namespace, name, _text(definition)))

    async def redefine(self, schedule_id: int, definition: Mapping[str, Any] | str) -> None:
        """UPDATE a schedule's definition and nothing else."""
        await self.execute(UPDATE, (_text(definition), schedule_id))

    @abstractmethod
    async def replace(self, namespace: str, name: str, definition: Mapping[str, Any]) -> None:
        """Replace a schedule's row by another one."""

    async def rewrite_revision(self, schedule_id: int, revision: int, definition: str) -> None:
        """UPDATE the stored definition of a revision."""
        await self.execute(REWRITE_REVISION, (definition, schedule_id, revision))

    async def delete_revision(self, schedule_id: int, revision: int) -> None:
        """DELETE a revision."""
        await self.execute(DELETE_REVISION, (schedule_id, revision))

    async def rewrite_payload(self, run_id: int, payload: str) -> None:
        """UPDATE the payload that a run has of its own."""
        await self.execute(REWRITE_PAYLOAD, (payload, run_id))

    async def park(self, schedule_id: int, error: str) -> None:
        """UPDATE a schedule and its cursor so that it is parked."""
        await self.execute("UPDATE schedules SET error = {0} WHERE id = {0}", (error, schedule_id))
        parked = "UPDATE cursors SET state = 'parked', next_run_at = NULL WHERE schedule_id = {0}"
        await self.execute(parked, (schedule_id,))

    @abstractmethod
    async def refuse_rows(self, table: str, schedule_id: int | None, message: str) -> None:
        """CREATE a trigger that refuses every new row of a schedule, or of all, with this message."""

    @abstractmethod
    async def accept_rows(self) -> None:
        """DROP that trigger."""

    @abstractmethod
    async def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Execute a statement in the store's database."""


def _text(definition: Mapping[str, Any] | str) -> str:
    return definition if isinstance(definition, str) else json.dumps(definition)


class PlainSqlite(PlainRows):
    """Another program with the same file open."""

    def __init__(self, path: str) -> None:
        self.path = path

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        connection = sqlite3.connect(self.path, timeout=60)
        try:
            with connection:
                connection.execute(statement.format("?"), values)
        finally:
            connection.close()

    async def refuse_rows(self, table: str, schedule_id: int | None, message: str) -> None:
        """CREATE a trigger that refuses every new row of a schedule, or of all, with this message."""
        of = "" if schedule_id is None else f"WHEN NEW.schedule_id = {schedule_id}"
        refuse = f"BEGIN SELECT raise(ABORT, '{message}'); END"
        await self.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} {of} {refuse}")

    async def accept_rows(self) -> None:
        """DROP that trigger."""
        await self.execute("DROP TRIGGER refuse")

    async def replace(self, namespace: str, name: str, definition: Mapping[str, Any]) -> None:
        """INSERT OR REPLACE, because a DELETE is refused."""
        await self.execute(INSERT.replace("INSERT", "INSERT OR REPLACE"), (namespace, name, _text(definition)))


class PlainPostgres(PlainRows):
    """A person with psql."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        connect = psycopg.AsyncConnection.connect(self.url, options="-c search_path=tickbird")
        async with await connect as connection:
            await connection.execute(statement.format("%s").encode(), values or None)

    async def refuse_rows(self, table: str, schedule_id: int | None, message: str, sqlstate: str = "P0001") -> None:
        """CREATE a trigger that refuses every new row of a schedule, or of all, with this message."""
        of = "" if schedule_id is None else f"WHEN (NEW.schedule_id = {schedule_id})"
        await self._script(REFUSE.format(table=table, message=message, sqlstate=sqlstate, of=of))

    async def accept_rows(self) -> None:
        """DROP that trigger."""
        await self._script("DROP FUNCTION IF EXISTS refuse() CASCADE")

    async def replace(self, namespace: str, name: str, definition: Mapping[str, Any]) -> None:
        """DELETE a schedule with the rows that refer to it, and INSERT it again."""
        for table, column in (("revisions", "schedule_id"), ("cursors", "schedule_id"), ("schedules", "id")):
            await self.execute(DELETE_OF_NAME.format(table, column, "{0}"), (namespace, name))
        await self.insert(namespace, name, definition)

    async def _script(self, text: str) -> None:
        connect = psycopg.AsyncConnection.connect(self.url, options="-c search_path=tickbird")
        async with await connect as connection:
            await connection.execute(text.encode())


async def _open(first: Store, second: Store) -> Pair:
    await first.migrate()
    await first.open()
    await second.open()
    return first, second


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every store in turn; plain SQL cannot reach a database in memory."""
    if "driver" in metafunc.fixturenames:
        drivers = getattr(metafunc.cls, "drivers", ["memory", "sqlite", "postgres"])
        reached = [name for name in drivers if name != "memory" or "plain" not in metafunc.fixturenames]
        metafunc.parametrize("driver", reached)


@pytest.fixture(autouse=True)
def no_datetime_is_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would bind a datetime to SQLite as text; columns hold microseconds."""

    def refuse(at: datetime) -> str:
        raise AssertionError(f"{at} is bound without to_micros")

    adapters: dict[Any, Any] = sqlite3.adapters
    monkeypatch.setitem(adapters, (datetime, sqlite3.PrepareProtocol), refuse)


@pytest.fixture
def pair(driver: str, request: pytest.FixtureRequest) -> Pair:
    """Two instances on an empty database; in memory there can be only one."""
    found: Pair = request.getfixturevalue(f"{driver}_pair")
    return found


@pytest.fixture
async def memory_pair() -> AsyncIterator[Pair]:
    """The same store, twice."""
    store = SqliteStore(":memory:")
    yield await _open(store, store)
    await store.close()


@pytest.fixture
async def sqlite_pair(tmp_path: Path) -> AsyncIterator[Pair]:
    """Two stores on a file."""
    path = str(tmp_path / "tickbird.db")
    first, second = await _open(SqliteStore(path), SqliteStore(path))
    yield first, second
    await second.close()
    await first.close()


@pytest.fixture
async def core_pair(tmp_path: Path) -> AsyncIterator[Pair]:
    """Two stores without capabilities on a file."""
    path = str(tmp_path / "tickbird.db")
    first, second = await _open(CoreStore(path), CoreStore(path))
    yield first, second
    await second.close()
    await first.close()


@pytest.fixture(scope="session")
async def exercise(postgres_server: PostgresServer) -> AsyncIterator[tuple[str, Pair]]:
    """A shared database with two stores: new ones for each test would take most of the time."""
    url = postgres_server.create_database()
    first, second = await _open(PostgresStore(url), PostgresStore(url))
    yield url, (first, second)
    await second.close()
    await first.close()


@pytest.fixture
async def postgres_pair(exercise: tuple[str, Pair]) -> Pair:
    """Two stores on that database, emptied."""
    url, stores = exercise
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SET lock_timeout = '10s'")
        await delete_rows(connection)
        await connection.execute("DROP FUNCTION IF EXISTS tickbird.refuse() CASCADE")
    for store in stores:
        await store.zone_data.check()
    return stores


@pytest.fixture(scope="session")
async def pooled_exercise(exercise: tuple[str, Pair], pgbouncer: PgBouncer) -> AsyncIterator[Pair]:
    """Two stores on the shared database, through a pooler."""
    url = exercise[0]
    first, second = await _open(*(PostgresStore(pgbouncer.through(url), listen_url=url) for _ in range(2)))
    yield first, second
    await second.close()
    await first.close()


@pytest.fixture
async def pgbouncer_pair(
    postgres_pair: Pair, pooled_exercise: Pair, pgbouncer: PgBouncer, request: pytest.FixtureRequest
) -> AsyncIterator[Pair]:
    """Two stores through a pooler on that database, emptied."""
    try:
        for store in pooled_exercise:
            await store.zone_data.check()
        yield pooled_exercise
    finally:
        # libpq does not pass on why a pooler closed a connection.
        request.node.add_report_section("teardown", "PgBouncer", pgbouncer.log[-2_000:])


@pytest.fixture
def store(pair: Pair) -> Store:
    """The store under test."""
    return pair[0]


@pytest.fixture
def other(pair: Pair) -> Store:
    """A second instance on the same database."""
    return pair[1]


@pytest.fixture
def plain(driver: str, request: pytest.FixtureRequest, tmp_path: Path) -> Plain:
    """Writes rows by plain SQL."""
    if driver in ("sqlite", "core"):
        return PlainSqlite(str(tmp_path / "tickbird.db"))
    return PlainPostgres(request.getfixturevalue("exercise")[0])
