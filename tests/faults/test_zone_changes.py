"""Time zone data changes: real workers with other rules, in both directions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.faults import Fleet, Member, until
from lab.zones import write_zone
from tests.faults.fleet import all_runs
from tests.store.conftest import PlainPostgres, PlainSqlite
from tickbird import cron, every
from tickbird.client import Client
from tickbird.domain.runs.unreadable_runs import published
from tickbird.store.protocol.store import Store

ZONE = "Europe/Berlin"
# 09:00 on the july, in summer time and without it.
SUMMER, WINTER = datetime(2099, 7, 1, 7, tzinfo=UTC), datetime(2099, 7, 1, 8, tzinfo=UTC)


def _start(fleet: Fleet, folder: Path | None = None) -> Member:
    """A worker that finds its time zone files in a folder; else in the package."""
    return fleet.spawn(environment={} if folder is None else {"PYTHONTZPATH": str(folder)})


async def _create(client: Client, name: str, trigger: Any) -> None:
    await client.schedules.create(name, trigger, "succeed", actor="ada", unknown_task_ok=True, overlap="allow")


async def _newest(store: Store, schedule: str) -> int:
    return max((run.id for run in await all_runs(store, schedule)), default=0)


async def test_a_country_abolishes_summer_time(client: Client, store: Store, fleet: Fleet, tmp_path: Path) -> None:
    await _create(client, "july", cron("0 9 1 7 *", ZONE))
    await client.schedules.update("july", actor="ada", start_at=datetime(2099, 1, 1, tzinfo=UTC))
    await _create(client, "zoned", every(seconds=1, tz=ZONE))
    await _create(client, "utc", every(seconds=1))
    old = _start(fleet)
    await until(lambda: _newest(store, "zoned"))
    assert (await client.schedules.get("july")).next_run_at == SUMMER

    new = _start(fleet, write_zone(tmp_path / "new", ZONE, "CET-1", "9999a"))

    async def moved() -> bool:
        return (await client.schedules.get("july")).next_run_at == WINTER

    await until(moved)
    [row] = [row for row in await client.audit.list() if row.action == "zones"]
    assert (row.schedule, row.actor) == ("july", "time zone data 9999a")
    # It logs after it has finished.
    await until(lambda: "next_run_at of july moved from 2099-07-01 07:00:00+00:00 to 2099-07-01 08:00" in fleet.logs())

    async def held() -> str:
        return next((worker.standby_reason for worker in await client.workers.list() if worker.pid == old.pid), "")

    assert "plans only schedules in UTC" in await until(held)
    seen = await _newest(store, "zoned")
    await until(lambda: _is_past(store, "zoned", seen))

    # With only the old rules, only UTC is planned; the store does not return to them by itself.
    new.drain()
    assert await new.wait() == 0
    again = _start(fleet)
    await fleet.wait_for_workers(3)
    left = [run.id for run in await all_runs(store, "zoned")]
    seen = await _newest(store, "utc")
    await until(lambda: _is_past(store, "utc", seen + 2))
    assert [run.id for run in await all_runs(store, "zoned")] == left
    assert (await client.schedules.get("july")).next_run_at == WINTER
    explained = await client.ticks.why("zoned", await client.system.now())
    assert "plans only schedules in UTC" in explained.sentence
    assert again.alive
    assert old.alive


async def _is_past(store: Store, schedule: str, run_id: int) -> bool:
    return await _newest(store, schedule) > run_id


async def test_a_worker_with_older_rules_starts_later(
    client: Client, store: Store, fleet: Fleet, tmp_path: Path
) -> None:
    """It executes runs that others plan."""
    await _create(client, "zoned", every(seconds=1, tz=ZONE))
    _start(fleet, write_zone(tmp_path / "old", ZONE, "CET-1", "1999a"))
    await fleet.wait_for_workers(1)
    assert [zones.version for zones in await client.system.zone_data_history()] != ["1999a"]
    run = await client.runs.enqueue("succeed", actor="ada")

    async def done() -> bool:
        return (await client.runs.get(run)).status == "succeeded"

    await until(done)
    assert await all_runs(store, "zoned") == []
    assert "plans only schedules in UTC: its time zone data 1999a" in fleet.logs()


async def test_a_worker_without_the_zone_of_a_run_leaves_it_to_another(
    client: Client, store: Store, fleet: Fleet, tmp_path: Path, url: str
) -> None:
    """It never executes a run with less than the run was created with."""
    on_postgres = url.startswith("postgresql")
    plain = PlainPostgres(url) if on_postgres else PlainSqlite(url.removeprefix("sqlite:///"))
    newer = {"PYTHONTZPATH": str(write_zone(tmp_path / "new", "Tick/Bird", "TBT-3", "9999a"))}
    fleet.spawn(environment=newer, role="plan-only")
    await fleet.wait_for_workers(1)
    trigger = {"every": {"seconds": 1}, "tz": "Tick/Bird"}
    target, payload = {"task": "succeed"}, {"edition": 7}
    definition = {"v": 1, "trigger": trigger, "target": target, "payload": payload, "overlap": "allow", "grace": 3600}
    await plain.insert("default", "zoned", definition)
    await until(lambda: _newest(store, "zoned"))
    older = fleet.spawn(role="execute-only")
    await _create(client, "utc", every(seconds=1))
    await until(lambda: any(entry.schedule == "utc" for entry in fleet.entries("done")))

    async def reported() -> bool:
        return any(published(worker.health) for worker in await client.workers.list() if worker.pid == older.pid)

    await until(reported)
    assert [entry for entry in fleet.entries("began") if entry.schedule == "zoned"] == []
    runs = await all_runs(store, "zoned")
    assert {(run.status, run.attempt) for run in runs} == {("queued", 0)}
    steps = await client.runs.waiting_for(runs[0].id)
    assert "No live worker can read it" in " ".join(step.text for step in steps)
    findings = [finding for finding in await client.system.doctor() if finding.check == "workers" and not finding.ok]
    assert any("revision 1 of zoned" in finding.text for finding in findings)

    fleet.spawn(environment=newer, role="execute-only")
    await until(lambda: any(entry.schedule == "zoned" for entry in fleet.entries("done")))
    assert {entry.detail["edition"] for entry in fleet.entries("began") if entry.schedule == "zoned"} == {7}
