"""SQL functions under kill -9: the effect of a run and its success exist together, once.

TICKBIRD_FUZZ=34 executes 10,200 runs, and kills 170 workers.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import psycopg
import pytest

from lab.faults import Fleet, until
from tests.faults.fleet import at_rest, final
from tests.store.postgres.database import Database
from tickbird import every, sql
from tickbird.client import Client
from tickbird.store.protocol.store import Store

LEASE = 6.0
SCALE = int(os.environ.get("TICKBIRD_FUZZ", "1"))
RUNS = 300 * SCALE
KILLS = 5 * SCALE


@pytest.fixture
def url(migrated_url: str) -> str:
    return migrated_url


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    """A database with a table that functions write; in the end, no function is executed any more."""
    database = Database(url)
    await database.execute("CREATE TABLE effects (run_id bigint, attempt integer)")
    yield database
    await until(lambda: is_idle(database))


async def is_idle(database: Database) -> bool:
    executed = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'tickbird run %%'"
    return bool(await database.one(executed) == 0)


async def define(database: Database, body: str) -> None:
    await database.execute(
        "CREATE FUNCTION job(job jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO effects VALUES ((job ->> 'run_id')::bigint, (job ->> 'attempt')::integer); "
        f"{body} RETURN tickbird.result(true); END $$"
    )


async def test_a_killed_worker_leaves_no_effect_and_its_run_is_executed_once_more(
    client: Client, store: Store, fleet: Fleet, database: Database
) -> None:
    await define(
        database,
        "IF NOT pg_try_advisory_xact_lock(1) THEN RETURN tickbird.result(false, 'two attempts at once'); END IF; "
        "PERFORM tickbird.log('begun'); PERFORM pg_advisory_xact_lock_shared(2);",
    )
    for _ in range(2):
        fleet.start(lease=LEASE)
    await fleet.wait_for_workers(2)
    async with await psycopg.AsyncConnection.connect(database.url) as gate:
        await gate.execute("SELECT pg_advisory_xact_lock(2)")
        await client.schedules.create("job", every(days=900), sql("job"), actor="ada")
        run_id = (await client.schedules.trigger("job", actor="ada")).id
        await until(lambda: client.runs.logs(run_id))
        worker = (await client.runs.get(run_id)).worker
        [pid] = [worker_row.pid for worker_row in await client.workers.list() if worker_row.id == worker]
        fleet.member(pid).kill()

        async def begins_again() -> bool:
            return any(line.attempt == 2 for line in await client.runs.logs(run_id))

        await until(begins_again)
        assert await database.execute("SELECT 1 FROM effects") == []
    run = await final(client, run_id)
    assert (run.status, run.attempt, run.crashes, run.failures) == ("succeeded", 2, 1, 0), run.error
    assert await database.execute("SELECT run_id, attempt FROM effects") == [(run_id, 2)]


@pytest.mark.timeout(120 + 180 * SCALE)
async def test_every_run_has_its_effect_exactly_once(
    client: Client, store: Store, fleet: Fleet, database: Database
) -> None:
    await define(database, "PERFORM pg_sleep(0.03);")

    async def trigger(schedule: str) -> None:
        options: dict[str, Any] = {"max_concurrent": 50, "overlap": "allow"}
        await client.schedules.create(schedule, every(days=900), sql("job"), actor="ada", **options)
        for _ in range(RUNS // SCALE):
            await client.schedules.trigger(schedule, actor="ada")

    await asyncio.gather(*(trigger(f"job-{number}") for number in range(SCALE)))
    # A run may lose any number of workers.
    await database.execute("UPDATE tickbird.runs SET crash_limit = 1000")
    for _ in range(3):
        fleet.start(lease=LEASE)

    async def find_executing(count: int) -> int:
        """The pid of a worker that executes a run, after this number of effects."""
        rows = await database.execute(
            "SELECT w.pid FROM tickbird.workers w JOIN tickbird.runs r ON r.worker = w.id "
            "WHERE r.status = 'running' AND (SELECT count(*) FROM effects) >= %s AND w.pid = ANY(%s) LIMIT 1",
            count,
            [member.pid for member in fleet.alive],
        )
        return int(rows[0][0]) if rows else 0

    for number in range(KILLS):
        pid = await until(partial(find_executing, number * RUNS // (2 * KILLS)))
        fleet.member(pid).kill()
        fleet.start(lease=LEASE)

    async def is_over() -> bool:
        return bool(await database.one("SELECT count(*) FROM tickbird.runs WHERE finished_at IS NULL") == 0)

    await until(is_over, 60.0 * SCALE)
    runs = await at_rest(store)
    assert [run.status for run in runs] == ["succeeded"] * RUNS
    effects = await database.execute("SELECT run_id, attempt FROM effects ORDER BY run_id")
    assert effects == sorted((run.id, run.attempt) for run in runs)
    torn = "SELECT count(*) FROM effects e JOIN tickbird.runs r ON r.id = e.run_id WHERE r.xmin <> e.xmin"
    assert await database.one(torn) == 0, "the effect and the success of a run are one transaction"
    assert max(run.attempt for run in runs) > 1, "no kill hit a run"
