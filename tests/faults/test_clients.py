"""Fifty clients edit, pause, delete and trigger the same schedules while workers plan and execute them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.faults import Fleet, judge, until
from lab.faults.clients import RandomClient
from tickbird.client import Client, StoreClient
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

NAMES = tuple(f"edited-{number}" for number in range(5))
CLIENTS, ACTS = 50, 6


@pytest.fixture
async def stores(url: str, store: Store) -> AsyncIterator[list[Store]]:
    """Five processes' worth of connections."""
    found = [open_store(url) for _ in range(5)]
    for each in found:
        await each.open()
    yield found
    for each in found:
        await each.close()


async def test_fifty_clients(
    url: str, client: Client, store: Store, stores: list[Store], fleet: Fleet, tmp_path: Path
) -> None:
    since = (await store.now()).timestamp()
    clients = [
        RandomClient(StoreClient(stores[number % len(stores)]), fleet.journal, NAMES, f"client {number}")
        for number in range(CLIENTS)
    ]
    for name in NAMES:
        await clients[0].create(name)
    for _ in range(2):
        fleet.start()
    await fleet.wait_for_runs(2)

    async def act(random_client: RandomClient) -> None:
        for _ in range(ACTS):
            await random_client.act()

    await asyncio.gather(*map(act, clients))
    assert sum(one.done for one in clients) > CLIENTS
    assert sum(one.refused for one in clients) > 0, "no conflicts"
    for name in NAMES:
        if (stored := await store.schedules.get("default", name)) is None or stored.state == "deleted":
            await clients[0].create(name)
        elif stored.state == "paused":
            await client.schedules.resume(name, actor="ada")
    await fleet.wait_for_runs(3)
    for name in NAMES:
        await client.schedules.pause(name, actor="ada")

    async def at_rest() -> bool:
        return all(run.finished_at is not None for run in await client.runs.list(limit=10_000))

    await until(at_rest)
    verdict = await judge(url, fleet.folder, since, time.time())
    assert verdict.violations == []
    assert verdict.run >= 5
