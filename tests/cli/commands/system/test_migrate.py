"""migrate and sync, and stores that cannot be used."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from lab.servers import PostgresServer
from tests.cli.conftest import APP, Cli

READING = [("ls",), ("show", "x"), ("why", "x"), ("preview", "x"), ("runs",), ("runs", "1")]
CHANGING = [("trigger", "x"), ("pause", "x", "--note=n"), ("resume", "x")]


def test_migrate_lists_applied_migrations(bare: Cli, postgres_url: str) -> None:
    for url in ("sqlite:///new.db", postgres_url):
        first = bare.ok("migrate", "--url", url)
        assert first.out.startswith("applied 0001_schema\n")
        again = bare.ok("migrate", "--url", url, "--json")
        assert again.json["applied"] == []
        assert "was already up to date." in bare.ok("migrate", "--url", url).out


@pytest.mark.parametrize(
    "login", ["postgres:s3cret@", "postgres:a#s3cret@", "postgres:a?s3cret@", "postgres:s3cret%23@"]
)
@pytest.mark.parametrize("query", ["", "?sslpassword=s3cret", "?p%61ssword=s3cret&schema=jobs"])
def test_migrate_never_prints_a_password(bare: Cli, postgres_url: str, login: str, query: str) -> None:
    url = postgres_url.replace("postgres@", login) + query
    answer = bare.ok("migrate", "--url", url)
    assert postgres_url in answer.out
    elsewhere = bare("migrate", "--url", url.replace("127.0.0.1", "127.0.0.2"))
    assert "s3cret" not in answer.out + answer.err + elsewhere.out + elsewhere.err


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret/x@host/db",
        "postgresql://u:12/s3cret@host/db",
        "postgresql://u:x@s3cret@host/db",
        "postgresql://u:%s3cret@host/db",
        "postgresql://u:s3 s3cret@host/db",
        "postgresql+psycopg://u:s3cret@host/db",
        "postgresql:u:s3cret@host/db",
        "mysql://u:s3cret@host/db",
        "u:s3cret@host/db",
        "host=db password=s3cret",
        "https://u:s3cret/@host",
        "sqlite://u:s3cret@host/db",
    ],
)
def test_a_refused_url_is_not_quoted_with_its_password(bare: Cli, url: str) -> None:
    answer = bare("ls", "--url", url)
    assert answer.code != 0
    assert "s3cret" not in answer.out + answer.err


@pytest.mark.parametrize("command", READING + CHANGING)
def test_missing_database_file_is_reported_and_not_created(bare: Cli, command: tuple[str, ...]) -> None:
    words = bare.refused(5, *command)
    assert words.startswith("there is no database file tickbird.db. Set the right one with --url or TICKBIRD_URL")
    assert list(bare.folder.iterdir()) == []


@pytest.mark.parametrize("command", READING + CHANGING)
def test_empty_database_file_is_reported_and_stays_empty(bare: Cli, command: tuple[str, ...]) -> None:
    (bare.folder / "tickbird.db").touch()
    assert bare.refused(5, *command).startswith("the database file tickbird.db is empty. Set the right one")
    assert [file.stat().st_size for file in bare.folder.iterdir()] == [0]


def test_an_empty_file_may_be_filled(bare: Cli) -> None:
    bare.write("shop", APP)
    for name, command in (("one.db", ("migrate",)), ("two.db", ("sync", "shop:bird"))):
        (bare.folder / name).touch()
        bare.ok(*command, "--url", f"sqlite:///{name}")
        bare.ok("ls", "--url", f"sqlite:///{name}")


@pytest.mark.parametrize("command", [*READING, *CHANGING, ("migrate",), ("sync", "shop:bird")])
def test_migrate_does_not_change_the_file_of_another_program(bare: Cli, command: tuple[str, ...]) -> None:
    bare.write("shop", APP)
    file = bare.folder / "tickbird.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE orders (x)")
    before = file.read_bytes()
    assert "tickbird.db belongs to another program. It was not changed" in bare.refused(5, *command)
    assert file.read_bytes() == before


@pytest.mark.parametrize("command", [("ls",), ("trigger", "x"), ("migrate",)])
@pytest.mark.parametrize(
    "url,words",
    [
        ("nonsense", "is not the URL of a store. Use sqlite:///path"),
        ("mysql://host/db", "is not the URL of a store"),
        ("postgresql://[bad", "is not a PostgreSQL URL"),
        ("postgresql://u@host:notaport/db", ""),
        ("sqlite:///no/such/folder/x.db", "no/such/folder"),
        ("sqlite:///.", ""),
    ],
)
def test_a_wrong_url(bare: Cli, command: tuple[str, ...], url: str, words: str) -> None:
    assert words in bare.refused(5, *command, "--url", url)


def test_file_that_is_not_a_database_is_refused(bare: Cli) -> None:
    (bare.folder / "notes.txt").write_text("no database " * 1_000)
    assert "is not a SQLite database" in bare.refused(5, "ls", "--url", "sqlite:///notes.txt")


def test_a_server_that_is_down(bare: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"postgresql://postgres@127.0.0.1:{taken.getsockname()[1]}/db"
        for command in (("ls",), ("trigger", "x"), ("migrate",)):
            assert "cannot be reached" in bare.refused(5, *command, "--url", url)


def test_a_database_that_does_not_exist(bare: Cli, postgres_server: PostgresServer) -> None:
    words = bare.refused(5, "ls", "--url", postgres_server.url_of("nowhere"))
    assert "Create the database, then run `tickbird migrate`" in words


@pytest.fixture
def guest(postgres_url: str) -> Iterator[str]:
    """The same database for a role without rights."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    yield postgres_url.replace("postgres@", "guest@")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP OWNED BY guest")
        connection.execute("DROP ROLE guest")


