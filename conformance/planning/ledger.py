"""Every tick has one recorded decision, in rows that do not grow with the ticks."""

from __future__ import annotations

from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    claim,
    create,
    finish,
    later,
    plan,
    ranges,
    runs_of,
    since,
    skips_of,
    start,
    ticks,
    work_off,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Skip
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


class Ledger:
    """Skips, their extension, and the decisions of a range."""

    async def test_a_skip_extends_the_row_before_it(self, store: Store) -> None:
        await create(store)
        for at_ in (60, 120, 180, 240):
            await plan(store, at_)
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), since(skip.last), skip.count) == ("overlap", 120, 240, 3)

    async def test_another_blocker_is_another_row(self, store: Store) -> None:
        await create(store)
        for at_ in (60, 120):
            await plan(store, at_)
        await work_off(store, 121)
        for at_ in (180, 240):
            await plan(store, at_)
        first, second = await runs_of(store)
        assert [(since(skip.first), skip.count, skip.run_id) for skip in await skips_of(store)] == [
            (120, 1, first.id),
            (240, 1, second.id),
        ]

    async def test_a_run_between_two_skips_makes_two_rows(self, store: Store) -> None:
        day = 86_400
        await create(store, NAME, every(days=1), exclude=exclude("sat", "mon"))
        for number in range(1, 6):
            await plan(store, number * day)
            await work_off(store, number * day)
        assert await ranges(store) == [("calendar", 2 * day, 2 * day, 1), ("calendar", 4 * day, 4 * day, 1)]

    async def test_another_reason_is_another_row(self, store: Store) -> None:
        await create(store, catch_up="skip")
        await plan(store, 60)
        await plan(store, 120)
        await plan(store, 210)
        assert [row[0] for row in await ranges(store)] == ["overlap", "misfire"]

    async def test_another_revision_is_another_row(self, store: Store) -> None:
        await create(store)
        for at_ in (60, 120):
            await plan(store, at_)
        await change(store, Update(actor="ada", fields={"description": "new"}), 130)
        await plan(store, 180)
        assert [(skip.revision, skip.count) for skip in await skips_of(store)] == [(1, 1), (2, 1)]

    async def test_a_manual_run_between_does_not_part_a_row(self, store: Store) -> None:
        await create(store)
        for at_ in (60, 120):
            await plan(store, at_)
        await change(store, Trigger(actor="ada"), 130)
        await plan(store, 180)
        assert await ranges(store) == [("overlap", 120, 180, 2)]

    async def test_an_extended_row_spans_no_tick_that_ran(self, store: Store) -> None:
        await create(store, NAME, every(seconds=60), catch_up="skip", overlap="allow")
        await plan(store, 90)
        await plan(store, 120)
        await plan(store, 210)
        assert await ranges(store) == [("misfire", 60, 60, 1), ("misfire", 180, 180, 1)]
        assert await ticks(store) == [(120, "schedule", "queued")]

    async def test_decisions_include_ranges_that_overlap(self, store: Store) -> None:
        schedule = await create(store, overlap="allow")
        for at_ in (60, 120, 210, 240):
            await plan(store, at_)
        await change(store, Skip(actor="ada", count=3), 250)
        for at_ in (300, 360, 420, 480):
            await plan(store, at_)
        await change(store, Trigger(actor="ada"), 490)
        found = await store.ledger.tick_decisions(schedule.id, later(120), later(240))
        assert [since(run.scheduled_for) for run in found.runs] == [120, 180, 240]
        assert list(found.skips) == []
        inside = await store.ledger.tick_decisions(schedule.id, later(350), later(370))
        assert (list(inside.runs), [skip.count for skip in inside.skips]) == ([], [3])
        everything = await store.ledger.tick_decisions(schedule.id, later(0), later(10_000))
        assert [since(run.scheduled_for) for run in everything.runs] == [60, 120, 180, 240, 480]
        nothing = await store.ledger.tick_decisions(schedule.id, later(481), later(10_000))
        assert (list(nothing.runs), list(nothing.skips)) == ([], [])

    async def test_every_tick_is_accounted_for_once(self, store: Store) -> None:
        await create(store, "skip", overlap="skip")
        await create(store, "queue", overlap="queue", max_concurrent=2)
        await create(store, "all", catch_up="all", catch_up_limit=4)
        await create(store, "latest", catch_up="latest", overlap="replace")
        names = ("skip", "queue", "all", "latest")
        # Some steps on time, some late, some work done in between, some left to pile up.
        for step, at_ in enumerate((60, 121, 500, 545, 600, 660, 1200, 1203, 1260, 1925, 1980)):
            await plan(store, at_)
            if step % 3 == 0:
                for found in (await claim(store, at_, 3)).runs:
                    await finish(store, found, at_)
            if step % 4 == 1:
                await claim(store, at_, 1)
        for name in names:
            ran = [tick for tick, _, _ in await ticks(store, name)]
            skipped = await ranges(store, name)
            assert len(ran) == len(set(ran))
            assert len(ran) + sum(count for _, _, _, count in skipped) == 1980 // 60, name
            # Rows of skips never reach over a run, nor over each other.
            covered = [tick for _, first, last, _ in skipped for tick in range(first or 0, (last or 0) + 1, 60)]
            assert sorted(covered + [tick or 0 for tick in ran]) == list(range(60, 1981, 60)), name

    async def test_the_ledger_in_pages(self, store: Store) -> None:
        schedule = await create(store, overlap="allow")
        for at_ in (60, 120, 180):
            await plan(store, at_)
        await change(store, Skip(actor="ada", count=2), 190)
        for at_ in (240, 300, 360):
            await plan(store, at_)
        await change(store, Trigger(actor="ada"), 370)
        page = await store.ledger.page(schedule.id, later(120), later(0), later(360), limit=2)
        base = int(later(0).timestamp())
        assert [(run.first - base, run.last - base, run.count, run.cause) for run in page.runs] == [
            (120, 120, 1, "schedule"),
            (180, 180, 1, "schedule"),
        ]
        [skip] = page.skips
        assert (skip.first - base, skip.last - base, skip.count, skip.cause) == (240, 300, 2, "operator")
        assert (skip.revision, page.pruned_until) == (2, None)
        ids = {run.id for run in await runs_of(store)}
        assert all(run.run_id in ids for run in page.runs)
        # A skip belongs to a range if it reaches into it.
        assert (await store.ledger.page(schedule.id, later(0), later(301), later(360))).skips == []
        assert len((await store.ledger.page(schedule.id, later(0), later(300), later(360))).skips) == 1
        assert (await store.ledger.page(schedule.id, later(0), later(0), later(239))).skips == []

    async def test_the_ledger_says_how_far_it_was_pruned(self, store: Store) -> None:
        schedule = await create(store)
        await create(store, "other")
        for at_ in (60, 120, 180):
            await plan(store, at_)
            await work_off(store, at_)
        await store.runs.prune(older_than=0, keep=1, now=later(10_000))
        page = await store.ledger.page(schedule.id, later(0), later(0), later(10_000))
        assert [run.first for run in page.runs] == [int(later(180).timestamp())]
        assert page.pruned_until == int(later(120).timestamp())
        # A later prune of something older does not take it back.
        await store.runs.prune(older_than=0, keep=1, now=later(10_001))
        assert (await store.ledger.page(schedule.id, later(0), later(0), later(1))).pruned_until == page.pruned_until

    async def test_recent_outcomes(self, store: Store) -> None:
        await create(store)
        for at_ in (60, 120, 180):
            await plan(store, at_)
        await work_off(store, 190)
        await plan(store, 240)
        recent = await store.ledger.recent_outcomes(NAMESPACE, later(0))
        [ended] = recent.ended
        assert (since(ended.scheduled_for), since(ended.finished_at)) == (60, 190)
        [(name, skip)] = recent.skips
        assert (name, skip.reason, since(skip.first), since(skip.last)) == (NAME, "overlap", 120, 180)
        assert list((await store.ledger.recent_outcomes(NAMESPACE, later(191))).ended) == []
        # Dated by when it was extended last.
        assert len((await store.ledger.recent_outcomes(NAMESPACE, later(180))).skips) == 1
        assert list((await store.ledger.recent_outcomes(NAMESPACE, later(181))).skips) == []
        await work_off(store, 250)
        newest = await store.ledger.recent_outcomes(NAMESPACE, later(0), limit=1)
        assert [since(run.finished_at) for run in newest.ended] == [250]
        nothing = await store.ledger.recent_outcomes("elsewhere", later(0))
        assert (list(nothing.ended), list(nothing.skips)) == ([], [])

    async def test_skips_outlive_a_lost_worker(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await start(store, 60, lease=10)
        await store.leases.rescue(now=later(80))
        await plan(store, 120)
        [run] = await runs_of(store)
        [skip] = await skips_of(store)
        assert (skip.reason, skip.run_id) == ("overlap", run.id)
