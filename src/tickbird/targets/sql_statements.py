"""SQL statements that an app registers, on named connections to PostgreSQL or SQLite."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.errors import DefinitionError
from tickbird.domain.targets.sql import SqlSpec
from tickbird.targets.protocol import Run, RunFailure
from tickbird.targets.role_slots import RoleSlots
from tickbird.targets.spec_executable import SpecExecutable

_ENV: Final = "env:"
_POSTGRES: Final = ("postgresql://", "postgres://")
_SQLITE: Final = "sqlite:///"
# Seconds that a cancelled statement has to end.
_CANCEL_TIMEOUT: Final = 2.0
_LEVELS: Final = {"WARNING": logging.WARNING}


@dataclass(frozen=True, slots=True)
class SqlConnection:
    """A database by its URL, or by `env:NAME`, a variable of the worker's environment."""

    name: str
    url: str

    def __post_init__(self) -> None:
        if not isinstance(self.url, str) or not (self.url.startswith(_ENV) or _is_supported(self.url)):
            raise DefinitionError(
                f"connection {self.name!r}: its URL is not supported.",
                field="connection",
                hint="Use postgresql://…, sqlite:///path, or env:NAME for a variable of the worker's environment.",
            )

    def __repr__(self) -> str:
        return f"<SqlConnection {self.name}>"

    def resolve(self) -> str:
        """The URL; raises RunFailure if the worker's environment does not have it."""
        if not self.url.startswith(_ENV):
            return self.url
        name = self.url.removeprefix(_ENV)
        url = os.environ.get(name, "")
        if not _is_supported(url):
            problem = "is not a URL of PostgreSQL or SQLite" if url else "is not set"
            raise RunFailure(f"connection {self.name!r}: variable {name} {problem} on this worker.", may_retry=False)
        return url


def _is_supported(url: str) -> bool:
    return url.startswith((*_POSTGRES, _SQLITE))


class SqlStatement(SpecExecutable):
    """Executes one registered statement; named parameters are fields of the payload, never text of the statement."""

    def __init__(
        self, name: str, statement: str, connection: SqlConnection, slots: RoleSlots, *, autonomous: bool = False
    ) -> None:
        super().__init__(SqlSpec, f"{connection.name}.{name}")
        self._statement, self._connection, self._autonomous = statement, connection, autonomous
        self._slots = slots

    async def execute(self, spec: SqlSpec, run: Run) -> Mapping[str, Any]:
        url = self._connection.resolve()
        async with self._slots.take(f"connection {self._connection.name}", run):
            if url.startswith(_SQLITE):
                return await self._execute_sqlite(url.removeprefix(_SQLITE), run)
            return await self._execute_postgres(url, run)

    async def _execute_postgres(self, url: str, run: Run) -> Mapping[str, Any]:
        import psycopg

        def hear(message: psycopg.errors.Diagnostic) -> None:
            level = _LEVELS.get(message.severity_nonlocalized or "", logging.INFO)
            run.log.log(level, "%s", message.message_primary)

        try:
            name = f"tickbird run {run.id} attempt {run.attempt}"
            connection = await psycopg.AsyncConnection.connect(
                url, autocommit=True, application_name=name, connect_timeout=10, prepare_threshold=None
            )
        except psycopg.Error as error:
            # libpq may quote a part of the URL.
            raise RunFailure(
                f"connection {self._connection.name!r}: cannot be opened ({type(error).__name__})."
            ) from None
        connection.add_notice_handler(hear)
        # Not cancelled with the attempt: psycopg would wait for a statement that ignores its cancellation.
        conversation = asyncio.create_task(self._converse(connection, run), name=name)
        try:
            await asyncio.wait({conversation})
        except asyncio.CancelledError:
            with suppress(psycopg.Error):
                await connection.cancel_safe(timeout=_CANCEL_TIMEOUT)
            await asyncio.wait({conversation}, timeout=_CANCEL_TIMEOUT)
            raise
        finally:
            await connection.close()
            conversation.cancel()
        try:
            return conversation.result()
        except psycopg.Error as error:
            raise RunFailure(_error_text(error)) from None

    async def _converse(self, connection: Any, run: Run) -> Mapping[str, Any]:
        if not self._autonomous:
            async with connection.transaction():
                return await self._send(connection, run)
        # A pooler has its own key for cancellations, so that the pid of the login is not the pid of the server.
        cursor = await connection.execute("SELECT pg_backend_pid()")
        [(pid,)] = await cursor.fetchall()
        if pid != connection.info.backend_pid:
            raise RunFailure(
                f"connection {self._connection.name!r}: an autonomous statement needs a direct connection, but this one"
                " is to a pooler. Register a connection with the address of the server.",
                may_retry=False,
            )
        return await self._send(connection, run)

    async def _send(self, connection: Any, run: Run) -> Mapping[str, Any]:
        from psycopg.types.json import Jsonb

        values = {
            name: Jsonb(value) if isinstance(value, Mapping | list) else value for name, value in run.payload.items()
        }
        cursor = await connection.execute(self._statement.encode(), _complete(self._statement, values))
        return {"success": True, "message": cursor.statusmessage or "", "rows": max(cursor.rowcount, 0)}

    async def _execute_sqlite(self, path: str, run: Run) -> Mapping[str, Any]:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=5.0)
        work = asyncio.create_task(asyncio.to_thread(self._send_sqlite, connection, dict(run.payload)))
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            connection.interrupt()
            # Retrieve the exception, so that asyncio does not log it.
            work.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            await asyncio.wait({work}, timeout=_CANCEL_TIMEOUT)
            raise
        try:
            return work.result()
        except sqlite3.Error as error:
            raise RunFailure(f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})") from None

    def _send_sqlite(self, connection: sqlite3.Connection, payload: dict[str, Any]) -> Mapping[str, Any]:
        """Called in a thread; closing the connection rolls back a transaction."""
        try:
            if not self._autonomous:
                connection.execute("BEGIN IMMEDIATE")
            cursor = connection.execute(self._statement, payload)
            rows = len(cursor.fetchall()) if cursor.description else max(cursor.rowcount, 0)
            if not self._autonomous:
                connection.execute("COMMIT")
            return {"success": True, "message": "", "rows": rows}
        finally:
            connection.close()


def _complete(statement: str, values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The parameters; None for a statement without any, in which % is text."""
    return values if "%(" in statement else None


def _error_text(error: Any) -> str:
    """The message of the server with its SQLSTATE, detail and hint; the message is the last line."""
    parts = {"DETAIL": error.diag.message_detail, "HINT": error.diag.message_hint}
    lines = [f"{name}: {text}" for name, text in parts.items() if text]
    state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    return "\n".join([*lines, f"{error.diag.message_primary or error}{state}"])
