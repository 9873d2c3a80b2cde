"""SQL functions as targets of runs, executed by a real worker on PostgreSQL."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.engine.test_worker import QUICK, final, until
from tests.engine.test_worker import working as working_worker
from tests.store.postgres.database import Database
from tickbird import Tickbird, every, sql
from tickbird.client import Client
from tickbird.domain.runs.run import RunRecord
from tickbird.worker import WorkerProcess


@pytest.fixture
async def database(migrated_url: str) -> Database:
    """A database with a table that functions write."""
    database = Database(migrated_url)
    await database.execute("CREATE TABLE effects (run_id bigint, note text)")
    return database


class Shop:
    """A team that writes SQL only: its database, a worker and an operator."""

    def __init__(self, database: Database, client: Client, process: WorkerProcess) -> None:
        self.database, self.client, self.process = database, client, process

    async def define(self, body: str, name: str = "job", *, argument: str = "job jsonb", declare: str = "") -> None:
        """Create or replace a function in PL/pgSQL."""
        await self.database.execute(
            f"CREATE OR REPLACE FUNCTION {name}({argument}) RETURNS jsonb LANGUAGE plpgsql AS "
            f"$$ {declare} BEGIN {body} END $$"
        )

    async def start(self, function: str = "job", *, role: str | None = None, **policies: Any) -> int:
        """Trigger a run of a new schedule of the function."""
        name = f"s{await self.database.one('SELECT count(*) FROM tickbird.schedules')}"
        await self.client.schedules.create(name, every(days=900), sql(function, role=role), actor="ada", **policies)
        return (await self.client.schedules.trigger(name, actor="ada")).id

    async def run(self, function: str = "job", *, role: str | None = None, **policies: Any) -> RunRecord:
        """The final run of a function."""
        return await final(self.client, await self.start(function, role=role, **policies))

    async def effects(self) -> list[Any]:
        return [note for (note,) in await self.database.execute("SELECT note FROM effects ORDER BY note")]

    async def lines(self, run: int | RunRecord) -> list[tuple[int, str]]:
        run_id = run if isinstance(run, int) else run.id
        return [(line.level, line.text) for line in await self.client.runs.logs(run_id)]


@asynccontextmanager
async def working(database: Database, **options: Any) -> AsyncIterator[Shop]:
    """A worker; after it is drained, no connection is left."""
    bird = Tickbird(database.url, sql_connections=options.pop("sql_connections", 4))
    async with working_worker(bird, options=QUICK, **options) as (client, process):
        yield Shop(database, client, process)

    async def is_alone() -> bool:
        count = await database.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return bool(count == 1)

    await until(is_alone)


@pytest.fixture
async def shop(database: Database) -> AsyncIterator[Shop]:
    async with working(database) as shop:
        yield shop


WRITE = "INSERT INTO effects VALUES ((job ->> 'run_id')::bigint, 'written');"


class TestContract:
    async def test_success_and_effect_are_recorded_together(self, shop: Shop) -> None:
        await shop.define(f"{WRITE} RETURN tickbird.result(true, 'done', '{{\"rows\": 1}}');")
        run = await shop.run(payload={"region": "eu"})
        assert (run.status, run.failure_kind, run.attempt) == ("succeeded", None, 1)
        assert run.result == {"success": True, "message": "done", "details": {"rows": 1}}
        assert await shop.effects() == ["written"]
        same = "SELECT r.xmin = e.xmin FROM tickbird.runs r JOIN effects e ON e.run_id = r.id"
        assert await shop.database.one(same), "one transaction wrote both"

    async def test_the_argument_describes_the_run(self, shop: Shop) -> None:
        await shop.define("RETURN tickbird.result(true, '', job);")
        await shop.client.schedules.create("daily", every(days=900), sql("job"), actor="ada", payload={"n": 1})
        first = await final(shop.client, (await shop.client.schedules.trigger("daily", actor="ada")).id)
        assert first.result["details"] == {
            "payload": {"n": 1},
            "run_id": first.id,
            "scheduled_for": None,
            "covers": None,
            "attempt": 1,
            "schedule": "daily",
            "last_success": None,
        }
        second = await final(shop.client, (await shop.client.schedules.trigger("daily", actor="ada")).id)
        assert second.result["details"]["last_success"]["run_id"] == first.id

    async def test_a_function_needs_no_argument(self, shop: Shop) -> None:
        await shop.define("RETURN tickbird.result(true);", argument="")
        assert (await shop.run()).status == "succeeded"

    async def test_a_reported_failure_is_committed_and_not_retried(self, shop: Shop) -> None:
        await shop.define(f"{WRITE} RETURN tickbird.result(false, 'no stock');")
        run = await shop.run(retries=3)
        assert (run.status, run.failure_kind, run.error, run.attempt) == ("failed", "reported", "no stock", 1)
        assert run.result == {"success": False, "message": "no stock"}
        assert await shop.effects() == ["written"]

    async def test_a_raised_error_is_rolled_back_and_retried(self, shop: Shop) -> None:
        raising = (
            "RAISE EXCEPTION 'broken' USING ERRCODE = 'XX123', DETAIL = 'the detail', HINT = 'the hint'; RETURN NULL;"
        )
        await shop.define(f"{WRITE} {raising}")
        run = await shop.run(retries=1, backoff=1)
        assert (run.status, run.failure_kind, run.attempt) == ("failed", "raised", 2)
        assert run.error is not None
        assert run.error.splitlines() == [
            "CONTEXT: PL/pgSQL function job(jsonb) line 1 at RAISE",
            "DETAIL: the detail",
            "HINT: the hint",
            "broken (SQLSTATE XX123)",
        ]
        assert await shop.effects() == []

    @pytest.mark.parametrize(
        "value, problem",
        [
            ("NULL", "returned NULL"),
            ("'\"text\"'", "did not return an object"),
            ("'{}'", "no boolean success"),
            ('\'{"success": "yes"}\'', "no boolean success"),
            ('\'{"success": true, "message": 1}\'', "message that is not a text"),
            ("tickbird.result(true, repeat('x', 10000000))", "more than the maximum"),
        ],
    )
    async def test_any_other_value_breaks_the_contract(self, shop: Shop, value: str, problem: str) -> None:
        await shop.define(f"{WRITE} RETURN {value};")
        run = await shop.run(retries=3)
        assert (run.status, run.failure_kind, run.attempt) == ("failed", "contract", 1)
        assert run.error is not None
        assert problem in run.error
        assert len(run.error) < 500
        assert await shop.effects() == []

    async def test_messages_are_log_lines_and_never_the_outcome(self, shop: Shop) -> None:
        await shop.define(
            "RAISE WARNING 'careful'; RAISE INFO 'note'; RAISE NOTICE 'by the way'; "
            "PERFORM tickbird.log('mine', 'error'); RETURN tickbird.result(true);"
        )
        run = await shop.run()
        assert run.status == "succeeded"
        assert await shop.lines(run) == [
            (logging.WARNING, "careful"),
            (logging.INFO, "note"),
            (logging.INFO, "by the way"),
            (logging.ERROR, "mine"),
        ]

    async def test_slices_of_a_run_are_transactions_of_one_attempt(self, shop: Shop) -> None:
        await shop.define(
            "INSERT INTO effects VALUES (1, 'slice'); SELECT count(*) INTO n FROM effects; "
            "RETURN tickbird.result(true, n::text) || jsonb_build_object('again', n < 5);",
            declare="DECLARE n integer;",
        )
        run = await shop.run()
        assert (run.status, run.attempt, run.result["message"]) == ("succeeded", 1, "5")
        assert await shop.database.one("SELECT count(DISTINCT xmin::text) FROM effects") == 5

    async def test_endless_slices_fail(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tickbird.targets.sql.MAX_SLICES", 20)
        await shop.define(f'{WRITE} RETURN \'{{"success": true, "again": true}}\';')
        run = await shop.run(retries=3)
        assert (run.status, run.failure_kind, run.attempt) == ("failed", "contract", 1)
        assert len(await shop.effects()) == 20
