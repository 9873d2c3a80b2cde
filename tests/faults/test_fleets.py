"""Several processes on a database, with wrong clocks, or with two versions of an app."""

from __future__ import annotations

import time

import pytest

from lab.faults import Fleet, SetClock, until
from tests.conftest import lacking
from tests.faults.fleet import accounted, agrees, all_runs, all_skips, at_rest, settled, ticking
from tickbird import every
from tickbird.client import Client
from tickbird.domain.time.instants import to_seconds
from tickbird.store.protocol.store import Store


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_wrong_clocks_of_workers_change_nothing(client: Client, store: Store, fleet: Fleet) -> None:
    with lacking(SetClock, 6 * 3_600) as ahead, lacking(SetClock, -6 * 3_600) as behind:
        for clock in (ahead, behind):
            fleet.spawn(environment=clock.environment, lease=10.0)
        await fleet.wait_for_workers(2)
    since = await ticking(client)
    both = {entry.pid for entry in fleet.entries("started")}
    assert all(abs(entry.wall - time.time()) > 5 * 3_600 for entry in fleet.entries("started"))
    await fleet.wait_for_runs(4)
    runs = await settled(client, store, fleet, {"clock": since})
    now = await store.now()

    async def are_both_live() -> bool:
        return both == {worker.pid for worker in await store.workers.list("default")}

    # A worker whose heartbeat is late is not listed until the next heartbeat.
    await until(are_both_live)
    for run in runs:
        assert (run.origin, run.crashes) == ("schedule", 0)
        assert run.started_at is not None
        assert run.finished_at is not None
        assert run.due_at <= run.started_at <= run.finished_at <= now
    assert not await all_skips(store, "clock")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_eight_processes_on_one_file(client: Client, store: Store, fleet: Fleet) -> None:
    schedules = {f"clock-{n}": await ticking(client, f"clock-{n}") for n in range(3)}
    for _ in range(8):
        fleet.start(slots=4, lease=10.0)
    for _ in range(100):
        await client.runs.enqueue("succeed", actor="ada", unknown_task_ok=True)
    await fleet.wait_for_workers(8)
    await until(lambda: len(fleet.entries("done")) >= 112)
    runs = await settled(client, store, fleet, schedules)
    assert not any(run.crashes for run in runs)
    assert "locked" not in fleet.logs()
    assert "Traceback" not in fleet.logs()


async def test_a_pause_and_a_deploy_while_it_works(client: Client, store: Store, fleet: Fleet) -> None:
    """Code declares another interval: both versions of it run for a while, a pause goes through, no tick is lost."""
    old = [fleet.start(declares=(("changed", 1), ("gone", 1), ("paused", 1))) for _ in range(2)]
    await until(lambda: {"changed", "gone", "paused"} <= {entry.schedule for entry in fleet.entries("done")})
    paused = await client.schedules.pause("paused", actor="ada", note="quiet")
    new = [fleet.start(declares=(("changed", 2), ("paused", 1))) for _ in range(2)]
    await fleet.wait_for_workers(4)
    for process in old:
        process.drain()
        assert await process.wait() == 0
    changed = await client.schedules.get("changed")
    assert changed.definition_json["trigger"] == every(seconds=2).to_json()
    await until(lambda: max(n.tick or 0 for n in fleet.entries("done")) > (changed.cursor.planned_until or 0) + 3)
    for name in ("changed", "gone"):
        if (await client.schedules.get(name)).state == "active":
            await client.schedules.pause(name, actor="ada")
    await at_rest(store)
    stands = await client.schedules.get("paused")
    assert (stands.state, stands.revision) == ("paused", paused.revision)
    assert stands.cursor.planned_until == paused.cursor.planned_until
    since = to_seconds((await client.revisions.list("paused"))[-1].at)
    assert await accounted(store, "paused", 1, since) >= 1
    for run in await all_runs(store, "changed"):
        assert run.scheduled_for is not None
        step = 1 if run.revision == 1 else 2
        assert to_seconds(run.scheduled_for) % step == 0
    await agrees(fleet, store)
    assert all(process.alive for process in new)
