"""Connections to one PostgreSQL database: a pool, transactions, and safe retries."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from math import inf
from typing import Any, Final, NamedTuple, TypeVar

import psycopg
from psycopg import errors
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo
from psycopg_pool import PoolClosed, PoolTimeout

from tickbird.domain.errors import StoreError, StoreUnavailableError
from tickbird.store.postgres.database.errors import is_stale, is_transient, translate
from tickbird.store.postgres.database.pooled import PooledConnection, connect, local_settings
from tickbird.store.postgres.database.schema_name import encoded
from tickbird.store.postgres.database.type_loaders import register
from tickbird.store.postgres.database.watchdog import Pool, StatementWatchdog, response_timeout
from tickbird.store.shared.postgres_url import SCHEMA, PostgresUrl
from tickbird.store.shared.row_types import as_rows

T = TypeVar("T")
R = TypeVar("R", bound=NamedTuple)
Connection = psycopg.AsyncConnection[tuple[Any, ...]]

# A network that drops packets must not block a worker, and a frozen worker must not hide its rows from others.
_DEFAULTS: Final = {
    "connect_timeout": "5",
    "tcp_user_timeout": "10000",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "application_name": "tickbird",
}
# Every statement is written for an index, and its plan does not depend on the values: plan once per connection, and
# never scan a table because a generic plan expects many rows. Each statement has to see what others have committed,
# also if the database has another default.
_SETTINGS: Final = (
    r"-c default_transaction_isolation=read\ committed"
    " -c statement_timeout=15000 -c lock_timeout=3000 -c idle_in_transaction_session_timeout=10000"
    " -c jit=off -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off -c timezone=UTC"
)
_PAUSES: Final = (0.02, 0.1, 0.3)
# The number and seconds of waits for a connection of the pool; after each wait, one connection of the process checks
# whether the server can be reached.
_WAITS: Final = 4
_WAIT: Final = 2.5
# Connections outside of the pool: listener, check of the server, `doctor`, migrations. With the size of the pool, this
# limits the connections of a store for any number of waiting callers.
_MAX_DEDICATED: Final = 8


class Session:
    """One connection, inside one transaction or outside of any; statements are called by name."""

    __slots__ = ("connection", "sent_at", "statements")

    def __init__(self, connection: Connection, schema: str = SCHEMA) -> None:
        self.connection = connection
        self.statements = encoded(schema)
        self.sent_at = time.monotonic()

    async def fetch(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        self.sent_at = time.monotonic()
        cursor = await self.connection.execute(self.statements[name], values, prepare=True, binary=True)
        return await cursor.fetchall()

    async def fetch_table(self, name: str, /, **values: Any) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The column names of a statement, and all rows."""
        self.sent_at = time.monotonic()
        cursor = await self.connection.execute(self.statements[name], values, prepare=True, binary=True)
        return [column.name for column in cursor.description or ()], await cursor.fetchall()

    async def fetch_as(self, row_type: type[R], name: str, /, **values: Any) -> list[R]:
        """All rows of a statement, as named tuples."""
        return as_rows(row_type, *await self.fetch_table(name, **values))

    async def fetch_step(self, name: str, values: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        return await self.fetch(name, **values)

    async def fetch_named(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        """All rows of a statement, as column → value."""
        names, rows = await self.fetch_table(name, **values)
        return [dict(zip(names, row, strict=True)) for row in rows]

    async def execute(self, name: str, /, **values: Any) -> int:
        """The number of rows that a statement wrote."""
        self.sent_at = time.monotonic()
        return (await self.connection.execute(self.statements[name], values, prepare=True)).rowcount


class Connections:
    """The pool, with retries."""

    def __init__(self, url: str, size: int, within: float | None = None) -> None:
        parsed = PostgresUrl.parse(url)
        self.schema = parsed.schema
        # Settings in the URL come last and take precedence.
        self._options = f"{_SETTINGS}{_limits(within)} {parsed.parameters.get('options', '')}".strip()
        self._conninfo = _write_conninfo(parsed)
        self._own_options = parsed.parameters.get("options", "")
        # None until the first connection.
        self.is_pooled: bool | None = None
        self.url = str(parsed)
        self.display_name = parsed.display_name
        self._size = size
        # A caller with a deadline gets an error soon; a worker just waits.
        self._within = inf if within is None else within
        self._waits = _WAITS if within is None else 1
        self._patience = response_timeout(self._options)
        self._pool: Pool | None = None
        self._apart = 0
        self._check: asyncio.Task[None] | None = None

    @property
    def conninfo(self) -> str:
        """The parameters of a connection with the settings of the store; a pooler gets no settings."""
        return self._conninfo if self.is_pooled else make_conninfo(self._conninfo, options=self._options)

    @property
    def plain_conninfo(self) -> str:
        """The parameters of a connection with no other settings than those of the URL; a pooler gets none."""
        return self._conninfo if self.is_pooled else make_conninfo(self._conninfo, options=self._own_options)

    async def open(self) -> None:
        """Create the pool; the caller has tested a connection."""
        self._pool = Pool(
            self.conninfo,
            connection_class=PooledConnection if self.is_pooled else psycopg.AsyncConnection,
            kwargs={"autocommit": True, **({"prepare_threshold": None} if self.is_pooled else {})},
            configure=self._configure,
            min_size=1,
            max_size=self._size,
            timeout=_WAIT,
            # A short timeout lets the next verb retry at once, instead of waiting for a long backoff.
            reconnect_timeout=2.0,
            name="tickbird",
            open=False,
        )
        await self._pool.open()

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        check, self._check = self._check, None
        self.is_pooled = None
        if check is not None:
            check.cancel()
        if pool is not None:
            await pool.close()

    @asynccontextmanager
    async def dedicated(self) -> AsyncIterator[Connection]:
        """A connection outside of the pool; StoreUnavailableError if there are too many of them."""
        if self._apart >= _MAX_DEDICATED:
            raise StoreUnavailableError(
                f"{self.display_name}: all {_MAX_DEDICATED} connections outside of the pool are in use.",
                hint="Try again later.",
            )
        self._apart += 1
        try:
            connection = await self._connect()
            try:
                yield connection
            finally:
                await connection.close()
        finally:
            self._apart -= 1

    async def _connect(self) -> Connection:
        direct = make_conninfo(self._conninfo, options=self._options)
        settings = local_settings(self._options)
        try:
            connection = await connect(direct, self._conninfo, settings, is_pooled=self.is_pooled)
        except psycopg.Error as error:
            raise translate(error, self.display_name) from None
        self.is_pooled = isinstance(connection, PooledConnection)
        register(connection)
        return connection

    async def _configure(self, connection: Connection) -> None:
        register(connection)
        if isinstance(connection, PooledConnection):
            connection.settings = local_settings(self._options)

    def statement(self, work: Callable[[Session], Awaitable[T]]) -> Coroutine[Any, Any, T]:
        """Run work that is a single statement, and so a complete transaction."""
        return self.transact(work, begin=False)

    async def transact(self, work: Callable[[Session], Awaitable[T]], *, begin: bool = True, patient: bool = True) -> T:
        """Run the work in one transaction; retry it if it was certainly rolled back for a transient reason.

        Without `begin`, each statement of the work is a transaction. Without `patient`, a lock timeout is not retried.
        """
        pauses = iter((*_PAUSES, None))
        stale, began = 0, time.monotonic()
        while True:
            committing = lost = False
            pool = self._open_pool()
            try:
                # Not a context manager, because every statement takes this path.
                connection = await self._take(pool)
                session = Session(connection, self.schema)
                watch = StatementWatchdog(session, self._patience)
                try:
                    if not begin:
                        return await work(session)
                    async with connection.transaction():
                        result = await work(session)
                        committing, session.sent_at = True, time.monotonic()
                    return result
                except psycopg.Error as error:
                    if is_stale(error):
                        # Its other prepared statements may be stale too; the pool creates a new connection.
                        await connection.close()
                    raise
                finally:
                    watch.end()
                    lost = connection.closed
                    await pool.putconn(connection)
            except psycopg.Error as error:
                if is_stale(error) and stale < self._size:
                    stale += 1
                    continue
                if lost:
                    await self._replace_broken()
                # After COMMIT was sent, its result is unknown; the caller decides.
                unsafe = committing and not is_transient(error)
                pause = next(pauses) if time.monotonic() - began < self._within else None
                retryable = is_transient(error) and (patient or not isinstance(error, errors.LockNotAvailable))
                if pause is None or unsafe or not (lost or retryable):
                    raise (_unreachable(error) if lost else error) from None
                await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - to part two that collided

    def _open_pool(self) -> Pool:
        if self._pool is None:
            raise StoreError("the store is not open.", hint="Call `await store.open()` first.")
        return self._pool

    async def _take(self, pool: Pool) -> Connection:
        for _ in range(self._waits):
            try:
                return await pool.getconn()
            except PoolClosed:
                raise StoreError("the store is closed.", hint="Open it again.") from None
            except PoolTimeout:
                await self._check_server()
        raise StoreUnavailableError(
            f"all {self._size} connections to {self.display_name} are busy.",
            hint="Try again, or allow more connections.",
        )

    async def _check_server(self) -> None:
        """Raise if the server cannot be reached. All callers share one connection, to save the server's connections."""
        check = self._check
        if check is None or check.done():
            check = self._check = asyncio.create_task(self._reach(), name="tickbird check of the server")
            # Its callers may have been cancelled before it fails.
            check.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.wait({check})
        if not check.cancelled():
            check.result()

    async def _reach(self) -> None:
        async with self.dedicated():
            pass

    async def _replace_broken(self) -> None:
        """Check the idle connections: after one connection was lost, they probably are too."""
        if self._pool is not None:
            await self._pool.check()


def _unreachable(error: psycopg.Error) -> psycopg.Error:
    """The error that broke the connection; without an SQLSTATE, because the server did not refuse anything."""
    return psycopg.OperationalError(error.diag.message_primary or str(error))


def _write_conninfo(url: PostgresUrl) -> str:
    """The parameters without `options`."""
    # libpq's own variables, such as PGCONNECT_TIMEOUT, take precedence over our defaults.
    named = {option.keyword.decode(): (option.envvar or b"").decode() for option in Conninfo.get_defaults()}
    defaults = {name: value for name, value in _DEFAULTS.items() if not os.environ.get(named[name])}
    parameters = {name: value for name, value in url.parameters.items() if name != "options"}
    return make_conninfo("", **{**defaults, **parameters})


def _limits(within: float | None) -> str:
    """Settings for a statement timeout of `within` seconds, and a lock timeout of half of that."""
    if within is None:
        return ""
    return f" -c statement_timeout={within * 1_000:.0f} -c lock_timeout={within * 500:.0f}"
