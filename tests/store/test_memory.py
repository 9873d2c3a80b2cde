"""The cache of definitions is limited in bytes, whatever the size of their payloads."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.sized_cache import SizedCache, size_of
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.store.shared.planning.revision_cache import MAX_CACHE, MAX_READ
from tickbird.stores import open_store

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEDULES = 28
# Less than a megabyte of JSON, and more than five in memory: together above the limit.
PAYLOAD = {"values": [f"{number:06}" for number in range(99_000)]}


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store."""
    sqlite = request.param == "sqlite"
    opened = open_store(f"sqlite:///{tmp_path}/t.db" if sqlite else request.getfixturevalue("postgres_url"))
    await opened.migrate()
    await opened.open()
    yield opened
    await opened.close()


async def plan(store: Store, now: datetime) -> int:
    """Plan everything that is due; how many runs."""
    runs = 0
    while (planned := await store.planning.plan_due(now=now)).schedules:
        runs += planned.runs
    return runs


def count_bytes() -> int:
    """The bytes of all payloads of definitions that are in memory."""
    gc.collect()
    definitions = [each for each in gc.get_objects() if isinstance(each, Definition)]
    return sum(size_of(payload) for payload in {id(each.payload): each.payload for each in definitions}.values())


async def test_definitions_with_large_payloads(store: Store) -> None:
    """Neither the cache nor the read of a step grows with their number, and all of them are planned and executed."""
    definition = Definition(trigger=every(hours=1), target=Target("work"), payload=PAYLOAD, overlap="allow")
    for number in range(SCHEDULES):
        command = Create(actor="ana", namespace="default", definition=definition)
        await store.schedules.change("default", f"s{number}", command, now=START)
    assert SCHEDULES * size_of(PAYLOAD) > 1.4 * MAX_CACHE
    before = count_bytes()
    steps: list[int] = []
    while planned := (await store.planning.plan_due(now=START + timedelta(hours=1, seconds=1))).schedules:
        steps.append(planned)
    assert sum(steps) == SCHEDULES
    assert max(steps) * len(json.dumps(PAYLOAD)) <= MAX_READ + 1_000_000
    assert count_bytes() - before <= MAX_CACHE
    worker = Worker(id="w1", namespace="default", app="app", host="host", pid=1, version="0")
    at = START + timedelta(hours=1, seconds=2)
    claimed = await store.leases.claim(worker, 3, 60.0, queues=["default"], targets=[("task", "work")], now=at)
    assert [run.payload == PAYLOAD for run in claimed.runs] == [True] * 3


def test_the_least_recently_used_are_evicted() -> None:
    cache: SizedCache[str, str] = SizedCache(10)
    for name in "abc":
        cache.put(name, name, 4)
    assert ["a" in cache, "b" in cache, "c" in cache, cache.size] == [False, True, True, 8]
    assert cache.get("b") == "b"
    cache.put("d", "d", 4)
    assert ["b" in cache, "c" in cache, "d" in cache] == [True, False, True]
    # An entry larger than the limit is cached alone.
    cache.put("e", "e", 50)
    assert (len(cache), cache.size) == (1, 50)
    cache.put("e", "e", 3)
    cache.drop("nothing")
    assert cache.size == 3
    cache.clear()
    assert (len(cache), cache.size) == (0, 0)
