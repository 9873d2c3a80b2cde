"""Overrides of a schedule that is paused, edited, deployed or late: they stay, or become void with an audit entry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.capabilities import needs
from conformance.planning.zones import adopt
from conformance.schedules.overrides import OWN, decide, decided, void
from conformance.schedules.plain_sql import Plain, raw, seconds
from conformance.steps import (
    change,
    create,
    define,
    epoch,
    later,
    looks_next,
    plan,
    plan_all,
    ranges,
    runs_of,
    since,
    ticks,
)
from lab.zones import write_zone, zones_of
from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.commands.define import Delete, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


class VoidOverrides:
    """The schedule ticks every minute from T0 on, and is overridden at second 10."""

    async def test_override_during_a_pause_is_void(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 60, skip=True)
        await decide(store, 120, payload=OWN)
        await decide(store, 180, to=400)
        await change(store, Pause(actor="ada"), 20)
        await change(store, Resume(actor="ada"), 130)
        assert await ranges(store) == [("paused", 60, 120, 2)]
        assert await void(store) == [(60, "paused", "ada"), (120, "paused", "ada")]
        # What counts is when it is due.
        assert await decided(store) == [180]
        await plan(store, 400)
        assert [tick for tick, *_ in await ticks(store)] == [180]

    async def test_grid_edit_keeps_overrides_of_remaining_ticks(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 120, skip=True)
        await decide(store, 180, payload=OWN)
        await decide(store, 300, to=290)
        await decide(store, 360, to=370)
        await decide(store, 480, to=590)
        await change(store, Update(actor="bo", fields={"trigger": every(seconds=90).to_json()}), 20)
        # 120, 300 and 480 are no longer ticks.
        assert await decided(store) == [180, 360]
        assert await void(store) == [(120, "edited", "bo"), (300, "edited", "bo"), (480, "edited", "bo")]
        for at in (90, 180, 270, 370):
            await plan(store, at)
        assert [(since(run.scheduled_for), since(run.due_at)) for run in await runs_of(store)] == [
            (90, 90),
            (180, 180),
            (270, 270),
            (360, 370),
        ]
        assert (await runs_of(store))[1].payload == OWN

    async def test_a_move_that_would_pass_over_more_than_before_is_void(self, store: Store) -> None:
        await create(store, trigger=every(seconds=120), overlap="allow")
        await decide(store, 120, to=200)
        # Made later, it goes first where only one of both can stay.
        await decide(store, 360, 12, to=290)
        await change(store, Update(actor="bo", fields={"trigger": every(seconds=60).to_json()}), 20)
        assert await decided(store) == []
        assert await void(store) == [(120, "edited", "bo"), (360, "edited", "bo")]
        assert await looks_next(store) == 60

    async def test_other_edits_keep_overrides_unless_the_task_changes(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 120, payload=OWN)
        await decide(store, 180, skip=True)
        await change(store, Update(actor="bo", fields={"priority": 3}), 20)
        assert await decided(store) == [120, 180]
        await change(store, Update(actor="bo", fields={"payload": {"limit": 1}}), 21)
        assert await decided(store) == [120, 180]
        await change(store, Update(actor="bo", fields={"target": {"task": "other"}}), 22)
        assert (await decided(store), await void(store)) == ([180], [(120, "edited", "bo")])

    @needs("limits")
    async def test_new_key_that_fits_the_payload_keeps_the_override(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 120, payload=OWN)
        await change(store, Update(actor="bo", fields={"concurrency_key": "k-{limit}", "payload": {"limit": 1}}), 21)
        assert await decided(store) == [120]

    async def test_a_move_goes_with_the_payload_that_another_task_cannot_take(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 120, payload=OWN, to=170)
        await change(store, Update(actor="bo", fields={"target": {"task": "other"}}), 22)
        assert (await decided(store), await void(store)) == ([], [(120, "edited", "bo")])
        await plan(store, 60)
        assert await looks_next(store) == 120

    @needs("limits")
    async def test_a_payload_that_the_new_key_cannot_read_is_void(self, store: Store) -> None:
        await create(store, payload={"city": "Rome"})
        await decide(store, 120, payload=OWN)
        await change(store, Update(actor="bo", fields={"concurrency_key": "{city}"}), 20)
        assert (await decided(store), await void(store)) == ([], [(120, "edited", "bo")])
        with pytest.raises(InvalidError):
            await decide(store, 120, 21, payload=OWN)

    async def test_a_deploy_keeps_it(self, store: Store) -> None:
        await create(store, app="app", fingerprint="one", overlap="allow")
        await decide(store, 120, payload=OWN)
        await decide(store, 180, skip=True)
        sync = SyncFromCode(actor="sync", definition=define(retries=2, overlap="allow"), app="app", fingerprint="two")
        await change(store, sync, 20)
        assert await decided(store) == [120, 180]
        again = replace(sync, definition=define(every(seconds=30), overlap="allow"), fingerprint="three")
        await change(store, again, 21)
        assert (await decided(store), await void(store)) == ([120, 180], [])

    async def test_sql_edit_reports_void_overrides(self, store: Store, plain: Plain) -> None:
        now = await seconds(store) // 3_600 * 3_600
        schedule = await create(store, trigger=every(hours=1), at=now)
        far = now + 10 * 3_600
        await decide(store, far, now, skip=True)
        await decide(store, far + 3_600, now, skip=True)
        await plain.redefine(schedule.id, raw(trigger=every(hours=2).to_json()))
        await plan(store, now + 7_200)
        left = far if (epoch(far) // 3_600) % 2 == 0 else far + 3_600
        assert await decided(store) == [left]
        assert await void(store) == [(far + far + 3_600 - left, "edited", "planner")]

    async def test_delete_removes_overrides(self, store: Store) -> None:
        await create(store)
        await decide(store, 120, skip=True)
        await change(store, Delete(actor="bo"), 20)
        assert (await decided(store), await void(store)) == ([], [(120, "deleted", "bo")])
        await create(store, at=30, overlap="allow")
        for at in (60, 120):
            await plan(store, at)
        assert [tick for tick, *_ in await ticks(store)] == [60, 120]

    async def test_override_lost_to_overlap_or_lateness_is_reported(self, store: Store) -> None:
        await create(store, catch_up="skip")
        await plan(store, 60)
        await decide(store, 120, 70, payload=OWN)
        await decide(store, 180, 70, payload=OWN)
        await decide(store, 240, 70, skip=True)
        await plan(store, 120)
        await plan(store, 300)
        assert await void(store) == [(120, "overlap", "planner"), (180, "misfire", "planner")]
        assert await ranges(store) == [
            ("overlap", 120, 120, 1),
            ("misfire", 180, 180, 1),
            ("operator", 240, 240, 1),
            ("overlap", 300, 300, 1),
        ]

    async def test_override_follows_its_tick_through_new_zone_data(
        self, store: Store, other: Store, tmp_path: Path
    ) -> None:
        await create(store, trigger=cron("0 9 * * *", tz="Europe/Berlin"), overlap="allow")
        # By the rules of today 09:00 is 08:00 in UTC.
        day, nine = 86_400, 8 * 3_600
        await decide(store, day + nine, skip=True, note="closed")
        await decide(store, 2 * day + nine, payload=OWN)
        with zones_of(write_zone(tmp_path / "east", "Europe/Berlin", "EET-2", "9999a")):
            await adopt(other, store)
            await other.zone_data.recompute(now=later(20))
            assert await decided(store) == [day + nine - 3_600, 2 * day + nine - 3_600]
            for number in range(3):
                await plan_all(other, number * day + nine - 3_600)
        assert await ranges(store) == [("operator", day + nine - 3_600, day + nine - 3_600, 1)]
        assert [run.payload for run in await runs_of(store)] == [{}, OWN]
