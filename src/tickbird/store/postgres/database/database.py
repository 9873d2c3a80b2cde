"""The database for verbs: statements and transactions that raise errors of the store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import psycopg

from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.errors import DefinitionError, StoreError
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.sized_cache import SizedCache
from tickbird.store.postgres.database.connection import Connections, Session
from tickbird.store.postgres.database.errors import is_data_error, translate
from tickbird.store.postgres.database.notifications import Notifier
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.unstorable_values import refused_value, refusing_values

T = TypeVar("T")
P = ParamSpec("P")
N = TypeVar("N", bound="NounStore")
Work = Callable[[Session], Awaitable[T]]


# Bytes. A definition takes about 2.4 kB, so 20,000 fit; a client that reads more schedules in turn misses every time.
_MAX_SUMMARIES: Final = 32_000_000
_MAX_DEFINITIONS: Final = 48_000_000


class Database:
    """One database: it translates errors of the driver, and has the caches of this process."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.notifier = Notifier(connections)
        self.revisions = RevisionCache()
        # Definitions by id and revision; list summaries of schedules by id and version.
        self.definitions = SizedCache[tuple[int, int], Definition](_MAX_DEFINITIONS)
        self.summaries = SizedCache[tuple[int, str], ScheduleSummary](_MAX_SUMMARIES)

    def translate(self, error: psycopg.Error) -> StoreError | DefinitionError:
        """Convert an error of the driver to an error of the store."""
        return translate(error, self.connections.display_name)

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Raise errors of the driver as errors of the store."""
        try:
            yield
        except psycopg.Error as error:
            raise self.translate(error) from None

    async def fetch(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        return await self.statement(lambda db: db.fetch(name, **values))

    async def fetch_named(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        return await self.statement(lambda db: db.fetch_named(name, **values))

    async def execute(self, name: str, /, **values: Any) -> int:
        """The number of rows that one statement wrote."""
        return await self.statement(lambda db: db.execute(name, **values))

    async def statement(self, work: Work[T]) -> T:
        """Run work on one connection, on which each statement is a transaction."""
        with self.translating():
            return await self.connections.statement(work)

    async def transact(self, work: Work[T]) -> T:
        with self.translating():
            return await self.connections.transact(work)

    async def record(self, work: Work[T], *, single_statement: bool = False) -> T:
        """Write values of runs; raises InvalidError if one of them can never be stored."""
        try:
            with refusing_values():
                return await self.connections.transact(work, begin=not single_statement)
        except psycopg.Error as error:
            raise (refused_value(error) if is_data_error(error) else self.translate(error)) from None


class NounStore:
    """The verbs of one noun."""

    def __init__(self, database: Database) -> None:
        self._db = database


def transaction(
    verb: Callable[Concatenate[N, Session, P], Awaitable[T]],
) -> Callable[Concatenate[N, P], Coroutine[Any, Any, T]]:
    """Turn a method into a verb that is one transaction."""

    @wraps(verb)
    async def transact(self: N, /, *args: P.args, **options: P.kwargs) -> T:
        return await self._db.transact(lambda db: verb(self, db, *args, **options))

    return transact


def autocommit(
    verb: Callable[Concatenate[N, Session, P], Awaitable[T]],
) -> Callable[Concatenate[N, P], Coroutine[Any, Any, T]]:
    """Turn a method into a verb on one connection, on which each statement is a transaction."""

    @wraps(verb)
    async def statement(self: N, /, *args: P.args, **options: P.kwargs) -> T:
        return await self._db.statement(lambda db: verb(self, db, *args, **options))

    return statement
