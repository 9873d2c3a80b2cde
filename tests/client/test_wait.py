"""Waiting for a run: its end as soon as it comes, or one clear error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tickbird import DefinitionError, NotFinishedError, NotFoundError, Tickbird, cron
from tickbird.client import StoreClient
from tickbird.domain.runs.run import Outcome
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

WORKER = Worker(id="w", namespace="default", app="app", host="host", pid=1, version="0")


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An open store."""
    url = f"sqlite:///{tmp_path}/t.db" if request.param == "sqlite" else request.getfixturevalue("migrated_url")
    store = open_store(url)
    await store.migrate()
    await store.open()
    yield store
    await store.close()


async def work(store: Store, status: str = "succeeded") -> None:
    """Claim one run as soon as there is one, and end it."""
    while not (found := (await store.leases.claim(WORKER, 1, 60, queues=["default"], targets=[("task", "work")])).runs):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    await store.leases.finish([Outcome(found[0].id, found[0].attempt, status, result=42)])  # type: ignore[arg-type]


@pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled"])
async def test_the_run_as_it_ended(store: Store, status: str) -> None:
    client = StoreClient(store)
    run_id = await client.runs.enqueue("work", actor="ada", unknown_task_ok=True)
    waiting = asyncio.create_task(client.runs.wait(run_id, timeout=60))
    await work(store, status)
    run = await waiting
    assert (run.id, run.status) == (run_id, status)
    assert (await client.runs.wait(run_id, timeout=0)).status == status


async def test_a_trigger_that_waits(store: Store) -> None:
    client = StoreClient(store)
    await client.schedules.create("yearly", cron("0 0 1 1 *"), "work", actor="ada", unknown_task_ok=True)
    run, _ = await asyncio.gather(client.schedules.trigger("yearly", actor="ada", wait="1m"), work(store))
    assert (run.status, run.result, run.origin) == ("succeeded", 42, "manual")


async def test_a_run_that_does_not_end_in_time_goes_on(store: Store) -> None:
    client = StoreClient(store)
    run_id = await client.runs.enqueue("work", actor="ada", unknown_task_ok=True)
    with pytest.raises(NotFinishedError, match=f"run {run_id} is still queued after 0 ms of waiting. Wait again"):
        await client.runs.wait(run_id, timeout=0)
    with pytest.raises(TimeoutError, match="after 1 s of waiting"):
        await client.runs.wait(run_id, timeout=1)
    assert (await client.runs.get(run_id)).status == "queued"


async def test_bad_input(store: Store) -> None:
    client = StoreClient(store)
    with pytest.raises(NotFoundError, match="there is no run 999"):
        await client.runs.wait(999, timeout=1)
    with pytest.raises(DefinitionError, match="timeout: 'soon' is not a duration"):
        await client.runs.wait(999, timeout="soon")
    await client.schedules.create("yearly", cron("0 0 1 1 *"), "work", actor="ada", unknown_task_ok=True)
    with pytest.raises(DefinitionError, match="wait: -1 is out of range"):
        await client.schedules.trigger("yearly", actor="ada", wait=-1)
    assert list(await client.runs.list()) == []


def test_code_without_an_event_loop_waits_and_sends_by_key(tmp_path: Path) -> None:
    bird = Tickbird(f"sqlite:///{tmp_path}/t.db")
    run_id = bird.sync.runs.enqueue("work", actor="ada", unknown_task_ok=True, idempotency_key="k")
    assert bird.sync.runs.enqueue("work", actor="ada", unknown_task_ok=True, idempotency_key="k") == run_id
    with pytest.raises(NotFinishedError):
        bird.sync.runs.wait(run_id, timeout=0)
    bird.sync.runs.cancel(run_id, actor="ada")
    assert bird.sync.runs.wait(run_id, timeout=0).status == "cancelled"
    bird.close()
