"""Ticks that were not planned in time: each catch-up policy, and ranges too long to enumerate."""

from __future__ import annotations

import pytest

from conformance.steps import (
    NAME,
    SECOND,
    YEAR,
    change,
    create,
    get,
    later,
    looks_next,
    plan,
    plan_all,
    ranges,
    runs_of,
    since,
    skips_of,
    ticks,
    work_off,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.schedules.fields import CatchUp
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


class Outages:
    """Catch-up: exactly the runs of the policy, and a skip for every other tick."""

    async def test_catch_up_one_runs_once_for_the_oldest(self, store: Store) -> None:
        await create(store)
        assert await plan_all(store, 330) == (1, 1)
        [run] = await runs_of(store)
        assert (since(run.scheduled_for), run.origin, run.status) == (60, "catch_up", "queued")
        assert run.covers is not None
        assert (run.covers.first, run.covers.last, run.covers.count) == (later(60), later(300), 5)
        assert (run.due_at, run.available_at <= later(330)) == (later(60), True)
        [skip] = await skips_of(store)
        assert (skip.reason, skip.first, skip.last, skip.count) == ("coalesced", later(120), later(300), 4)
        assert (skip.run_id, skip.decided_at) == (run.id, later(330))

    async def test_catch_up_latest_runs_once_for_the_newest(self, store: Store) -> None:
        await create(store, catch_up="latest")
        assert await plan_all(store, 330) == (1, 1)
        [run] = await runs_of(store)
        assert (since(run.scheduled_for), run.origin, run.status) == (300, "catch_up", "queued")
        assert run.covers is not None
        assert (run.covers.first, run.covers.last, run.covers.count) == (later(60), later(300), 5)
        [skip] = await skips_of(store)
        assert (skip.reason, skip.first, skip.last, skip.count) == ("coalesced", later(60), later(240), 4)
        assert skip.run_id == run.id

    async def test_catch_up_all_runs_each_in_order(self, store: Store) -> None:
        await create(store, catch_up="all")
        assert await plan_all(store, 330) == (5, 0)
        assert await ticks(store) == [(60, "catch_up", "queued")] + [
            (tick, "catch_up", "waiting") for tick in (120, 180, 240, 300)
        ]
        assert all(run.covers is None for run in await runs_of(store))
        done = await work_off(store, 331)
        assert [since(run.scheduled_for) for run in done] == [60, 120, 180, 240, 300]

    async def test_catch_up_skip_runs_none(self, store: Store) -> None:
        await create(store, catch_up="skip")
        assert await plan_all(store, 330) == (0, 1)
        assert await ticks(store) == []
        assert await ranges(store) == [("misfire", 60, 300, 5)]

    @pytest.mark.parametrize("catch_up", ["one", "latest", "all", "skip"])
    async def test_the_tick_after_an_outage_is_on_time(self, store: Store, catch_up: CatchUp) -> None:
        await create(store, catch_up=catch_up)
        await plan_all(store, 330)
        await work_off(store, 331)
        assert await looks_next(store) == 360
        await plan(store, 360)
        assert (await ticks(store))[-1] == (360, "schedule", "queued")

    @pytest.mark.parametrize("catch_up", ["one", "latest", "skip"])
    async def test_one_late_tick_covers_only_itself(self, store: Store, catch_up: CatchUp) -> None:
        await create(store, catch_up=catch_up)
        await plan_all(store, 90)
        if catch_up == "skip":
            assert await ranges(store) == [("misfire", 60, 60, 1)]
        else:
            [run] = await runs_of(store)
            assert (since(run.scheduled_for), run.origin, run.covers) == (60, "catch_up", None)
            assert await ranges(store) == []

    async def test_late_and_punctual_ticks_in_one_pass(self, store: Store) -> None:
        await create(store, overlap="allow")
        await plan_all(store, 305)
        assert await ticks(store) == [(60, "catch_up", "queued"), (300, "schedule", "queued")]
        assert await ranges(store) == [("coalesced", 120, 240, 3)]

    async def test_punctual_tick_is_blocked_by_the_catch_up_run(self, store: Store) -> None:
        await create(store)
        await plan_all(store, 305)
        [run] = await runs_of(store)
        assert run.covers is not None
        assert run.covers.count == 4
        skips = await skips_of(store)
        assert [(skip.reason, skip.count, skip.run_id) for skip in skips] == [
            ("coalesced", 3, run.id),
            ("overlap", 1, run.id),
        ]

    async def test_late_ticks_with_an_active_run_are_overlap_skips(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await runs_of(store)
        await plan_all(store, 330)
        assert len(await runs_of(store)) == 1
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), since(skip.last), skip.count) == ("overlap", 120, 300, 4)
        assert skip.run_id == run.id

    async def test_catch_up_limit_keeps_the_newest(self, store: Store) -> None:
        await create(store, catch_up="all", catch_up_limit=3)
        assert await plan_all(store, 330) == (3, 1)
        assert [tick for tick, _, _ in await ticks(store)] == [180, 240, 300]
        assert await ranges(store) == [("limit", 60, 120, 2)]

    async def test_excluded_ticks_are_not_caught_up(self, store: Store) -> None:
        day = 86_400
        await create(store, NAME, every(hours=12), exclude=exclude("sat"), overlap="allow")
        await plan_all(store, 4 * day - 3600)
        # Saturday the 3rd is day 2: its ticks at 2.0 and 2.5 days are out.
        [run] = await runs_of(store)
        assert run.covers is not None
        assert run.covers.count == 5
        assert sorted(await ranges(store)) == [
            ("calendar", 2 * day, 2 * day + day // 2, 2),
            ("coalesced", day, day + day // 2, 2),
            ("coalesced", 3 * day, 3 * day + day // 2, 2),
        ]

    @pytest.mark.parametrize(
        "catch_up, runs, expected",
        [
            ("one", 1, [("coalesced", 2, YEAR - 11, YEAR - 12), ("overlap", YEAR - 10, YEAR, 11)]),
            ("latest", 1, [("coalesced", 1, YEAR - 12, YEAR - 12), ("overlap", YEAR - 10, YEAR, 11)]),
            ("all", 100, [("limit", 1, YEAR - 111, YEAR - 111), ("overlap", YEAR - 10, YEAR, 11)]),
            ("skip", 1, [("misfire", 1, YEAR - 11, YEAR - 11), ("overlap", YEAR - 9, YEAR, 10)]),
        ],
    )
    async def test_a_year_of_seconds(
        self, store: Store, catch_up: CatchUp, runs: int, expected: list[tuple[str, int, int, int]]
    ) -> None:
        await create(store, NAME, SECOND, catch_up=catch_up)
        assert await plan_all(store, YEAR) == (runs, 2)
        assert await ranges(store) == expected
        assert runs + sum(count for _, _, _, count in expected) == YEAR
        assert await looks_next(store) == YEAR + 1

    async def test_a_year_of_ticks_with_one_active_run_is_one_skip(self, store: Store) -> None:
        await create(store, NAME, SECOND)
        await plan(store, 1)
        for at_ in (2, 3, 1000, YEAR):
            await plan_all(store, at_)
        assert await ranges(store) == [("overlap", 2, YEAR, YEAR - 1)]

    async def test_more_runs_than_fit_one_plan_come_in_order(self, store: Store) -> None:
        await create(store, NAME, SECOND, catch_up="all", catch_up_limit=10_000, overlap="allow", grace=0)
        assert await plan_all(store, 2_500) == (2_500, 0)
        assert [tick for tick, _, _ in await ticks(store)] == list(range(1, 2_501))
        assert (await get(store)).cursor.runs_planned == 2_500

    async def test_backlogged_schedule_does_not_delay_others(self, store: Store) -> None:
        await create(store, "mountain", SECOND, catch_up="all", catch_up_limit=10_000, overlap="allow")
        await create(store, "small")
        planned = await plan(store, 5_000)
        assert planned.schedules == 2
        assert len(await runs_of(store, "small")) == 1

    async def test_edit_first_decides_a_whole_backlog(self, store: Store) -> None:
        await create(store, NAME, SECOND, catch_up="all", catch_up_limit=10_000, overlap="allow", grace=0)
        await change(store, Update(actor="ada", fields={"trigger": {"every": {"days": 1}}}), 2_500)
        runs = await runs_of(store)
        assert [since(run.scheduled_for) for run in runs] == list(range(1, 2_501))
        assert {run.revision for run in runs} == {1}
        assert await looks_next(store) == 86_400