def test_a_role_without_rights(bare: Cli, postgres_url: str, guest: str) -> None:
    assert "lacks a permission" in bare.refused(5, "migrate", "--url", guest)
    bare.ok("migrate", "--url", postgres_url)
    for command in (("ls",), ("trigger", "x"), ("migrate",)):
        assert "lacks a permission" in bare.refused(5, *command, "--url", guest)


@pytest.mark.parametrize("command", READING + CHANGING)
def test_a_schema_that_is_missing(bare: Cli, postgres_url: str, command: tuple[str, ...]) -> None:
    assert "Run `tickbird migrate`" in bare.refused(5, *command, "--url", postgres_url)


def set_version(cli: Cli, version: int, min_compatible: int) -> None:
    """As another version of Tickbird would have left it."""
    values = (("schema_version", version), ("version", version), ("min_compatible", min_compatible))
    assert cli.url is not None
    if cli.url.startswith("sqlite"):
        db = sqlite3.connect(cli.url.removeprefix("sqlite:///"))
        for key, value in values:
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (str(value), key))
        db.commit()
        db.close()
        return
    with psycopg.connect(cli.url) as connection:
        for key, value in values:
            connection.execute("UPDATE tickbird.meta SET value = %s WHERE key = %s", (str(value), key))


def test_a_schema_that_is_too_new(cli: Cli) -> None:
    set_version(cli, 99, 99)
    for command in (("ls",), ("trigger", "x")):
        assert "Upgrade tickbird" in cli.refused(5, *command)


def test_a_schema_that_is_too_old(bare: Cli, postgres_url: str) -> None:
    old = Cli(postgres_url, bare.folder)
    old.ok("migrate")
    set_version(old, 0, 0)
    assert "Run `tickbird migrate`" in old.refused(5, "ls")
    old.write("shop", APP)
    assert "Run `tickbird migrate`" in old.refused(5, "sync", "shop")
    assert old.ok("migrate").out.startswith("corrected the schema version in the table meta\n")
    assert "was already up to date." in old.ok("migrate").out
    old.ok("ls")


def test_sync_uses_singular_for_one_schedule(cli: Cli) -> None:
    text = "from tickbird import Tickbird, every\nbird = Tickbird()\n"
    cli.write("one", f"{text}@bird.task(schedule=every(hours=1))\ndef hourly(): ...")
    cli.ok("sync", "one")
    assert cli.ok("sync", "one").out.endswith("(1 schedule).\n")


def test_sync_lists_changes(cli: Cli) -> None:
    cli.write("shop", APP)
    assert cli.ok("sync", "shop:bird").out == "digest: created\netl: created\n"
    assert cli.ok("sync", "shop:bird").out.startswith("Nothing to change: the store is in sync with app shop")
    cli.write("shop2", APP.replace("retries=3", "retries=4"))
    document = cli.ok("sync", "shop2", "--json").json
    assert document["changes"] == [{"schedule": "digest", "change": "changed"}]
    assert (document["app"], document["kept"]) == ("shop", [])


def test_a_sync_counts_as_declared_for_a_while(shop: Cli) -> None:
    [worker] = shop.store(lambda client, _: client.workers.list())
    assert (worker.kind, worker.app, worker.queues, worker.slots, dict(worker.tasks)) == ("sync", "shop", (), 0, {})
    assert set(worker.declared) == {"digest", "etl"}
    left = (worker.live_until - worker.last_heartbeat_at).total_seconds()
    assert 590 <= left <= 610


def test_a_rollback_wins_over_the_sync_before_it(shop: Cli) -> None:
    shop.write("newer", APP.replace("retries=3", "retries=4"))
    shop.ok("sync", "newer")
    assert shop.ok("sync", "shop").out == "digest: changed\n"
    assert shop.ok("show", "digest", "--json").json["definition"]["retries"] == 3
    assert len(shop.store(lambda client, _: client.workers.list())) == 1


