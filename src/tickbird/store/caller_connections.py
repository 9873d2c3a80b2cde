"""Connections of the caller: psycopg, SQLAlchemy, Django, sqlite3. Statements on one belong to its transaction.
This module imports no driver that the caller has not imported."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Any, Literal, TypeVar

from tickbird.domain.errors import ConflictError, InvalidError, SchemaError
from tickbird.store.shared.statement_scripts import Rows, StatementScript, run_async, run_sync

T = TypeVar("T")
Dialect = Literal["postgresql", "sqlite"]
# The steps for a database of this dialect, and the texts of their statements.
Work = Callable[[Dialect], tuple[StatementScript[T], Mapping[str, str]]]

_DIALECTS: tuple[Dialect, ...] = ("postgresql", "sqlite")
# SQLSTATE: no such schema, table, column or function; a failed transaction.
_MISSING = ("3F000", "42P01", "42703", "42883")
_FAILED = "25P02"
# A key does not have the expected version.
_CONFLICT = "TB409"
_REFUSED = "TB422"
_NO_TABLE = re.compile(r"no such (table|column)|has no column named")
_NAMED = re.compile(r"%\((\w+)\)s")


def do_on(connection: Any, work: Work[T], *, in_transaction: bool = False) -> Any:
    """Run the work in the transaction of a connection; returns an awaitable if the connection is async.

    With `in_transaction`, a connection that would commit the work at once is refused.
    """
    psycopg, sqlite3 = sys.modules.get("psycopg"), sys.modules.get("sqlite3")
    if psycopg is not None and isinstance(connection, psycopg.AsyncConnection):
        return _on_async_psycopg(connection, work, in_transaction)
    if psycopg is not None and isinstance(connection, psycopg.Connection):
        return _on_psycopg(connection, work, in_transaction)
    if sqlite3 is not None and isinstance(connection, sqlite3.Connection):
        return _on_sqlite3(connection, work, in_transaction)
    if _is(connection, "sqlalchemy.ext.asyncio", *_ASYNC_SQLALCHEMY):
        return connection.run_sync(lambda blocking: do_on(blocking, work, in_transaction=in_transaction))
    if _is(connection, "sqlalchemy.orm", "Session", "scoped_session"):
        return _on_sqlalchemy(connection.connection(), work, in_transaction)
    if _is(connection, "sqlalchemy", "Connection"):
        return _on_sqlalchemy(connection, work, in_transaction)
    if _is_django(connection):
        return _on_django(connection, work, in_transaction)
    raise _unknown(connection)


def transaction_of(connection: Any) -> AbstractContextManager[Any] | AbstractAsyncContextManager[Any]:
    """A transaction of a connection that has none, to be used with `with`, or `async with` if it is async."""
    psycopg, sqlite3 = sys.modules.get("psycopg"), sys.modules.get("sqlite3")
    if psycopg is not None and isinstance(connection, psycopg.AsyncConnection | psycopg.Connection):
        _refuse_closed(connection.closed)
        _refuse_open(connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE)
        return connection.transaction()  # type: ignore[no-any-return]
    if sqlite3 is not None and isinstance(connection, sqlite3.Connection):
        return _sqlite3_transaction(connection)
    if hasattr(connection, "registry") and hasattr(connection, "session_factory"):
        # A scoped session does not have all attributes of its session.
        connection = connection()
    if _is(connection, "sqlalchemy.ext.asyncio", *_ASYNC_SQLALCHEMY) or _is_sync_sqlalchemy(connection):
        _refuse_open(connection.in_transaction())
        return connection.begin()  # type: ignore[no-any-return]
    if _is_django(connection):
        return _django_transaction(connection)
    raise _unknown(connection)


_ASYNC_SQLALCHEMY = ("AsyncConnection", "AsyncSession", "async_scoped_session")


def _unknown(connection: Any) -> InvalidError:
    return InvalidError(
        f"cannot use a connection of type {type(connection).__name__}.",
        field="connection",
        hint="Pass a psycopg, SQLAlchemy (or session), Django or sqlite3 connection.",
    )


def _is_sync_sqlalchemy(connection: Any) -> bool:
    return _is(connection, "sqlalchemy.orm", "Session", "scoped_session") or _is(connection, "sqlalchemy", "Connection")


def _is_django(connection: Any) -> bool:
    return hasattr(connection, "vendor") and hasattr(connection, "in_atomic_block")


@contextmanager
def _sqlite3_transaction(connection: Any) -> Iterator[None]:
    if getattr(connection, "autocommit", -1) is False:
        # It always has a transaction, and begins the next one at each commit.
        connection.rollback()
    else:
        _refuse_open(connection.in_transaction)
        connection.execute("BEGIN IMMEDIATE")
    # A commit or rollback inside the block ends the savepoint too.
    connection.execute("SAVEPOINT tickbird_block")
    try:
        yield
        _release_block(connection)
    except BaseException:
        _end_sqlite3(connection, "ROLLBACK")
        raise
    _end_sqlite3(connection, "COMMIT")


def _release_block(connection: Any) -> None:
    import sqlite3

    try:
        connection.execute("RELEASE tickbird_block")
    except sqlite3.OperationalError as error:
        if "no such savepoint" not in str(error):
            raise
        raise ConflictError(
            "the transaction was ended inside the block: the success of the run is not recorded.",
            hint="Remove the commit or rollback; the end of the block commits.",
        ) from None


def _end_sqlite3(connection: Any, statement: str) -> None:
    if getattr(connection, "autocommit", -1) is False:
        connection.commit() if statement == "COMMIT" else connection.rollback()
    elif connection.in_transaction:
        connection.execute(statement)


@contextmanager
def _django_transaction(connection: Any) -> Iterator[None]:
    from django.db import transaction

    # Django's test cases have a transaction around each test, which `durable` ignores.
    block = transaction.atomic(using=connection.alias, durable=True)
    try:
        block.__enter__()
    except RuntimeError:
        _refuse_open(True)
    try:
        yield
    except BaseException as error:
        block.__exit__(type(error), error, error.__traceback__)
        raise
    block.__exit__(None, None, None)


def _refuse_open(is_open: object) -> None:
    if is_open:
        raise ConflictError(
            "this connection is in a transaction already.",
            hint="End it before the block, or call run.finish_in(connection, result) directly before its commit.",
        )


def _refuse_autocommit(commits: object) -> None:
    if commits:
        raise ConflictError(
            "this connection commits each statement: the effect and the success would not be committed together.",
            hint="Use run.transaction(connection), or begin a transaction first.",
        )


def _is(connection: Any, module: str, *names: str) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(connection, tuple(getattr(loaded, name) for name in names))


def _dialect(name: str) -> Dialect:
    for dialect in _DIALECTS:
        if name == dialect:
            return dialect
    raise InvalidError(
        f"connection: a connection to {name[:40]} cannot be used.",
        field="connection",
        hint="Pass a connection to the store's database (PostgreSQL or SQLite).",
    )


def _commits_each(connection: Any) -> bool:
    """True if a statement on this connection of a PostgreSQL driver would be a transaction."""
    info = getattr(connection, "info", None)
    status = getattr(info, "transaction_status", None)
    # 0: no transaction is open.
    return getattr(connection, "autocommit", False) is True and status in (None, 0)


def _on_psycopg(connection: Any, work: Work[T], in_transaction: bool) -> T:
    from psycopg.rows import tuple_row

    _refuse_closed(connection.closed)
    _refuse_autocommit(in_transaction and _commits_each(connection))
    steps, texts = work("postgresql")

    def execute(name: str, values: Mapping[str, Any]) -> Rows:
        # The connection may have another row factory.
        with connection.cursor(row_factory=tuple_row) as cursor:
            return cursor.execute(texts[name].encode(), values).fetchall()  # type: ignore[no-any-return]

    with _converted_errors():
        return run_sync(steps, execute)


async def _on_async_psycopg(connection: Any, work: Work[T], in_transaction: bool) -> T:
    from psycopg.rows import tuple_row

    _refuse_closed(connection.closed)
    _refuse_autocommit(in_transaction and _commits_each(connection))
    steps, texts = work("postgresql")

    async def execute(name: str, values: Mapping[str, Any]) -> Rows:
        async with connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(texts[name].encode(), values)
            return await cursor.fetchall()  # type: ignore[no-any-return]

    with _converted_errors():
        return await run_async(steps, execute)


def _on_sqlite3(connection: Any, work: Work[T], in_transaction: bool) -> T:
    import sqlite3

    try:
        connection.in_transaction  # noqa: B018 - the access raises if it is closed
    except sqlite3.ProgrammingError:
        _refuse_closed(True)

    def execute(text: str, values: Mapping[str, Any]) -> Rows:
        cursor = connection.cursor()
        cursor.row_factory = None
        return cursor.execute(text, values).fetchall()  # type: ignore[no-any-return]

    return _on_sqlite(connection, execute, work, in_transaction)


def _on_sqlalchemy(connection: Any, work: Work[T], in_transaction: bool) -> T:
    from sqlalchemy import text

    _refuse_closed(connection.closed)

    def execute_driver(statement: str, values: Mapping[str, Any]) -> Rows:
        result = connection.exec_driver_sql(statement, dict(values))
        return result.fetchall() if result.returns_rows else []

    if _dialect(connection.dialect.name) == "sqlite":
        # This also makes SQLAlchemy begin a transaction.
        with _converted_errors():
            execute_driver("SELECT 1", {})
        return _on_sqlite(connection.connection.driver_connection, execute_driver, work, in_transaction)
    _refuse_autocommit(in_transaction and _commits_each(connection.connection.driver_connection))
    steps, texts = work("postgresql")

    def execute(name: str, values: Mapping[str, Any]) -> Rows:
        # Every PostgreSQL driver gets its own placeholder style.
        result = connection.execute(text(_NAMED.sub(r":\1", texts[name])), dict(values))
        return result.fetchall()  # type: ignore[no-any-return]

    with _converted_errors():
        return run_sync(steps, execute)


def _on_django(connection: Any, work: Work[T], in_transaction: bool) -> T:
    _refuse_autocommit(in_transaction and not connection.in_atomic_block and connection.get_autocommit())

    def execute(statement: str, values: Mapping[str, Any]) -> Rows:
        with connection.cursor() as cursor:
            cursor.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    if _dialect(connection.vendor) == "sqlite":
        connection.ensure_connection()
        return _on_sqlite(connection.connection, execute, work, in_transaction)
    steps, texts = work("postgresql")
    with _converted_errors():
        return run_sync(steps, lambda name, values: execute(texts[name], values))


def _on_sqlite(raw: Any, execute: Callable[[str, Mapping[str, Any]], Rows], work: Work[T], in_transaction: bool) -> T:
    """Run several statements atomically; `raw` shows whether a transaction is open."""
    _refuse_autocommit(in_transaction and not raw.in_transaction and _autocommits(raw))
    steps, texts = work("sqlite")
    with _converted_errors():
        begins = not raw.in_transaction
        # Take the write lock with the first statement: a later upgrade fails if another connection has written.
        execute("BEGIN IMMEDIATE" if begins else "SAVEPOINT tickbird", {})
        try:
            result = run_sync(steps, lambda name, values: execute(texts[name], values))
        except BaseException:
            if raw.in_transaction:
                execute("ROLLBACK" if begins else "ROLLBACK TO tickbird", {})
            raise
        if not begins:
            execute("RELEASE tickbird", {})
        elif _autocommits(raw):
            execute("COMMIT", {})
        return result


def _autocommits(raw: Any) -> bool:
    mode = getattr(raw, "autocommit", -1)
    return bool(mode is True or (mode == -1 and raw.isolation_level is None))


def _refuse_closed(closed: object) -> None:
    if closed:
        raise InvalidError(
            "this connection is closed.", field="connection", hint="Pass an open one, inside its transaction."
        )


@contextmanager
def _converted_errors() -> Iterator[None]:
    """Convert errors that concern Tickbird; re-raise all others unchanged, because the caller may retry them."""
    try:
        yield
    except Exception as error:
        state, message, hint = _state(error)
        if state in _MISSING or _NO_TABLE.search(message):
            raise SchemaError(
                f"this connection's database has no Tickbird schema, or an older one ({message[:200]}).",
                hint="Pass a connection to the store's own database, and run `tickbird migrate` there.",
            ) from error
        if state == _CONFLICT:
            raise ConflictError(f"{message}.", hint=hint) from error
        if state == _REFUSED:
            raise InvalidError(f"{message}.", hint=hint) from error
        if state == _FAILED:
            raise ConflictError(
                "the transaction of this connection has failed.", hint="Roll it back, then begin again."
            ) from error
        raise


def _state(error: BaseException) -> tuple[str, str, str]:
    """The SQLSTATE, message and hint of the driver's error inside all wrappers; empty for other errors."""
    inner: Any = error
    for _ in range(5):
        state = getattr(inner, "sqlstate", None) or getattr(inner, "pgcode", None)
        if state or hasattr(inner, "sqlite_errorcode"):
            return str(state or ""), str(inner).splitlines()[0], _hint(inner) or _hint(inner.__cause__)
        inner = getattr(inner, "orig", None) or inner.__cause__
        if inner is None:
            break
    return "", "", ""


def _hint(error: Any) -> str:
    """The hint of an error of psycopg or asyncpg; SQLAlchemy's error of asyncpg has it in its cause."""
    return getattr(getattr(error, "diag", None), "message_hint", None) or getattr(error, "hint", None) or ""
