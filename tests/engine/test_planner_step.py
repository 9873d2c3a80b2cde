"""The planning step: the size of its batches, and their number in parallel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import every
from tickbird.domain.errors import StoreUnavailableError
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.engine.planner_step import PlannerStep
from tickbird.store.sqlite import SqliteStore
from tickbird.testing.clock import ManualClock

NOON = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
COUNT = 1_700


class Watched(SqliteStore):
    """A store that plans two batches at once, notes how large they were, and may be slow or fail."""

    planners = 2

    def __init__(self, clock: ManualClock) -> None:
        super().__init__("sqlite://")
        self.clock = clock
        self.seconds = 0.0
        self.failing = 0
        self.batches: list[int] = []
        self.planned = 0
        self._plan_due = self.planning.plan_due
        self.planning.plan_due = self.plan_due  # type: ignore[method-assign]

    async def plan_due(self, limit: int = 500, **options: Any) -> PlanResult:
        self.batches.append(limit)
        planned = await self._plan_due(limit, **options)
        self.planned += planned.runs
        self.clock.move_to(self.clock.now() + timedelta(seconds=self.seconds))
        if self.failing:
            self.failing -= 1
            raise StoreUnavailableError("the answer was lost;", hint="this is a test.")
        return planned


@pytest.fixture
async def store() -> AsyncIterator[Watched]:
    clock = ManualClock(NOON)
    store = Watched(clock)
    await store.open()
    definition = Definition(trigger=every(minutes=1), target=Target("noop"), grace=60)
    for number in range(COUNT):
        command = Create(actor="ada", namespace="default", definition=definition)
        await store.schedules.change("default", f"s{number}", command, now=NOON)
    clock.move_to(NOON + timedelta(minutes=1))
    yield store
    await store.close()


async def test_fast_batches_grow_and_are_planned_in_parallel(store: Watched) -> None:
    planning = PlannerStep(store, store.clock, lambda: None, batch=100)
    while await planning.step() == 0.0:
        pass
    assert store.batches == [100, 200, 200, 400, 400, 500, 500]
    assert store.planned == COUNT


async def test_slow_batches_shrink_and_are_planned_one_by_one(store: Watched) -> None:
    store.seconds = 0.2
    planning = PlannerStep(store, store.clock, lambda: None, batch=500)
    while await planning.step() == 0.0:
        pass
    assert store.batches[:4] == [500, 250, 125, 100]
    assert set(store.batches[4:]) == {100}
    assert store.planned == COUNT


async def test_a_failed_batch_does_not_hide_the_runs_of_another(store: Watched) -> None:
    told: list[int] = []
    planning = PlannerStep(store, store.clock, lambda: told.append(store.planned), batch=100)
    assert await planning.step() == 0.0
    store.failing = 1
    with pytest.raises(StoreUnavailableError):
        await planning.step()
    assert told == [100, 500]
    while await planning.step() == 0.0:
        pass
    assert store.planned == COUNT


async def test_a_burst_starts_with_two_batches_if_the_last_one_was_large(store: Watched) -> None:
    planning = PlannerStep(store, store.clock, lambda: None, batch=100)
    while await planning.step() == 0.0:
        pass
    store.batches.clear()
    store.clock.move_to(NOON + timedelta(minutes=2))
    await planning.step()
    assert store.batches == [500, 500]


async def test_a_burst_starts_with_one_batch_if_the_last_one_was_small(store: Watched) -> None:
    planning = PlannerStep(store, store.clock, lambda: None, batch=500)
    while await planning.step() == 0.0:
        pass
    # Two empty passes: the first expects a burst like the last one, the second does not.
    await planning.step()
    store.batches.clear()
    await planning.step()
    assert store.batches == [500]


async def test_batches_that_time_out_shrink_and_grow_again(store: Watched) -> None:
    step = PlannerStep(store, store.clock, lambda: None, batch=400)
    store.failing = 5
    for _ in range(5):
        with pytest.raises(StoreUnavailableError):
            await step.step()
    assert store.batches == [400, 200, 100, 50, 25]
    while await step.step() == 0.0:
        pass
    sizes = store.batches[5:]
    assert sizes[0] == 12
    assert max(sizes) > 100
    assert store.planned == COUNT
