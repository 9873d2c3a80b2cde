"""Scratch stores on PostgreSQL: schemas of their own in the same database."""

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
    """Each has the name of its schema as its application name too, so that its sessions are told from others."""

    def __init__(self, url: str) -> None:
        self._connections = Connections(url, 1)
        self._url = PostgresUrl.parse(url)

    def address(self) -> str:
        """The URL of a new one, which is not made yet."""
        name = new_name()
        return self._address(name)

    def _address(self, name: str) -> str:
        return replace(self._url.with_parameters(application_name=name), schema=name).secret_text

    def name(self, url: str) -> str:
        """The schema."""
        return check_name(PostgresUrl.parse(url).schema)

    async def make(self, url: str) -> None:
        """Make it, with an empty schema."""
        self.name(url)
        [(role, database, may, standby)] = await self._fetch(lambda db: db.fetch("may_scratch"))
        if standby:
            raise StoreError("this server is a standby, which takes no writes;", hint="give the URL of the primary.")
        if not may:
            raise StoreError(
                f"the role {role!r} may not make a schema in the database {database!r};",
                hint=f'GRANT CREATE ON DATABASE "{database}" TO "{role}"; or give the URL of a role that may.',
            )

        async def migrate(db: Session) -> None:
            # Without the indexes that are built beside the work: that waits for every transaction of the database.
            await schema.migrate(db.connection, self.name(url))

        await self._fetch(migrate)

    async def left(self) -> Sequence[str]:
        """The URLs of all that are there."""
        names = [name for (name,) in await self._fetch(lambda db: db.fetch("list_scratches"))]
        return [self._address(check_name(name)) for name in names]

    async def disturb(self, url: str) -> str:
        """End every connection of those who use it, as a restart of the server does."""
        await self._fetch(lambda db: db.fetch("end_sessions", program=self.name(url)))
        return "connections cut"

    async def drop(self, url: str) -> None:
        """Remove it with all that is in it."""
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
