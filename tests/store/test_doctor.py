"""The findings of `doctor` about real servers and files in a bad state."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from lab.servers import PostgresServer
from tickbird.client import StoreClient
from tickbird.domain.doctor.checks.registry import run_checks
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.doctor.snapshot import DatabaseSession, PostgresSnapshot
from tickbird.domain.errors import StoreError
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.temp_stores import PostgresScratches
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.doctor import file_system


def of(findings: Sequence[Finding], check: str) -> list[tuple[str, str]]:
    """Severities and texts of a check."""
    return [(finding.severity, finding.text) for finding in findings if finding.check == check]


async def findings(store: Store) -> Sequence[Finding]:
    """The findings of a check."""
    return await StoreClient(store).system.doctor()


async def server_of(store: Store) -> PostgresSnapshot:
    """The snapshot of its server."""
    server = (await store.inspect("default")).server
    assert server is not None
    return server


@pytest.fixture
async def store(postgres_url: str) -> PostgresStore:
    """A migrated store that is not open: looking needs no more."""
    store = PostgresStore(postgres_url)
    await store.migrate()
    return store


@pytest.fixture
async def admin(postgres_url: str) -> AsyncIterator[psycopg.AsyncConnection[tuple[object, ...]]]:
    """A superuser's connection to the same database."""
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
        yield connection