def test_sync_keeps_definitions_of_a_live_worker(shop: Cli) -> None:
    from dataclasses import replace

    shop.write("newer", APP.replace("retries=3", "retries=4"))
    shop.ok("sync", "newer")
    [declared] = shop.store(lambda client, _: client.workers.list())
    live = replace(declared, id="w1", kind="worker")
    shop.store(lambda _, store: store.workers.heartbeat(live, 60))
    out = shop.ok("sync", "shop").out
    assert out == "digest: kept, because a live worker still declares the stored definition\n"


def test_a_refused_sync_declares_nothing(cli: Cli) -> None:
    cli.create("etl")
    cli.write("shop", APP)
    assert "schedule 'etl' was defined by a person" in cli.refused(4, "sync", "shop")
    assert list(cli.store(lambda client, _: client.workers.list())) == []
    assert [each["name"] for each in cli.ok("ls", "--json").json["schedules"]] == ["etl"]


def test_sync_makes_an_embedded_database(bare: Cli) -> None:
    bare.write("shop", APP)
    bare.ok("sync", "shop")
    assert Path("tickbird.db").exists()
    assert len(bare.ok("ls", "--json").json["schedules"]) == 2


def test_url_and_namespace_of_an_app_can_be_overruled(bare: Cli) -> None:
    for name in ("shop", "same"):
        bare.write(name, APP.replace('app="shop"', '"sqlite:///own.db", app="shop"'))
    bare.ok("sync", "shop", "--url", "sqlite:///other.db", "--namespace", "blue")
    assert not Path("own.db").exists()
    assert len(bare.ok("ls", "--url", "sqlite:///other.db", "--namespace", "blue", "--json").json["schedules"]) == 2
    bare.ok("sync", "same", TICKBIRD_URL="sqlite:///elsewhere.db")
    assert Path("own.db").exists()


def test_migrate_creates_roles_once(bare: Cli, postgres_url: str) -> None:
    script = bare.ok("migrate", "--url", postgres_url, "--roles", "--print").out
    assert "CREATE ROLE tickbird_viewer NOLOGIN" in script
    first = bare.ok("migrate", "--url", postgres_url, "--roles", "--json").json
    # Roles belong to the server: another test may have created them.
    assert set(first["roles"]) <= {"tickbird_viewer", "tickbird_operator", "tickbird_admin"}
    again = bare.ok("migrate", "--url", postgres_url, "--roles")
    assert again.out.endswith("was already up to date.\nthe roles existed already\n")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(script.encode())
        rows = connection.execute(
            "SELECT pg_has_role('tickbird_admin', 'tickbird_viewer', 'MEMBER'),"
            " has_table_privilege('tickbird_operator', 'tickbird.scheduled_job_runs', 'SELECT')"
        ).fetchall()
    assert rows == [(True, True)]


def test_roles_are_those_of_the_schema(bare: Cli, postgres_url: str) -> None:
    url = f"{postgres_url}?schema=jobs"
    assert "ON jobs.scheduled_job_runs" in bare.ok("migrate", "--url", url, "--roles", "--print").out
    bare.ok("migrate", "--url", url, "--roles")
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute("SELECT has_schema_privilege('tickbird_viewer', 'jobs', 'USAGE')").fetchall()
    assert rows == [(True,)]


def test_login_that_may_not_create_roles_gets_their_sql(bare: Cli) -> None:
    """A server of its own, because roles belong to the server and other tests create them."""
    with PostgresServer() as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE clerk LOGIN")
            connection.execute("CREATE DATABASE clerks OWNER clerk")
        url = server.url_of("clerks").replace("postgres@", "clerk@")
        refused = bare("migrate", "--url", url, "--roles")
        assert (refused.code, refused.out) == (5, bare.ok("migrate", "--url", url, "--roles", "--print").out)
        assert "may not create roles: permission denied to create role. Let an administrator" in refused.err
        document = bare("migrate", "--url", url, "--roles", "--json").json
        assert (document["error"]["exit_code"], document["roles_sql"]) == (5, refused.out)
        # The administrator executes it. After that, the same command of the login has nothing to do.
        with psycopg.connect(server.url_of("clerks"), autocommit=True) as connection:
            connection.execute(refused.out.encode())
        assert bare.ok("migrate", "--url", url, "--roles", "--json").json["roles"] == []


def test_roles_need_postgresql(bare: Cli) -> None:
    for extra in ((), ("--print",)):
        words = bare.refused(6, "migrate", "--url", "sqlite:///new.db", "--roles", *extra)
        assert words == "SQLite has no roles. Use a store on PostgreSQL, or omit --roles."
    assert not (bare.folder / "new.db").exists()
    assert "--print needs --roles" in bare.refused(2, "migrate", "--url", "sqlite:///new.db", "--print")
