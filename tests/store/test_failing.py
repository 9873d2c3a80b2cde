"""Failing schedules: one that always fails hides no other, whatever the number of failures."""

from dataclasses import replace

import pytest

from tests.api.conftest import postgres_store, shared_url, sqlite_store  # noqa: F401
from tests.web.histories import WORKER
from tickbird.client import StoreClient
from tickbird.domain.dashboard_rows import ScheduleFilter
from tickbird.domain.runs.run import Outcome
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import dashboard as on_postgres
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import dashboard as on_sqlite
from tickbird.web.dashboard_reads import DashboardReads

MAX_COUNT = 6


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Store:
    """An open store with nothing in it."""
    found: Store = request.getfixturevalue(f"{request.param}_store")
    return found


async def test_a_schedule_that_always_fails_hides_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (on_postgres, on_sqlite):
        monkeypatch.setattr(module, "MAX_FAILED", MAX_COUNT)

    async def ends(name: str, *well: bool, namespace: str = "default") -> None:
        for good in well:
            await StoreClient(store, namespace).schedules.trigger(name, actor="ana")
            worker = replace(WORKER, namespace=namespace)
            (run,) = (await store.leases.claim(worker, 1, 60, queues=["default"], targets=[("task", "report")])).runs
            error = None if good else "OSError: full"
            await store.leases.finish([Outcome(run.id, run.attempt, "succeeded" if good else "failed", error=error)])

    client, other = StoreClient(store), StoreClient(store, "other")
    await other.schedules.create("elsewhere", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    await ends("elsewhere", False, namespace="other")
    for name in ("rare", "well-again", "noisy", "newer"):
        await client.schedules.create(name, every(hours=1), "report", actor="ana", unknown_task_ok=True)
    await ends("rare", True, False)
    await ends("well-again", False, True)
    await ends("newer", False)
    assert await failing(client) == ["newer", "rare"]
    await ends("noisy", *[False] * MAX_COUNT)
    # None of the newest failures is theirs.
    assert await failing(client) == ["newer", "noisy", "rare"]
    found = await DashboardReads(client).findings()
    assert [(each.schedule, each.count) for each in found.findings] == [("noisy", MAX_COUNT), ("newer", 1), ("rare", 1)]
    assert not found.capped
    assert await failing(other) == ["elsewhere"]


async def failing(client: StoreClient) -> list[str]:
    """By name."""
    return [
        row.schedule.name for row in await DashboardReads(client).schedules(ScheduleFilter(failing=True), limit=100)
    ]
