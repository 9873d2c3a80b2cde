"""The step for ticks in memory: reads after wake-ups, starts, silence, errors of single schedules, and fallback."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from conformance.steps import NAMESPACE, a_worker, create, later, ranges, runs_of, since, work_off
from tickbird.domain.errors import SchedulesUnusableError
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.worker_ticks import WorkerSchedules
from tickbird.engine.fallback import Fallback
from tickbird.engine.leadership import Leadership
from tickbird.engine.planner_step import PlannerStep
from tickbird.engine.worker_ticks import WorkerTickStep
from tickbird.store.sqlite import SqliteStore
from tickbird.testing.clock import ManualClock


class Watched(SqliteStore):
    """A store that notes reads, and can refuse to read and plan."""

    def __init__(self) -> None:
        super().__init__("sqlite://")
        self.reads: list[Mapping[int, int]] = []
        self.broken = False
        self._read, self._plan_due = self.worker_ticks.read, self.planning.plan_due
        self.worker_ticks.read = self.read  # type: ignore[method-assign]
        self.planning.plan_due = self.plan_due  # type: ignore[method-assign]

    async def read(self, namespace: str, app: str | None, known: Mapping[int, int], **options: Any) -> WorkerSchedules:
        self.reads.append(dict(known))
        self._check()
        return await self._read(namespace, app, known, **options)

    async def plan_due(self, *arguments: Any, **options: Any) -> Any:
        self._check()
        return await self._plan_due(*arguments, **options)

    def _check(self) -> None:
        if self.broken:
            raise SchedulesUnusableError("the schedules cannot be planned, a table is missing: cursors.")


class Worker:
    """The steps of one worker at a moved clock."""

    def __init__(self, store: Watched, at: float, **options: Any) -> None:
        self.clock = ManualClock(later(at))
        self.fallback = Fallback(self.clock, **{"max_age": 3_600.0, **options})
        self.planner = PlannerStep(store, self.clock, lambda: None, fallback=self.fallback)
        self.ticks = WorkerTickStep(store, self.clock, a_worker(), lambda: None, fallback=self.fallback)

    async def step(self, at: float, *, woken: bool = False) -> float | None:
        self.clock.move_to(later(at))
        if woken:
            self.ticks.read_again()
        return await self.ticks.step()

    async def plan(self, at: float) -> None:
        self.clock.move_to(later(at))
        await self.planner.step()


@pytest.fixture
async def store() -> AsyncIterator[Watched]:
    store = Watched()
    await store.open()
    yield store
    await store.close()


async def ticks_of(store: Watched, name: str = "clock") -> list[int | None]:
    return [since(run.scheduled_for) for run in await runs_of(store, name)]


async def test_step_returns_when_the_next_tick_is_due_and_reads_seldom(store: Watched) -> None:
    schedule = await create(store, durable=False, overlap="allow")
    worker = Worker(store, 10)
    assert await worker.step(10) == 50
    assert await worker.step(11) == 49
    assert await worker.step(60) == 60
    assert await ticks_of(store) == [60]
    assert store.reads == [{}]
    await worker.step(61, woken=True)
    assert store.reads == [{}, {schedule.id: 1}]
    # A wake-up may get lost.
    await worker.step(120)
    assert len(store.reads) == 3


async def test_new_worker_looks_back_a_little_and_not_far(store: Watched) -> None:
    await create(store, durable=False, overlap="allow")
    await Worker(store, 122).step(122)
    assert await ticks_of(store) == [120]
    await Worker(store, 200).step(200)
    assert await ticks_of(store) == [120]


async def test_frozen_worker_starts_like_a_new_one(store: Watched) -> None:
    await create(store, durable=False)
    worker = Worker(store, 10)
    await worker.step(10)
    await worker.step(3_630)
    assert await ticks_of(store) == []
    await worker.step(3_660)
    assert await ticks_of(store) == [3_660]


async def test_edit_is_noticed_by_the_refused_run(store: Watched) -> None:
    await create(store, durable=False, overlap="allow")
    worker = Worker(store, 10)
    await worker.step(10)
    await store.schedules.change(NAMESPACE, "clock", Update(actor="ada", fields={"priority": 5}), now=later(20))
    # The wake-up is lost.
    assert await worker.step(60) == 0.0
    await worker.step(60)
    assert [(since(run.scheduled_for), run.priority) for run in await runs_of(store)] == [(60, 5)]
    await store.schedules.change(NAMESPACE, "clock", Pause(actor="ada"), now=later(70))
    await worker.step(120)
    await worker.step(120)
    assert await ticks_of(store) == [60]


async def test_schedule_that_becomes_in_memory_loses_no_tick(store: Watched) -> None:
    await create(store, overlap="allow")
    worker = Worker(store, 10)
    await worker.step(10)
    await store.schedules.change(NAMESPACE, "clock", Update(actor="ada", fields={"durable": False}), now=later(30))
    await worker.step(64, woken=True)
    assert await ticks_of(store) == [60]


async def test_fallback_runs_the_schedules_of_the_app_and_ends(store: Watched) -> None:
    await create(store, "mine", app="app", overlap="allow")
    await create(store, "paused", app="app", overlap="allow")
    await create(store, "other", overlap="allow")
    await create(store, "keyed", app="app", overlap="allow", concurrency_key="db")
    await create(store, "light", durable=False, overlap="allow")
    await store.schedules.change(NAMESPACE, "paused", Pause(actor="ada"), now=later(5))
    worker = Worker(store, 10)
    await worker.plan(60)
    await worker.step(60)
    store.broken = True
    for at in (120, 180):
        with pytest.raises(SchedulesUnusableError):
            await worker.plan(at)
        await worker.step(at)
    assert worker.fallback.standby_reason.startswith("fallback: it runs the ticks of 2 schedules from rows read")
    assert await ticks_of(store, "mine") == [60, 120, 180]
    assert await ticks_of(store, "light") == [60, 120, 180]
    assert (await ticks_of(store, "paused"), await ticks_of(store, "other")) == ([], [60])
    store.broken = False
    await worker.plan(240)
    await worker.step(240)
    assert not worker.fallback.is_active
    assert await ticks_of(store, "mine") == [60, 120, 180, 240]
    # Its late ticks are one run, and those of the others too.
    assert [(since(run.scheduled_for), run.origin) for run in await runs_of(store, "keyed")][1:] == [
        (120, "catch_up"),
        (240, "schedule"),
    ]


@pytest.mark.parametrize("max_age", [None, 90.0])
async def test_fallback_is_off_or_its_rows_are_too_old(store: Watched, max_age: float | None) -> None:
    await create(store, "mine", app="app", overlap="allow")
    worker = Worker(store, 10, max_age=max_age)
    await worker.plan(60)
    await worker.step(60)
    store.broken = True
    for at in (120, 180, 240):
        with pytest.raises(SchedulesUnusableError):
            await worker.plan(at)
        if max_age is not None:
            await worker.step(at)
    assert await ticks_of(store, "mine") == ([60] if max_age is None else [60, 120])
    assert worker.fallback.is_active == (max_age is not None)
    if max_age is not None:
        assert "plans nothing" in worker.fallback.standby_reason


async def test_worker_without_rows_does_nothing_in_fallback(store: Watched) -> None:
    await create(store, "mine", app="app", overlap="allow")
    store.broken = True
    worker = Worker(store, 70)
    await worker.step(70)
    await worker.step(120)
    assert await ticks_of(store, "mine") == []
    assert "has read no rows" in worker.fallback.standby_reason


async def test_run_in_fallback_is_executed_with_its_definition(store: Watched) -> None:
    await create(store, "mine", app="app", payload={"limit": 5}, timeout=7)
    worker = Worker(store, 10)
    await worker.plan(10)
    await worker.step(10)
    store.broken = True
    with pytest.raises(SchedulesUnusableError):
        await worker.plan(60)
    await worker.step(60)
    [run] = await work_off(store, 61)
    assert (run.payload, run.definition and run.definition.timeout) == ({"limit": 5}, 7)


async def test_worker_that_has_not_noticed_the_repair_adds_nothing_to_decided_ticks(store: Watched) -> None:
    """Another worker plans again, and skips a tick; this one is still in fallback."""
    await create(store, "mine", app="app")
    worker = Worker(store, 10)
    await worker.plan(10)
    await worker.step(10)
    store.broken = True
    with pytest.raises(SchedulesUnusableError):
        await worker.plan(60)
    await worker.step(60)
    store.broken = False
    await Worker(store, 120).plan(120)
    await work_off(store, 121)
    await worker.step(121)
    assert not worker.fallback.is_active
    assert await ticks_of(store, "mine") == [60]
    assert await ranges(store, "mine") == [("overlap", 120, 120, 1)]


async def test_follower_runs_no_tick_that_its_leader_has_decided(store: Watched) -> None:
    """It plans nothing itself, so it must not begin at the cursor that it read long ago."""
    await create(store, "mine", app="app", catch_up="all")
    leader, follower = Worker(store, 10), Worker(store, 10)
    await follower.step(10)
    for at in (60, 120):
        await leader.plan(at)
    await work_off(store, 121)
    await follower.step(122, woken=True)
    store.broken = True
    await follower.step(180, woken=True)
    assert follower.fallback.is_active
    assert await ticks_of(store, "mine") == [60, 180]
    assert await ranges(store, "mine") == [("overlap", 120, 120, 1)]


async def test_fallback_while_no_worker_can_be_elected(store: Watched) -> None:
    """In leader mode, a table of the leader is missing: the schedules can be read, but nobody plans."""
    await create(store, "mine", app="app", overlap="allow")
    worker = Worker(store, 10)
    leadership = Leadership(
        store.leadership, worker.clock, a_worker, worker.planner, timeout=60.0, may_lead=lambda: True
    )
    leadership.on_unusable, worker.ticks.leadership = worker.fallback.start, leadership
    await worker.step(10)
    db = store._writer._db
    assert db is not None
    db.execute("ALTER TABLE leader_lease RENAME TO lost_lease")
    with pytest.raises(SchedulesUnusableError):
        await leadership.step()
    for at in (60, 120):
        await worker.step(at)
    assert worker.fallback.is_active
    assert await ticks_of(store, "mine") == [60, 120]
    db.execute("ALTER TABLE lost_lease RENAME TO leader_lease")
    await leadership.step()
    assert leadership.term == 1
    await leadership.plan()
    await worker.step(121)
    assert not worker.fallback.is_active
    assert await ticks_of(store, "mine") == [60, 120]
