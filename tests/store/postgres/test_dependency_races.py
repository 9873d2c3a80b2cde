"""A schedule succeeds while others are planned, or begin to depend on it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.store.postgres.database import Database
from tests.store.postgres.steps import MINUTELY, WORKER, Gate, create, later, until
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore, leases
from tickbird.store.postgres import schedule_changes as changes
from tickbird.store.postgres.planning import planning

DAILY = replace(MINUTELY, trigger=every(days=1))


class TestDependencyRace:
    """A planner makes a run wait for a schedule, or an edit adds a dependency, while that schedule succeeds."""

    @pytest.fixture
    async def load(self, store: PostgresStore) -> Outcome:
        """A run that is about to succeed."""
        await create(store, "load", replace(DAILY, target=Target("load")))
        run = (await store.schedules.change("default", "load", Trigger(actor="ada"), now=later(1))).run
        await store.leases.claim(WORKER, 1, 600, queues=["default"], targets=[("task", "load")], now=later(1))
        assert run is not None
        return Outcome(run.id, 1, "succeeded")

    @pytest.fixture
    async def report(self, store: PostgresStore, load: Outcome) -> None:
        needs = (After("load", 0, 3_600),)
        await create(store, "report", replace(MINUTELY, depends_on=needs, overlap="replace"))

    @pytest.mark.usefixtures("report")
    async def test_the_success_waits_for_the_planner_and_releases_its_run(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, planning, "plan_locked")
        plan = asyncio.create_task(store.planning.plan_due(now=later(60)))
        await gate.reached.wait()
        finish = asyncio.create_task(other.leases.finish([load], now=later(61)))
        await until(database.lock_waits)
        gate.open.set()
        await plan
        assert (await finish).released == 1
        assert [run.status for run in await store.runs.list("default", schedule="report")] == ["queued"]

    @pytest.mark.usefixtures("report")
    async def test_the_planner_skips_a_schedule_whose_dependency_is_just_succeeding(
        self, store: PostgresStore, other: PostgresStore, load: Outcome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = Gate(monkeypatch, leases, "release")
        finish = asyncio.create_task(other.leases.finish([load], now=later(60)))
        await gate.reached.wait()
        planned = await store.planning.plan_due(now=later(60))
        assert (planned.more, list(await store.runs.list("default", schedule="report"))) == (True, [])
        gate.open.set()
        await finish
        await store.planning.plan_due(now=later(60))
        assert [run.status for run in await store.runs.list("default", schedule="report")] == ["queued"]

    @pytest.mark.usefixtures("report")
    async def test_an_edit_tries_again_until_the_success_is_noted(
        self, store: PostgresStore, other: PostgresStore, load: Outcome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate, tried = Gate(monkeypatch, leases, "release"), Gate(monkeypatch, changes, "watch")
        tried.open.set()
        finish = asyncio.create_task(other.leases.finish([load], now=later(60)))
        await gate.reached.wait()
        update = Update(actor="ada", fields={"retries": 3})
        edit = asyncio.create_task(store.schedules.change("default", "report", update, now=later(61)))
        await tried.reached.wait()
        gate.open.set()
        await finish
        assert (await edit).schedule.revision == 2
        [run] = await store.runs.list("default", schedule="report")
        assert (run.status, run.revision) == ("queued", 1)

    async def test_a_new_dependent_waits_for_a_success_in_progress(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, leases, "release")
        finish = asyncio.create_task(other.leases.finish([load], now=later(30)))
        await gate.reached.wait()
        making = asyncio.create_task(create(store, "report", replace(MINUTELY, depends_on=(After("load", 60),))))
        await until(database.lock_waits)
        gate.open.set()
        await asyncio.gather(finish, making)
        assert (await store.schedules.last_successes("default", ["load"]))["load"].at == int(later(30).timestamp())

    async def test_a_success_sees_new_dependents(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        gate = Gate(monkeypatch, changes, "watch")
        making = asyncio.create_task(create(store, "report", replace(MINUTELY, depends_on=(After("load", 60),))))
        await gate.reached.wait()
        finish = asyncio.create_task(other.leases.finish([load], now=later(30)))
        await until(database.lock_waits)
        gate.open.set()
        await asyncio.gather(finish, making)
        assert (await store.schedules.last_successes("default", ["load"]))["load"].at == int(later(30).timestamp())

    async def test_two_that_are_waited_for_succeed_at_once(
        self,
        store: PostgresStore,
        other: PostgresStore,
        database: Database,
        load: Outcome,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        await create(store, "clean", replace(DAILY, target=Target("clean")))
        clean = (await store.schedules.change("default", "clean", Trigger(actor="ada"), now=later(1))).run
        assert clean is not None
        await store.leases.claim(WORKER, 1, 600, queues=["default"], targets=[("task", "clean")], now=later(1))
        needs = (After("load", 0, 3_600), After("clean", 0, 3_600))
        await create(store, "report", replace(MINUTELY, depends_on=needs))
        await store.planning.plan_due(now=later(60))
        gate = Gate(monkeypatch, leases, "release")
        first = asyncio.create_task(store.leases.finish([load], now=later(61)))
        await gate.reached.wait()
        second = asyncio.create_task(other.leases.finish([Outcome(clean.id, 1, "succeeded")], now=later(61)))
        await until(database.lock_waits)
        gate.open.set()
        await first
        assert (await second).released == 1
        assert [run.status for run in await store.runs.list("default", schedule="report")] == ["queued"]

    @pytest.mark.usefixtures("report")
    async def test_a_missed_success_is_found(self, store: PostgresStore, database: Database) -> None:
        await store.planning.plan_due(now=later(60))
        noted = "UPDATE tickbird.last_successes SET succeeded_at = %s"
        await database.execute(noted, later(59))
        assert list((await store.leases.rescue(now=later(63))).released) == []
        await database.execute(noted, later(62))
        [run] = await store.runs.list("default", schedule="report")
        assert list((await store.leases.rescue(now=later(63))).released) == [run.id]
