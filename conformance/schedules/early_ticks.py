"""A tick ran ahead of its time, then its grid is another one: that begins at once, and nothing is decided twice."""

from __future__ import annotations

import pytest

from conformance.runs.prune import prune
from conformance.schedules.plain_sql import Plain, raw, seconds
from conformance.steps import (
    change,
    create,
    define,
    epoch,
    get,
    later,
    looks_next,
    plan,
    plan_all,
    ranges,
    since,
    ticks,
    work_off,
)
from tickbird.domain.calendars.calendar import calendar_to_json, exclude
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Delete, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import any_of
from tickbird.store.protocol.store import Store

HALF = every(seconds=30)
TO_HALF = Update(actor="ada", fields={"trigger": HALF.to_json()})


async def run_ahead(store: Store, tick: int = 180, *, skipped: int = 2, app: str | None = None) -> None:
    """The tick of a minutely schedule runs at second 10; the ticks before it are skipped."""
    await create(store, overlap="allow", app=app, fingerprint=app)
    if skipped:
        await change(store, Skip(actor="ada", count=skipped), 1)
    await change(store, Override(actor="ada", tick=epoch(tick), move_to=epoch(10)), 2)
    await plan_all(store, 10)
    assert since((await get(store)).cursor.planned_until) == tick


async def done(store: Store) -> list[int | None]:
    """The ticks to come that were decided ahead of their time."""
    return [since(each.tick) for each in (await get(store)).cursor.tick_overrides if each.decided_early]


async def ran(store: Store) -> list[int | None]:
    """The ticks that ran, in the order in which they were planned."""
    return [tick for tick, *_ in await ticks(store)]


async def plan_each(store: Store, *instants: int) -> None:
    """A planner pass at each of these instants."""
    for at in instants:
        await plan_all(store, at)


