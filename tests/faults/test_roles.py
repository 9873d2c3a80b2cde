"""Fleets whose workers have different roles, some of which are killed."""

from __future__ import annotations

from lab.faults import Fleet, until
from tests.faults.fleet import settled, ticking
from tickbird.client import Client
from tickbird.store.protocol.store import Store


async def test_the_only_worker_that_plans_is_killed(client: Client, store: Store, fleet: Fleet) -> None:
    since = await ticking(client)
    planner = fleet.start(role="plan-only")
    for _ in range(2):
        fleet.start(role="execute-only")
    await fleet.wait_for_workers(3)
    await fleet.wait_for_ticks(2)
    planner.kill()
    await until(lambda: "no live worker plans since" in fleet.logs())
    tick = (await client.schedules.get("clock")).next_run_at
    assert tick is not None
    explained = await client.ticks.why("clock", tick)
    assert "no live worker plans (2 workers only execute) since worker" in explained.sentence
    [finding] = [finding for finding in await client.system.doctor() if finding.check == "planning"]
    assert finding.severity in ("warning", "problem")
    assert "(2 workers only execute)" in finding.text
    fleet.start(role="plan-only")
    await fleet.wait_for_ticks(2)
    await until(lambda: fleet.logs().count("a live worker plans again") >= 2)
    await settled(client, store, fleet, {"clock": since})


async def test_the_only_worker_that_executes_is_killed(client: Client, store: Store, fleet: Fleet) -> None:
    since = await ticking(client)
    for _ in range(2):
        fleet.start(role="plan-only")
    executor = fleet.start(role="execute-only")
    await fleet.wait_for_workers(3)
    await fleet.wait_for_ticks(2)
    executor.kill()
    await until(lambda: "no live worker executes runs: " in fleet.logs())

    async def waits() -> str | None:
        queued = await client.runs.list(schedule="clock", status="queued", limit=1)
        if not queued or queued[0].scheduled_for is None:
            return None
        return (await client.ticks.why("clock", queued[0].scheduled_for)).sentence

    assert "no live worker executes runs since worker" in await until(waits)
    fleet.start(role="execute-only")
    await fleet.wait_for_ticks(2)
    await settled(client, store, fleet, {"clock": since})
