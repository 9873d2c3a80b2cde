"""Slots, reservations and batches: runs that start together are reported together, and do not affect each other."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator

from tickbird import Run, Tickbird, every
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.leases import LeaseRef, RenewResult
from tickbird.domain.runs.run import ClaimedRun, NewRun
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.workers import Worker
from tickbird.engine import dispatcher as steps
from tickbird.engine import executor
from tickbird.engine.dispatcher import Dispatcher
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.leases import SqliteLeases
from tickbird.stores import open_store
from tickbird.testing.clock import ManualClock
from tickbird.worker import describe_worker

START = datetime(2026, 1, 1, tzinfo=UTC)
CLOCK = ManualClock(START)
NOW = CLOCK.monotonic()
MARK: ContextVar[str] = ContextVar("MARK", default="")


def marked(value: Any) -> Any:
    """A validator that changes its context."""
    MARK.set("validated")
    return value


def leaves(value: Any) -> Any:
    """A validator that would end the process."""
    sys.exit(3)


class Tasks:
    """An app whose tasks report their observations."""

    def __init__(self) -> None:
        self.bird = Tickbird()
        self.seen: list[Any] = []
        self.go_on = asyncio.Event()
        self.bird.task(self.note)
        self.bird.task(self.hold)
        self.bird.task(self.block)
        self.bird.task(self.mark)
        self.bird.task(self.leave)

    async def note(self, run: Run) -> None:
        self.seen.append((run.id, run.attempt, MARK.get()))

    def block(self, run: Run) -> None:
        self.seen.append(run.id)

    async def hold(self, run: Run) -> None:
        self.seen.append(run.id)
        await self.go_on.wait()

    async def mark(self, value: Annotated[int, BeforeValidator(marked)]) -> None:
        self.seen.append(MARK.get())
        MARK.set("ran")

    async def leave(self, value: Annotated[int, BeforeValidator(leaves)]) -> None:
        self.seen.append("left")


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = open_store("sqlite://:memory:")
    await store.open()
    yield store
    await store.close()


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs wait for a slot even on a slow machine; as many may wait as there are slots."""
    monkeypatch.setattr(executor, "_MAX_WAIT", 1_000.0)
    monkeypatch.setattr(steps, "_PREFETCH_FACTOR", 1)


def executing(
    store: Store, tasks: Tasks, slots: int = 10, clock: ManualClock = CLOCK, threads: Executor | None = None
) -> Dispatcher:
    """The execution steps of a worker whose engine and work share a loop."""
    return Dispatcher(
        store,
        clock,
        describe_worker(tasks.bird, slots=slots),
        tasks.bird.executables,
        lease=30.0,
        work_loop=asyncio.get_running_loop(),
        threads=threads,
    )


async def settle(execution: Dispatcher) -> None:
    """Record outcomes until nothing is held."""
    async with asyncio.timeout(60):
        while execution.held or execution.running:
            await execution.finish()
            await asyncio.sleep(0)


async def send(store: Store, *sent: tuple[str, dict[str, Any]]) -> list[int]:
    """Enqueue runs."""
    return list(
        await store.runs.enqueue("default", [NewRun(Target(task), payload) for task, payload in sent], "a", now=START)
    )


async def leased(store: Store, tasks: Tasks, execution: Dispatcher, count: int) -> list[ClaimedRun]:
    """Runs that were leased to this worker by something else than its own claim."""
    await send(store, *[("note", {})] * count)
    worker = execution.worker
    claimed = await store.leases.claim(
        worker, count, 30.0, queues=worker.queues, targets=tasks.bird.executables, now=START
    )
    return list(claimed.runs)


