"""SQL functions on PostgreSQL: a call and the outcome of its run are one transaction."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.errors import Diagnostic
from psycopg_pool import PoolTimeout

from tickbird.domain.errors import StoreError
from tickbird.domain.runs.run import Outcome
from tickbird.domain.runs.sql_calls import (
    MAX_RESULT_LENGTH,
    ContractError,
    SqlCall,
    SqlEnding,
    SqlListener,
    SqlReport,
    read_result,
)
from tickbird.store.postgres.database.connection import Connection, Session
from tickbird.store.postgres.database.database import Database, NounStore
from tickbird.store.postgres.database.errors import is_transient
from tickbird.store.postgres.database.simple_query import send
from tickbird.store.postgres.database.type_loaders import register
from tickbird.store.postgres.database.watchdog import Pool, abort_connection
from tickbird.store.postgres.leases import record_outcomes, release_waiting
from tickbird.store.postgres.rows import clean, json_text
from tickbird.store.protocol.sql_functions import SqlFunctionStore

log = logging.getLogger("tickbird.store")

# Reserved SQLSTATEs of our own functions, see 0005_sql_functions.sql.
_LOG, _HEARTBEAT, _BUSY, _LOST, _REFUSED = "TB001", "TB002", "TB409", "TB410", "TB422"
_ENDINGS: Final[dict[str, SqlEnding]] = {_BUSY: "busy", _LOST: "lost", _REFUSED: "refused"}
_LEVELS: Final = {"WARNING": logging.WARNING, "INFO": logging.INFO, "NOTICE": logging.INFO, "LOG": logging.INFO}
# Callers limit the number of calls; this one only limits the damage of a bug.
_MAX_CONNECTIONS: Final = 100
# Seconds: idle connections are closed; a call waits for a connection; a cancelled function has to end.
_MAX_IDLE: Final = 30.0
_CONNECT_TIMEOUT: Final = 10.0
_CANCEL_TIMEOUT: Final = 2.0
# Characters of the context, detail and hint of an error.
_MAX_PART: Final = 4_000
# Seconds that a call may take longer than its timeout at the server, if its worker does not end it.
_GRACE: Final = 5.0


class PostgresSqlFunctions(NounStore, SqlFunctionStore):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._pool: Pool | None = None

    async def call(self, call: SqlCall, listener: SqlListener) -> SqlReport:
        attempt = _CallAttempt(self, self._db, call, listener)
        # The conversation with the server continues after a cancellation, to end it in order.
        conversation = asyncio.create_task(attempt.run(), name=f"tickbird run {call.run_id}")
        try:
            return await asyncio.shield(conversation)
        except asyncio.CancelledError:
            if conversation.cancelled():
                raise
            stopping = asyncio.create_task(attempt.stop(conversation), name=f"tickbird stop of run {call.run_id}")
            while not stopping.done():
                # A second cancellation must not leave the function behind.
                with suppress(asyncio.CancelledError):
                    await asyncio.wait({stopping})
            # The transaction may have committed just before.
            if not conversation.cancelled() and conversation.exception() is None:
                report = conversation.result()
                if report.ending in ("succeeded", "reported"):
                    return report
            raise

    async def take(self) -> Connection:
        """A connection for one call; raises StoreUnavailableError."""
        if self._pool is None:
            # The settings of the store's own statements would slow down functions.
            self._pool = Pool(
                self._db.connections.plain_conninfo,
                kwargs={"autocommit": True, "prepare_threshold": None},
                configure=_configure,
                min_size=0,
                max_size=_MAX_CONNECTIONS,
                max_idle=_MAX_IDLE,
                timeout=_CONNECT_TIMEOUT,
                reconnect_timeout=2.0,
                name="tickbird sql",
                open=False,
            )
            await self._pool.open()
        return await self._pool.getconn()

    async def give_back(self, connection: Connection) -> None:
        if self._pool is None:
            await connection.close()
        else:
            await self._pool.putconn(connection)

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()


class _CallRow(NamedTuple):
    """The columns of run_job."""

    result: str | None
    length: int | None
    # None: the outcome is not recorded yet.
    is_ended: bool | None
    ended_at: Any
    freed: list[int] | None
    watched: list[int] | None
    namespaces: list[str] | None
    keys: list[str] | None


class _CallAttempt:
    """One call on one connection."""

    def __init__(self, functions: PostgresSqlFunctions, database: Database, call: SqlCall, listener: SqlListener):
        self._functions, self._db, self._call, self._listener = functions, database, call, listener
        self._connection: Connection | None = None
        self._is_stopped = False

    async def run(self) -> SqlReport:
        try:
            connection = self._connection = await self._functions.take()
        except (psycopg.Error, PoolTimeout) as error:
            return SqlReport("unreachable", error=" ".join(str(error).split())[:300])
        connection.add_notice_handler(self._hear)
        try:
            return await self._converse(connection)
        except psycopg.Error as error:
            if connection.closed or connection.broken:
                return SqlReport("disconnected", error=_error_text(error))
            await connection.close()
            raise self._db.translate(error) from None
        except BaseException:
            await connection.close()
            raise
        finally:
            connection.remove_notice_handler(self._hear)
            self._connection = None
            await self._functions.give_back(connection)

    async def _converse(self, connection: Connection) -> SqlReport:
        session = Session(connection, self._db.connections.schema)
        try:
            row = await self._call_function(session)
            result = read_result(row.result, row.length or 0)
        except ContractError as error:
            await self._roll_back(session)
            return SqlReport("contract", error=str(error))
        except psycopg.Error as error:
            if connection.closed or connection.broken:
                raise
            await self._roll_back(session)
            ending = _ENDINGS.get(error.sqlstate or "", "raised")
            if "call_as_" in (error.diag.context or ""):
                # The function itself has raised a reserved SQLSTATE.
                ending = "raised"
            if ending == "refused":
                return await self._refuse(session, error)
            return SqlReport(ending, error=_error_text(error))
        await self._listener.before_finish()
        if result["success"] and result.get("again", False):
            released, is_ended = 0, True
        else:
            try:
                released, is_ended = await self._finish(session, row, result)
            except psycopg.Error as error:
                if connection.closed or connection.broken or not is_transient(error):
                    raise
                # The effects are rolled back too, so the function can be executed again.
                await self._roll_back(session)
                return SqlReport(
                    "unreachable", error=f"the outcome could not be recorded: {error.diag.message_primary}"
                )
        if self._is_stopped or not is_ended:
            # Stopped: the function has swallowed the cancellation. Otherwise the lease was lost.
            await self._roll_back(session)
            return SqlReport("lost")
        await send(connection, b"COMMIT")
        if released:
            self._db.notifier.notify()
        if result.get("again", False) and result["success"]:
            return SqlReport("again", result)
        return SqlReport("succeeded" if result["success"] else "reported", result, _message(result))

    async def _finish(self, session: Session, row: _CallRow, result: Mapping[str, Any]) -> tuple[int, bool]:
        """Record the outcome, unless the call has; returns the number of released runs, and whether it is recorded."""
        call, revisions = self._call, self._db.revisions
        if row.is_ended is False:
            return 0, False
        if row.is_ended and not (row.freed or row.watched or row.keys):
            return 0, True
        await session.connection.execute(session.statements["use_store_settings"])
        if row.is_ended:
            ids, names = (row.freed or [], row.watched or []), (row.namespaces or [], row.keys or [])
            return await release_waiting(session, revisions, row.ended_at, *ids, *names), True
        finished = await record_outcomes(session, revisions, call.worker, [_outcome(call, result)], now=None)
        return finished.released, call.run_id in finished.accepted

    async def _refuse(self, session: Session, error: psycopg.Error) -> SqlReport:
        """Record that a function was not executed, and why."""
        call, reason = self._call, error.diag.message_primary
        await session.execute(
            "refuse_function", function=call.function, role=call.role, reason=reason, run_id=call.run_id
        )
        return SqlReport("refused", error=f"{reason}. {error.diag.message_hint or ''}".rstrip())

    async def _call_function(self, session: Session) -> _CallRow:
        call = self._call
        timeout = 0 if call.timeout is None else int((call.timeout + _GRACE) * 1_000)
        row = await send(
            session.connection,
            session.statements["call_function"],
            {
                "run_id": call.run_id,
                "attempt": call.attempt,
                "incarnation": call.incarnation,
                "worker": call.worker,
                "timeout": min(timeout, 2**31 - 1),
                "limit": MAX_RESULT_LENGTH,
                "function": call.function,
                "role": call.role,
                "argument": json_text(call.argument),
            },
        )
        return _CallRow(*row)

    async def _roll_back(self, session: Session) -> None:
        await send(session.connection, session.statements["roll_back_call"])

    def _hear(self, message: Diagnostic) -> None:
        """Called by the driver while the function is executed."""
        text = message.message_primary or ""
        if message.sqlstate == _HEARTBEAT:
            with suppress(ValueError):
                self._listener.progress(float(text))
            return
        level = _LEVELS.get(message.severity_nonlocalized or "", logging.INFO)
        if message.sqlstate == _LOG:
            level = getattr(logging, (message.message_detail or "").upper(), logging.INFO)
            level = level if isinstance(level, int) else logging.INFO
        elif message.message_detail:
            text = f"{text}\nDETAIL: {message.message_detail}"
        self._listener.line(level, text)

    async def stop(self, conversation: asyncio.Task[SqlReport]) -> None:
        """End the function: cancel its statement, terminate its backend after 2 s, abort the connection at last."""
        self._is_stopped = True
        for terminate in (False, True):
            if conversation.done():
                return
            with suppress(StoreError, psycopg.Error, TimeoutError):
                async with asyncio.timeout(_CANCEL_TIMEOUT):
                    await self._signal(terminate)
            await asyncio.wait({conversation}, timeout=_CANCEL_TIMEOUT)
        if not conversation.done():
            if self._connection is not None:
                abort_connection(self._connection)
            else:
                conversation.cancel()
            await asyncio.wait({conversation}, timeout=_CANCEL_TIMEOUT)

    async def _signal(self, terminate: bool) -> None:
        connections = self._db.connections
        async with connections.dedicated() as connection:
            session = Session(connection, connections.schema)
            await session.fetch("signal_job", terminate=terminate, run_id=self._call.run_id)


async def _configure(connection: Connection) -> None:
    register(connection)


def _outcome(call: SqlCall, result: Any) -> Outcome:
    status = "succeeded" if result["success"] else "failed"
    return Outcome(
        call.run_id,
        call.attempt,
        status,  # type: ignore[arg-type]
        result=result,
        error=None if result["success"] else _message(result),
        failure_kind=None if result["success"] else "reported",
        failures=0 if result["success"] else 1,
        incarnation=call.incarnation,
    )


def _message(result: Any) -> str:
    return result.get("message") or "the function reported a failure without a message"


def _error_text(error: psycopg.Error) -> str:
    """The parts of an error in lines; the message is the last one, as in a traceback."""
    diagnostic = error.diag
    if diagnostic.message_primary is None:
        return str(error)
    parts = {
        "CONTEXT": _own_context(diagnostic.context),
        "DETAIL": diagnostic.message_detail,
        "HINT": diagnostic.message_hint,
    }
    lines = [f"{name}: {_shortened(text)}" for name, text in parts.items() if text]
    return clean("\n".join([*lines, f"{diagnostic.message_primary} (SQLSTATE {diagnostic.sqlstate})"])) or ""


def _shortened(text: str) -> str:
    """A recursive function has a context of any length, after which the message would be cut off."""
    return text if len(text) <= _MAX_PART else text[:_MAX_PART] + " […]"


def _own_context(context: str | None) -> str:
    """The context without the lines of the functions that call the job."""
    lines = (context or "").splitlines()
    ours = next((index for index, line in enumerate(lines) if "call_as_" in line), len(lines))
    # The last line before it is the dynamic statement of the wrapper.
    return "\n".join(line for line in lines[:ours] if not line.startswith('SQL statement "SELECT '))
