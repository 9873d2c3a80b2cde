"""Fixtures that every folder of tests may use."""

import asyncio
import os
import signal
import subprocess
import sys
import zoneinfo
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from lab.faults import MissingRequirement
from lab.servers import PgBouncer, PostgresServer, ServerMissing
from tests.store.postgres.database import PooledUrl
from tickbird.stores import open_store

T = TypeVar("T")

# Folders whose tests play many seeds, start processes, or wait for them.
LONG = ("bench", "bird_shop", "faults", "processes", "proof", "simulation", "sinks", "upgrade", "wheel")

# So that its failed asserts show their values.
pytest.register_assert_rewrite("conformance")

# No test fails because the machine is busy: Hypothesis would measure examples and the first draw of a strategy.
settings.register_profile("tickbird", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tickbird")

# Python's own zones are to be those that Tickbird uses, whatever the system has.
zoneinfo.reset_tzpath(())


# All of Tickbird, and with it all that it needs.
IMPORT = """
import contextlib, importlib, pkgutil, tickbird
for each in pkgutil.walk_packages(tickbird.__path__, "tickbird.", lambda name: None):
    if not each.name.endswith("__main__"):
        with contextlib.suppress(Exception):
            importlib.import_module(each.name)
"""


def pytest_configure(config: pytest.Config) -> None:
    """Make processes that tests start alike, however the tests were started."""
    # A shell starts its background jobs with Ctrl-C ignored, and their children would ignore it too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A server on a busy machine may take longer to answer than a person would wait for it.
    os.environ.setdefault("PGCONNECT_TIMEOUT", "20")
    # If Python writes no bytecode, as in many images, each process would compile everything.
    if sys.dont_write_bytecode and getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run([sys.executable, "-c", IMPORT], env=environment, check=False, capture_output=True)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes share the tests, each begins with its part of the long ones.

    At first each is given as many tests as the others, in this order, and whoever is done takes from the end of what
    another has left: so what comes last is short, and nobody works alone for a minute.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.path.parent.name in LONG]
    short = [item for item in items if item.path.parent.name not in LONG]
    if workers == 1 or len(long) > len(short):
        return
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    # Tests of a file may share what takes long to set up; those that play seeds share nothing.
    for _, file in groupby(long, lambda item: item.nodeid if item.path.parent.name == "simulation" else item.path):
        min(parts, key=len).extend(file)
    arranged: list[pytest.Item] = []
    for worker, part in enumerate(parts):
        room = max(0, (len(items) - len(arranged)) // (workers - worker) - len(part))
        arranged += part + short[:room]
        del short[:room]
    items[:] = [*arranged, *short]


def leave_out(reason: str) -> NoReturn:
    """Skip for want of a server; under CI that is a failure."""
    if os.environ.get("CI", "") not in ("", "0", "false"):
        pytest.fail(reason)
    pytest.skip(reason)


def lacking(tool: Callable[..., T], *args: Any, **options: Any) -> T:
    """A tool of the fault lab; what the machine lacks for it is left out, and under CI a failure."""
    try:
        return tool(*args, **options)
    except MissingRequirement as error:
        leave_out(str(error))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The PostgreSQL server that all tests share."""
    try:
        server = PostgresServer()
    except ServerMissing as missing:
        leave_out(str(missing))
    with server:
        yield server


@pytest.fixture(scope="session")
def pgbouncer(postgres_server: PostgresServer) -> Iterator[PgBouncer]:
    """A pooler in transaction mode before that server, with 5 connections to each database."""
    try:
        pooler = PgBouncer(postgres_server)
    except ServerMissing as missing:
        leave_out(str(missing))
    with pooler:
        yield pooler


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of a fresh, empty database."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


def migrate(server: PostgresServer) -> str:
    """The name of a new database with Tickbird's schema."""
    url = server.create_database()
    # A fixture that asks for it may itself run in a loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, open_store(url).migrate()).result()
    return url.rpartition("/")[2]


@pytest.fixture(scope="session")
def migrated_database(postgres_server: PostgresServer) -> str:
    """The name of a database with Tickbird's schema and nothing in it, to be copied: that is faster than to migrate."""
    return migrate(postgres_server)


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


@pytest.fixture(scope="session")
def debian_server(debian_postgres: int) -> Iterator[tuple[PostgresServer, str]]:
    """A server of Debian's version, and the name of a migrated database on it."""
    with PostgresServer(debian_postgres) as server:
        yield server, migrate(server)


@pytest.fixture(params=["wheel", "debian"])
def any_migrated_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh database that has been migrated, on the newest and on Debian's version of PostgreSQL."""
    if request.param == "wheel":
        server, template = request.getfixturevalue("postgres_server"), request.getfixturevalue("migrated_database")
    else:
        server, template = request.getfixturevalue("debian_server")
    url = server.create_database(template=template)
    yield url
    server.drop_database(url)


@pytest.fixture(params=["wheel", "debian", "pgbouncer"])
def any_worker_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The same, and a database on the newest version whose workers connect through PgBouncer."""
    if request.param == "debian":
        server, template = request.getfixturevalue("debian_server")
    else:
        server, template = request.getfixturevalue("postgres_server"), request.getfixturevalue("migrated_database")
    url = server.create_database(template=template)
    if request.param == "pgbouncer":
        monkeypatch.setenv("TICKBIRD_LISTEN_URL", url)
        yield PooledUrl(url, request.getfixturevalue("pgbouncer").through(url))
    else:
        yield url
    server.drop_database(url)
