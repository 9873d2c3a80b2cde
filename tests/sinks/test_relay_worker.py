"""`bird.relay` in worker processes that are killed with -9 again and again, and a broker that is down meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from lab.kafka import KafkaCluster
from tests.sinks.events import check_relayed
from tickbird.domain.events.event import Event, NewEvent
from tickbird.domain.events.groups import ConsumerGroup
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

COUNT, KEYS, KILLS = 600, 12, 6


@asynccontextmanager
async def relaying(url: str, cluster: KafkaCluster) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.sinks.relay_app",
        env={**os.environ, "RELAY_URL": url, "RELAY_SERVERS": cluster.servers},
        cwd=Path(__file__).parents[2],
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def reached(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(120):
        while not await condition():  # noqa: ASYNC110 - it comes true in another process
            await asyncio.sleep(0.02)


async def publish(store: Store, numbers: range) -> None:
    for first in range(numbers.start, numbers.stop, 20):
        events = [
            NewEvent(
                topic="orders.paid", type="Paid", key=f"key-{number % KEYS}" if number % 7 else None, data={"n": number}
            )
            for number in range(first, min(first + 20, numbers.stop))
        ]
        for event in events:
            await store.events.publish("default", [event], source="/test", actor="test")


async def status(store: Store) -> ConsumerGroup | None:
    groups = await store.consumers.list("default", group="kafka")
    return groups[0] if groups else None


async def all_events(store: Store) -> list[Event]:
    return list(await store.events.read("default", limit=10_000))


@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
async def test_a_relay_loses_nothing(
    kind: str, cluster: KafkaCluster, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    dice = random.Random(22)
    url = request.getfixturevalue("migrated_url") if kind == "postgresql" else f"sqlite:///{tmp_path / 'store.db'}"
    store = open_store(url)
    if kind == "sqlite":
        await store.migrate()
    await store.open()
    try:
        part = COUNT // (KILLS + 1)
        for number in range(KILLS):
            async with relaying(url, cluster) as worker:
                before = len(cluster.read("orders"))
                await publish(store, range(number * part, (number + 1) * part))
                if number == KILLS // 2:
                    # While the broker is down, the lag is visible, with the error, and nothing becomes a dead letter.
                    cluster.stop_broker()
                    await publish(store, range(COUNT, COUNT + 50))

                    async def is_paused() -> bool:
                        group = await status(store)
                        return group is not None and any(one.paused_until and one.error for one in group.partitions)

                    await reached(is_paused)
                    group = await status(store)
                    assert group is not None
                    assert group.lag >= 50
                    assert not any(group.dead_letters.values())
                    cluster.start_broker()

                async def has_sent(count: int = before) -> bool:
                    return len(cluster.read("orders")) > count

                await reached(has_sent)
                await asyncio.sleep(dice.uniform(0, 0.1))
                worker.kill()
        await publish(store, range(KILLS * part, COUNT))
        async with relaying(url, cluster) as worker:

            async def is_done() -> bool:
                group = await status(store)
                return group is not None and not group.lag and (await store.events.head("default")) == COUNT + 50

            await reached(is_done)
            worker.terminate()
            assert await worker.wait() == 0
        group = await status(store)
        assert group is not None
        assert not any(group.dead_letters.values())
        check_relayed(cluster.read("orders"), await all_events(store))
    finally:
        await store.close()


async def test_an_event_that_kafka_refuses_is_a_dead_letter(cluster: KafkaCluster, migrated_url: str) -> None:
    """Its key waits; other keys continue."""
    store = open_store(migrated_url)
    await store.open()
    try:
        too_large = NewEvent(topic="orders.paid", type="Paid", key="a", data=os.urandom(100_000).hex())
        await store.events.publish("default", [too_large], source="/test", actor="test")
        for key in ("a", "b", "b"):
            event = NewEvent(topic="orders.paid", type="Paid", key=key)
            await store.events.publish("default", [event], source="/test", actor="test")
        async with relaying(migrated_url, cluster):

            async def has_letter() -> bool:
                group = await status(store)
                return group is not None and not group.lag and group.dead_letters.get("failed") == 1

            await reached(has_letter)
        group = await status(store)
        assert group is not None
        assert group.dead_letters.get("deferred") == 1
        assert [message.key() for message in cluster.read("orders")] == [b"b", b"b"]
    finally:
        await store.close()
