"""While a worker says that the store's clock has jumped, nobody decides ticks by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tickbird import ConflictError, cron
from tickbird.client import StoreClient
from tickbird.domain.workers import CLOCK_JUMPED, Worker
from tickbird.stores import open_store

WORKER = Worker(id="w", namespace="default", app="app", host="host", pid=1, version="0")


async def test_changes_are_refused_until_the_alarm_is_over(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/t.db")
    await store.open()
    client = StoreClient(store)
    try:
        await client.schedules.create("nightly", cron("0 2 * * *"), "work", actor="ada", unknown_task_ok=True)
        await store.workers.heartbeat(
            replace(WORKER, standby_reason=f"plans nothing: {CLOCK_JUMPED} ahead by 1 day"), 60
        )
        with pytest.raises(ConflictError, match="worker w plans nothing: the store's clock has jumped ahead"):
            await client.schedules.pause("nightly", actor="ada")
        assert (await client.schedules.trigger("nightly", actor="ada")).status == "queued"
        await store.workers.heartbeat(WORKER, 60)
        assert (await client.schedules.pause("nightly", actor="ada")).state == "paused"
    finally:
        await store.close()
