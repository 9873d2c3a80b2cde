"""Writes of planning that the database refuses for some time: tried again with an alarm, and nothing is lost."""

from __future__ import annotations

import asyncio

from lab.faults import Fleet, until
from tests.faults.fleet import all_skips, settled, ticking
from tests.store.conftest import PlainPostgres, PlainRows, PlainSqlite
from tickbird.client import Client
from tickbird.store.protocol.store import Store

MESSAGE = "not at this hour"


def _plain(url: str) -> PlainRows:
    return PlainPostgres(url) if url.startswith("postgresql") else PlainSqlite(url.removeprefix("sqlite:///"))


async def _is_shown(client: Client, name: str, error: str | None) -> bool:
    return (await client.schedules.get(name)).error == error


async def test_a_trigger_that_refuses_one_schedule_for_some_time(
    client: Client, store: Store, fleet: Fleet, url: str
) -> None:
    since = {name: await ticking(client, name) for name in ("clock", "refused")}
    for _ in range(2):
        fleet.start()
    await fleet.wait_for_runs(4)
    await _plain(url).refuse_rows("runs", (await client.schedules.get("refused")).id, MESSAGE)
    await until(lambda: _is_shown(client, "refused", MESSAGE))
    await until(lambda: f"schedule refused cannot be planned: {MESSAGE}" in fleet.logs())
    # Meanwhile the other schedule continues.
    ran = len([entry for entry in fleet.entries("done") if entry.schedule == "clock"])
    await until(lambda: len([entry for entry in fleet.entries("done") if entry.schedule == "clock"]) >= ran + 4)
    assert (await client.schedules.get("refused")).state == "active"
    assert any(finding.check == "parked" and not finding.ok for finding in await client.system.doctor())
    await _plain(url).accept_rows()
    await until(lambda: _is_shown(client, "refused", None))
    runs = await settled(client, store, fleet, since)
    assert {run.origin for run in runs} == {"schedule"}
    assert not await all_skips(store, "clock")
    assert not await all_skips(store, "refused")


async def test_a_trigger_that_refuses_all_runs_for_some_time(
    client: Client, store: Store, fleet: Fleet, url: str
) -> None:
    names = [f"clock-{number}" for number in range(5)]
    since = {name: await ticking(client, name) for name in names}
    fleet.start()
    await fleet.wait_for_runs(5)
    await _plain(url).refuse_rows("runs", None, MESSAGE)
    for name in names:
        await until(lambda name=name: _is_shown(client, name, MESSAGE))  # type: ignore[misc]
    await _plain(url).accept_rows()
    await asyncio.gather(*(until(lambda name=name: _is_shown(client, name, None)) for name in names))  # type: ignore[misc]
    runs = await settled(client, store, fleet, since)
    assert {run.origin for run in runs} == {"schedule"}
