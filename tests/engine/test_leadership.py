"""Leader mode: any doubt means that a worker is not the leader, and that it plans nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.engine.test_worker import QUICK, until, working
from tickbird import Tickbird, every
from tickbird.domain.errors import InvalidError, StoreUnavailableError, TermEndedError
from tickbird.domain.leadership import Election, LeaderLease, LeaderTerm
from tickbird.engine.engine import EngineOptions
from tickbird.engine.leadership import Leadership
from tickbird.engine.planner_step import PlannerStep
from tickbird.store.sqlite import SqliteStore

LEADER = replace(QUICK, coordination="leader")


class ManualSeconds:
    """A monotonic clock that moves only when told."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


class ScriptedLeadership:
    """A store that is slow or fails as told, and records each call."""

    def __init__(self, clock: ManualSeconds) -> None:
        self.clock = clock
        self.calls: list[str] = []
        # Seconds that each response takes, the number of failures, and whether the term has ended.
        self.takes = 0.0
        self.failing = 0
        self.ended = False
        self.issued = 0

    async def _respond(self, call: str) -> None:
        self.calls.append(call)
        self.clock.seconds += self.takes
        if self.failing:
            self.failing -= 1
            raise StoreUnavailableError("the heartbeat was rolled back.", hint="this is a test.")

    def _lease(self, term: int) -> LeaderLease:
        return LeaderLease(term=term, worker="w1", heartbeat_at=self.clock.now(), timeout=60)

    async def elect(self, worker: Any, timeout: float, *, now: Any = None) -> Election:
        await self._respond("elect")
        self.issued += 1
        return Election(self.clock.now(), self._lease(self.issued), elected=True)

    async def renew(self, term: int, worker_id: str, **options: Any) -> LeaderLease | None:
        await self._respond("renew")
        return None if self.ended else self._lease(term)

    async def resign(self, term: int, worker_id: str, **options: Any) -> LeaderTerm | None:
        await self._respond(f"resign from {term}: {options['note']}")
        return None


class ScriptedPlanner(PlannerStep):
    """A planning step that hangs or fails as told."""

    def __init__(self) -> None:
        self.terms: list[int | None] = []
        self.hang = False
        self.error: Exception | None = None
        self.cut_off = False

    async def step(self, term: int | None = None) -> float | None:
        self.terms.append(term)
        if self.error is not None:
            raise self.error
        if self.hang:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cut_off = True
                raise
        return 5.0


class Scene:
    """A worker with leadership, over a scripted store."""

    def __init__(self, is_second_choice: Callable[[], bool] = lambda: False) -> None:
        self.clock = ManualSeconds()
        self.store = ScriptedLeadership(self.clock)
        self.planner = ScriptedPlanner()
        self.may_lead = True
        self.leadership = Leadership(
            self.store,  # type: ignore[arg-type]
            self.clock,
            lambda: a_worker("w1"),
            self.planner,
            timeout=60.0,
            may_lead=lambda: self.may_lead,
            is_second_choice=is_second_choice,
        )


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def test_a_heartbeat_comes_after_a_third_of_the_timeout(scene: Scene) -> None:
    assert await scene.leadership.step() == 20.0
    assert scene.leadership.term == 1
    scene.clock.seconds = 20
    assert await scene.leadership.step() == 20.0
    assert scene.store.calls == ["elect", "renew"]


async def test_trust_begins_with_the_attempt(scene: Scene) -> None:
    scene.store.takes = 54.9
    await scene.leadership.step()
    # The response took 54.9 of the 55 seconds that the lease is trusted.
    assert scene.leadership.term == 1
    scene.clock.seconds += 0.2
    assert scene.leadership.term is None


async def test_a_success_that_is_too_slow_is_no_success(scene: Scene) -> None:
    scene.store.takes = 61
    assert await scene.leadership.step() == 0.0
    assert scene.leadership.term is None
    scene.store.takes = 0
    assert await scene.leadership.plan() is None
    assert not scene.planner.terms


async def test_a_heartbeat_that_fails_does_not_extend_the_trust(scene: Scene) -> None:
    await scene.leadership.step()
    scene.store.failing = 100
    for second in (20, 30, 40, 54):
        scene.clock.seconds = second
        assert await scene.leadership.step() == 1.0
        assert scene.leadership.term == 1
    scene.clock.seconds = 56
    assert scene.leadership.term is None
    assert await scene.leadership.step() == 0.0
    assert await scene.leadership.plan() is None


async def test_a_term_that_has_ended_cuts_planning_off_first(scene: Scene) -> None:
    await scene.leadership.step()
    scene.planner.hang = True
    planning = asyncio.create_task(scene.leadership.plan())
    await asyncio.sleep(0)
    scene.store.ended = True
    scene.clock.seconds = 20
    assert await scene.leadership.step() == 2.0
    assert await planning is None
    assert scene.planner.cut_off
    assert scene.leadership.term is None
    # It leaves the next term to others for a moment.
    scene.clock.seconds = 21
    assert await scene.leadership.step() == 1.0
    assert scene.store.calls == ["elect", "renew"]


async def test_a_refused_plan_ends_the_term_here(scene: Scene) -> None:
    await scene.leadership.step()
    scene.planner.error = TermEndedError("term 1 has ended.")
    assert await scene.leadership.plan() is None
    assert scene.leadership.term is None


