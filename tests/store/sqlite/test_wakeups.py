"""Sources of wake-ups: another process, plain SQL, and in memory this process."""

from __future__ import annotations

import asyncio
import sqlite3

from tests.store.contenders import SPAWN
from tests.store.sqlite.steps import TEXT
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.sqlite import SqliteStore


async def test_another_process_wakes(store: SqliteStore) -> None:
    async with store.wakeups() as wakeups:
        maker = SPAWN.Process(target=enqueue_one, args=(store.path,))
        maker.start()
        await asyncio.wait_for(anext(wakeups), 60)
        await asyncio.to_thread(maker.join)
    assert len(await store.runs.list("default")) == 1


def enqueue_one(path: str) -> None:
    async def enqueue() -> None:
        store = SqliteStore(path)
        await store.open()
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
        await store.close()

    asyncio.run(enqueue())


async def test_plain_sql_wakes(store: SqliteStore, shell: sqlite3.Connection) -> None:
    async with store.wakeups() as wakeups:
        shell.execute("INSERT INTO schedules (name, definition) VALUES ('plain', ?)", (TEXT,))
        await asyncio.wait_for(anext(wakeups), 60)


async def test_this_process_wakes_in_memory() -> None:
    store = SqliteStore(":memory:")
    await store.open()
    async with store.wakeups() as wakeups:
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
        await asyncio.wait_for(anext(wakeups), 60)
    await store.close()
