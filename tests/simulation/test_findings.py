"""Bugs that the simulation found, each as the smallest case."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, cast

import pytest

from lab.simulation.timeline import Timeline, new_loop
from tickbird import Tickbird, at, every
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.domain.workers import Worker
from tickbird.engine.code_sync import sync
from tickbird.engine.dispatcher import Dispatcher
from tickbird.engine.loop import StepLoop
from tickbird.stores import open_store
from tickbird.worker import describe_worker

START = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = 30.0
WORKER = Worker(id="w", namespace="default", app="a", host="h", pid=1, version="1", queues=("default",), slots=1)


class Between:
    """A store that runs a callback before or after one of its verbs."""

    def __init__(self, store: Any, verb: str, happens: Callable[[], Awaitable[Any]], *, before: bool = False) -> None:
        self._store, self._verb, self._happens, self._before = store, verb, happens, before

    def __getattr__(self, name: str) -> Any:
        noun, _, rest = self._verb.partition(".")
        verb = getattr(self._store, name)
        if name != noun:
            return verb
        if rest:
            return Between(verb, rest, self._happens, before=self._before)

        async def with_it(*args: Any, **options: Any) -> Any:
            if self._before:
                await self._happens()
            answer = await verb(*args, **options)
            if not self._before:
                await self._happens()
            return answer

        return with_it


def in_virtual_time(work: Callable[[asyncio.AbstractEventLoop], Coroutine[Any, Any, None]], seconds: float) -> None:
    """Run this in a loop that never waits."""
    timeline = Timeline(Random(1))
    loop = new_loop(timeline)
    task = loop.spawn(work(loop))
    timeline.run(seconds)
    loop.die()
    timeline.run(seconds)
    if not task.cancelled():
        task.result()


def executing(store: Any, bird: Tickbird, loop: asyncio.AbstractEventLoop) -> Dispatcher:
    """The execution steps of a worker on this store."""

    class Steady:
        def now(self) -> datetime:
            return START + timedelta(seconds=loop.time())

        def monotonic(self) -> float:
            return loop.time()

    return Dispatcher(store, Steady(), WORKER, bird.executables, lease=LEASE, work_loop=loop, threads=None)


def test_a_run_claimed_too_long_ago_is_not_started() -> None:
    started: list[float] = []
    bird = Tickbird()

    @bird.task
    async def work() -> None:
        started.append(asyncio.get_running_loop().time())

    async def play(loop: asyncio.AbstractEventLoop) -> None:
        store = open_store("sqlite://:memory:")
        await store.open()
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ana", now=START)
        execution = executing(Between(store, "leases.claim", lambda: asyncio.sleep(LEASE + 5)), bird, loop)
        await execution.claim()
        # Not even handed on: the executor checks its lease once more.
        assert not execution.held
        assert not execution.running
        await asyncio.sleep(1)

    in_virtual_time(play, 100)
    assert not started


def test_work_stops_before_its_lease_ends_though_renewals_hang() -> None:
    stopped: list[float] = []
    bird = Tickbird()

    @bird.task
    async def work() -> None:
        try:
            await asyncio.sleep(1_000)
        except asyncio.CancelledError:
            stopped.append(asyncio.get_running_loop().time())
            raise

    async def play(loop: asyncio.AbstractEventLoop) -> None:
        store = open_store("sqlite://:memory:")
        await store.open()
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ana", now=START)
        execution = executing(Between(store, "leases.renew", lambda: asyncio.sleep(1_000), before=True), bird, loop)
        await execution.claim()
        # Whatever the timing of renewals, the work ends within 30 seconds.
        await asyncio.sleep(LEASE / 3)
        await StepLoop("renew", execution.leases.renew, LEASE / 3).run()

    in_virtual_time(play, 200)
    assert stopped
    assert stopped[0] < LEASE


def code(**schedules: Any) -> Tickbird:
    """An app that declares these."""
    bird = Tickbird(app="shop")

    @bird.task
    def work() -> None: ...

    for name, trigger in schedules.items():
        bird.schedule(name, work, trigger)
    return bird


async def test_a_pause_during_a_deploy_is_not_overwritten() -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    both, one = code(a=every(hours=1), b=every(hours=1)), code(a=every(hours=1))
    await sync(store, both.declarations, now=START)
    client = both.client_on(store)
    paused = asyncio.Event()

    async def pause() -> None:
        if not paused.is_set():
            paused.set()
            await client.schedules.pause("b", actor="ana")

    await sync(cast(Any, Between(store, "workers.list", pause)), one.declarations, describe_worker(one), now=START)
    await sync(store, both.declarations, describe_worker(both), now=START)
    schedule = await client.schedules.get("b")
    assert schedule.pause is not None
    assert schedule.pause.by == "ana"
    await store.close()


async def test_two_workers_of_a_deploy_write_its_definition_once() -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    old, new = code(a=every(hours=1)), code(a=every(hours=2))
    await sync(store, old.declarations, now=START)
    once = asyncio.Event()

    async def other_worker() -> None:
        if not once.is_set():
            once.set()
            await sync(store, new.declarations, describe_worker(new), now=START)

    between = Between(store, "workers.list", other_worker)
    await sync(cast(Any, between), new.declarations, describe_worker(new), now=START)
    assert once.is_set()
    schedule = await new.client_on(store).schedules.get("a")
    assert schedule.revision == 2
    await store.close()


async def test_a_schedule_deleted_during_a_deploy_is_decided_again() -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    old, new = code(a=every(hours=1)), code(a=every(hours=2))
    await sync(store, old.declarations, now=START)
    client = old.client_on(store)
    deleted = asyncio.Event()

    async def delete() -> None:
        if not deleted.is_set():
            deleted.set()
            await client.schedules.delete("a", actor="ana")

    await sync(cast(Any, Between(store, "workers.list", delete)), new.declarations, describe_worker(new), now=START)
    assert deleted.is_set()
    assert (await client.schedules.get("a")).state == "active"
    await store.close()


async def test_a_deploy_can_do_without_a_schedule_that_is_over_once_its_due_ticks_are_planned() -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    both = code(a=every(hours=1), b=at(START + timedelta(hours=1)))
    await sync(store, both.declarations, now=START)
    one, later = code(a=every(hours=1)), START + timedelta(hours=2)
    assert await sync(store, one.declarations, describe_worker(one), now=later) == []
    await store.planning.plan_due(now=later)
    assert (await both.client_on(store).schedules.get("b")).state == "ended"
    assert await sync(store, one.declarations, describe_worker(one), now=later) == []
    await store.close()


async def test_an_override_that_no_longer_fits_stops_no_deploy(caplog: pytest.LogCaptureFixture) -> None:
    store = open_store("sqlite://:memory:")
    await store.open()
    old, new = Tickbird(app="shop"), Tickbird(app="shop")
    for bird, catch_up, hours in ((old, "all", 1), (new, "one", 2)):

        @bird.task(name="work")
        def work() -> None: ...

        bird.schedule("a", work, every(hours=1), catch_up=cast(Any, catch_up))
        bird.schedule("b", work, every(hours=hours))
    await sync(store, old.declarations, now=START)
    client = old.client_on(store)
    await client.schedules.update("a", actor="ana", hold_above=5)
    assert await sync(store, new.declarations, now=START) == ["b: changed"]
    assert "schedule a keeps its stored definition" in caplog.text
    stays = (await client.schedules.get("a")).definition
    assert stays is not None
    assert (stays.catch_up, stays.hold_above) == ("all", 5)
    await store.close()