async def test_a_leader_that_cannot_plan_resigns(scene: Scene) -> None:
    await scene.leadership.step()
    scene.planner.error = StoreUnavailableError("all connections are busy.", hint="this is a test.")
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            await scene.leadership.plan()
    assert await scene.leadership.plan() is None
    assert scene.store.calls[-2] == "renew"
    assert scene.store.calls[-1].startswith("resign from 1: planning failed")
    # Another worker has time to take over.
    assert await scene.leadership.step() == 20.0


async def test_a_leader_that_cannot_reach_the_store_waits_for_it(scene: Scene) -> None:
    """After a short restart of the server, it plans on in its term."""
    await scene.leadership.step()
    scene.planner.error = StoreUnavailableError("the server restarts.", hint="this is a test.")
    scene.store.failing = 10
    for _ in range(10):
        with pytest.raises(StoreUnavailableError):
            await scene.leadership.plan()
    scene.planner.error, scene.store.failing = None, 0
    assert await scene.leadership.plan() == 5.0
    assert scene.leadership.term == 1
    assert not any("resign" in call for call in scene.store.calls)


async def test_a_second_choice_leaves_the_lease_to_others_first() -> None:
    scene = Scene(is_second_choice=lambda: True)
    assert await scene.leadership.step() == 2.0
    assert not scene.store.calls
    # No other worker has taken it.
    assert await scene.leadership.step() == 20.0
    assert scene.leadership.term == 1


async def test_a_worker_that_may_not_work_resigns(scene: Scene) -> None:
    await scene.leadership.step()
    scene.may_lead = False
    assert await scene.leadership.step() is None
    assert scene.store.calls[-1] == "resign from 1: this worker cannot plan"
    scene.may_lead = True
    await scene.leadership.step()
    assert scene.leadership.term == 2


async def test_a_drain_waits_for_the_planning_step_and_resigns(scene: Scene) -> None:
    await scene.leadership.step()
    await scene.leadership.plan()
    await scene.leadership.end("the worker drains")
    assert scene.store.calls[-1] == "resign from 1: the worker drains"
    assert await scene.leadership.plan() is None
    assert await scene.leadership.step() is None


async def test_a_follower_reads_the_lease_at_most_twice_a_minute() -> None:
    """Ten minutes with a leader that lives, in the time of a manual clock."""
    clock = ManualSeconds()
    store = SqliteStore("sqlite://")
    await store.open()
    reads = 0
    elect = store.leadership.elect

    async def counted(*args: Any, **options: Any) -> Election:
        nonlocal reads
        reads += 1
        return await elect(*args, **options)

    workers = [
        Leadership(
            store.leadership,
            clock,
            lambda name=name: a_worker(name),  # type: ignore[misc]
            ScriptedPlanner(),
            timeout=60.0,
            may_lead=lambda: True,
        )
        for name in ("leader", "follower")
    ]
    due = [await worker.step() for worker in workers]
    store.leadership.elect = counted  # type: ignore[method-assign]
    for second in range(1, 601):
        clock.seconds = second
        for index, worker in enumerate(workers):
            if second >= (due[index] or 0.0):
                due[index] = second + (await worker.step() or 60.0)
    assert [worker.term for worker in workers] == [1, None]
    assert 0 < reads <= 20
    await store.close()


async def test_workers_hand_over_and_every_run_has_its_term(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "tickbird.engine")
    bird = Tickbird(f"sqlite:///{tmp_path}/leader.db", coordination="leader")

    # No tick is late, however busy the machine is.
    @bird.task(schedule=every(seconds=1), overlap="allow", grace="1h")
    def tick() -> None:
        pass

    async with AsyncExitStack() as first:
        await first.enter_async_context(working(bird))
        # A drained worker closes the client of its app.
        client = await Tickbird(bird.url).client()
        await until(lambda: _planned(client, 1))
        async with working(bird):
            assert {worker.coordination for worker in await client.workers.list()} == {"leader"}
            # Drained: the other one takes over.
            await first.aclose()
            await until(lambda: _planned(client, 2))
            runs = await client.runs.list(schedule="tick", limit=1_000)
    ticks = sorted(run.scheduled_for for run in runs if run.scheduled_for is not None)
    assert all((after - before).total_seconds() == 1 for before, after in pairwise(ticks))
    assert {run.term for run in runs} >= {1, 2}
    assert re.search("leader: term 1 began", caplog.text)
    assert re.search("leader: resigned from term 1: the worker drains", caplog.text)


async def _planned(client: Any, term: int) -> bool:
    return any(run.term == term for run in await client.runs.list(schedule="tick", limit=1_000))


async def test_an_executor_is_no_candidate(tmp_path: Path) -> None:
    bird = Tickbird(f"sqlite:///{tmp_path}/leader.db")
    async with working(bird, role="execute-only", options=LEADER) as (client, process):
        [worker] = await client.workers.list()
        assert (worker.kind, worker.coordination) == ("executor", "shared")
        assert process.may_work


def test_wrong_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidError, match="coordination is 'boss'"):
        Tickbird(f"sqlite:///{tmp_path}/leader.db", coordination="boss")  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="leader_timeout is 0 s"):
        Tickbird(f"sqlite:///{tmp_path}/leader.db", leader_timeout=0)


def test_the_setting_of_the_worker_wins(tmp_path: Path) -> None:
    from tickbird.worker import WorkerProcess

    bird = Tickbird(f"sqlite:///{tmp_path}/leader.db", coordination="leader")
    assert WorkerProcess(bird).worker.coordination == "leader"
    assert WorkerProcess(bird, options=EngineOptions(coordination="shared")).worker.coordination == "shared"
