"""Connections through a pooler that may assign another server session to each transaction, such as PgBouncer."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.abc import Params, QueryNoTemplate
from psycopg.pq import TransactionStatus

# A setting in libpq's `options`: -c name=value or --name=value; a backslash escapes a space.
_OPTION: Final = re.compile(r"(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)")
# The error of PgBouncer if it does not know a startup parameter; it has no separate SQLSTATE.
_REFUSAL: Final = "unsupported startup parameter"


class PooledConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """A connection whose settings are those of each transaction; it needs `prepare_threshold=None`."""

    # A query that sets them until the end of the transaction.
    settings: bytes = b""

    @asynccontextmanager
    async def transaction(
        self, savepoint_name: str | None = None, force_rollback: bool = False
    ) -> AsyncIterator[psycopg.AsyncTransaction]:
        """Begin a transaction with the settings, or a savepoint."""
        is_outermost = self.pgconn.transaction_status == TransactionStatus.IDLE
        async with super().transaction(savepoint_name, force_rollback) as transaction:
            if is_outermost:
                await super().execute(self.settings)
            yield transaction

    async def execute(  # type: ignore[override]  # no template strings
        self, query: QueryNoTemplate, params: Params | None = None, *, prepare: bool | None = None, binary: bool = False
    ) -> psycopg.AsyncCursor[tuple[Any, ...]]:
        """Execute a statement; outside of a transaction, it is sent together with the settings."""
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            return await super().execute(query, params, prepare=prepare, binary=binary)
        # Messages up to the end of the pipeline are one transaction and one round trip.
        async with self.pipeline():
            await super().execute(self.settings)
            return await super().execute(query, params, prepare=prepare, binary=binary)


def local_settings(options: str) -> bytes:
    """The settings in libpq's `options` as a query for one transaction; the last one of a name takes precedence."""
    values = {name.replace("-", "_"): re.sub(r"\\(.)", r"\1", text) for name, text in _OPTION.findall(options)}
    calls = [
        sql.SQL("pg_catalog.set_config({}, {}, true)").format(sql.Literal(name), sql.Literal(text))
        for name, text in values.items()
    ]
    return (sql.SQL("SELECT ") + sql.SQL(", ").join(calls)).as_bytes()


async def connect(
    direct: str, pooled: str, settings: bytes, *, is_pooled: bool | None
) -> psycopg.AsyncConnection[tuple[Any, ...]]:
    """Connect directly, or through a pooler; without a value of `is_pooled`, find out which."""
    if not is_pooled:
        try:
            connection = await psycopg.AsyncConnection.connect(direct, autocommit=True)
        except psycopg.OperationalError as error:
            if _REFUSAL not in str(error):
                raise
        else:
            if is_pooled is False or not await is_to_pooler(connection):
                return connection
            await connection.close()
    connection = await PooledConnection.connect(pooled, autocommit=True, prepare_threshold=None)
    connection.settings = settings
    return connection


async def is_to_pooler(connection: psycopg.AsyncConnection[Any]) -> bool:
    """True if a pooler has responded to the login: it has its own keys for cancellations, so the pid is another."""
    [(pid,)] = await (await connection.execute("SELECT pg_catalog.pg_backend_pid()", prepare=False)).fetchall()
    return bool(pid != connection.info.backend_pid)
