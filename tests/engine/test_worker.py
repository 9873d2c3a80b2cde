"""A real worker in this process: engine thread, work loop and threads, on a SQLite file."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tickbird import ConflictError, PayloadError, Run, Tickbird, every
from tickbird.client import Client
from tickbird.domain.runs.run import RunRecord
from tickbird.engine.engine import EngineOptions
from tickbird.worker import WorkerProcess

# An ordinary lease: no test waits for its end, and a worker on a busy machine must not lose it.
QUICK = EngineOptions(lease=30.0, heartbeat=1.0, safety_poll=0.5, drain=10.0)


@pytest.fixture
def bird(tmp_path: Path) -> Tickbird:
    return Tickbird(f"sqlite:///{tmp_path}/worker.db")


@asynccontextmanager
async def working(bird: Tickbird, **options: Any) -> AsyncIterator[tuple[Client, WorkerProcess]]:
    """A worker until the end of the block, then drained."""
    process = WorkerProcess(bird, **{"options": QUICK, **options})
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_started() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = on_started
    client = await bird.client()
    task = asyncio.create_task(process.run())
    try:
        await asyncio.wait({task, asyncio.create_task(started.wait())}, return_when=asyncio.FIRST_COMPLETED)
        yield client, process
    finally:
        process.drain()
        await task


async def until(condition: Callable[[], Awaitable[Any]], seconds: float = 60.0) -> Any:
    """Wait until the condition is true, and return its value."""
    async with asyncio.timeout(seconds):
        while not (value := await condition()):  # noqa: ASYNC110 - the condition is in a database
            await asyncio.sleep(0.02)
        return value


async def final(client: Client, run_id: int) -> RunRecord:
    """The run once it is final."""

    async def look() -> RunRecord | None:
        run = await client.runs.get(run_id)
        return run if run.finished_at else None

    record: RunRecord = await until(look)
    return record


@dataclass
class Parcel:
    """A dataclass in a payload."""

    weight: float
    sent: date


class Address(BaseModel):
    """A pydantic model in a payload."""

    city: str


async def test_payloads_arrive_with_their_types(bird: Tickbird) -> None:
    got: list[Any] = []

    @bird.task
    async def send(run: Run, parcel: Parcel, to: Address, day: date, note: str = "none") -> dict[str, Any]:
        got.extend([parcel, to, day, note, run.attempt])
        return {"day": day}

    async with working(bird) as (client, _):
        parcel = Parcel(1.5, date(2026, 1, 2))
        run_id = await send.enqueue(parcel=parcel, to={"city": "Rome"}, day="2026-01-03")
        run = await final(client, run_id)
    assert got == [parcel, Address(city="Rome"), date(2026, 1, 3), "none", 1]
    assert (run.status, run.result) == ("succeeded", {"day": "2026-01-03"})


async def test_a_worker_whose_schedules_are_refused_is_not_live(bird: Tickbird) -> None:
    @bird.task(schedule=every(hours=1), name="nightly")
    async def nightly() -> None: ...

    client = await bird.client()
    await client.schedules.create("nightly", every(hours=2), "nightly", unknown_task_ok=True, actor="ana")
    with pytest.raises(ConflictError, match="nightly"):
        await WorkerProcess(bird, options=QUICK).run()
    # The worker has closed the connections of this loop.
    client = await bird.client()
    assert await client.workers.list() == []


async def test_a_payload_that_does_not_fit_is_refused_when_sent(bird: Tickbird) -> None:
    @bird.task
    async def work(number: int) -> None: ...

    await bird.client()
    for payload in ({}, {"number": "x"}, {"number": 1, "more": 2}):
        with pytest.raises(PayloadError, match="payload of task 'work'"):
            await work.enqueue(**payload)
    assert not await (await bird.client()).runs.list()
    await bird.aclose()


async def test_sync_tasks_run_in_parallel_threads(bird: Tickbird) -> None:
    meeting = threading.Barrier(3)

    @bird.task
    def meet() -> str:
        meeting.wait(timeout=60)
        return threading.current_thread().name

    async with working(bird, slots=3) as (client, _):
        runs = [await final(client, run) for run in [await meet.enqueue() for _ in range(3)]]
    assert {run.status for run in runs} == {"succeeded"}
    assert len({run.result for run in runs}) == 3


async def test_a_worker_claims_up_to_its_slots_by_priority(bird: Tickbird) -> None:
    order: list[int] = []
    maximum = 0
    going = 0

    @bird.task
    async def work(number: int) -> None:
        nonlocal maximum, going
        going += 1
        maximum = max(maximum, going)
        order.append(number)
        await asyncio.sleep(0.01)
        going -= 1

    client = await bird.client()
    runs = [await work.using(priority=priority).enqueue(number=priority) for priority in (1, 5, 3, 9)]
    async with working(bird, slots=1):
        for run in runs:
            await final(client, run)
    assert order == [9, 5, 3, 1]
    assert maximum == 1


async def test_a_coroutine_past_its_timeout_is_cancelled_and_tried_again(bird: Tickbird) -> None:
    cancelled = 0

    @bird.task(timeout=1, retries=1, backoff=1)
    async def slow() -> None:
        nonlocal cancelled
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled += 1
            raise

    async with working(bird) as (client, _):
        run = await final(client, await slow.enqueue())
    assert (run.status, run.failure_kind, run.attempt, cancelled) == ("failed", "timeout", 2, 2)


async def test_a_thread_past_its_timeout_keeps_its_slot_until_it_returns(bird: Tickbird) -> None:
    release = threading.Event()
    asked = threading.Event()

    @bird.task(timeout=1)
    def stuck(run: Run) -> None:
        release.wait(timeout=30)
        if run.cancelled:
            asked.set()

    @bird.task
    def quick() -> None: ...

    async with working(bird, slots=1) as (client, process):
        run = await final(client, await stuck.enqueue())
        assert (run.status, run.failure_kind) == ("failed", "timeout")
        behind = await quick.enqueue()
        # The only slot is occupied although the run is final.
        assert process.busy == 1
        assert (await client.runs.get(behind)).status == "queued"

        async def told() -> bool:
            stuck = [worker.health["stuck"] for worker in await client.workers.list()]
            findings = [finding.text for finding in await client.system.doctor()]
            return stuck == [1] and any("occupy 1 of its 1 slot." in text for text in findings)

        # The next heartbeat reports it.
        await until(told)
        release.set()
        assert (await final(client, behind)).status == "succeeded"
    assert asked.is_set()


@pytest.mark.parametrize("kind", ["coroutine", "thread"])
async def test_a_running_run_is_cancelled(bird: Tickbird, kind: str) -> None:
    going = threading.Event()

    @bird.task
    async def coroutine() -> None:
        going.set()
        await asyncio.sleep(60)

    @bird.task
    def thread(run: Run) -> None:
        going.set()
        while not run.cancelled:
            time.sleep(0.01)

    async with working(bird) as (client, _):
        run_id = await bird.tasks[kind].enqueue()
        assert await asyncio.to_thread(going.wait, 60)
        await client.runs.cancel(run_id, actor="ana", reason="wrong month")
        run = await final(client, run_id)
    assert (run.status, run.cancel_requested_by) == ("cancelled", "ana")


async def test_a_task_that_blocks_the_work_loop_does_not_lose_its_lease(bird: Tickbird) -> None:
    short = replace(QUICK, lease=4.0)

    @bird.task
    async def rude() -> None:
        time.sleep(1.5 * short.lease)  # noqa: ASYNC251 - the point

    async with working(bird, options=short) as (client, _):
        run = await final(client, await rude.enqueue())
    assert (run.status, run.attempt, run.crashes) == ("succeeded", 1, 0)


async def test_a_drain_finishes_active_runs_and_claims_no_more(bird: Tickbird) -> None:
    going = threading.Event()
    release = asyncio.Event()

    @bird.task
    async def work() -> str:
        going.set()
        await release.wait()
        return "done"

    client = await bird.client()
    async with working(bird, slots=1) as (_, process):
        first = await work.enqueue()
        assert await asyncio.to_thread(going.wait, 60)
        process.drain()
        second = await work.enqueue()
        release.set()
    client = await bird.client()
    assert (await client.runs.get(first)).status == "succeeded"
    assert (await client.runs.get(second)).status == "queued"
    assert not await client.workers.list(), "it signed off"
    await bird.aclose()


async def test_a_drain_request_ends_the_worker(bird: Tickbird, caplog: pytest.LogCaptureFixture) -> None:
    going = threading.Event()
    release = asyncio.Event()

    @bird.task
    async def work() -> str:
        going.set()
        await release.wait()
        return "done"

    # Long before the next heartbeat would be due.
    process = WorkerProcess(bird, slots=1, options=replace(QUICK, heartbeat=600, safety_poll=600))
    client = await bird.client()
    task = asyncio.create_task(process.run())
    first = await work.enqueue()
    assert await asyncio.to_thread(going.wait, 60)
    asked = await client.workers.drain(process.worker.id, actor="ana", note="new kernel")
    assert asked.drain_requested_by == "ana"

    async def draining() -> bool:
        return any(worker.draining for worker in await client.workers.list())

    await until(draining)
    second = await work.enqueue()
    assert not task.done()
    release.set()
    await task
    client = await bird.client()
    assert (await client.runs.get(first)).status == "succeeded"
    assert (await client.runs.get(second)).status == "queued"
    assert not await client.workers.list(), "it signed off"
    assert "draining: requested by ana" in caplog.text
    await bird.aclose()


async def test_a_run_requeued_by_a_drain_uses_no_retry(bird: Tickbird) -> None:
    going = threading.Event()

    @bird.task(retries=0)
    async def endless() -> None:
        going.set()
        await asyncio.sleep(3600)

    async with working(bird, options=replace(QUICK, drain=0.1)):
        run_id = await endless.enqueue()
        assert await asyncio.to_thread(going.wait, 60)
    run = await (await bird.client()).runs.get(run_id)
    assert (run.status, run.attempt, run.failures, run.crashes) == ("queued", 1, 0, 0)
    await bird.aclose()


async def test_a_schedule_ticks_on_time_and_never_early(bird: Tickbird) -> None:
    early: list[float] = []

    # No tick is skipped, even if a busy machine starts or finishes runs late.
    @bird.task(schedule=every(seconds=1), overlap="allow", grace="1h")
    async def tick(run: Run) -> None:
        assert run.scheduled_for is not None
        early.append(run.scheduled_for.timestamp() - time.time())

    async with working(bird) as (client, _):

        async def three() -> bool:
            return len(await client.runs.list(schedule="tick", status="succeeded")) >= 3

        await until(three)
        runs = await client.runs.list(schedule="tick")
    assert max(early) <= 0
    ticks = sorted(run.scheduled_for.timestamp() for run in runs if run.scheduled_for)
    assert ticks == [ticks[0] + n for n in range(len(ticks))]
    await bird.aclose()


async def test_the_run_of_a_thread_that_ignores_a_drain_is_requeued_with_a_delay(bird: Tickbird) -> None:
    going, release = threading.Event(), threading.Event()

    @bird.task
    def stubborn() -> None:
        going.set()
        release.wait(timeout=60)

    async with working(bird, options=replace(QUICK, drain=0.1)):
        run_id = await stubborn.enqueue()
        assert await asyncio.to_thread(going.wait, 60)
    run = await (await bird.client()).runs.get(run_id)
    release.set()
    assert (run.status, run.attempt, run.failures, run.crashes) == ("queued", 1, 0, 0)
    assert run.available_at > run.created_at
    await bird.aclose()


async def test_ten_schedules_share_three_places_and_none_starves(bird: Tickbird) -> None:
    busy, maximum, order = 0, 0, list[str]()

    @bird.task(concurrency_key="warehouse")
    async def load(run: Run) -> None:
        nonlocal busy, maximum
        busy, maximum = busy + 1, max(maximum, busy + 1)
        order.append(str(run.schedule))
        await asyncio.sleep(0.01)
        busy -= 1

    names = [f"s{number}" for number in range(10)]
    for name in names:
        bird.schedule(name, load, every(days=365), overlap="queue")
    async with working(bird, slots=10) as (client, _):
        await client.limits.set("warehouse", 3, actor="ada")
        runs = [await client.schedules.trigger(name, actor="ada") for _ in range(3) for name in names]
        for run in runs:
            await final(client, run.id)
    assert maximum <= 3
    # Each has had a slot before another gets its third.
    third = min([place for place, name in enumerate(order) if name == one][2] for one in names)
    assert set(order[:third]) == set(names)


async def test_a_rate_is_kept_and_reached(bird: Tickbird) -> None:
    @bird.task(queue="mail")
    async def letter() -> None: ...

    async with working(bird) as (client, _):
        await client.queues.set_rate("mail", "5/s", actor="ada")
        ids = [await letter.enqueue() for _ in range(12)]
        runs = [await final(client, run_id) for run_id in ids]
    begun = sorted(run.started_at for run in runs if run.started_at is not None)
    assert len(begun) == 12
    assert all((later - earlier).total_seconds() >= 1 for earlier, later in zip(begun, begun[5:], strict=False))
