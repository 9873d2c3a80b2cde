"""Many concurrent sessions on PostgreSQL: no run overtakes one that it must wait for, and none is forgotten."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore

SCHEDULES: dict[str, dict[str, Any]] = {
    "queues": {"overlap": "queue"},
    "skips": {"overlap": "skip"},
    "replaces": {"overlap": "replace"},
    "pairs": {"overlap": "queue", "max_concurrent": 2},
    "shares": {"overlap": "queue", "concurrency_key": "shared"},
    "shares-too": {"overlap": "skip", "concurrency_key": "shared"},
    "crowds": {"overlap": "allow", "concurrency_key": "wide"},
}
KEYS = {"shared": 1, "wide": 2}
COMMANDS = 150
# The active runs of each schedule and of each key.
GOING = """
    SELECT s.name, r.concurrency_key FROM tickbird.runs AS r JOIN tickbird.schedules AS s ON s.id = r.schedule_id
    WHERE r.status IN ('queued', 'running')
"""


class Crowd:
    """Operators, planners and workers, each with its own connection."""

    def __init__(self, url: str, stores: list[PostgresStore]) -> None:
        self.url, self.stores = url, stores
        self.dice = random.Random(7)
        self.is_commanded = self.is_planned = False
        self.maximum: dict[str, int] = {}

    async def prepare(self) -> None:
        store = self.stores[0]
        began = await store.now() - timedelta(hours=1)
        self.began = int(began.timestamp())
        for name, options in SCHEDULES.items():
            definition = Definition(
                trigger=every(seconds=1), target=Target("work"), catch_up="skip", start_within=86_400, **options
            )
            command = Create(actor="ada", namespace="default", definition=definition)
            await store.schedules.change("default", name, command, now=began)
        for key, maximum in KEYS.items():
            await store.limits.set("default", key, maximum, "ada")
        await store.planning.plan_due()

    async def command(self, store: PostgresStore) -> None:
        """A random action of an operator."""
        name, dice = self.dice.choice([*SCHEDULES]), self.dice.random()
        if dice < 0.45:
            first = self.began + self.dice.randrange(1, 3_500)
            last = first + self.dice.randrange(4)
            new = NewBackfill(actor="ada", first=first, last=last, concurrency=self.dice.choice([1, 1, 2, 4]))
            await store.backfills.create("default", name, new)
        elif dice < 0.8:
            await store.schedules.change("default", name, Trigger(actor="ada"))
        elif dice < 0.9:
            await store.backfills.cancel("default", self.dice.choice(await store.backfills.list("default")).id, "ada")
        else:
            await store.runs.cancel(self.dice.choice(await store.runs.list("default", limit=10)).id, "ada")

    async def people(self, store: PostgresStore) -> None:
        for _ in range(COMMANDS):
            # It may have ended already, or there is none yet.
            with suppress(ConflictError, IndexError):
                await self.command(store)

    async def planner(self, store: PostgresStore) -> None:
        while not self.is_commanded:
            await store.planning.plan_due()
            await asyncio.sleep(0.05)

    async def worker(self, store: PostgresStore, number: int) -> None:
        worker = Worker(id=f"w{number}", namespace="default", app="app", host="host", pid=number, version="0")
        while True:
            over = self.is_planned
            found = await store.leases.claim(worker, 3, 60, queues=["default"], targets=[("task", "work")])
            if not found.runs and over:
                return
            await asyncio.sleep(0.002)
            for run in found.runs:
                await store.leases.finish([Outcome(run.id, run.attempt, "succeeded")])

    async def witness(self) -> None:
        """Records the maximum of concurrent runs."""
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True) as connection:
            while not self.is_planned:
                rows = await (await connection.execute(GOING)).fetchall()
                going = [each for row in rows for each in row if each is not None]
                self.maximum |= {each: max(self.maximum.get(each, 0), going.count(each)) for each in going}
                await asyncio.sleep(0.002)


@pytest.fixture
async def crowd(postgres_url: str) -> AsyncIterator[Crowd]:
    stores = [PostgresStore(postgres_url) for _ in range(6)]
    await stores[0].migrate()
    for store in stores:
        await store.open()
    yield Crowd(postgres_url, stores)
    for store in stores:
        await store.close()


async def test_no_run_is_overtaken_and_none_is_left(crowd: Crowd) -> None:
    await crowd.prepare()
    one, two, planning, *working = crowd.stores
    async with asyncio.TaskGroup() as steady:
        steady.create_task(crowd.witness())
        for number, store in enumerate(working):
            steady.create_task(crowd.worker(store, number))
        planned = steady.create_task(crowd.planner(planning))
        await asyncio.gather(crowd.people(one), crowd.people(two), crowd.people(two))
        crowd.is_commanded = True
        await planned
        crowd.is_planned = True
    allowed = {name: options.get("max_concurrent", 1) for name, options in SCHEDULES.items()} | KEYS
    beyond = {each: maximum for each, maximum in crowd.maximum.items() if each != "crowds" and maximum > allowed[each]}
    assert beyond == {}
    # No rescue was necessary: every run was released by its predecessors.
    left = [run for status in ("waiting", "queued", "running") for run in await one.runs.list("default", status=status)]
    assert left == []