async def test_handed_off_runs_start_like_claimed_ones(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    reserved = execution.reserve(4)
    assert (reserved, execution.free_slots) == (4, 6)
    runs = await leased(store, tasks, execution, 3)
    assert execution.start_leased(runs, reserved, NOW)
    assert (execution.free_slots, len(execution.held)) == (7, 3)
    await settle(execution)
    assert (tasks.seen, execution.free_slots) == ([(run.id, 1, "") for run in runs], 10)
    found = [await store.runs.get(run.id) for run in runs]
    assert [run.status for run in found if run] == ["succeeded"] * 3


async def test_a_claim_leaves_reserved_slots_alone(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks, slots=5)
    await send(store, *[("hold", {})] * 9)
    reserved = execution.reserve(2)
    await execution.claim()
    assert (execution.running, execution.free_slots, execution.reserve(1)) == (3, 0, 0)
    execution.start_leased((), reserved, NOW)
    assert execution.free_slots == 2
    await execution.claim()
    assert (execution.running, execution.free_slots) == (5, 0)
    tasks.go_on.set()
    await settle(execution)
    assert execution.free_slots == 5


async def test_runs_that_were_leased_too_long_ago_are_left_to_others(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    reserved = execution.reserve(2)
    runs = await leased(store, tasks, execution, 2)
    assert not execution.start_leased(runs, reserved, NOW - 29)
    assert (execution.free_slots, execution.held, tasks.seen) == (10, {}, [])


async def test_a_frozen_process_does_not_start_runs_with_expired_leases(store: Store) -> None:
    tasks, clock = Tasks(), ManualClock(START)
    execution = executing(store, tasks, clock=clock)
    reserved = execution.reserve(2)
    assert execution.start_leased(await leased(store, tasks, execution, 2), reserved, NOW)
    clock.move_to(START + timedelta(seconds=27))
    await settle(execution)
    assert (execution.free_slots, execution.held, tasks.seen) == (10, {}, [])


async def test_a_worker_that_drains_has_no_room(store: Store) -> None:
    execution = executing(store, Tasks())
    execution.stop_claiming()
    assert (execution.free_slots, execution.reserve(1)) == (0, 0)


async def test_runs_of_a_claim_that_a_drain_overtakes_are_requeued(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    reserved = execution.reserve(2)
    runs = await leased(store, tasks, execution, 2)
    execution.stop_claiming()
    assert execution.start_leased(runs, reserved, NOW)
    await settle(execution)
    found = [await store.runs.get(run.id) for run in runs]
    assert (tasks.seen, [run.status for run in found if run]) == ([], ["queued"] * 2)


async def test_a_claim_that_fails_keeps_no_slot(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    await store.close()

    with pytest.raises(Exception, match="not open"):
        await execution.claim()
    assert execution.free_slots == 10


async def test_runs_of_a_batch_have_separate_contexts(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    await send(store, ("mark", {"value": 1}), ("mark", {"value": 2}), ("note", {}))
    await execution.claim()
    await settle(execution)
    assert sorted(map(str, tasks.seen)) == ["(3, 1, '')", "validated", "validated"]


async def test_a_run_that_cannot_start_does_not_delay_others(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    bad, good = await send(store, ("leave", {"value": 1}), ("note", {}))
    await execution.claim()
    await settle(execution)
    found = [await store.runs.get(run) for run in (bad, good)]
    assert [(run.status, run.failure_kind) for run in found if run] == [("failed", "raised"), ("succeeded", None)]
    assert tasks.seen == [(good, 1, "")]


async def test_runs_that_end_together_are_recorded_together(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks)
    batches: list[int] = []
    execution.on_outcome = lambda: batches.append(len(execution._outcomes))
    await send(store, *[("note", {})] * 8)
    await execution.claim()
    await settle(execution)
    assert batches == [8]


class Ahead:
    """A worker with two slots whose runs were fast, so that it has prefetched two more."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tasks = Tasks()
        self.execution = executing(store, self.tasks, slots=2)

    async def begin(self) -> None:
        """Quick runs, then eight that last, of which the worker claims four."""
        await send(self.store, *[("note", {})] * 4)
        for _ in range(2):
            await self.execution.claim()
            await settle(self.execution)
        self.tasks.seen.clear()
        self.ids = list(
            await self.store.runs.enqueue("default", [NewRun(Target("hold"), {}, start_within=60)] * 8, "a", now=START)
        )
        await self.execution.claim()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def statuses(self) -> list[str]:
        """Of all eight."""
        return [run.status for run in [await self.store.runs.get(run_id) for run_id in self.ids] if run]


async def test_runs_are_claimed_ahead_and_begin_as_slots_become_free(store: Store) -> None:
    ahead = Ahead(store)
    await ahead.begin()
    assert (await ahead.statuses()).count("running") == 4
    assert (ahead.tasks.seen, ahead.execution.free_slots) == (ahead.ids[:2], 0)
    ahead.tasks.go_on.set()
    await settle(ahead.execution)
    assert (ahead.tasks.seen, await ahead.statuses()) == (ahead.ids[:4], ["succeeded"] * 4 + ["queued"] * 4)


async def test_prefetch_stops_after_a_claim_that_returned_less_than_requested(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks, slots=2)
    await send(store, *[("note", {})] * 5)
    for _ in range(3):
        await execution.claim()
        await settle(execution)
    # Now another worker may be idle.
    await send(store, *[("hold", {})] * 4)
    await execution.claim()
    assert len(execution.held) == 2
    tasks.go_on.set()
    await settle(execution)


async def test_a_drain_requeues_prefetched_runs_with_their_deadline(store: Store) -> None:
    ahead = Ahead(store)
    await ahead.begin()
    ahead.execution.stop_claiming()
    ahead.tasks.go_on.set()
    await settle(ahead.execution)
    assert (ahead.tasks.seen, await ahead.statuses()) == (ahead.ids[:2], ["succeeded"] * 2 + ["queued"] * 6)
    run = await store.runs.get(ahead.ids[2])
    assert run is not None
    assert (run.failures, run.crashes, run.start_by) == (0, 0, START + timedelta(seconds=60))


async def test_prefetched_runs_behind_slow_runs_are_requeued(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_MAX_WAIT", 0.01)
    ahead = Ahead(store)
    await ahead.begin()
    async with asyncio.timeout(60):
        while len(ahead.execution.held) > 2:
            await ahead.execution.finish()
            await asyncio.sleep(0.001)
    assert await ahead.statuses() == ["running"] * 2 + ["queued"] * 6
    ahead.tasks.go_on.set()
    await settle(ahead.execution)
    assert ahead.tasks.seen == ahead.ids[:2]


async def test_a_prefetched_run_can_be_cancelled(store: Store) -> None:
    ahead = Ahead(store)
    await ahead.begin()
    await store.runs.cancel(ahead.ids[3], "ada", now=START)
    await ahead.execution.leases.renew()
    ahead.tasks.go_on.set()
    await settle(ahead.execution)
    assert (await ahead.statuses())[:5] == ["succeeded"] * 3 + ["cancelled", "queued"]
    assert ahead.tasks.seen == ahead.ids[:3]


async def test_a_planner_that_is_never_done_does_not_keep_claims_waiting(store: Store) -> None:
    tasks = Tasks()
    execution = executing(store, tasks, slots=2)
    await store.runs.enqueue("default", [NewRun(Target("note"), {})] * 3, "ada", now=START)
    turns: list[int] = []
    rooms: list[int] = []
    execution.on_free_slots = lambda: turns.append(len(rooms))

    async def plan() -> None:
        offer = execution.offer()
        rooms.append(offer.hand_off.room)
        # All slots are reserved meanwhile, so a claim must be repeated.
        assert await execution.claim() is None or not offer.hand_off.room
        execution.accept(offer, [])

    await plan()
    assert (rooms, turns) == ([2], [1])
    await plan()
    assert rooms == [2, 0]
    while len(tasks.seen) < 2:  # noqa: ASYNC110 - what was claimed begins in this very loop
        await asyncio.sleep(0)
    await plan()
    assert len(rooms) == 3


async def test_a_planner_is_offered_slots_again_after_claims_got_theirs(store: Store) -> None:
    execution = executing(store, Tasks(), slots=2)
    offer = execution.offer()
    await execution.claim()
    execution.accept(offer, [])
    assert execution.offer().hand_off.room == 0
    # It finds nothing, but it was its turn.
    await execution.claim()
    assert execution.offer().hand_off.room == 2


async def test_overlap_allow_is_planned_on_time_despite_active_runs(store: Store) -> None:
    definition = Definition(trigger=every(seconds=1), target=Target("note"), overlap="allow")
    await store.schedules.change(
        "default", "busy", Create(actor="ada", namespace="default", definition=definition), now=START
    )
    for second in range(1, 6):
        planned = await store.planning.plan_due(now=START + timedelta(seconds=second))
        assert (planned.runs, planned.skips) == (1, 0)
    assert {run.status for run in await store.runs.list("default")} == {"queued"}


async def test_after_a_slow_renewal_the_next_one_is_soon() -> None:
    clock = ManualClock(START)

    class Slow(SqliteLeases):
        async def renew(self, worker: Worker, held: Sequence[LeaseRef], lease: float, **options: Any) -> RenewResult:
            renewed = await super().renew(worker, held, lease, **options)
            # The process froze: the store counts the lease from the request, whatever the time of the response.
            clock.move_to(clock.now() + timedelta(seconds=29))
            return renewed

    store, tasks = SqliteStore("sqlite://"), Tasks()
    store.leases = Slow(store._database)
    await store.open()
    await store.runs.enqueue("default", [NewRun(Target("hold"), {})], "ada", now=START)
    execution = Dispatcher(
        store,
        clock,
        describe_worker(tasks.bird, slots=1),
        tasks.bird.executables,
        lease=30.0,
        work_loop=asyncio.get_running_loop(),
        threads=None,
    )
    await execution.claim()
    clock.move_to(clock.now() + timedelta(seconds=10))
    wait = await execution.leases.renew()
    assert wait is not None
    assert wait <= 0
    await execution.leases.renew()
    [attempt] = execution.held.values()
    while attempt.stop_reason is None:  # noqa: ASYNC110 - the loop that executes is this one
        await asyncio.sleep(0)
    assert attempt.stop_reason == "lease"
    tasks.go_on.set()
    await store.close()


async def test_a_clock_that_jumps_ahead_starts_no_run_that_waits_for_it(store: Store) -> None:
    tasks, clock = Tasks(), ManualClock(START)
    execution = executing(store, tasks, clock=clock)
    later, now = NewRun(Target("note"), {}, delay=3_600), NewRun(Target("note"), {})
    [delayed] = await store.runs.enqueue("default", [later], "a", now=START)
    await execution.claim()
    clock.jump(days=1)
    [asked_for] = await store.runs.enqueue("default", [now], "a", now=clock.now())
    # It checks again soon, because the clock may be corrected.
    assert await execution.claim() == 30.0
    await settle(execution)
    assert [run_id for run_id, *_ in tasks.seen] == [asked_for]
    clock.jump(days=-1)
    clock.move_to(START + timedelta(hours=1))
    await execution.claim()
    await settle(execution)
    assert [run_id for run_id, *_ in tasks.seen] == [asked_for, delayed]


class FreezingExecutor(Executor):
    """Threads of a process that is frozen before a function begins."""

    def __init__(self, freeze: Callable[[], None]) -> None:
        self._freeze = freeze

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        """Freeze, then call."""
        self._freeze()
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.parametrize("task", ["note", "block"])
@pytest.mark.parametrize("seconds, begins", [(20, True), (25, False), (3_600, False)])
async def test_a_process_that_freezes_before_the_function_does_not_begin_it(
    store: Store, task: str, seconds: int, begins: bool
) -> None:
    tasks, clock = Tasks(), ManualClock(START)

    def freeze() -> None:
        clock.move_to(clock.now() + timedelta(seconds=seconds))

    execution = executing(store, tasks, clock=clock, threads=FreezingExecutor(freeze))
    [run_id] = await send(store, (task, {}))
    await execution.claim()
    await asyncio.sleep(0)
    if task == "note":
        # The coroutine was scheduled but has not run yet.
        freeze()
    await settle(execution)
    run = await store.runs.get(run_id)
    assert run is not None
    assert bool(tasks.seen) == begins
    # It is requeued, and counts neither as a failure nor as a lost worker.
    assert (run.status, run.failures, run.crashes) == ("succeeded" if begins else "queued", 0, 0)


async def test_a_late_start_ends_nothing_that_another_worker_has_begun(store: Store) -> None:
    tasks, clock = Tasks(), ManualClock(START)
    execution = executing(store, tasks, clock=clock)
    [run_id] = await send(store, ("note", {}))
    await execution.claim()
    await asyncio.sleep(0)
    clock.move_to(START + timedelta(seconds=60))
    await store.leases.rescue(now=clock.now())
    other = replace(execution.worker, id="other")
    [run] = (
        await store.leases.claim(other, 1, 30.0, queues=other.queues, targets=[("task", "note")], now=clock.now())
    ).runs
    await settle(execution)
    assert tasks.seen == []
    after = await store.runs.get(run_id)
    assert after is not None
    assert (after.status, after.attempt, after.worker) == ("running", run.attempt, "other")
