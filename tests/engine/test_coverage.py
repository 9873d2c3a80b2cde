"""The log names work that no live worker does: once when it begins, once when it ends."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from conformance.steps import a_worker
from tests.engine.test_worker import until, working
from tickbird import Tickbird
from tickbird.domain.runs.run import NewRun
from tickbird.domain.targets.target import Target
from tickbird.domain.workers import Worker
from tickbird.engine.coverage import CoverageStep
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore
from tickbird.testing import ManualClock

START = datetime(2026, 1, 1, tzinfo=UTC)
BEAT = 30.0
SERVING = a_worker("w1", queues=("default",), slots=1, tasks={"work": {}})


class Watch:
    """A worker that watches the others, on a store whose time the test moves."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = ManualClock(START)
        self.step = CoverageStep(store, self.clock, "default", BEAT)

    async def check(self, *live: Worker, after: float = 2 * BEAT) -> float | None:
        """The next check after these seconds, while these workers are live."""
        self.clock.move_to(self.clock.now() + timedelta(seconds=after))
        for worker in live:
            await self.store.workers.heartbeat(worker, 1, now=self.clock.now())
        return await self.step.step()

    async def enqueue(self, task: str = "work", queue: str = "default") -> int:
        """A run that can start at once."""
        [run_id] = await self.store.runs.enqueue(
            "default", [NewRun(Target(task), {}, queue)], "ada", now=self.clock.now()
        )
        return run_id

    async def beat(self, *live: Worker) -> None:
        """A heartbeat of the worker, which only executes, while these others are live."""
        self.clock.move_to(self.clock.now() + timedelta(seconds=BEAT))
        for worker in live:
            await self.store.workers.heartbeat(worker, 1, now=self.clock.now())
        own = a_worker("own", kind="executor", slots=1)
        self.step.observe(await self.store.workers.heartbeat(own, 90, now=self.clock.now()))


@pytest.fixture
async def watch(caplog: pytest.LogCaptureFixture) -> AsyncIterator[Watch]:
    caplog.set_level(logging.INFO, "tickbird.engine")
    store = SqliteStore("sqlite://:memory:")
    await store.open()
    yield Watch(store)
    await store.close()


async def test_runs_that_no_worker_would_claim_are_logged_once(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    first = await watch.enqueue(queue="gpu")
    await watch.enqueue(queue="gpu")
    await watch.enqueue()
    assert await watch.check(SERVING) is None
    [message] = caplog.messages
    assert message == (
        "no live worker serves queue 'gpu' (served: default): 2 runs of task 'work' in queue 'gpu' cannot start, "
        "the oldest since 2026-01-01 00:00:00+00:00. Start: tickbird worker MODULE:APP --queues gpu   "
        "# the app that has task 'work'"
    )
    await watch.enqueue(queue="gpu")
    await watch.store.runs.cancel(first, "ada", now=watch.clock.now())
    await watch.check(SERVING)
    assert len(caplog.messages) == 1
    await watch.enqueue("other")
    # The reason is the same although another worker has started.
    await watch.check(SERVING, replace(SERVING, id="w2", queues=("mail",)))
    assert len(caplog.messages) == 2
    assert caplog.messages[1].startswith("no live worker knows task 'other': 1 run of task 'other' in queue 'default'")
    await watch.check(SERVING, replace(SERVING, id="w2", queues=("gpu",)))
    assert caplog.messages[2:] == ["no run of task 'work' waits in queue 'gpu' for a worker that serves it"]
    await watch.check(SERVING)
    assert len(caplog.messages) == 4


async def test_a_worker_that_is_starting_has_time_to_start(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    await watch.enqueue(queue="gpu")
    # The first check after a start waits, and so does a check soon after another.
    assert await watch.check(SERVING, after=1) == 2 * BEAT - 1
    assert await watch.check(SERVING, after=2 * BEAT - 2) == 1
    assert not caplog.messages
    await watch.enqueue("new")
    assert await watch.check(SERVING, after=1) == 2 * BEAT
    [message] = caplog.messages
    assert message.startswith("no live worker serves queue 'gpu' (served: default): 1 run of task 'work'")
    assert await watch.check(SERVING) is None
    assert caplog.messages[1].startswith("no live worker knows task 'new'")


async def test_a_draining_worker_is_not_logged(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    await watch.enqueue()
    await watch.check(replace(SERVING, draining=True))
    assert not caplog.messages


async def test_many_targets_are_logged_in_a_few_lines(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(15):
        await watch.enqueue(f"task{number}")
    await watch.check(SERVING)
    assert len(caplog.messages) == 11
    assert caplog.messages[-1] == "runs of 5 more targets cannot start: see `tickbird doctor`"


async def test_a_fleet_without_a_planner_is_logged_once(watch: Watch, caplog: pytest.LogCaptureFixture) -> None:
    planner = a_worker("planner", namespace="elsewhere", kind="planner")
    await watch.beat(planner)
    await watch.beat()
    assert not caplog.messages
    for _ in range(3):
        await watch.beat()
    [message] = caplog.messages
    assert message == (
        "no live worker plans since 2026-01-01 00:01:00+00:00: due ticks wait for one. Start a worker that plans, "
        "and check TICKBIRD_ROLE and TICKBIRD_PLANNING"
    )
    await watch.beat(planner)
    await watch.beat(planner)
    assert caplog.messages[1:] == ["a live worker plans again"]


async def test_a_worker_reports_runs_that_it_plans_for_no_one(
    tmp_path: object, caplog: pytest.LogCaptureFixture
) -> None:
    bird = Tickbird(f"sqlite:///{tmp_path}/coverage.db")

    @bird.task
    async def work() -> None: ...

    async with working(bird, queues=["default"]) as (client, _):
        await client.runs.enqueue("work", actor="ada", queue="gpu")

        async def logged() -> bool:
            return "no live worker serves queue 'gpu' (served: default): 1 run of task 'work'" in caplog.text

        await until(logged)
