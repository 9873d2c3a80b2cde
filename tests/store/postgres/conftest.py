"""An empty database with two stores on it, and a server of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

from lab.servers import PostgresServer
from tests.rows import delete_rows
from tests.store.postgres.database import Database, opened
from tickbird.store.postgres import PostgresStore


@pytest.fixture(scope="module")
async def migrated(postgres_server: PostgresServer) -> str:
    url = postgres_server.create_database()
    await PostgresStore(url).migrate()
    return url


@pytest.fixture
async def database(migrated: str) -> Database:
    """An empty schema."""
    async with await psycopg.AsyncConnection.connect(migrated, autocommit=True) as connection:
        await delete_rows(connection)
    return Database(migrated)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[PostgresStore]:
    async with opened(database.url) as store:
        yield store


@pytest.fixture
async def other(database: Database) -> AsyncIterator[PostgresStore]:
    async with opened(database.url) as store:
        yield store


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that may be restarted and reconfigured."""
    with PostgresServer() as server:
        yield server
