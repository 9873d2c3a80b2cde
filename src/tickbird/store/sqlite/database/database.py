"""The database for verbs: one writer, one reader, and wake-ups in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.sqlite.database.connection import Connection, Session
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import read, write

T = TypeVar("T")
P = ParamSpec("P")
N = TypeVar("N", bound="NounStore")
Work = Callable[[Session], T]
ChangeCounters = tuple[int, int, int]

# Seconds between checks for commits of other processes.
POLL_SECONDS = 0.1


class Database:
    """One database: read and write transactions, each on its connection's thread; and the caches of this process."""

    def __init__(self, writer: Connection, reader: Connection) -> None:
        self.writer = writer
        self.reader = reader
        self.revisions = RevisionCache()
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        # The number of heartbeat calls of this process: a connection does not notice its own commits.
        self._heartbeat_calls = 0

    async def fetch(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """All rows of one reading statement."""
        return await self.read(lambda db: db.execute(SQL[name], values).fetchall())

    async def read(self, work: Work[T]) -> T:
        """Run work on one snapshot of the database."""
        return await self.reader.run(lambda db: read(db, lambda: work(db)))

    async def write(self, work: Work[T]) -> T:
        """Run work as the only writer."""
        return await self.writer.run(partial(self._write, work))

    def _write(self, work: Work[T], db: Session) -> T:
        try:
            return write(db, lambda: work(db))
        except TickbirdError:
            raise
        except BaseException as error:
            self.revisions.clear()
            if isinstance(error, UnicodeError | OverflowError):
                raise InvalidError(
                    f"a value cannot be stored: {error}.", hint="Use smaller numbers, and text without lone surrogates."
                ) from None
            raise

    def call_for_heartbeats(self) -> None:
        """Signal that the workers of this process must send a heartbeat."""
        self._heartbeat_calls += 1
        self.signal()

    def signal(self) -> None:
        """Wake waiting tasks of this process, after work was committed."""
        for loop, event in tuple(self._listeners):
            # A loop that has ended needs no signal.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)

    @asynccontextmanager
    async def wakeups(self) -> AsyncIterator[AsyncIterator[bool]]:
        """Yields when this process signals, or when a commit of another one has created work."""
        listener = (asyncio.get_running_loop(), asyncio.Event())
        self._listeners.add(listener)
        signals = self._signals(listener[1], await self.writer.run(_change_counters), self._heartbeat_calls)
        try:
            yield signals
        finally:
            self._listeners.discard(listener)
            await signals.aclose()

    async def _signals(self, event: asyncio.Event, counters: ChangeCounters, calls: int) -> AsyncGenerator[bool, None]:
        while True:
            before = counters
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await event.wait()
            except TimeoutError:
                counters = await self.writer.run(partial(_change_counters, before=counters))
                if counters[1:] == before[1:]:
                    continue
            event.clear()
            calls_before, calls = calls, self._heartbeat_calls
            yield counters[2] != before[2] or calls != calls_before


def _change_counters(db: Session, before: ChangeCounters = (-1, -1, -1)) -> ChangeCounters:
    """Return three numbers that grow with changes by other connections and processes.

    The first grows with each commit of another connection, the second with each wake-up for other processes, the third
    when the schema changes or heartbeats are requested.
    """
    [version] = db.execute(SQL["data_version"]).fetchone()
    if version == before[0]:
        return before
    [(woken,), (called,)] = db.execute(SQL["wake_counts"]).fetchall()
    [shape] = db.execute(SQL["schema_version"]).fetchone()
    return version, woken, shape + called


class NounStore:
    """The verbs of one noun."""

    def __init__(self, database: Database) -> None:
        self._db = database


def read_transaction(
    verb: Callable[Concatenate[N, Session, P], T],
) -> Callable[Concatenate[N, P], Coroutine[Any, Any, T]]:
    """Turn a method into a verb that sees one snapshot of the database."""

    @wraps(verb)
    async def read(self: N, /, *args: P.args, **options: P.kwargs) -> T:
        return await self._db.read(lambda db: verb(self, db, *args, **options))

    return read


def write_transaction(
    verb: Callable[Concatenate[N, Session, P], T],
) -> Callable[Concatenate[N, P], Coroutine[Any, Any, T]]:
    """Turn a method into a verb that is the only writer from its first statement on."""

    @wraps(verb)
    async def write(self: N, /, *args: P.args, **options: P.kwargs) -> T:
        return await self._db.write(lambda db: verb(self, db, *args, **options))

    return write


def waking_transaction(
    verb: Callable[Concatenate[N, Session, P], T],
) -> Callable[Concatenate[N, P], Coroutine[Any, Any, T]]:
    """Like write_transaction; its commit wakes waiting tasks of this process."""
    write = write_transaction(verb)

    @wraps(verb)
    async def write_and_signal(self: N, /, *args: P.args, **options: P.kwargs) -> T:
        result = await write(self, *args, **options)
        self._db.signal()
        return result

    return write_and_signal
