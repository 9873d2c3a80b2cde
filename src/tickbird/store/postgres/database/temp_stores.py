"""Temporary stores on PostgreSQL: separate schemas in the same database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import psycopg
from psycopg import sql

from tickbird.domain.errors import StoreError
from tickbird.store.postgres.database import schema
from tickbird.store.postgres.database.connection import Connection, Connections, Session
from tickbird.store.postgres.database.errors import translate
from tickbird.store.shared.postgres_url import PostgresUrl
from tickbird.store.shared.temp_stores import check_name, new_name

T = TypeVar("T")


class PostgresScratches:
    """Temporary schemas. The application name of a session is its schema, so that sessions can be identified."""

    def __init__(self, url: str) -> None:
        self._connections = Connections(url, 1)
        self._url = PostgresUrl.parse(url)

    def address(self) -> str:
        name = new_name()
        return self._address(name)

    def _address(self, name: str) -> str:
        return replace(self._url.with_parameters(application_name=name), schema=name).secret_text

    def name(self, url: str) -> str:
        return check_name(PostgresUrl.parse(url).schema)

    async def make(self, url: str) -> None:
        self.name(url)
        [(role, database, may, standby)] = await self._fetch(lambda db: db.fetch("may_create_schema"))
        if standby:
            raise StoreError("this server is a standby and read-only.", hint="Use the URL of the primary.")
        if not may:
            raise StoreError(
                f"the role {role!r} may not create a schema in the database {database!r}.",
                hint=f'Run `GRANT CREATE ON DATABASE "{database}" TO "{role}"`, or use the URL of a role that may.',
            )

        async def migrate(db: Session) -> None:
            # Without the indexes that are built concurrently: a build waits for every transaction of the database.
            await schema.migrate(db.connection, self.name(url))

        await self._fetch(migrate)

    async def left(self) -> Sequence[str]:
        names = [name for (name,) in await self._fetch(lambda db: db.fetch("list_temp_schemas"))]
        return [self._address(check_name(name)) for name in names]

    async def disturb(self, url: str) -> str:
        """End every connection to it, as a restart of the server does."""
        await self._fetch(lambda db: db.fetch("end_sessions", program=self.name(url)))
        return "connections closed"

    async def drop(self, url: str) -> None:
        name = self.name(url)

        async def work(db: Session) -> None:
            await db.fetch("end_sessions", program=name)
            async with db.connection.transaction():
                await db.connection.execute("SET LOCAL statement_timeout = 0")
                await db.connection.execute("SET LOCAL lock_timeout = '30s'")
                await db.connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))

        await self._fetch(work)

    async def _fetch(self, work: Callable[[Session], Awaitable[T]]) -> T:
        connection: Connection
        async with self._connections.dedicated() as connection:
            try:
                return await work(Session(connection))
            except psycopg.Error as error:
                raise translate(error, self._connections.display_name) from None
