"""Transactions of tasks under kill -9: the effect of a run and its success exist together, once.

TICKBIRD_FUZZ=34 executes 10,200 runs, and kills 170 workers.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import psycopg
import pytest

from lab.faults import Fleet, until
from tests.faults.fleet import at_rest
from tickbird.client import Client
from tickbird.store.protocol.store import Store

LEASE = 6.0
SCALE = int(os.environ.get("TICKBIRD_FUZZ", "1"))
RUNS = 300 * SCALE
KILLS = 5 * SCALE


@pytest.fixture
def execute(url: str) -> Callable[[str], Sequence[Any]]:
    """Executes one statement in the store's database."""

    def execute(statement: str) -> Sequence[Any]:
        if url.startswith("sqlite:"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)) as connection, connection:
                return connection.execute(statement).fetchall()
        with psycopg.connect(url) as session:
            cursor = session.execute(statement)
            return cursor.fetchall() if cursor.description else []

    return execute


@pytest.mark.timeout(120 + 180 * SCALE)
async def test_every_run_has_its_effect_exactly_once(
    client: Client, store: Store, fleet: Fleet, url: str, execute: Callable[[str], Sequence[Any]]
) -> None:
    schema = "" if url.startswith("sqlite:") else "tickbird."
    execute("CREATE TABLE effects (run_id bigint, attempt integer)")
    for _ in range(3):
        fleet.start(lease=LEASE)

    async def enqueue() -> None:
        for number in range(RUNS):
            # A run may lose any number of workers. Every third one needs a slot that others wait for.
            key = None if number % 3 else f"key-{number % 8}"
            await client.runs.enqueue(
                "write_effect", {}, crash_limit=1_000, concurrency_key=key, actor="ada", unknown_task_ok=True
            )

    enqueueing = asyncio.create_task(enqueue())

    async def find_executing(count: int) -> int:
        """The pid of a worker that executes a run, after this number of effects."""
        if execute("SELECT count(*) FROM effects")[0][0] < count:
            return 0
        rows = execute(
            f"SELECT w.pid FROM {schema}workers w JOIN {schema}runs r ON r.worker = w.id WHERE r.status = 'running'"
        )
        alive = {member.pid for member in fleet.alive}
        return next((pid for (pid,) in rows if pid in alive), 0)

    for number in range(KILLS):
        pid = await until(partial(find_executing, number * RUNS // (2 * KILLS)))
        fleet.member(pid).kill()
        fleet.start(lease=LEASE)
    await enqueueing

    async def is_over() -> bool:
        return bool(execute(f"SELECT count(*) FROM {schema}runs WHERE finished_at IS NULL")[0][0] == 0)

    await until(is_over, 60.0 * SCALE)
    runs = await at_rest(store)
    assert [run.status for run in runs] == ["succeeded"] * RUNS
    effects = execute("SELECT run_id, attempt FROM effects ORDER BY run_id")
    assert [tuple(effect) for effect in effects] == sorted((run.id, run.attempt) for run in runs)
    assert all(run.result == run.attempt for run in runs)
    assert max(run.attempt for run in runs) > 1, "no kill hit a run"
    if not url.startswith("sqlite:"):
        torn = "SELECT count(*) FROM effects e JOIN tickbird.runs r ON r.id = e.run_id WHERE r.xmin <> e.xmin"
        assert execute(torn)[0][0] == 0, "the effect and the success of a run are one transaction"
