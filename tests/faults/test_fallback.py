"""Schedules in memory, and schedules whose tables are lost: each tick runs once, with real workers."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from lab.faults import Fleet, until
from tests.faults.fleet import all_runs, all_skips, at_rest
from tickbird.client import Client, StoreClient
from tickbird.domain.leadership import Coordination
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.runs.run import RunRecord
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

# Ticks that run during a fault; TICKBIRD_FUZZ makes it longer, up to a minute and more.
TICKS = 4 * int(os.environ.get("TICKBIRD_FUZZ", "1"))


async def runs_of(store: Store, schedule: str) -> list[RunRecord]:
    """The runs of a schedule, oldest first; works without the table of schedules."""
    return [run for run in await all_runs(store) if run.schedule == schedule]


async def ticks_of(store: Store, schedule: str) -> list[int]:
    """The ticks of all runs, in order; a tick is in the list for each of its runs."""
    runs = await runs_of(store, schedule)
    return sorted(int(run.scheduled_for.timestamp()) for run in runs if run.scheduled_for is not None)


async def wait_for_runs_of(store: Store, schedule: str, count: int, actor: str | None = None) -> None:
    """Wait until this many more ticks have run."""

    async def number() -> int:
        return sum(actor is None or run.actor == actor for run in await runs_of(store, schedule))

    before = await number()

    async def enough() -> bool:
        return await number() >= before + count

    await until(enough)


async def test_schedule_in_memory_runs_once_per_tick(client: Client, store: Store, fleet: Fleet) -> None:
    for _ in range(3):
        fleet.start(declares_in_memory=(("clock", 1),))
    await fleet.wait_for_workers(3)
    await wait_for_runs_of(store, "clock", 3)
    fleet.members[0].kill()
    await wait_for_runs_of(store, "clock", 3)
    ticks = await ticks_of(store, "clock")
    assert ticks == list(range(ticks[0], ticks[-1] + 1))
    assert {run.actor for run in await runs_of(store, "clock")} == {"in memory"}
    await client.schedules.pause("clock", actor="ada")
    runs = await at_rest(store)
    assert len({run.scheduled_for for run in runs}) == len(runs)


async def test_switches_between_the_modes_lose_and_double_nothing(client: Client, store: Store, fleet: Fleet) -> None:
    """Workers run ticks and notice the edits while the mode changes again and again."""
    for _ in range(2):
        fleet.start(declares_in_memory=(("clock", 1),))
    await fleet.wait_for_workers(2)
    await wait_for_runs_of(store, "clock", 2)
    for durable in (True, False) * 3:
        await store.schedules.change("default", "clock", Update(actor="ada", fields={"durable": durable}))
        await wait_for_runs_of(store, "clock", 2)
    ticks = await ticks_of(store, "clock")
    assert ticks == list(range(ticks[0], ticks[-1] + 1))
    actors = {run.actor for run in await runs_of(store, "clock")}
    assert actors == {"in memory", None}


def damage(url: str, *statements: str) -> None:
    """Execute statements as the owner of the database."""
    with psycopg.connect(url.partition("?")[0], autocommit=True) as connection:
        for statement in statements:
            connection.execute(sql.SQL(statement))  # type: ignore[arg-type,unused-ignore]


async def wait_for_fallback(url: str, schedule: str) -> None:
    """Wait until ticks have run in fallback; reads no view, because views are missing together with a table."""
    statement = (
        "SELECT count(*) FROM tickbird.runs AS r JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id"
        " WHERE i.name = %s AND r.actor = 'fallback' AND r.status = 'succeeded'"
    )

    async def enough() -> bool:
        async with await psycopg.AsyncConnection.connect(url.partition("?")[0]) as connection:
            [(number,)] = await (await connection.execute(statement, (schedule,))).fetchall()
            return bool(number >= TICKS)

    await until(enough)


FAULTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "a table is missing": (
        ("ALTER TABLE tickbird.cursors RENAME TO cursors_lost",),
        ("ALTER TABLE tickbird.cursors_lost RENAME TO cursors",),
    ),
    "a migration is half done": (
        ("ALTER TABLE tickbird.cursors RENAME COLUMN tick_overrides TO tick_overrides_new",),
        ("ALTER TABLE tickbird.cursors RENAME COLUMN tick_overrides_new TO tick_overrides",),
    ),
    "the schedules are missing": (
        ("ALTER TABLE tickbird.schedules RENAME TO schedules_lost",),
        ("ALTER TABLE tickbird.schedules_lost RENAME TO schedules",),
    ),
}
# Only in leader mode.
FAULTS_OF_LEADERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "the lease of the leader is missing": (
        ("ALTER TABLE tickbird.leader_lease RENAME TO lease_lost",),
        ("ALTER TABLE tickbird.lease_lost RENAME TO leader_lease",),
    ),
    "the schedules are missing": FAULTS["the schedules are missing"],
}


@pytest.mark.parametrize(
    "fault,coordination",
    [*((fault, "shared") for fault in FAULTS), *((fault, "leader") for fault in FAULTS_OF_LEADERS)],
)
async def test_code_defined_ticks_continue_while_the_store_cannot_plan(
    migrated_url: str, tmp_path: Path, fault: str, coordination: Coordination
) -> None:
    break_it, repair_it = (FAULTS | FAULTS_OF_LEADERS)[fault]
    store = open_store(migrated_url)
    await store.open()
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(migrated_url, folder) as fleet:
        client = StoreClient(store)
        for _ in range(2):
            fleet.start(
                declares=(("clock", 1), ("paused", 1)), declares_in_memory=(("light", 1),), coordination=coordination
            )
        await fleet.wait_for_workers(2)
        await client.schedules.pause("paused", actor="ada")
        # Workers read changes within a second.
        read_by = int((await client.system.now()).timestamp()) + 2
        await until(lambda: _has_ticked(store, "clock", read_by))
        before = await ticks_of(store, "paused")
        damage(migrated_url, *break_it)
        await wait_for_fallback(migrated_url, "clock")
        await wait_for_runs_of(store, "light", 1)
        [held, *_] = [worker for worker in await store.workers.list("default") if "fallback" in worker.standby_reason]
        assert "runs the ticks of" in held.standby_reason
        damage(migrated_url, *repair_it)
        planned_again = await runs_of(store, "clock")
        await until(lambda: _planned_after(store, "clock", planned_again[-1].id))
        await until(lambda: _all_have_left_the_fallback(store))
        await client.schedules.pause("clock", actor="ada")
        await client.schedules.pause("light", actor="ada")
        runs = await at_rest(store)
        assert {run.status for run in runs} == {"succeeded"}
        report = await client.ticks.verify("clock")
        assert report.findings == (), report
        ticks = await ticks_of(store, "clock")
        assert len(ticks) == len(set(ticks))
        skipped = sum(skip.count for skip in await all_skips(store, "clock"))
        assert len(ticks) + skipped == ticks[-1] - ticks[0] + 1
        assert await ticks_of(store, "paused") == before
    await store.close()


async def _has_ticked(store: Store, schedule: str, at: int) -> bool:
    return any(tick >= at for tick in await ticks_of(store, schedule))


async def _all_have_left_the_fallback(store: Store) -> bool:
    return not any("fallback" in worker.standby_reason for worker in await store.workers.list("default"))


async def _planned_after(store: Store, schedule: str, run_id: int) -> bool:
    return any(run.id > run_id and run.actor is None for run in await runs_of(store, schedule))


@pytest.mark.parametrize("tables", ["cursors", "schedules", "schedules, tickbird.cursors, tickbird.revisions"])
async def test_repair_restores_what_workers_last_read(migrated_url: str, tmp_path: Path, tables: str) -> None:
    """A table dropped under load: ticks continue, and after the repair all is as before, pauses and edits too."""
    store = open_store(migrated_url)
    await store.open()
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(migrated_url, folder) as fleet:
        client = StoreClient(store)
        for _ in range(2):
            fleet.start(declares=(("clock", 1), ("paused", 1)), declares_in_memory=(("light", 1),))
        await fleet.wait_for_workers(2)
        await client.schedules.pause("paused", actor="ada", note="holidays")
        await client.schedules.update("clock", actor="ada", priority=7)
        edited = await client.schedules.get("clock")
        await wait_for_runs_of(store, "clock", 2)
        await wait_for_runs_of(store, "light", 2)
        damage(migrated_url, f"DROP TABLE tickbird.{tables} CASCADE")
        await wait_for_fallback(migrated_url, "clock")
        await store.repair()
        last = (await runs_of(store, "clock"))[-1].id
        await until(lambda: _planned_after(store, "clock", last))
        await wait_for_runs_of(store, "light", 2)
        paused, clock = await client.schedules.get("paused"), await client.schedules.get("clock")
        assert (paused.state, paused.pause and paused.pause.note) == ("paused", "holidays")
        assert (clock.id, clock.definition_json["priority"]) == (edited.id, 7)
        assert clock.field_overrides == {"priority": 7}
        await client.schedules.pause("clock", actor="ada")
        await client.schedules.pause("light", actor="ada")
        await at_rest(store)
        ticks = await ticks_of(store, "clock")
        skipped = sum(skip.count for skip in await all_skips(store, "clock"))
        assert len(ticks) == len(set(ticks))
        assert len(ticks) + skipped == ticks[-1] - ticks[0] + 1
        light = await ticks_of(store, "light")
        assert len(light) == len(set(light))
        assert (await client.ticks.verify("clock")).findings == ()
    await store.close()


async def test_without_fallback_nothing_runs_until_the_repair(migrated_url: str, tmp_path: Path) -> None:
    store = open_store(migrated_url)
    await store.open()
    folder = tmp_path / "fleet"
    folder.mkdir()
    with Fleet(migrated_url, folder) as fleet:
        member = fleet.start(declares=(("clock", 1),), fallback=False)
        await fleet.wait_for_workers(1)
        await wait_for_runs_of(store, "clock", 1)
        damage(migrated_url, *FAULTS["a table is missing"][0])
        log = folder / f"{member.pid}.log"
        await until(lambda: log.read_text().count("cannot be planned") >= 4)
        damage(migrated_url, *FAULTS["a table is missing"][1])
        await wait_for_runs_of(store, "clock", 2)
        assert {run.actor for run in await runs_of(store, "clock")} == {None}
    await store.close()
