"""Events under a real worker: published by ticks and by other processes, and stamped without a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

import psycopg
import pytest

from tests.engine.test_worker import until
from tickbird import Tickbird, event, every
from tickbird.domain.events.event import Event
from tickbird.engine.engine import EngineOptions
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess


@asynccontextmanager
async def working(bird: Tickbird, options: EngineOptions | None = None) -> AsyncIterator[None]:
    """A worker of the app, until the end of the block."""
    worker = WorkerProcess(bird, options=options)
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    def note() -> None:
        loop.call_soon_threadsafe(started.set)

    worker.on_started = note
    running = asyncio.create_task(worker.run())
    await started.wait()
    try:
        yield
    finally:
        worker.drain()
        await running


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: object) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tickbird.db"
    return str(request.getfixturevalue("migrated_url"))


async def read(bird: Tickbird, topic: str) -> Sequence[Event]:
    return await (await bird.client()).events.list(topic)


async def test_ticks_and_publishers_share_one_log(url: str) -> None:
    store = open_store(url)
    await store.migrate()
    bird = Tickbird(url)
    bird.schedule("beat", event("clock.beat", "Beat", key="clock"), every(seconds=1))
    async with working(bird):
        await bird.publish("orders.paid", "Paid", {"n": 1}, key="k")

        async def all_there() -> bool:
            return len(await read(bird, "clock.beat")) >= 2 and len(await read(bird, "orders.paid")) == 1

        await until(all_there)
        beats = await read(bird, "clock.beat")
        assert [one.version for one in beats] == list(range(1, len(beats) + 1))
        runs = [run for run in await (await bird.client()).runs.list(schedule="beat") if run.status == "succeeded"]
        assert {run.result["event_id"] for run in runs} >= {str(one.id) for one in beats}
    events = await read(bird, "#")
    assert [one.position for one in events] == list(range(1, len(events) + 1))
    await bird.aclose()


async def test_a_tick_reaches_a_consumer_without_a_poll(url: str) -> None:
    await open_store(url).migrate()
    bird = Tickbird(url)
    bird.schedule("beat", event("clock.beat", "Beat", key="clock"), every(seconds=1))
    positions: list[int | None] = []

    @bird.consumer("clock.*", group="clock")
    async def handle(event: Event) -> None:
        positions.append(event.position)

    async with working(bird, options=EngineOptions(safety_poll=600.0)):

        async def has_three() -> bool:
            return len(positions) >= 3

        await until(has_three)
    assert positions == list(range(1, len(positions) + 1))
    await bird.aclose()


async def test_a_schedule_that_publishes_has_no_problem_under_a_worker(url: str) -> None:
    await open_store(url).migrate()
    bird = Tickbird(url)
    bird.schedule(
        "nightly", event("orders.nightly", "ReportDue"), every(hours=1, anchor=datetime(2100, 1, 1, tzinfo=UTC))
    )
    async with working(bird):
        client = await bird.client()
        [schedule] = await client.schedules.list()
        assert schedule.problems == ()
        why = await client.ticks.why("nightly", datetime(2100, 1, 1, tzinfo=UTC))
        assert "no live worker" not in why.sentence
        assert all("orders.nightly" not in finding.text for finding in await client.system.doctor())
    await bird.aclose()


async def test_plain_sql_wakes_a_resting_stamper(migrated_url: str) -> None:
    bird = Tickbird(migrated_url)
    async with working(bird), await psycopg.AsyncConnection.connect(migrated_url, autocommit=True) as connection:
        for number in range(3):

            async def resting() -> bool:
                rows = await connection.execute(
                    "SELECT FROM tickbird.event_streams WHERE awake_until > clock_timestamp()"
                )
                return not await rows.fetchall()

            await until(resting)
            await connection.execute("SELECT tickbird.publish('a', 'A', key => 'k')")

            async def stamped(count: int = number + 1) -> bool:
                return len(await read(bird, "a")) == count

            await until(stamped)
    await bird.aclose()


@pytest.mark.parametrize("is_busy", [False, True])
async def test_the_first_event_of_a_namespace_needs_no_poll(migrated_url: str, is_busy: bool) -> None:
    """Plain SQL creates no stream, because other publishers could wait for it."""
    bird = Tickbird(migrated_url)
    store = open_store(migrated_url)
    await store.open()
    async with working(bird), await psycopg.AsyncConnection.connect(migrated_url, autocommit=True) as connection:
        # From then on, the worker does not look at everything for a minute.
        await bird.publish("a", "A")

        async def stamped(namespace: str = "default") -> bool:
            if is_busy:
                await bird.publish("a", "A")
            return await store.events.head(namespace) > 0

        await until(stamped)
        for namespace in ("first", "second"):
            await connection.execute(
                'SELECT tickbird.insert_events(%s, \'/test\', \'me\', \'[{"topic": "a", "type": "A"}]\')', [namespace]
            )
            await until(partial(stamped, namespace), seconds=30)
    await store.close()
    await bird.aclose()
