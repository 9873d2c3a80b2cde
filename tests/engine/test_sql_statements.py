"""Registered statements on named connections, executed by a real worker on SQLite."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.engine.test_worker import final, until, working
from tests.store.postgres.database import Database
from tickbird import DefinitionError, NotFoundError, Tickbird, every
from tickbird.client import Client
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.targets.sql import SqlSpec
from tickbird.stores import open_store


@pytest.fixture
async def bird(tmp_path: Path) -> Tickbird:
    url = f"sqlite:///{tmp_path}/store.db"
    await open_store(url).migrate()
    return Tickbird(url)


async def execute(client: Client, target: SqlSpec, payload: dict[str, Any] | None = None, **policies: Any) -> RunRecord:
    await client.schedules.create("s", every(days=900), target, payload=payload or {}, actor="ada", **policies)
    return await final(client, (await client.schedules.trigger("s", actor="ada")).id)


class TestPostgres:
    async def test_parameters_are_fields_of_the_payload(self, bird: Tickbird, postgres_url: str) -> None:
        database = Database(postgres_url)
        await database.execute("CREATE TABLE orders (region text, note jsonb)")
        bird.sql_connection("warehouse", postgres_url)
        target = bird.sql_statement("add", "INSERT INTO orders VALUES (%(region)s, %(note)s)", connection="warehouse")
        hostile = "eu'); DROP TABLE orders; --"
        async with working(bird) as (client, _):
            run = await execute(client, target, {"region": hostile, "note": {"n": 1}, "unused": 1})
        assert (run.status, run.result) == ("succeeded", {"success": True, "message": "INSERT 0 1", "rows": 1})
        assert await database.execute("SELECT region, note FROM orders") == [(hostile, {"n": 1})]

    async def test_an_error_is_rolled_back_and_stored(self, bird: Tickbird, postgres_url: str) -> None:
        bird.sql_connection("warehouse", postgres_url)
        target = bird.sql_statement("divide", "SELECT 1 / 0", connection="warehouse")
        async with working(bird) as (client, _):
            run = await execute(client, target)
        assert (run.failure_kind, run.error) == ("raised", "division by zero (SQLSTATE 22012)")

    async def test_notices_are_log_lines(self, bird: Tickbird, postgres_url: str) -> None:
        bird.sql_connection("warehouse", postgres_url)
        target = bird.sql_statement("warn", "DO $$ BEGIN RAISE WARNING 'careful'; END $$", connection="warehouse")
        async with working(bird) as (client, _):
            run = await execute(client, target)
            assert [line.text for line in await client.runs.logs(run.id)] == ["careful"]

    @pytest.mark.parametrize("autonomous", [True, False])
    async def test_vacuum_needs_an_autonomous_statement(
        self, bird: Tickbird, postgres_url: str, autonomous: bool
    ) -> None:
        bird.sql_connection("warehouse", postgres_url)
        target = bird.sql_statement("vacuum", "VACUUM pg_class", connection="warehouse", autonomous=autonomous)
        async with working(bird) as (client, _):
            run = await execute(client, target)
        assert run.status == ("succeeded" if autonomous else "failed"), run.error

    async def test_a_timeout_cancels_the_statement(self, bird: Tickbird, postgres_url: str) -> None:
        bird.sql_connection("warehouse", postgres_url)
        target = bird.sql_statement("sleep", "SELECT pg_sleep(600)", connection="warehouse")
        async with working(bird) as (client, _):
            run = await execute(client, target, timeout=1)
            assert (run.status, run.failure_kind) == ("failed", "timeout")
        database = Database(postgres_url)

        async def is_alone() -> bool:
            count = await database.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
            return bool(count == 1)

        await until(is_alone)

    async def test_a_secret_is_a_variable_of_the_worker(
        self, bird: Tickbird, postgres_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bird.sql_connection("warehouse", "env:WAREHOUSE_URL")
        target = bird.sql_statement("one", "SELECT 1", connection="warehouse")
        async with working(bird) as (client, _):
            run = await execute(client, target, retries=3)
            assert (run.attempt, run.error) == (
                1,
                "connection 'warehouse': variable WAREHOUSE_URL is not set on this worker.",
            )
            monkeypatch.setenv("WAREHOUSE_URL", postgres_url)
            run = await final(client, (await client.schedules.trigger("s", actor="ada")).id)
            assert run.status == "succeeded"

    async def test_an_error_of_the_connection_has_no_password(self, bird: Tickbird) -> None:
        bird.sql_connection("warehouse", "postgresql://ada:hunter2@127.0.0.1:1/none")
        target = bird.sql_statement("one", "SELECT 1", connection="warehouse")
        async with working(bird) as (client, _):
            run = await execute(client, target)
        assert run.status == "failed"
        assert "hunter2" not in (run.error or "")


class TestSqlite:
    async def test_a_statement_is_one_transaction(self, bird: Tickbird, tmp_path: Path) -> None:
        path = tmp_path / "orders.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE orders (region TEXT)")
        bird.sql_connection("local", f"sqlite:///{path}")
        target = bird.sql_statement("add", "INSERT INTO orders VALUES (:region)", connection="local")
        async with working(bird) as (client, _):
            run = await execute(client, target, {"region": "eu"})
        assert (run.status, run.result["rows"]) == ("succeeded", 1)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT region FROM orders").fetchall() == [("eu",)]

    async def test_an_endless_statement_is_interrupted(self, bird: Tickbird, tmp_path: Path) -> None:
        bird.sql_connection("local", f"sqlite:///{tmp_path}/orders.db")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        target = bird.sql_statement("endless", endless, connection="local")
        async with working(bird) as (client, process):
            run = await execute(client, target, timeout=1)
            assert (run.status, run.failure_kind) == ("failed", "timeout")

            async def is_idle() -> bool:
                return process.busy == 0

            await until(is_idle)

    async def test_vacuum_needs_an_autonomous_statement(self, bird: Tickbird, tmp_path: Path) -> None:
        bird.sql_connection("local", f"sqlite:///{tmp_path}/orders.db")
        target = bird.sql_statement("vacuum", "VACUUM", connection="local", autonomous=True)
        async with working(bird) as (client, _):
            assert (await execute(client, target)).status == "succeeded"


class TestRegistration:
    def test_a_statement_needs_its_connection(self, bird: Tickbird) -> None:
        with pytest.raises(NotFoundError, match="there is no connection 'warehouse'"):
            bird.sql_statement("one", "SELECT 1", connection="warehouse")

    @pytest.mark.parametrize("url", ["mysql://db/app", "", "orders.db"])
    def test_other_databases_are_refused(self, bird: Tickbird, url: str) -> None:
        with pytest.raises(DefinitionError, match="its URL is not supported"):
            bird.sql_connection("warehouse", url)

    def test_names_are_unique(self, bird: Tickbird) -> None:
        bird.sql_connection("local", "sqlite:///orders.db")
        with pytest.raises(DefinitionError, match="two connections"):
            bird.sql_connection("local", "sqlite:///orders.db")
        bird.sql_statement("one", "SELECT 1", connection="local")
        with pytest.raises(DefinitionError, match="two statements"):
            bird.sql_statement("one", "SELECT 1", connection="local")


class TestPooler:
    async def test_an_autonomous_statement_is_refused(self, bird: Tickbird, postgres_url: str) -> None:
        async with pooler(postgres_url) as url:
            bird.sql_connection("pooled", url)
            one = bird.sql_statement("one", "SELECT 1", connection="pooled")
            vacuum = bird.sql_statement("vacuum", "VACUUM pg_class", connection="pooled", autonomous=True)
            async with working(bird) as (client, _):
                run = await execute(client, vacuum, retries=3)
                assert (run.status, run.attempt) == ("failed", 1)
                assert "to a pooler" in (run.error or "")
                await client.schedules.create("t", every(days=900), one, actor="ada")
                run = await final(client, (await client.schedules.trigger("t", actor="ada")).id)
                assert run.status == "succeeded", run.error


@asynccontextmanager
async def pooler(url: str) -> AsyncIterator[str]:
    """A proxy that gives clients a cancellation key of its own, like PgBouncer."""
    address = urlsplit(url)

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, has_key: bool) -> None:
        while data := await reader.read(65_536):
            # BackendKeyData: K, the length, the pid.
            at = data.find(b"K\0\0\0") if has_key else -1
            if at >= 0:
                has_key = False
                data = data[: at + 5] + b"\x7f\x7f\x7f\x7f" + data[at + 9 :]
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(address.hostname, address.port)
        await asyncio.gather(
            copy(reader, server_writer, has_key=False),
            copy(server_reader, writer, has_key=True),
            return_exceptions=True,
        )

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        yield url.replace(f":{address.port}/", f":{port}/")
