"""Fleets whose workers have different roles, some of which are killed."""

from __future__ import annotations

from lab.faults import Fleet, until
from tests.faults.fleet import settled, ticking
from tickbird.client import Client
from tickbird.store.protocol.store import Store

_UNPLANNED = "no live worker plans since"
_PLANNED_AGAIN = "a live worker plans again"


async def test_the_only_worker_that_plans_is_killed(client: Client, store: Store, fleet: Fleet) -> None:
    since = await ticking(client)
    planner = fleet.start(role="plan-only")
    for _ in range(2):
        fleet.start(role="execute-only")
    await fleet.wait_for_workers(3)
    await fleet.wait_for_ticks(2)
    # Workers that started first may have logged both already.
    lost, found = (fleet.logs().count(text) for text in (_UNPLANNED, _PLANNED_AGAIN))
    planner.kill()

    async def is_explained() -> bool:
        tick = (await client.schedules.get("clock")).next_run_at
        explained = None if tick is None else await client.ticks.why("clock", tick)
        text = "no live worker plans (2 workers only execute) since worker"
        return explained is not None and text in explained.sentence

    await until(is_explained)
    await until(lambda: fleet.logs().count(_UNPLANNED) >= lost + 2)
    [finding] = [finding for finding in await client.system.doctor() if finding.check == "planning"]
    assert finding.severity in ("warning", "problem")
    assert "(2 workers only execute)" in finding.text
    fleet.start(role="plan-only")
    await fleet.wait_for_ticks(2)
    await until(lambda: fleet.logs().count(_PLANNED_AGAIN) >= found + 2)
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

    async def is_explained() -> bool:
        queued = await client.runs.list(schedule="clock", status="queued", limit=1)
        if not queued or queued[0].scheduled_for is None:
            return False
        explained = await client.ticks.why("clock", queued[0].scheduled_for)
        return "no live worker executes runs since worker" in explained.sentence

    await until(is_explained)
    fleet.start(role="execute-only")
    await fleet.wait_for_ticks(2)
    await settled(client, store, fleet, {"clock": since})
