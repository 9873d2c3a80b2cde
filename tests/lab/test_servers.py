"""The launcher of PostgreSQL servers: they start, survive, recover and leave nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lab import servers
from lab.servers import PostgresServer, ServerMissing


def value(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()
    assert row
    return row[0]


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has collected yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def folder_of(server: PostgresServer) -> Path:
    return Path(str(value(server.url, "SHOW data_directory"))).parent


def test_start_and_close_leave_no_process_and_no_file() -> None:
    with PostgresServer() as server:
        assert value(server.url, "SELECT 1") == 1
        pid, folder = server.pid, folder_of(server)
        assert pid
        assert alive(pid)
    assert not alive(pid)
    assert not folder.exists()


def test_data_survives_a_restart_on_the_same_port() -> None:
    with PostgresServer() as server:
        url = server.create_database()
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        first = server.pid
        server.restart()
        assert server.pid != first
        assert value(url, "SELECT number FROM kept") == 7


def ask_until_it_fails(connection: psycopg.Connection[Any]) -> None:
    """The server's process behind a connection may answer until it notices that the server was killed."""
    while True:
        connection.execute("SELECT 1")


@pytest.mark.parametrize(
    "crash", [PostgresServer.kill, partial(PostgresServer.stop, immediate=True)], ids=["kill", "stop"]
)
def test_committed_data_survives_a_crash(crash: Callable[[PostgresServer], None]) -> None:
    with PostgresServer(fsync=True) as server, psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        crash(server)
        with pytest.raises(psycopg.OperationalError):
            ask_until_it_fails(connection)
        server.start()
        assert value(server.url, "SELECT number FROM kept") == 7


def test_debian_version_is_used_when_asked_for(debian_postgres: int) -> None:
    with PostgresServer(debian_postgres) as server:
        assert str(value(server.url, "SHOW server_version")).startswith(f"{debian_postgres}.")


def test_settings_reach_the_server() -> None:
    with PostgresServer(settings={"max_connections": "33"}) as server:
        assert value(server.url, "SHOW max_connections") == "33"
        assert value(server.url, "SHOW fsync") == "off"


def test_missing_version_names_the_remedy() -> None:
    with pytest.raises(ServerMissing, match=r"PostgreSQL 1 is not installed.*apt-get install"):
        PostgresServer(1)


def test_each_database_is_fresh(postgres_server: PostgresServer, postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    copy = postgres_server.create_database(template=postgres_url.rpartition("/")[2])
    assert value(copy, "SELECT number FROM kept") == 7
    other = postgres_server.create_database()
    assert value(other, "SELECT to_regclass('kept')") is None
    for url in (copy, other):
        postgres_server.drop_database(url)


def test_server_ends_when_the_test_process_is_killed() -> None:
    program = (
        "import time; from lab.servers import PostgresServer\n"
        "server = PostgresServer(); server.start()\n"
        "print(server.pid, server.url, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        pid, url = child.stdout.readline().split()
        folder = Path(str(value(url, "SHOW data_directory"))).parent
        child.send_signal(signal.SIGKILL)
    assert eventually(lambda: not alive(int(pid)))
    assert eventually(lambda: not folder.exists())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as another user")
def test_programs_that_the_server_user_cannot_read_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = servers.postgres_programs()
    if servers.WHEEL not in programs.parts:
        pytest.skip("needs the wheel's programs")
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    site = next(parent.parent for parent in programs.parents if parent.name == servers.WHEEL)
    for name in (servers.WHEEL, f"{servers.WHEEL}.libs"):
        (hidden / name).symlink_to(site / name)
    monkeypatch.setattr(servers, "postgres_programs", lambda _: hidden / programs.relative_to(site))
    with PostgresServer() as server:
        assert value(server.url, "SELECT 1") == 1
        assert (folder_of(server) / servers.WHEEL).is_dir()
