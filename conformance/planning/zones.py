"""Time zone data: the newest wins once, cursors follow it, and a process with other data plans only UTC."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.steps import (
    MINUTE,
    NAMESPACE,
    a_worker,
    change,
    create,
    epoch,
    get,
    later,
    plan,
    runs_of,
    skips_of,
)
from lab.zones import write_zone, zones_of
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.time.zone_data import MovedSchedule, ZoneData, zone_source
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

ZONE = "Europe/Berlin"
NEWER = ZoneData("9999a", "n" * 32)
OLDER = ZoneData("1999a", "o" * 32)
DAY = 86_400


class Zones:
    """T0 is in winter: 09:00 in Berlin is 08:00 in UTC, and 07:00 by rules that put it an hour farther east."""

    async def test_the_first_rules_are_the_stores(self, store: Store) -> None:
        zones = await store.zone_data.check(now=later(0))
        assert zones.same
        assert zones.stored is not None
        assert zones.stored.digest == zone_source().data.digest
        [newest, *_] = await store.zone_data.list()
        assert newest == zones.stored

    async def test_newer_rules_win_once_and_older_ones_never(self, store: Store, other: Store) -> None:
        first = (await store.zone_data.check(adopt=True)).stored
        assert first is not None
        taken = await other.zone_data.check(NEWER, adopt=True, now=later(1))
        assert taken.adopted
        assert taken.same
        assert taken.stored is not None
        assert taken.stored.generation == first.generation + 1
        assert not (await other.zone_data.check(NEWER, adopt=True)).adopted
        for left in (OLDER, zone_source().data, ZoneData("9998z", "x" * 32)):
            zones = await store.zone_data.check(left, adopt=True)
            assert not zones.adopted
            assert not zones.same
        same_version = await store.zone_data.check(ZoneData("9999a", "m" * 32), adopt=True)
        assert same_version.adopted
        # Rules that the store had and left do not come back by themselves, or two workers would take turns.
        assert not (await other.zone_data.check(NEWER, adopt=True)).adopted
        await store.zone_data.check(adopt=True, actor="ada")
        assert (await store.zone_data.check()).same
        assert (await store.zone_data.list())[0].adopted_by == "ada"

    async def test_only_a_planner_adopts(self, store: Store) -> None:
        await store.zone_data.check(adopt=True)
        assert not (await store.zone_data.check(NEWER)).adopted
        await store.zone_data.check()

    async def test_with_other_rules_only_utc_is_planned(self, store: Store, other: Store) -> None:
        await create(store, "utc")
        await create(store, "zoned", every(seconds=60, tz=ZONE))
        await create(store, "new", every(days=1, tz=ZONE))
        await store.zone_data.check(OLDER, adopt=True)
        planned = await plan(store, 60)
        assert (planned.schedules, planned.runs) == (1, 1)
        assert planned.next_at == later(120)
        assert await runs_of(store, "zoned") == []
        await store.zone_data.check()
        planned = await plan(store, 60)
        assert planned.runs == 1
        assert len(await runs_of(store, "zoned")) == 1

    async def test_edit_with_other_zone_data_plans_nothing_and_is_recomputed(self, store: Store) -> None:
        await create(store, "zoned", every(seconds=60, tz=ZONE))
        await store.zone_data.check(OLDER)
        await change(store, Update(actor="ada", fields={"retries": 1}), 90, name="zoned")
        assert await runs_of(store, "zoned") == []
        assert (await plan(store, 90)).runs == 0
        await store.zone_data.check()
        assert (await plan(store, 90)).runs == 1
        [run] = await runs_of(store, "zoned")
        assert run.scheduled_for == later(60)

    async def test_cursors_follow_new_rules(self, store: Store, other: Store, tmp_path: Path) -> None:
        """Next ticks move, each move is audited, and nothing else changes."""
        names = {"daily": cron("0 9 * * *", ZONE), "utc": cron("0 9 * * *"), "hourly": cron("0 * * * *", ZONE)}
        for name, trigger in names.items():
            await create(store, name, trigger)
        await create(store, "paused", cron("0 9 * * *", ZONE))
        await change(store, Pause(actor="ada", until=epoch(3 * DAY)), 0, name="paused")
        before = {name: await get(store, name) for name in (*names, "paused")}
        with zones_of(write_zone(tmp_path / "east", ZONE, "EET-2", "9999a")):
            await adopt(other, store)
            moved: list[MovedSchedule] = []
            reached = 0
            while True:
                followed = await other.zone_data.recompute(reached, 1, now=later(10))
                moved += followed.moved
                if followed.reached is None:
                    break
                reached = followed.reached
        assert [(each.schedule, each.before, each.after) for each in moved] == [
            ("daily", later(8 * 3600), later(7 * 3600))
        ]
        after = {name: await get(store, name) for name in before}
        assert after["daily"].cursor.next_run_at == epoch(7 * 3600)
        for name in ("utc", "hourly", "paused"):
            assert after[name] == before[name]
        assert after["daily"].revision == before["daily"].revision
        [row] = [row for row in await store.ledger.list_audit(NAMESPACE) if row.action == "zones"]
        assert (row.schedule, row.actor, row.at) == ("daily", "time zone data 9999a", later(10))
        assert (row.detail["from"], row.detail["to"]) == (later(8 * 3600).isoformat(), later(7 * 3600).isoformat())
        [newest, *_] = await store.zone_data.list()
        assert newest.recomputed_at == later(10)
        # Who still has the old rules leaves it alone; who has the new ones runs it at its new time.
        assert (await plan(store, 9 * 3600 - 1)).runs == 0

    async def test_a_tick_no_longer_on_the_grid_is_not_fired(self, store: Store, other: Store, tmp_path: Path) -> None:
        """Due under the old data and not recomputed yet: the planner recomputes it and waits."""
        await create(store, trigger=cron("0 9 * * *", ZONE))
        with zones_of(write_zone(tmp_path / "west", ZONE, "WET0", "9999a")):
            await adopt(other, store)
            assert (await plan(other, 8 * 3600)).runs == 0
            assert (await get(store)).cursor.next_run_at == epoch(9 * 3600)
            assert (await plan(other, 9 * 3600)).runs == 1
        [run] = await runs_of(store)
        assert run.scheduled_for == later(9 * 3600)

    async def test_tick_run_under_old_zone_data_does_not_run_again(
        self, store: Store, other: Store, tmp_path: Path
    ) -> None:
        """09:00 was at 08:00 UTC and ran; by the new rules it is at 09:00 UTC, which is a skip that day."""
        await create(store, trigger=cron("0 9 * * *", ZONE), overlap="allow")
        await plan(store, 8 * 3600)
        assert len(await runs_of(store)) == 1
        with zones_of(write_zone(tmp_path / "west", ZONE, "WET0", "9999a")):
            await adopt(other, store)
            await other.zone_data.recompute(now=later(8 * 3600 + 60))
            await plan(other, 9 * 3600)
            assert len(await runs_of(store)) == 1
            [skip] = await skips_of(store)
            assert (skip.reason, skip.first, skip.count) == ("zone_data", later(9 * 3600), 1)
            await plan(other, DAY + 9 * 3600)
        assert [run.scheduled_for for run in await runs_of(store)] == [later(8 * 3600), later(DAY + 9 * 3600)]

    async def test_tick_moved_to_the_past_by_new_zone_data_is_late(
        self, store: Store, other: Store, tmp_path: Path
    ) -> None:
        await create(store, trigger=cron("0 9 * * *", ZONE))
        with zones_of(write_zone(tmp_path / "east", ZONE, "EET-2", "9999a")):
            await adopt(other, store)
            await other.zone_data.recompute(now=later(7 * 3600 + 1800))
            assert (await plan(other, 7 * 3600 + 1800)).runs == 1
        [run] = await runs_of(store)
        assert (run.scheduled_for, run.origin) == (later(7 * 3600), "catch_up")

    async def test_overrides_survive_new_zone_data(self, store: Store, other: Store, tmp_path: Path) -> None:
        await create(store, "moved", cron("0 9 * * *", ZONE))
        await change(store, Reschedule(actor="ada", to=epoch(10 * 3600)), 0, name="moved")
        await create(store, "skipped", cron("0 9 * * *", ZONE))
        await change(store, Skip(actor="ada"), 0, name="skipped")
        with zones_of(write_zone(tmp_path / "west", ZONE, "WET0", "9999a")):
            await adopt(other, store)
            await other.zone_data.recompute(now=later(60))
            await plan(other, 9 * 3600)
            assert (await runs_of(store, "moved"), await runs_of(store, "skipped")) == ([], [])
            await plan(other, 10 * 3600)
        [run] = await runs_of(store, "moved")
        assert (run.scheduled_for, run.due_at) == (later(9 * 3600), later(10 * 3600))
        [skip] = await skips_of(store, "skipped")
        assert (skip.reason, skip.first) == ("operator", later(9 * 3600))

    async def test_a_schedule_that_comes_to_have_a_zone_is_marked(self, store: Store) -> None:
        await create(store, overlap="allow")
        await change(store, Update(actor="ada", fields={"trigger": every(seconds=60, tz=ZONE).to_json()}), 0)
        await store.zone_data.check(OLDER)
        assert (await plan(store, 60)).runs == 0
        await store.zone_data.check()
        await change(store, Update(actor="ada", fields={"trigger": MINUTE.to_json()}), 70)
        await store.zone_data.check(OLDER)
        assert (await plan(store, 120)).runs == 1

    async def test_heartbeat_reports_the_zone_generation(self, store: Store) -> None:
        await store.zone_data.check(adopt=True)
        first = await store.workers.heartbeat(a_worker(), 30)
        await store.zone_data.check(NEWER, adopt=True)
        assert (await store.workers.heartbeat(a_worker(), 30)).zones == first.zones + 1


async def adopt(store: Store, first: Store) -> None:
    """Let the store take over the rules of this process, as a worker does that starts with them."""
    if store is first:
        pytest.skip("one instance keeps the rules that it read definitions with")
    assert (await store.zone_data.check(adopt=True)).adopted
