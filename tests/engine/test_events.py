"""Events under a real worker: published by ticks and by other processes, and stamped without a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import psycopg
import pytest

from tests.engine.test_worker import until
from tickbird import Tickbird, event, every
from tickbird.domain.events.event import Event
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess


@asynccontextmanager
async def working(bird: Tickbird) -> AsyncIterator[None]:
    """A worker of the app, until the end of the block."""
    worker = WorkerProcess(bird)
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