class TestPostgres:
    """A server of ours in states that a person would want to know of."""

    async def test_our_time_outs_are_in_force_and_wake_ups_arrive(self, store: PostgresStore) -> None:
        server = await server_of(store)
        assert server.settings["idle_in_transaction_session_timeout"] == "10000"
        assert (server.settings["statement_timeout"], server.settings["lock_timeout"]) == ("15000", "3000")
        assert (server.tcp_user_timeout, server.pooled, server.heard) == (10_000, False, True)

    async def test_wake_ups_that_do_not_arrive(
        self, postgres_server: PostgresServer, postgres_url: str, store: PostgresStore
    ) -> None:
        """Like a pooler: LISTEN and NOTIFY use different servers."""
        found = await findings(PostgresStore(postgres_url, listen_url=postgres_server.url))
        assert of(found, "pooler")[0][0] == "warning"

    async def test_an_index_that_is_missing(
        self, store: PostgresStore, admin: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> None:
        assert of(await findings(store), "indexes") == [("ok", "All are built.")]
        await admin.execute("DROP INDEX tickbird.runs_unsuccessful_idx")
        assert of(await findings(store), "indexes")[0][1].startswith("Not built yet: runs_unsuccessful_idx.")

    async def test_a_url_that_removes_timeouts_is_reported(self, postgres_url: str, store: PostgresStore) -> None:
        options = "options=-c%20idle_in_transaction_session_timeout%3D0&tcp_user_timeout=0"
        found = await findings(PostgresStore(f"{postgres_url}?{options}"))
        [idle, tcp] = of(found, "time-outs")
        assert (idle[0], tcp[0]) == ("problem", "warning")

    async def test_a_missing_schema_is_reported_with_the_first_step(self, postgres_url: str) -> None:
        found = await findings(PostgresStore(postgres_url))
        assert of(found, "schema") == [("problem", "There is no Tickbird schema here yet.")]
        assert of(found, "server")[0][0] == "ok"
        assert of(found, "workers") == []

    async def test_a_pending_migration_is_reported(
        self, store: PostgresStore, admin: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> None:
        await admin.execute("UPDATE tickbird.meta SET value = '0' WHERE key = 'version'")
        [(severity, text)] = of(await findings(store), "schema")
        assert severity == "problem"
        assert text.startswith("The schema has version 0, and this tickbird needs ")
        await admin.execute("UPDATE tickbird.meta SET value = 'x' WHERE key = 'version'")
        assert of(await findings(store), "schema")[0][0] == "problem"

    async def test_disabled_durability_is_reported(self, store: PostgresStore) -> None:
        """As on the server of these tests, which has no durability."""
        [fsync, pages] = of(await findings(store), "durability")
        assert (fsync[0], pages[0]) == ("problem", "warning")
        assert fsync[1].startswith("fsync is off")

    async def test_a_session_that_is_idle_in_a_transaction_with_our_rows_locked(
        self, postgres_url: str, store: PostgresStore
    ) -> None:
        async with await psycopg.AsyncConnection.connect(postgres_url, application_name="forgotten") as idler:
            await idler.execute("LOCK TABLE tickbird.runs IN ROW EXCLUSIVE MODE")
            condition = await store.inspect("default")
            assert condition.server is not None
            [seen] = [each for each in condition.server.sessions if each.program == "forgotten"]
            assert (seen.pid, seen.state, seen.locks) == (idler.info.backend_pid, "idle in transaction", True)
            assert of(run_checks(condition), "snapshots")[0][0] == "ok"
            # Not a real wait: the threshold is lowered.
            later: DatabaseSession = replace(seen, idle_for=61.0)
            aged = replace(condition, server=replace(condition.server, sessions=[later]))
            [(severity, text)] = of(run_checks(aged), "snapshots")
            assert (severity, "holds locks on Tickbird's tables" in text) == ("problem", True)

    async def test_a_table_without_autovacuum(
        self, store: PostgresStore, admin: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> None:
        await admin.execute("ALTER TABLE tickbird.runs SET (autovacuum_enabled = off)")
        assert of(await findings(store), "vacuum") == [
            ("problem", "autovacuum is off for tickbird.runs: dead rows are never removed.")
        ]

    async def test_an_asynchronous_replica(self, postgres_url: str, store: PostgresStore) -> None:
        assert of(await findings(store), "replication")[0][0] == "ok"
        # To the server, a replication connection looks like a new replica.
        with psycopg.connect(postgres_url, replication="true", application_name="west", autocommit=True):
            assert (await server_of(store)).replicas == [("west", "async")]
            [(severity, text)] = of(await findings(store), "replication")
            assert (severity, "1 replica (west) follows asynchronously" in text) == ("warning", True)

    async def test_a_login_that_may_only_read(
        self, postgres_url: str, store: PostgresStore, admin: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> None:
        await admin.execute("DROP ROLE IF EXISTS auditor")
        await admin.execute("CREATE ROLE auditor LOGIN")
        reader = PostgresStore(postgres_url.replace("postgres@", "auditor@"))
        try:
            found = await findings(reader)
            assert of(found, "schema")[0][0] == "unseen"
            assert "the schema itself" in of(found, "rights")[0][1]
            await admin.execute("GRANT USAGE ON SCHEMA tickbird TO auditor")
            await admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA tickbird TO auditor")
            found = await findings(reader)
            assert of(found, "rights")[0][0] == "warning"
            seen = ("schema", "copy", "workers", "parked", "vacuum")
            assert [of(found, check)[0][0] for check in seen] == ["ok"] * len(seen)
            assert (of(found, "snapshots")[0][0], of(found, "replication")[0][0]) == ("unseen", "unseen")
            await admin.execute("GRANT pg_monitor TO auditor")
            assert of(await findings(reader), "snapshots")[0][0] == "ok"
        finally:
            await admin.execute("DROP OWNED BY auditor")
            await admin.execute("DROP ROLE auditor")

    async def test_an_unreadable_table_hides_only_its_own_checks(
        self, postgres_url: str, store: PostgresStore, admin: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> None:
        await admin.execute("ALTER TABLE tickbird.calendars RENAME TO elsewhere")
        condition = await store.inspect("default")
        assert set(condition.unseen) == {"calendars"}
        assert 'relation "tickbird.calendars" does not exist' in condition.unseen["calendars"]

    async def test_a_server_that_cannot_be_reached(self) -> None:
        with pytest.raises(StoreError, match="cannot be reached"):
            await findings(PostgresStore("postgresql://nobody@127.0.0.1:1/none"))

    def test_another_schema_has_a_store_of_its_own(self, postgres_url: str) -> None:
        for bad in ("Birds", "pg_birds", "a;b", "1st", ""):
            with pytest.raises(StoreError, match="is not a valid schema name"):
                PostgresStore(f"{postgres_url}?schema={bad}")

    async def test_stores_in_two_schemas_of_a_database(
        self, postgres_url: str, store: PostgresStore, admin: psycopg.AsyncConnection[tuple[object, ...]]
    ) -> None:
        other = PostgresStore(f"{postgres_url}?application_name=x&schema=jobs")
        assert await other.migrate()
        await other.open()
        await store.open()
        try:
            await other.workers.heartbeat(_worker(), 60)
            assert [worker.id for worker in await other.workers.list("default")] == ["w"]
            assert await store.workers.list("default") == []
            found = await admin.execute(
                "SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_name = 'runs'"
            )
            assert sorted(await found.fetchall()) == [("jobs",), ("tickbird",)]
            functions = (
                "SELECT count(*) FROM pg_proc WHERE pronamespace = 'jobs'::regnamespace AND prosrc LIKE '%tickbird.%'"
            )
            assert await (await admin.execute(functions.encode())).fetchall() == [(0,)]
        finally:
            await other.close()
            await store.close()
        assert (await server_of(other)).schema == "jobs"


def _worker() -> Worker:
    return Worker(id="w", namespace="default", app="app", host="h", pid=1, version="0")


class TestSqlite:
    """A file in states that a person would want to know of."""

    async def test_an_inspection_creates_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="there is no database file"):
            await findings(SqliteStore(str(tmp_path / "none.db")))
        assert not [*tmp_path.iterdir()]  # noqa: ASYNC240 - nothing else runs here

    async def test_looking_migrates_nothing(self, tmp_path: Path) -> None:
        path = str(tmp_path / "birds.db")
        sqlite3.connect(path).execute("PRAGMA user_version = 1").connection.close()
        found = await findings(SqliteStore(path))
        assert of(found, "schema") == [("problem", "There is no Tickbird schema here yet.")]
        db = sqlite3.connect(path)
        assert db.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
        db.close()

    async def test_a_file_that_is_damaged(self, tmp_path: Path) -> None:
        path = tmp_path / "birds.db"
        store = SqliteStore(str(path))
        await store.migrate()
        assert of(await findings(store), "durability")[0][0] == "ok"
        content = bytearray(path.read_bytes())
        page = 4_096
        content[page * 9 : page * 12] = b"\xff" * (page * 3)
        path.write_bytes(content)
        [(severity, text)] = of(await findings(store), "durability")
        assert (severity, text.startswith("The file is corrupt: ")) == ("problem", True)

    async def test_a_store_in_memory_has_no_disk_checks(self) -> None:
        store = SqliteStore(":memory:")
        await store.open()
        found = await findings(store)
        assert of(found, "disk") == []
        assert of(found, "durability")[0][1].startswith("In memory")
        await store.close()

    def test_the_file_system_is_that_of_the_deepest_mount(self, tmp_path: Path) -> None:
        mounts = tmp_path / "mounts"
        mounts.write_text(
            "/dev/sda1 / ext4 rw 0 0\n"
            "server:/x /srv/my\\040birds nfs4 rw 0 0\n"
            "tmpfs /srv tmpfs rw 0 0\n"
            "overlay / overlay rw 0 0\n"
        )
        assert file_system(Path("/srv/my birds/birds.db"), mounts) == "nfs4"
        assert file_system(Path("/srv/mybirds/birds.db"), mounts) == "tmpfs"
        assert file_system(Path("/var/birds.db"), mounts) == "overlay"
        assert file_system(Path("/var/birds.db"), tmp_path / "none") == ""


def test_a_synchronous_then_an_asynchronous_replica(debian_postgres: int) -> None:
    """Slower than the shared server of all other tests, so there is only this test; and an older version."""

    async def look(url: str) -> Sequence[Finding]:
        return await findings(PostgresStore(url))

    with PostgresServer(debian_postgres, fsync=True, settings={"autovacuum": "off"}) as server:
        url = server.create_database()
        asyncio.run(PostgresStore(url).migrate())
        found = asyncio.run(look(url))
        assert {finding.check for finding in found if finding.severity != "ok"} == {"vacuum"}
        assert of(found, "vacuum")[0][1].startswith("autovacuum is off")
        server.stop()
        (server._data / "standby.signal").touch()
        server.start()
        found = asyncio.run(look(url))
        assert of(found, "server")[0][0] == "problem"
        assert "is a standby, which accepts no writes" in of(found, "server")[0][1]
        # All readable facts are still reported.
        assert of(found, "parked") == [("ok", "No schedule is parked.")]
        assert (of(found, "pooler"), of(found, "replication")) == ([], [])
        with pytest.raises(StoreError, match="this server is a standby"):
            asyncio.run(PostgresScratches(url).make(PostgresScratches(url).address()))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_schedule_whose_cursor_was_deleted_is_named_with_the_fix(
    kind: str, tmp_path: Path, postgres_url: str
) -> None:
    file = tmp_path / "store.db"

    async def execute(statement: str) -> None:
        if kind == "sqlite":
            with contextlib.closing(sqlite3.connect(file)) as db, db:
                db.execute(statement)
        else:
            async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
                await connection.execute(statement.encode())

    store: Store = SqliteStore(str(file)) if kind == "sqlite" else PostgresStore(postgres_url)
    await store.migrate()
    await store.open()
    client = StoreClient(store)
    await client.schedules.create(
        "report", every(hours=1, tz="Europe/Berlin"), "work", actor="ana", unknown_task_ok=True
    )
    assert of(await findings(store), "cursors") == [("ok", "Every cursor belongs to a schedule.")]
    await execute(f"DELETE FROM {'tickbird.' if kind == 'postgres' else ''}cursors")
    assert await client.schedules.list() == []
    [found] = [finding for finding in await findings(store) if finding.check == "cursors"]
    assert found.severity == "problem"
    assert found.text == "1 schedule has no cursor, so no worker plans and no list shows it: report."
    await execute(found.fix)
    assert of(await findings(store), "cursors") == [("ok", "Every cursor belongs to a schedule.")]
    assert (await store.planning.plan_due()).runs == 0
    [row] = await client.schedules.list()
    assert row.schedule.cursor.next_run_at is not None
    await store.close()
