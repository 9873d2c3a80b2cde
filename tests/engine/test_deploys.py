"""Code-defined schedules through deploys, rollbacks and operators' changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import ConflictError, Tickbird, cron, every
from tickbird.domain.workers import Worker
from tickbird.engine.code_sync import sync
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.worker import describe_worker

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = open_store("sqlite://:memory:")
    await store.open()
    yield store
    await store.close()


def code(app: str = "shop", **schedules: Any) -> Tickbird:
    """An app whose code declares these schedules of a task: name → trigger."""
    bird = Tickbird(app=app)

    @bird.task
    def work() -> None: ...

    for name, trigger in schedules.items():
        bird.schedule(name, work, trigger)
    return bird


async def start(store: Store, bird: Tickbird, now: datetime = START) -> Worker:
    """A worker that starts, stays live for a minute, and brings the store to its code."""
    worker = describe_worker(bird)
    await store.workers.heartbeat(worker, 60, now=now)
    await sync(store, bird.declarations, worker, now=now)
    return worker


async def trigger_of(store: Store, name: str) -> Any:
    schedule = await store.schedules.get("default", name)
    assert schedule is not None
    assert schedule.definition is not None
    return schedule.definition.trigger


async def test_a_rolling_deploy_never_reverts_the_new_definition(store: Store) -> None:
    old, new = code(nightly=cron("0 1 * * *")), code(nightly=cron("0 2 * * *"), hourly=every(hours=1))
    await start(store, old)
    await start(store, new)
    assert await trigger_of(store, "nightly") == cron("0 2 * * *")
    # The old worker restarts next to the new one.
    await start(store, old)
    assert await trigger_of(store, "nightly") == cron("0 2 * * *")
    hourly = await store.schedules.get("default", "hourly")
    assert hourly is not None
    assert hourly.state == "active", "declared by a live worker, so not removed"


async def test_a_rollback_wins_after_no_worker_declares_the_newer_definition(store: Store) -> None:
    old, new = code(nightly=cron("0 1 * * *")), code(nightly=cron("0 2 * * *"))
    await start(store, old)
    await start(store, new)
    later = START + timedelta(minutes=5)  # the new workers ended long ago
    await start(store, old, later)
    assert await trigger_of(store, "nightly") == cron("0 1 * * *")


async def test_a_schedule_removed_from_code_is_paused_and_resumed_later(store: Store) -> None:
    both, one = code(a=every(hours=1), b=every(hours=1)), code(a=every(hours=1))
    await start(store, both)
    await start(store, one)
    b = await store.schedules.get("default", "b")
    assert b is not None
    assert b.state == "active", "a live worker still declares it"
    later = START + timedelta(minutes=5)
    await start(store, one, later)
    b = await store.schedules.get("default", "b")
    assert b is not None
    assert (b.state, b.pause and b.pause.note) == ("paused", "removed from code")
    await start(store, both, later)
    b = await store.schedules.get("default", "b")
    assert b is not None
    assert b.state == "active"


async def test_an_operators_pause_and_overrides_outlive_deploys(store: Store) -> None:
    first, second = code(a=every(hours=1)), code(a=every(hours=2))
    await start(store, first)
    client = first.client_on(store)
    await client.schedules.pause("a", actor="ana", note="quarter end")
    await client.schedules.update("a", actor="ana", priority=7)
    await start(store, second)
    schedule = await client.schedules.get("a")
    assert schedule.definition is not None
    assert (schedule.definition.trigger, schedule.definition.priority) == (every(hours=2), 7)
    assert (schedule.state, schedule.pause and schedule.pause.by) == ("paused", "ana")
    assert schedule.field_overrides == {"priority": 7}


async def test_the_same_code_changes_nothing(store: Store) -> None:
    bird = code(a=every(hours=1))
    await start(store, bird)
    before = await store.schedules.get("default", "a")
    await start(store, bird, START + timedelta(hours=3))
    after = await store.schedules.get("default", "a")
    assert before is not None
    assert after is not None
    assert (after.revision, after.cursor) == (before.revision, before.cursor)


async def test_a_schedule_of_another_app_is_not_changed(store: Store) -> None:
    await start(store, code("shop", a=every(hours=1)))
    await start(store, code("bank", b=every(hours=1)), START + timedelta(minutes=10))
    a = await store.schedules.get("default", "a")
    assert a is not None
    assert a.state == "active"
    with pytest.raises(ConflictError, match="app 'shop'"):
        await start(store, code("bank", a=every(hours=1)))


async def test_workers_that_start_at_once_on_an_empty_store(postgres_url: str) -> None:
    """All declare the same, in the same order, and so conflict at each schedule; none may give up."""
    declared: dict[str, Any] = {f"s{number}": every(minutes=number + 1) for number in range(25)}
    bird = code(**declared)
    async with AsyncExitStack() as stack:
        stores = [open_store(postgres_url) for _ in range(4)]
        await stores[0].migrate()
        for each in stores:
            await each.open()
            stack.push_async_callback(each.close)
        done = await asyncio.gather(*(sync(each, bird.declarations, describe_worker(bird)) for each in stores))
        assert sorted(line for lines in done for line in lines) == sorted(f"{name}: created" for name in declared)
