"""Fixtures that every folder of tests may use."""

import asyncio
import os
import zoneinfo
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

from tickbird.app import open_store
from tickbird.testing.faults import Absent
from tickbird.testing.servers import PostgresServer, ServerMissing

T = TypeVar("T")

# Python's own zones are to be those that Tickbird uses, whatever the system has.
zoneinfo.reset_tzpath(())


def leave_out(reason: str) -> NoReturn:
    """Skip for want of a server; under CI that is a failure."""
    if os.environ.get("CI", "") not in ("", "0", "false"):
        pytest.fail(reason)
    pytest.skip(reason)


def lacking(tool: Callable[..., T], *args: Any, **options: Any) -> T:
    """A tool of the fault lab; what the machine lacks for it is left out, and under CI a failure."""
    try:
        return tool(*args, **options)
    except Absent as absent:
        leave_out(str(absent))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The PostgreSQL server that all tests share."""
    try:
        server = PostgresServer()
    except ServerMissing as missing:
        leave_out(str(missing))
    with server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of a fresh, empty database."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def migrated_database(postgres_server: PostgresServer) -> str:
    """The name of a database with Tickbird's schema and nothing in it, to be copied: that is faster than to migrate."""
    url = postgres_server.create_database()
    asyncio.run(open_store(url).migrate())
    return url.rpartition("/")[2]


@pytest.fixture
def migrated_url(postgres_server: PostgresServer, migrated_database: str) -> Iterator[str]:
    """The address of a fresh database that has been migrated."""
    url = postgres_server.create_database(template=migrated_database)
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def debian_postgres() -> int:
    """The newest PostgreSQL version of Debian's packages here, for `PostgresServer(version)`."""
    versions = [int(path.parts[-3]) for path in Path("/usr/lib/postgresql").glob("[0-9]*/bin/postgres")]
    return max(versions) if versions else leave_out("Debian's postgresql is not installed")
