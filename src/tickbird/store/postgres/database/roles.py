"""The roles for teams that use plain SQL: viewer, operator and admin."""

from __future__ import annotations

from collections.abc import Sequence

import psycopg
from psycopg import errors

from tickbird.store.postgres.database.connection import Connections, Session
from tickbird.store.postgres.database.errors import translate
from tickbird.store.postgres.database.schema_name import statements


class PostgresRoles:
    """Roles belong to the whole server: stores in several databases share them."""

    def __init__(self, url: str) -> None:
        self._connections = Connections(url, 1)

    @property
    def script(self) -> str:
        return statements(self._connections.schema)["create_roles"].strip() + "\n"

    async def create(self) -> Sequence[str]:
        async with self._connections.dedicated() as connection:
            session = Session(connection, self._connections.schema)
            try:
                async with connection.transaction():
                    before = await session.fetch("list_roles")
                    await connection.execute(self.script.encode())
                    after = await session.fetch("list_roles")
            except errors.InsufficientPrivilege as error:
                raise PermissionError(error.diag.message_primary) from None
            except psycopg.Error as error:
                raise translate(error, self._connections.display_name) from None
        return [name for (name,) in after if (name,) not in before]