class EarlyTicks:
    """The schedule ticks every minute from T0 on; its third tick runs at second 10, and the first two are skipped."""

    @pytest.mark.parametrize(
        "edit",
        [
            TO_HALF,
            SyncFromCode(actor="sync", definition=define(HALF, overlap="allow"), app="app", fingerprint="two"),
            Update(actor="ada", fields={"trigger": any_of(HALF, every(hours=1)).to_json()}),
        ],
        ids=["update", "deploy", "several"],
    )
    async def test_an_edited_grid_begins_at_once_and_repeats_nothing(self, store: Store, edit: Command) -> None:
        await run_ahead(store, app="app" if isinstance(edit, SyncFromCode) else None)
        await change(store, edit, 20)
        assert (since((await get(store)).cursor.planned_until), await done(store)) == (20, [60, 120, 180])
        assert await looks_next(store) == 30
        await plan_each(store, 30, 60, 90, 120, 150, 180, 210)
        assert await ran(store) == [180, 30, 90, 150, 210]
        assert await ranges(store) == [("operator", 60, 60, 1), ("operator", 120, 120, 1)]
        assert await done(store) == []

    async def test_a_plain_edit_begins_at_once_and_repeats_nothing(self, store: Store, plain: Plain) -> None:
        hour = 3_600
        now = await seconds(store) // hour * hour
        schedule = await create(store, trigger=every(hours=1), at=now, overlap="allow", catch_up="all")
        far = now + 10 * hour
        await change(store, Skip(actor="ada", count=9), now)
        await change(store, Override(actor="ada", tick=epoch(far), move_to=epoch(now + 1)), now)
        await plan_all(store, now + 1)
        assert await ran(store) == [far]
        halves = every(minutes=30).to_json()
        await plain.redefine(schedule.id, raw(trigger=halves, overlap="allow", catch_up="all"))
        await plan_all(store, now + 2 * hour)
        edited = await seconds(store)
        await plan_all(store, far + hour)
        between = range(now, far + hour + 1, hour // 2)
        new = [tick for tick in between if tick > edited and (tick % hour or tick > far)]
        assert [tick for tick in await ran(store) if tick and tick > edited] == [far, *new]

    async def test_repaired_it_begins_at_once_and_repeats_nothing(self, store: Store, plain: Plain) -> None:
        hour = 3_600
        now = await seconds(store) // hour * hour
        far = now + 12 * hour
        schedule = await create(store, trigger=every(days=1, anchor=later(far)), at=now, overlap="allow")
        await change(store, Reschedule(actor="ada", to=epoch(now + 1)), now)
        await plan_all(store, now + 1)
        assert await ran(store) == [far]
        await plain.redefine(schedule.id, raw(trigger={"every": {"seconds": -1}}))
        await plan_all(store, now + hour)
        assert (await get(store)).state == "parked"
        await plain.redefine(schedule.id, raw(trigger=every(hours=1).to_json(), overlap="allow", catch_up="all"))
        edited = await seconds(store)
        await plan_all(store, far + hour)
        new = [tick for tick in range(now, far + hour + 1, hour) if tick > edited and tick != far]
        assert [tick for tick in await ran(store) if tick and tick > edited] == [far, *new]

    async def test_recreated_schedule_starts_at_once_and_repeats_nothing(self, store: Store) -> None:
        await run_ahead(store)
        await change(store, Delete(actor="ada"), 15)
        assert await done(store) == [60, 120, 180]
        await create(store, trigger=HALF, at=20, overlap="allow")
        await plan_each(store, 30, 60, 90, 120, 150, 180, 210)
        assert await ran(store) == [180, 30, 90, 150, 210]
        assert len(await ranges(store)) == 2

    async def test_early_tick_is_remembered_across_a_grid_without_it(self, store: Store) -> None:
        await run_ahead(store)
        await change(store, Update(actor="ada", fields={"trigger": every(seconds=50).to_json()}), 20)
        await plan_all(store, 50)
        await change(store, Pause(actor="ada"), 55)
        await change(store, Resume(actor="ada"), 58)
        await change(store, Update(actor="ada", fields={"priority": 3}), 59)
        await change(store, TO_HALF, 59)
        await plan_each(store, 60, 90, 120, 150, 180)
        assert await ran(store) == [180, 50, 90, 150]

    async def test_early_tick_is_remembered_after_another_early_tick(self, store: Store) -> None:
        await run_ahead(store)
        await change(store, TO_HALF, 20)
        await change(store, Skip(actor="ada", count=6), 21)
        await change(store, Override(actor="ada", tick=epoch(300), move_to=epoch(25)), 22)
        await plan_all(store, 25)
        assert since((await get(store)).cursor.planned_until) == 300
        await change(store, Update(actor="ada", fields={"trigger": every(seconds=60).to_json()}), 26)
        assert await done(store) == [30, 60, 90, 120, 150, 180, 210, 240, 270, 300]
        await plan_each(store, 60, 120, 180, 240, 300, 360)
        assert await ran(store) == [180, 300, 360]

    async def test_pruned_early_tick_is_not_decided_again(self, store: Store) -> None:
        await create(store, trigger=every(days=3), overlap="allow")
        await change(store, Reschedule(actor="ada", to=epoch(10)), 2)
        await plan_all(store, 10)
        await work_off(store, 11)
        await change(store, Update(actor="ada", fields={"trigger": every(days=1).to_json()}), 20)
        day = 86_400
        await plan_all(store, day)
        await prune(store, 2 * day - 1, older_than=day)
        assert await ran(store) == [day]
        await plan_each(store, 2 * day, 3 * day, 4 * day)
        assert await ran(store) == [day, 2 * day, 4 * day]

    async def test_early_tick_is_not_listed_as_an_override(self, store: Store) -> None:
        await run_ahead(store)
        await change(store, TO_HALF, 20)
        for command in (Override(actor="ada", tick=epoch(180), skip=True), ClearOverride(actor="ada", tick=epoch(60))):
            with pytest.raises(ConflictError, match="before its time"):
                await change(store, command, 21)
        await change(store, Skip(actor="ada", count=2), 22)
        await plan_each(store, 30, 60, 90, 120)
        assert sorted(each[1] or 0 for each in await ranges(store)) == [30, 60, 90, 120]

    async def test_late_ticks_exclude_an_early_tick(self, store: Store) -> None:
        await run_ahead(store, skipped=2)
        await change(store, Update(actor="ada", fields={"trigger": HALF.to_json(), "catch_up": "skip"}), 20)
        await plan_each(store, 55, 115, 1_000)
        found = [each for each in await ranges(store) if each[0] == "misfire"]
        assert found == [
            ("misfire", 30, 30, 1),
            ("misfire", 90, 90, 1),
            ("misfire", 150, 150, 1),
            ("misfire", 210, 960, 26),
        ]

    async def test_no_range_spans_ticks_of_two_grids(self, store: Store) -> None:
        await create(store)
        await plan_all(store, 60)
        # The run of the first tick is in the way of two others, which come at once.
        for tick, to in ((120, 70), (180, 72)):
            await change(store, Override(actor="ada", tick=epoch(tick), move_to=epoch(to)), 65)
        await plan_each(store, 70, 72)
        await change(store, TO_HALF, 75)
        await plan_each(store, 90, 120, 150, 180, 210)
        found = [(first, last, count) for _, first, last, count in await ranges(store)]
        assert sorted(found) == [(90, 90, 1), (120, 120, 1), (150, 150, 1), (180, 180, 1), (210, 210, 1)]

    async def test_a_calendar_that_moves_ticks_changes_the_grid_too(self, store: Store) -> None:
        day = 86_400
        await create(store, trigger=every(days=1), roll="next", exclude=exclude("sat"), overlap="allow")
        await change(store, Reschedule(actor="ada", to=epoch(10)), 2)
        await plan_all(store, 10)
        assert await ran(store) == [day]
        await change(store, Update(actor="ada", fields={"exclude": calendar_to_json(exclude("sun"))}), 20)
        assert (since((await get(store)).cursor.planned_until), await done(store)) == (20, [day])

    async def test_without_an_edit_of_the_grid_the_cursor_stays_ahead(self, store: Store) -> None:
        await run_ahead(store)
        await change(store, Update(actor="ada", fields={"priority": 3}), 20)
        assert (since((await get(store)).cursor.planned_until), await done(store)) == (180, [])
        await plan(store, 240)
        assert await ran(store) == [180, 240]
