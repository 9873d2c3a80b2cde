"""SQL functions as targets of runs, executed by a real worker on PostgreSQL."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import psycopg
import pytest

from tests.engine.test_worker import QUICK, final, until
from tests.engine.test_worker import working as working_worker
from tests.store.postgres.database import Database, create_role
from tickbird import Tickbird, every, sql
from tickbird.client import Client
from tickbird.domain.errors import DefinitionError
from tickbird.domain.runs.run import RunRecord
from tickbird.worker import WorkerProcess


@pytest.fixture
async def database(any_worker_url: str) -> Database:
    """A database with a table that functions write."""
    database = Database(any_worker_url)
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

    async def skip_definition_checks(self) -> None:
        """As if a function or its permissions changed after its schedule was defined."""
        await self.database.execute("ALTER TABLE tickbird.schedules DISABLE TRIGGER schedules_check_function_insert")

    async def effects(self) -> list[Any]:
        return [note for (note,) in await self.database.execute("SELECT note FROM effects ORDER BY note")]

    async def lines(self, run: int | RunRecord) -> list[tuple[int, str]]:
        run_id = run if isinstance(run, int) else run.id
        return [(line.level, line.text) for line in await self.client.runs.logs(run_id)]


@asynccontextmanager
async def working(database: Database, **options: Any) -> AsyncIterator[Shop]:
    """A worker; after it is drained, no connection is left."""
    bird = Tickbird(database.worker_url, sql_connections=options.pop("sql_connections", 4))
    engine = replace(
        QUICK, **{name: options.pop(name) for name in ("lease", "drain", "safety_poll") if name in options}
    )
    async with working_worker(bird, options=engine, **options) as (client, process):
        yield Shop(database, client, process)

    async def is_alone() -> bool:
        # A pooler keeps idle connections.
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        is_pooled = database.worker_url != database.url
        return bool(await database.one(f"{query} AND state <> 'idle'" if is_pooled else query) == 1)

    await until(is_alone)


@pytest.fixture
async def shop(database: Database) -> AsyncIterator[Shop]:
    async with working(database) as shop:
        yield shop


WRITE = "INSERT INTO effects VALUES ((job ->> 'run_id')::bigint, 'written');"


class TestContract:
    @pytest.fixture
    def any_worker_url(self, migrated_url: str) -> str:
        """On one server only: the examples of Civic OS cover the contract on the others."""
        return migrated_url

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

    async def test_a_line_and_an_error_of_10_mb_are_shortened(self, shop: Shop) -> None:
        await shop.define(
            "RAISE NOTICE '%%', repeat('x', 10000000); RAISE EXCEPTION '%%', repeat('x', 10000000); RETURN NULL;"
        )
        run = await shop.run()
        assert (run.status, run.failure_kind) == ("failed", "raised")
        assert len(run.error or "") < 100_000
        [(level, text)] = await shop.lines(run)
        assert (level, len(text) < 100_000) == (logging.INFO, True)

    async def test_an_error_deep_in_a_recursion_keeps_its_message(self, shop: Shop) -> None:
        await shop.define("RETURN job(job);")
        run = await shop.run()
        assert (run.error or "").splitlines()[-1] == "stack depth limit exceeded (SQLSTATE 54001)"

    async def test_a_notice_per_row_is_cut_off(self, shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
        await shop.define("FOR row IN 1..30000 LOOP RAISE NOTICE '%%', row; END LOOP; RETURN tickbird.result(true);")
        with caplog.at_level(logging.INFO, "tickbird.run"):
            run = await shop.run()
        assert run.status == "succeeded"
        assert await shop.database.one("SELECT count(*) FROM tickbird.run_logs") == 10_001
        assert sum(record.name == "tickbird.run.store" for record in caplog.records) == 10_001

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


FOREVER = "LOOP PERFORM pg_sleep(0.01); END LOOP;"
# Swallows every error, also a cancellation.
STUBBORN = "LOOP BEGIN PERFORM pg_sleep(0.01); EXCEPTION WHEN query_canceled OR OTHERS THEN NULL; END; END LOOP;"


class TestStop:
    @pytest.mark.parametrize("body", [FOREVER, STUBBORN, f"SET statement_timeout = 0; {FOREVER}"])
    async def test_a_timeout_ends_the_function(self, shop: Shop, body: str) -> None:
        await shop.define(f"{WRITE} {body}")
        run = await shop.run(timeout=1)
        assert (run.status, run.failure_kind) == ("failed", "timeout")
        assert await shop.effects() == []
        await until(lambda: executes_nothing(shop.database))

    async def test_the_server_ends_a_function_that_its_worker_does_not_end(self, shop: Shop) -> None:
        names = ("statement_timeout", "client_connection_check_interval", "application_name")
        settings = ", ".join(f"current_setting('{name}')" for name in names)
        await shop.define(f"RETURN tickbird.result(true, concat_ws(' ', {settings}));")
        for timeout, expected in ((60, "65s"), (None, "0")):
            run = await shop.run(timeout=timeout)
            assert run.result["message"] == f"{expected} 2s tickbird run {run.id} attempt 1"

    @pytest.mark.parametrize("body", [FOREVER, STUBBORN])
    async def test_a_cancelled_run_ends_its_function(self, shop: Shop, body: str) -> None:
        await shop.define(f"{WRITE} PERFORM tickbird.log('begun'); {body}")
        run_id = await shop.start()
        await until(lambda: shop.lines(run_id))
        await shop.client.runs.cancel(run_id, actor="ada")
        assert (await final(shop.client, run_id)).status == "cancelled"
        assert await shop.effects() == []
        await until(lambda: executes_nothing(shop.database))

    async def test_a_success_after_a_swallowed_cancellation_is_rolled_back(self, shop: Shop) -> None:
        await shop.define(
            f"{WRITE} PERFORM tickbird.log('begun'); "
            "BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; RETURN tickbird.result(true);"
        )
        run_id = await shop.start()
        await until(lambda: shop.lines(run_id))
        await shop.client.runs.cancel(run_id, actor="ada")
        assert (await final(shop.client, run_id)).status == "cancelled"
        assert await shop.effects() == []

    async def test_a_function_that_waits_for_a_lock_is_ended(self, shop: Shop) -> None:
        await shop.define(f"{WRITE} LOCK TABLE effects IN ACCESS EXCLUSIVE MODE; {FOREVER}", "holder")
        await shop.define(f"{WRITE} RETURN tickbird.result(true);")
        holder = await shop.start("holder")
        await until(lambda: is_locked(shop.database))
        run = await shop.run(timeout=1)
        assert (run.status, run.failure_kind) == ("failed", "timeout")
        await shop.client.runs.cancel(holder, actor="ada")
        assert (await shop.run()).status == "succeeded", "the lock is free again"

    async def test_functions_that_do_not_end_delay_no_other_job(self, shop: Shop) -> None:
        held = "LOCK TABLE effects IN ACCESS EXCLUSIVE MODE;"
        runs = []
        for name, body in {"endless": FOREVER, "stubborn": STUBBORN, "holder": f"{held} {FOREVER}"}.items():
            await shop.define(f"PERFORM tickbird.log('begun'); {body}", name)
            runs.append(await shop.start(name))
            await until(partial(shop.lines, runs[-1]))
        await shop.define("RETURN tickbird.result(true);")
        await shop.client.schedules.create("tick", every(seconds=1), sql("job"), actor="ada", max_runs=3)

        async def ticks() -> list[RunRecord]:
            ended = [run for run in await shop.client.runs.list(schedule="tick") if run.finished_at]
            return ended if len(ended) == 3 else []

        assert [(run.status, run.origin) for run in await until(ticks)] == [("succeeded", "schedule")] * 3
        for run_id in runs:
            assert (await shop.client.runs.get(run_id)).status == "running"
            await shop.client.runs.cancel(run_id, actor="ada")
            assert (await final(shop.client, run_id)).status == "cancelled"
        await until(lambda: executes_nothing(shop.database))

    async def test_log_and_progress_are_visible_while_the_function_runs(self, shop: Shop) -> None:
        await shop.define(f"PERFORM tickbird.log('half'), tickbird.heartbeat(0.5); {FOREVER}")
        run_id = await shop.start()

        async def look() -> Any:
            return await shop.client.runs.progress(run_id) and await shop.lines(run_id)

        assert await until(look) == [(logging.INFO, "half")]
        assert (await shop.client.runs.get(run_id)).status == "running"
        await shop.client.runs.cancel(run_id, actor="ada")

    async def test_waiting_for_a_connection_is_visible(self, database: Database) -> None:
        async with working(database, sql_connections=1) as shop:
            await shop.define(f"PERFORM tickbird.log('begun'); {FOREVER}", "slow")
            await shop.define("RETURN tickbird.result(true);")
            slow = await shop.start("slow")
            await until(lambda: shop.lines(slow))
            await shop.client.schedules.create("tick", every(seconds=1), sql("job"), actor="ada", max_runs=1)
            [waiting] = await until(lambda: shop.client.runs.list(schedule="tick"))
            text = "waits for a database connection: 1 of 1 of the store's owner are in use"
            assert await until(lambda: shop.lines(waiting)) == [(logging.INFO, text)]

            async def explain() -> str:
                explanation = await shop.client.ticks.why("tick", waiting.scheduled_for)
                return explanation.sentence if text in explanation.sentence else ""

            assert await until(explain)
            await shop.client.runs.cancel(slow, actor="ada")
            assert (await final(shop.client, waiting.id)).status == "succeeded"

    async def test_a_timeout_begins_with_the_connection(self, database: Database) -> None:
        async with working(database, sql_connections=1) as shop:
            await shop.define(f"PERFORM tickbird.log('begun'); {FOREVER}", "slow")
            await shop.define("RETURN tickbird.result(true);")
            slow = await shop.start("slow")
            await until(lambda: shop.lines(slow))
            waiting = await shop.start("job", timeout=1)
            passed = "SELECT started_at < now() - interval '2 seconds' FROM tickbird.runs WHERE id = %s"
            await until(partial(shop.database.one, passed, waiting))
            await shop.client.runs.cancel(slow, actor="ada")
            run = await final(shop.client, waiting)
            assert (run.status, run.failures) == ("succeeded", 0)
            await shop.define(FOREVER, "slow")
            assert (await shop.run("slow", timeout=1)).failure_kind == "timeout"

    async def test_a_worker_that_drains_requeues_the_run_of_an_endless_function(self, database: Database) -> None:
        async with working(database, drain=0.1) as shop:
            await shop.define(f"{WRITE} PERFORM tickbird.log('begun'); {STUBBORN}")
            run_id = await shop.start()
            await until(lambda: shop.lines(run_id))
        status = await database.one("SELECT status FROM tickbird.runs WHERE id = %s", run_id)
        assert (status, await shop.effects()) == ("queued", [])


class TestAttempts:
    async def test_two_attempts_of_a_run_are_never_executed_at_once(self, shop: Shop) -> None:
        await shop.define(f"{WRITE} RETURN tickbird.result(true);")
        async with await psycopg.AsyncConnection.connect(shop.database.url) as older:
            next_id = await shop.database.one("SELECT last_value + 1 FROM tickbird.ledger_id_seq")
            for run_id in range(next_id - 1, next_id + 5):
                await older.execute("SELECT pg_advisory_xact_lock(tickbird.job_lock(%s))", [run_id])
            run_id = await shop.start()

            async def is_postponed() -> Any:
                return (await shop.client.runs.get(run_id)).reason

            assert "older attempt" in await until(is_postponed)
            steps = await until(lambda: shop.client.runs.waiting_for(run_id))
            assert "older attempt" in steps[0].text
            assert await shop.effects() == []
        run = await final(shop.client, run_id)
        assert (run.status, run.failures, run.crashes) == ("succeeded", 0, 0)
        assert await shop.effects() == ["written"]

    async def test_an_attempt_without_its_lease_is_rolled_back(self, shop: Shop) -> None:
        await shop.define(
            f"PERFORM tickbird.log('begun'); {WRITE} PERFORM pg_advisory_lock(4711); RETURN tickbird.result(true);"
        )
        async with await psycopg.AsyncConnection.connect(shop.database.url) as gate:
            await gate.execute("SELECT pg_advisory_xact_lock(4711)")
            run_id = await shop.start()
            await until(lambda: shop.lines(run_id))
            await shop.database.execute(
                "UPDATE tickbird.runs SET status = 'cancelled', lease_until = NULL, finished_at = now() WHERE id = %s",
                run_id,
            )

        async def is_over() -> bool:
            return shop.process.busy == 0

        await until(is_over)
        assert await shop.effects() == []
        assert (await shop.client.runs.get(run_id)).status == "cancelled"

    async def test_a_lost_connection_leaves_the_run_to_rescue(self, database: Database) -> None:
        async with working(database, lease=3.0) as shop:
            await shop.define(
                f"{WRITE} PERFORM tickbird.log('begun'); IF (job ->> 'attempt')::integer = 1 THEN {FOREVER} END IF; "
                "RETURN tickbird.result(true);"
            )
            run_id = await shop.start()
            await until(lambda: shop.lines(run_id))
            await database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'tickbird run %%'"
            )
            run = await final(shop.client, run_id)
            assert (run.status, run.attempt, run.crashes, run.failures) == ("succeeded", 2, 1, 0)
            assert await shop.effects() == ["written"]

    async def test_a_success_releases_the_next_run(self, shop: Shop) -> None:
        await shop.define(f"{WRITE} RETURN tickbird.result(true);")
        await shop.client.schedules.create("queue", every(days=900), sql("job"), actor="ada", overlap="queue")
        runs = [(await shop.client.schedules.trigger("queue", actor="ada")).id for _ in range(5)]
        assert {(await final(shop.client, run_id)).status for run_id in runs} == {"succeeded"}


async def executes_nothing(database: Database) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'tickbird run %%'"
    return bool(await database.one(query) == 0)


async def is_locked(database: Database) -> bool:
    held = "relation = 'effects'::regclass AND mode = 'AccessExclusiveLock' AND granted"
    return bool(await database.one(f"SELECT count(*) FROM pg_locks WHERE {held}"))


@pytest.fixture
async def roles(database: Database) -> tuple[str, str]:
    """A role that may execute jobs, and one that may not."""
    for role in ("reporting", "stranger"):
        await create_role(database, role)
        await database.execute(f"GRANT ALL ON effects TO {role}; GRANT CREATE ON SCHEMA public TO {role}")
    await database.execute("SELECT tickbird.allow_job_role('reporting')")
    return "reporting", "stranger"


TRY = "BEGIN {} EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%%', SQLERRM; END;"


class TestJobs:
    async def test_a_job_of_plain_sql_runs_at_once(self, database: Database) -> None:
        """A run that waits for the planner is claimed as soon as the planner has released it, not by a poll."""
        async with working(database, safety_poll=600.0) as shop:
            await self._run_twice(shop)

    async def _run_twice(self, shop: Shop) -> None:
        await shop.define(f"{WRITE} RETURN tickbird.result(true, 'done');")
        await shop.database.execute(
            "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule) VALUES ('daily', 'job', '0 3 * * *')"
        )
        for number in (1, 2):
            answer = await shop.database.one("SELECT tickbird.trigger_scheduled_job('daily')")
            waited = await shop.database.one("SELECT tickbird.wait(%s, '20 s')", answer["run_id"])
            assert waited["result"] == {"success": True, "message": "done"}
            assert await shop.effects() == ["written"] * number
        last_run_at = "SELECT last_run_at = (SELECT max(started_at) FROM tickbird.runs) FROM tickbird.scheduled_jobs"
        assert await shop.database.one(last_run_at)


@pytest.mark.usefixtures("roles")
class TestPermissions:
    async def test_a_function_is_executed_as_its_role_and_cannot_leave_it(self, shop: Shop) -> None:
        for command in ("RESET ROLE", "SET ROLE stranger", "SET ROLE postgres", "SET LOCAL ROLE NONE"):
            attempt = TRY.format(f"EXECUTE '{command}';")
            await shop.define(f"{attempt} RETURN tickbird.result(true, current_user);")
            run = await shop.run(role="reporting")
            assert run.result == {"success": True, "message": "reporting"}, command
            assert "security-definer" in (await shop.lines(run))[0][1]
        for command in ("SET SESSION AUTHORIZATION postgres", "COMMIT", "ROLLBACK"):
            await shop.define(f"EXECUTE '{command}'; RETURN tickbird.result(true);")
            assert (await shop.run(role="reporting")).failure_kind == "raised", command

    async def test_functions_of_a_role_that_do_not_end_delay_no_other_role(self, database: Database) -> None:
        async with working(database, sql_connections=1, slots=3) as shop:
            await shop.define(FOREVER, "endless")
            endless = [await shop.start("endless", role="reporting") for _ in range(4)]
            await shop.define("RETURN tickbird.result(true);")
            assert (await shop.run()).status == "succeeded"
            reasons = (
                "SELECT count(*) FROM tickbird.scheduled_job_executions WHERE reason LIKE 'waits for a database%%'"
            )
            assert await until(partial(shop.database.one, reasons))
            for run_id in endless:
                await shop.client.runs.cancel(run_id, actor="ada")

    async def test_the_role_has_only_its_own_permissions(self, shop: Shop) -> None:
        await shop.define("PERFORM 1 FROM tickbird.runs; RETURN tickbird.result(true);")
        run = await shop.run(role="reporting")
        assert "permission denied" in (run.error or "")
        assert (await shop.run()).status == "succeeded", "the store's owner"

    async def test_settings_of_a_function_do_not_outlive_it(self, shop: Shop) -> None:
        await shop.define(
            "SET search_path = nowhere; SET statement_timeout = 0; SET timezone = 'Asia/Tokyo'; "
            "SET application_name = 'hidden'; CREATE TEMP TABLE scratch (n integer); PERFORM pg_advisory_lock(42); "
            "LISTEN gossip; RETURN tickbird.result(true);"
        )
        for _ in range(3):
            run = await shop.run(timeout=60)
            assert run.status == "succeeded", run.error
        await shop.define(
            "RETURN tickbird.result(true, '', jsonb_build_object("
            "'path', current_setting('search_path'), 'zone', current_setting('timezone'), "
            "'name', current_setting('application_name'), 'temp', to_regclass('pg_temp.scratch'), "
            "'locks', (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42), "
            "'channels', (SELECT count(*) FROM pg_listening_channels())));"
        )
        run = await shop.run()
        assert run.result["details"] == {
            "path": "public, pg_temp",
            "zone": await shop.database.one("SHOW timezone"),
            "name": f"tickbird run {run.id} attempt 1",
            "temp": None,
            "locks": 0,
            "channels": 0,
        }

    async def test_no_code_of_a_role_is_executed_as_the_owner(self, shop: Shop) -> None:
        """Deferred triggers, held cursors, operators and types in its path, and prepared statements."""
        await shop.database.execute(
            "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO public.effects VALUES (1, current_user); RETURN NULL; END $$; "
            "CREATE FUNCTION spy_query() RETURNS integer LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO public.effects VALUES (2, current_user); RETURN 1; END $$; "
            "CREATE TABLE bait (n integer); ALTER TABLE bait OWNER TO reporting; "
            "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON bait DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION spy(); "
            "CREATE SCHEMA evil AUTHORIZATION reporting; "
            "CREATE FUNCTION evil.is_equal(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO public.effects VALUES (3, current_user); RETURN true; END $$; "
            "CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.is_equal); "
            "CREATE FUNCTION evil.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO public.effects VALUES (4, current_user); RETURN; END $$"
        )
        await shop.define(
            "INSERT INTO bait VALUES (1); EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT spy_query()'; "
            "EXECUTE 'CREATE DOMAIN pg_temp.text AS integer'; "
            "EXECUTE 'DEALLOCATE ALL'; EXECUTE 'PREPARE _pg3_0 AS SELECT public.spy_query()'; "
            "EXECUTE 'SET search_path = evil, pg_temp, pg_catalog'; RETURN tickbird.result(true);"
        )
        run = await shop.run(role="reporting")
        assert run.status == "succeeded", run.error
        assert await shop.effects() == ["reporting"]

    @pytest.mark.parametrize(
        "function, reason",
        [
            ("pg_catalog.pg_read_file", "schema pg_catalog are not executed"),
            ("pg_read_file", "does not exist"),
            ("hidden.job", "schema hidden are not executed"),
            ("nothing", "does not exist"),
            ("returns_text", "must return jsonb"),
            ("two_arguments", "must return jsonb"),
            ("a_procedure", "must return jsonb"),
            ("forbidden", "role reporting may not execute it"),
        ],
    )
    async def test_other_functions_are_refused(self, shop: Shop, function: str, reason: str) -> None:
        await shop.database.execute(
            "CREATE SCHEMA hidden; CREATE FUNCTION hidden.job() RETURNS jsonb RETURN '{\"success\": true}'::jsonb; "
            "CREATE FUNCTION returns_text() RETURNS text RETURN 'x'; "
            "CREATE FUNCTION two_arguments(jsonb, jsonb) RETURNS jsonb RETURN $1; "
            "CREATE PROCEDURE a_procedure() LANGUAGE sql AS ''; "
            "CREATE FUNCTION forbidden() RETURNS jsonb RETURN '{\"success\": true}'::jsonb; "
            "REVOKE ALL ON FUNCTION forbidden() FROM PUBLIC"
        )
        with pytest.raises(DefinitionError, match=reason):
            await shop.start(function, role="reporting")
        refused = "SELECT actor, schedule, detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse'"
        [(actor, schedule, text)] = await shop.database.execute(refused)
        assert (actor, schedule) == ("ada", "s0")
        assert reason in text
        await shop.skip_definition_checks()
        run = await shop.run(function, role="reporting", retries=3)
        assert (run.status, run.failure_kind, run.attempt) == ("failed", "contract", 1)
        assert reason in (run.error or "")
        audit = "SELECT detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse' AND run_id = %s"
        assert reason in await shop.database.one(audit, run.id)

    async def test_a_role_that_is_not_allowed_is_refused(self, shop: Shop) -> None:
        await shop.define("RETURN tickbird.result(true);")
        with pytest.raises(DefinitionError, match="role stranger: may not execute jobs"):
            await shop.start(role="stranger")
        await shop.skip_definition_checks()
        run = await shop.run(role="stranger")
        hint = "An administrator allows it: SELECT tickbird.allow_job_role('stranger')."
        assert run.error == f"role stranger: may not execute jobs. {hint}"

    async def test_a_function_that_another_owner_has_replaced_is_refused(self, shop: Shop) -> None:
        await shop.define("RETURN tickbird.result(true);")
        await shop.client.schedules.create("daily", every(days=900), sql("job", role="reporting"), actor="ada")
        trigger = shop.client.schedules.trigger
        assert (await final(shop.client, (await trigger("daily", actor="ada")).id)).status == "succeeded"
        await shop.database.execute("ALTER FUNCTION job(jsonb) OWNER TO stranger")
        run = await final(shop.client, (await trigger("daily", actor="ada")).id)
        assert (run.status, run.failure_kind) == ("failed", "contract")
        reason = "function job: belongs to stranger, but belonged to postgres when the schedule was defined"
        assert run.error == f"{reason}. Check the function, then define the schedule again."
        audit = "SELECT run_id, detail ->> 'reason' FROM tickbird.audit_log WHERE action = 'refuse'"
        assert await shop.database.execute(audit) == [(run.id, reason)]

    async def test_only_the_owner_may_execute_wrappers(self, database: Database, roles: tuple[str, str]) -> None:
        for call in (
            "call_as_postgres('pg_backend_pid()', '{}')",
            "begin_job(1, 1, 0, '', 0)",
            "allow_job_role('postgres')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await database.execute(f"SET ROLE {roles[0]}; SELECT tickbird.{call}")
