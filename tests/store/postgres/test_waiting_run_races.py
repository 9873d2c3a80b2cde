"""A run begins to wait while the run that it waits for ends."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from tests.store.postgres.database import Database
from tests.store.postgres.steps import MINUTELY, Gate, claim, create, later, until
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import Outcome
from tickbird.store.postgres import PostgresStore, leases
from tickbird.store.postgres import schedule_changes as changes
from tickbird.store.postgres.planning import backfills, planning


class TestWaiterRace:
    """A planner creates a waiting run because a run is active, while that run finishes."""

    @pytest.fixture
    async def running(self, store: PostgresStore) -> Outcome:
        await create(store, definition=replace(MINUTELY, overlap="queue"))
        await store.planning.plan_due(now=later(60))
        [run] = await claim(store, now=later(60))
        return Outcome(run.id, run.attempt, "succeeded")

    async def test_finish_waits_for_the_planner_and_releases_its_waiter(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        running: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, planning, "plan_locked")
        plan = asyncio.create_task(store.planning.plan_due(now=later(120)))
        await gate.reached.wait()
        finish = asyncio.create_task(other.leases.finish([running], now=later(121)))
        await until(database.lock_waits)
        gate.open.set()
        assert (await plan).runs == 1
        assert (await finish).released == 1
        assert [run.status for run in await store.runs.list("default")] == ["queued", "succeeded"]

    async def test_the_planner_waits_for_finish_and_creates_no_waiting_run(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        running: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, leases, "release")
        finish = asyncio.create_task(other.leases.finish([running], now=later(121)))
        await gate.reached.wait()
        plan = asyncio.create_task(store.planning.plan_due(now=later(120)))
        await until(database.lock_waits)
        gate.open.set()
        assert (await finish).released == 0
        assert (await plan).runs == 1
        assert [run.status for run in await store.runs.list("default")] == ["queued", "succeeded"]

    async def test_two_finishes_at_once_release_for_both(
        self, store: PostgresStore, other: PostgresStore, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await create(store, definition=replace(MINUTELY, max_concurrent=2))
        for _ in range(4):
            await store.schedules.change("default", "clock", Trigger(actor="ada"), now=later(1))
        one, two = [Outcome(run.id, run.attempt, "succeeded") for run in await claim(store, now=later(1))]
        gate = Gate(monkeypatch, leases, "release")
        first = asyncio.create_task(store.leases.finish([one], now=later(2)))
        await gate.reached.wait()
        second = asyncio.create_task(other.leases.finish([two], now=later(2)))
        await until(database.lock_waits)
        gate.open.set()
        assert ((await first).released, (await second).released) == (1, 1)
        assert [run.status for run in await store.runs.list("default")] == ["queued"] * 2 + ["succeeded"] * 2


class TestBackfillRace:
    """A deferred run starts while another session creates a run that waits for it."""

    @pytest.fixture
    async def beginning(
        self, store: PostgresStore, other: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> tuple[asyncio.Task[Any], Gate]:
        """The first of two is about to end, and has let the second go."""
        await create(store, definition=replace(MINUTELY, overlap="queue", catch_up="skip"))
        await store.planning.plan_due(now=later(590))
        await store.backfills.create("default", "clock", self.between(60, 120), now=later(591))
        [run] = await claim(store, now=later(592))
        gate = Gate(monkeypatch, leases, "release")
        ending = asyncio.create_task(other.leases.finish([Outcome(run.id, run.attempt, "succeeded")], now=later(593)))
        await gate.reached.wait()
        return ending, gate

    def between(self, first: int, last: int) -> NewBackfill:
        return NewBackfill(actor="ada", first=int(later(first).timestamp()), last=int(later(last).timestamp()))

    async def backfilled(self, store: PostgresStore) -> Any:
        return await store.backfills.create("default", "clock", self.between(180, 300), now=later(594))

    async def triggered(self, store: PostgresStore) -> Any:
        return await store.schedules.change("default", "clock", Trigger(actor="ada"), now=later(594))

    async def planned(self, store: PostgresStore) -> Any:
        return await store.planning.plan_due(now=later(600))

    @pytest.mark.parametrize(
        "make, stop",
        [
            ("backfilled", (backfills, "release")),
            ("triggered", (changes, "_leave_unchanged")),
            ("planned", (planning, "plan_locked")),
        ],
    )
    @pytest.mark.parametrize("soon", [True, False])
    async def test_a_run_created_meanwhile_gets_its_turn(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        beginning: tuple[asyncio.Task[Any], Gate],
        make: str,
        stop: tuple[Any, str],
        soon: bool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        ending, gate = beginning
        made = Gate(monkeypatch, *stop)
        making = asyncio.create_task(getattr(self, make)(store))
        await until(database.lock_waits)
        gate.open.set()
        assert (await ending).released == 1
        await made.reached.wait()
        # The second one may end before that is written, or must wait for it; no run may be forgotten, or overtake.
        done = asyncio.create_task(self._work(other, later(601), rounds=int(soon)))
        await asyncio.wait([done], timeout=0.3)
        made.open.set()
        await making
        await done
        await self._work(other, later(602), rounds=20)
        assert {run.status for run in await store.runs.list("default")} == {"succeeded"}
        assert len(await store.runs.list("default")) > 2

    async def _work(self, store: PostgresStore, now: datetime, rounds: int) -> None:
        for _ in range(rounds):
            found = await claim(store, now=now)
            assert len(found) <= 1
            await store.leases.finish([Outcome(run.id, run.attempt, "succeeded") for run in found], now=now)
