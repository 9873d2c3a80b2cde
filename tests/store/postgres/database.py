"""A PostgreSQL database, as a person with psql and as a store sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from tickbird.store.postgres import PostgresStore


class PooledUrl(str):
    """The address of a database whose workers connect through a pooler."""

    __slots__ = ("pooled",)
    pooled: str

    def __new__(cls, url: str, pooled: str) -> PooledUrl:
        made = super().__new__(cls, url)
        made.pooled = pooled
        return made


class Database:
    """A person with psql."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.worker_url = url.pooled if isinstance(url, PooledUrl) else url

    async def execute(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def one(self, statement: str, *values: Any) -> Any:
        [(value,)] = await self.execute(statement, *values)
        return value

    async def lock_waits(self) -> int:
        """How many sessions wait for a lock at this moment."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        return int(await self.one(query))


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url, **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def create_role(database: Database, name: str) -> str:
    if not await database.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", name):
        await database.execute(f"CREATE ROLE {name} LOGIN")
    return name
