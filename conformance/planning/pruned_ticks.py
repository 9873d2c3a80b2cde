"""Ticks whose run was pruned are not backfilled."""

from __future__ import annotations

import asyncio

from conformance.planning.backfills import backfill, instants, past
from conformance.steps import NAME, SECOND, YEAR, change, claim, create, finish, later, plan, since, work_off
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning.backfills import BackfillPlan
from tickbird.domain.planning.commands.define import Delete
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.store.protocol.store import Store


class PrunedTicks:
    """A tick that may have run does not run again."""

    async def test_a_tick_whose_run_was_pruned_is_not_backfilled(self, store: Store) -> None:
        await create(store)
        for tick in (60, 120, 180):
            await plan(store, tick)
            await work_off(store, tick)
        await change(store, Pause(actor="ada"), 200)
        await change(store, Resume(actor="ada"), 310)
        await store.runs.prune(older_than=100, keep=0, now=later(310))
        # A range that ends before the first tick that may run, one that begins after it, and one with both.
        for first, last, pruned, ran in ((1, 180, 3, []), (181, 400, 0, [240, 300]), (100, 400, 2, [240, 300])):
            would = await backfill(store, first, last, 320, dry_run=True)
            assert (would.pruned, would.taken, would.excluded) == (pruned, 0, 0)
            assert [since(tick) for tick in would.ticks] == ran
            assert (would.count, since(would.pruned_until)) == (len(ran), 180 if pruned else None)
        made = await backfill(store, 1, 400, 320)
        assert (made.count, made.pruned, since(made.pruned_until)) == (2, 3, 180)
        assert instants(await work_off(store, 330)) == [240, 300]
        again = await backfill(store, 1, 180, 340)
        assert (again.backfill_id, again.count, again.pruned) == (None, 0, 3)

    async def test_ticks_that_still_have_a_run_are_not_called_pruned(self, store: Store) -> None:
        await create(store, overlap="allow")
        for tick in (60, 120, 180):
            await plan(store, tick)
        for tick, run in zip((60, 120, 180), (await claim(store, 180)).runs, strict=True):
            if tick != 60:
                await finish(store, run, 181)
        await store.runs.prune(older_than=10, keep=0, now=later(200))
        would = await backfill(store, 1, 180, 200, dry_run=True)
        assert (would.count, would.taken, would.pruned, since(would.pruned_until)) == (0, 1, 2, 180)

    async def test_a_backfilled_tick_that_was_pruned_is_not_backfilled_again(self, store: Store) -> None:
        await past(store, 310)
        for _ in range(2):
            await backfill(store, 1, 180, 320)
            await work_off(store, 321)
            await store.runs.prune(older_than=50, keep=0, now=later(372))
        found = await backfill(store, 1, 300, 372, dry_run=True)
        assert (found.pruned, [since(tick) for tick in found.ticks]) == (3, [240, 300])

    async def test_recreated_schedule_does_not_run_pruned_ticks(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await work_off(store, 60)
        await store.runs.prune(older_than=10, keep=0, now=later(100))
        await change(store, Delete(actor="ada"), 110)
        await create(store, at=130)
        assert (await backfill(store, 1, 120, 140, dry_run=True)).pruned == 1

    async def test_many_pruned_ticks_are_counted_but_not_examined(self, store: Store) -> None:
        await create(store, NAME, SECOND, exclude=exclude("sat", "sun"))
        await plan(store, 2 * YEAR)
        await work_off(store, 2 * YEAR)
        await store.runs.prune(older_than=0, keep=0, now=later(2 * YEAR + 10))
        found = await backfill(store, 1, 2 * YEAR, 2 * YEAR + 20, dry_run=True)
        assert (found.count, found.taken) == (0, 0)
        assert found.pruned + found.excluded == 2 * YEAR
        assert found.excluded > YEAR // 2

    async def test_pruning_during_a_backfill_does_not_run_a_tick_twice(self, store: Store, other: Store) -> None:
        await create(store, NAME, SECOND, overlap="allow", catch_up="all", catch_up_limit=200)
        await plan(store, 200)
        await work_off(store, 200)

        async def prune() -> None:
            while await store.runs.prune(older_than=10, keep=0, limit=7, now=later(300)):
                pass

        async def ask() -> list[BackfillPlan]:
            return [await backfill(other, 1, 200, 200) for _ in range(10)]

        _, *asked = await asyncio.gather(prune(), ask(), ask())
        for found in (each for plans in asked for each in plans):
            assert (found.count, found.taken + found.pruned) == (0, 200)
