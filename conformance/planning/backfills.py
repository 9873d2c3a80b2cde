"""Backfills: which ticks they run, in what order and how many at once, beside all else that a schedule does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    NAME,
    NAMESPACE,
    SECOND,
    YEAR,
    change,
    claim,
    create,
    epoch,
    finish,
    get,
    later,
    plan,
    ranges,
    read,
    runs_of,
    since,
    start,
    ticks,
    work_off,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.planning.backfills import BackfillPlan, NewBackfill
from tickbird.domain.planning.commands import Delete, Pause, Resume, Trigger, Update
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

DAY = 86_400
DAILY = every(days=1)


async def backfill(
    store: Store, first: int, last: int, at: float, *, name: str = NAME, dry_run: bool = False, **options: Any
) -> BackfillPlan:
    """Ben asks for the ticks from one second after T0 to another."""
    new = NewBackfill(actor="ben", first=epoch(first), last=epoch(last), **options)
    return await store.backfills.create(NAMESPACE, name, new, dry_run=dry_run, now=later(at))


def instants(found: list[ClaimedRun]) -> list[int | None]:
    """The ticks of runs, in order."""
    return [since(run.scheduled_for) for run in found]


async def past(store: Store, until: int, **options: Any) -> None:
    """A schedule, made at T0, whose ticks until an instant were all skipped because it was paused."""
    await create(store, **options)
    await change(store, Pause(actor="ada"), 0)
    await change(store, Resume(actor="ada"), until)


class Backfills:
    """Ticks that have no run get one."""

    async def test_ten_days_of_which_two_have_run(self, store: Store) -> None:
        await create(store, trigger=DAILY)
        for day in (3, 7, 11):
            await change(store, Pause(actor="ada"), (day - 4) * DAY + 60 if day > 3 else 60)
            await change(store, Resume(actor="ada"), day * DAY - 60)
            if day < 11:
                await plan(store, day * DAY)
                await work_off(store, day * DAY + 1)
        assert await ticks(store) == [(3 * DAY, "schedule", "succeeded"), (7 * DAY, "schedule", "succeeded")]
        missing = [day * DAY for day in range(1, 11) if day not in (3, 7)]
        asked = await backfill(store, DAY, 10 * DAY, 11 * DAY - 30, dry_run=True)
        made = await backfill(store, DAY, 10 * DAY, 11 * DAY - 30)
        for told in (asked, made):
            assert (told.count, told.taken, told.excluded, told.cut_at) == (8, 2, 0, None)
            assert [since(tick) for tick in told.ticks] == missing
        assert (asked.backfill_id, made.backfill_id is None) == (None, False)
        done = await work_off(store, 11 * DAY - 20)
        assert instants(done) == missing
        assert {(run.origin, run.payload is not None) for run in done} == {("backfill", True)}
        assert made.backfill_id is not None
        record = await store.backfills.get(NAMESPACE, made.backfill_id)
        assert (record.total, record.done, record.active, record.counts) == (8, 8, 0, {"succeeded": 8})

    async def test_backfill_newest_first(self, store: Store) -> None:
        await past(store, 300)
        made = await backfill(store, 60, 240, 310, order="newest")
        assert [since(tick) for tick in made.ticks] == [240, 180, 120, 60]
        assert instants(await work_off(store, 311)) == [240, 180, 120, 60]

    async def test_a_dry_run_writes_nothing(self, store: Store) -> None:
        await past(store, 300)
        before = await get(store), await store.ledger.list_audit(NAMESPACE)
        asked = await backfill(store, 60, 300, 310, dry_run=True)
        assert (asked.count, asked.backfill_id) == (5, None)
        assert (await get(store), await store.ledger.list_audit(NAMESPACE)) == before
        assert await ticks(store) == []
        assert await store.backfills.list(NAMESPACE) == []

    async def test_both_ends_of_a_backfill_are_included(self, store: Store) -> None:
        await past(store, 600)
        assert (await backfill(store, 120, 240, 610, dry_run=True)).count == 3
        assert (await backfill(store, 121, 239, 610, dry_run=True)).count == 1
        assert (await backfill(store, 121, 179, 610)).count == 0
        assert await store.backfills.list(NAMESPACE) == []

    async def test_ticks_before_the_schedule_was_made_can_be_backfilled(self, store: Store) -> None:
        await create(store)
        made = await backfill(store, -180, -60, 10)
        assert (made.count, made.cut_at) == (3, None)
        assert instants(await work_off(store, 11)) == [-180, -120, -60]

    async def test_a_backfill_is_cut_where_nothing_is_decided_yet(self, store: Store) -> None:
        await past(store, 300)
        made = await backfill(store, 240, 900, 310)
        assert (made.count, since(made.cut_at), since(made.last)) == (2, 300, 300)
        # What is due but not planned yet is planned first, and so has its run.
        await finish(store, await start(store, 311), 312)
        await finish(store, await start(store, 312), 313)
        made = await backfill(store, 300, 900, 361)
        assert (made.count, made.taken, since(made.cut_at)) == (0, 2, 360)
        assert (await ticks(store))[-1] == (360, "schedule", "queued")
        with pytest.raises(InvalidError, match=r"lies after 2026-01-01T00:06:00Z.*run by themselves"):
            await backfill(store, 361, 900, 362)

    async def test_excluded_days_are_not_backfilled(self, store: Store) -> None:
        # T0 is a Thursday.
        await past(store, 8 * DAY, trigger=DAILY, exclude=exclude("sat", "sun"))
        made = await backfill(store, 0, 7 * DAY, 8 * DAY + 1)
        assert (made.count, made.excluded) == (6, 2)
        assert [tick.strftime("%a") for tick in made.ticks] == ["Thu", "Fri", "Mon", "Tue", "Wed", "Thu"]

    async def test_a_backfill_stands_beside_the_skip(self, store: Store) -> None:
        await past(store, 180)
        before = await ranges(store)
        assert before == [("paused", 60, 180, 3)]
        await backfill(store, 120, 120, 200)
        await work_off(store, 201)
        assert await ranges(store) == before
        assert await ticks(store) == [(120, "backfill", "succeeded")]

    async def test_overlapping_backfills_make_no_tick_twice(self, store: Store) -> None:
        await past(store, 600)
        assert (await backfill(store, 60, 300, 610)).count == 5
        again = await backfill(store, 180, 420, 611)
        assert (again.count, again.taken) == (2, 3)
        assert (await backfill(store, 60, 420, 612)).count == 0
        assert instants(await work_off(store, 613)) == [60, 120, 180, 240, 300, 360, 420]
        assert (await backfill(store, 60, 420, 614)).count == 0

    async def test_racing_backfills_make_no_tick_twice(self, store: Store, other: Store) -> None:
        await past(store, 6_000)
        made = await asyncio.gather(
            *(
                backfill(each, 60 * offset, 60 * (offset + 50), 6_010)
                for offset in range(1, 40, 4)
                for each in (store, other)
            )
        )
        found = [tick for tick, origin, _ in await ticks(store) if origin == "backfill"]
        assert len(found) == len(set(found)) == sum(plan.count for plan in made)
        assert sorted(tick for tick in found if tick) == list(range(60, 60 * 88, 60))

    async def test_a_backfill_uses_the_definition_in_force(self, store: Store) -> None:
        await past(store, 300, payload={"limit": 1})
        revised = (await change(store, Update(actor="ada", fields={"queue": "slow", "priority": 5}), 310)).schedule
        await backfill(store, 60, 120, 311)
        await backfill(store, 180, 180, 312, payload={"limit": 9}, note="again, with more")
        runs = await runs_of(store)
        assert [run.payload for run in runs] == [{"limit": 1}, {"limit": 1}, {"limit": 9}]
        assert {(run.queue, run.priority, run.revision) for run in runs} == {("slow", 5, revised.revision)}
        assert {(run.actor, run.start_by) for run in runs} == {("ben", None)}
        found = (await claim(store, 313, queues=["slow"])).runs
        assert [run.payload for run in found] == [{"limit": 1}]
        newest, _ = await store.backfills.list(NAMESPACE)
        assert (newest.payload, newest.note, newest.actor, newest.schedule) == (
            {"limit": 9},
            "again, with more",
            "ben",
            NAME,
        )

    async def test_a_changed_grid_is_the_one_that_is_backfilled(self, store: Store) -> None:
        await past(store, 300)
        await backfill(store, 60, 60, 301)
        await change(store, Update(actor="ada", fields={"trigger": every(seconds=30).to_json()}), 302)
        made = await backfill(store, 30, 120, 303)
        assert [since(tick) for tick in made.ticks] == [30, 90, 120]

    async def test_a_backfill_is_audited(self, store: Store) -> None:
        await past(store, 300)
        made = await backfill(store, 60, 300, 310, note="lost a disk")
        audit = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (audit.actor, audit.action, audit.schedule, audit.at) == ("ben", "backfill", NAME, later(310))
        assert (audit.detail["backfill"], audit.detail["count"], audit.detail["note"]) == (
            made.backfill_id,
            5,
            "lost a disk",
        )

    async def test_ten_years_of_seconds_are_counted_and_refused(self, store: Store) -> None:
        await past(store, 100, trigger=SECOND)
        with pytest.raises(InvalidError, match="has 315,360,001 ticks without a run, more than the 10,000"):
            await backfill(store, -10 * YEAR, 0, 101)
        with pytest.raises(InvalidError, match="has 10,001 ticks without a run"):
            await backfill(store, -10_000, 0, 101, dry_run=True)
        assert (await backfill(store, -9_999, 0, 101, dry_run=True)).count == 10_000
        await backfill(store, -9_999, -9_990, 101)
        with pytest.raises(InvalidError, match="has at least 315,359,991 ticks without a run"):
            await backfill(store, -10 * YEAR, 0, 101, dry_run=True)

    async def test_a_backfill_of_ten_thousand_runs(self, store: Store) -> None:
        await past(store, 100, trigger=SECOND)
        made = await backfill(store, -9_999, 0, 100, concurrency=3)
        assert (made.count, len(made.ticks)) == (10_000, 1_000)
        assert made.backfill_id is not None
        assert (await store.backfills.get(NAMESPACE, made.backfill_id)).counts == {"queued": 1, "waiting": 9_999}
        # They are no active runs, so that a plan does not become slower with every one of them.
        schedule = await get(store)
        assert len(await store.runs.list_active(schedule.id)) == 1
        for number in range(3):
            found = await start(store, 100.5)
            assert since(found.scheduled_for) == number - 9_999
            assert (await finish(store, found, 100.5)).released == 1

    # Who goes when

    async def test_backfilled_runs_wait_for_the_active_one(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        running = await start(store, 61)
        await backfill(store, -120, -60, 62)
        assert await ticks(store) == [
            (60, "schedule", "running"),
            (-120, "backfill", "waiting"),
            (-60, "backfill", "waiting"),
        ]
        assert (await finish(store, running, 63)).released == 1
        [first] = (await claim(store, 64)).runs
        assert since(first.scheduled_for) == -120
        assert (await finish(store, first, 65)).released == 1

    async def test_a_tick_goes_before_a_backfill(self, store: Store) -> None:
        await create(store)
        await backfill(store, -300, -60, 10)
        first = await start(store, 11)
        # Second comes, second waits; but behind one run, not behind the whole backfill.
        await plan(store, 60)
        manual = (await change(store, Trigger(actor="ada"), 61)).run_ids[0]
        assert await ranges(store) == []
        await finish(store, first, 62)
        order = await work_off(store, 63)
        assert [(since(run.scheduled_for), run.origin) for run in order[:3]] == [
            (60, "schedule"),
            (None, "manual"),
            (-240, "backfill"),
        ]
        assert order[1].id == manual
        assert instants(order[2:]) == [-240, -180, -120, -60]

    @pytest.mark.parametrize(
        "overlap, maximum, concurrency, expected",
        [("skip", 1, 5, 1), ("skip", 3, 2, 2), ("queue", 3, 5, 3), ("allow", 1, 4, 4), ("replace", 2, 1, 1)],
    )
    async def test_how_many_of_a_backfill_run_at_once(
        self, store: Store, overlap: Any, maximum: int, concurrency: int, expected: int
    ) -> None:
        await past(store, 600, overlap=overlap, max_concurrent=maximum)
        await backfill(store, 60, 600, 610, concurrency=concurrency)
        going_on: list[ClaimedRun] = []
        order: list[int | None] = []
        for step in range(10):
            found = list((await claim(store, 611 + step)).runs)
            going_on += found
            order += instants(found)
            left = 10 - step
            assert len(going_on) == min(expected, left)
            await finish(store, going_on.pop(0), 611 + step)
        assert order == list(range(60, 660, 60))
        assert not (await claim(store, 700)).runs

    async def test_ticks_count_for_the_concurrency_of_a_backfill(self, store: Store) -> None:
        await create(store, max_concurrent=2)
        await plan(store, 60)
        await backfill(store, -300, -60, 61, concurrency=2)
        assert [status for _, _, status in await ticks(store)] == ["queued", "queued"] + ["waiting"] * 4

    async def test_two_backfills_have_a_concurrency_each(self, store: Store) -> None:
        await past(store, 600, overlap="allow")
        await backfill(store, 60, 300, 610, concurrency=2)
        await backfill(store, 360, 600, 611, concurrency=1)
        found = list((await claim(store, 612)).runs)
        assert instants(found) == [60, 360, 120]
        await finish(store, found[1], 613)
        assert instants(list((await claim(store, 614)).runs)) == [420]

    async def test_a_backfilled_run_that_is_tried_again_keeps_its_place(self, store: Store) -> None:
        await past(store, 300)
        await backfill(store, 60, 180, 310)
        first = await start(store, 311)
        done = await finish(store, first, 312, "queued", delay=100, failures=1)
        assert done.released == 0
        assert not (await claim(store, 350)).runs
        again = await start(store, 413)
        assert again.id == first.id
        assert (await finish(store, again, 414, "failed", failures=1)).released == 1
        assert instants(await work_off(store, 415)) == [120, 180]

    async def test_a_lost_or_cancelled_run_lets_the_next_of_a_backfill_go(self, store: Store) -> None:
        await past(store, 300, on_crash="fail")
        await backfill(store, 60, 240, 310)
        lost = await start(store, 311, lease=10)
        rescued = await store.leases.rescue(now=later(330))
        assert (rescued.failed, len(rescued.released)) == ([lost.id], 1)
        [queued] = [run for run in await runs_of(store) if run.status == "queued"]
        await store.runs.cancel(queued.id, "ada", now=later(331))
        assert [status for _, _, status in await ticks(store)] == ["failed", "cancelled", "queued", "waiting"]
        last = (await runs_of(store))[-1]
        await store.runs.cancel(last.id, "ada", now=later(332))
        assert instants(await work_off(store, 333)) == [180]

    async def test_a_backfill_of_a_paused_schedule_runs(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada"), 10)
        await backfill(store, -60, 0, 310)
        assert instants(await work_off(store, 311)) == [-60, 0]
        assert (await get(store)).state == "paused"

    # Looking and cancelling

    async def test_progress_of_a_backfill(self, store: Store) -> None:
        await past(store, 600, overlap="allow")
        made = await backfill(store, 60, 600, 610, concurrency=3, note="why")
        assert made.backfill_id is not None
        [first, second, third] = (await claim(store, 611)).runs
        await finish(store, first, 612)
        await finish(store, second, 613, "failed")
        record = await store.backfills.get(NAMESPACE, made.backfill_id)
        assert record.counts == {"succeeded": 1, "failed": 1, "running": 1, "queued": 2, "waiting": 5}
        assert (record.active, record.done, record.total) == (8, 2, 10)
        assert (since(record.first), since(record.last), record.order, record.concurrency) == (60, 600, "oldest", 3)
        assert (record.created_at, record.cancelled_at) == (later(610), None)
        assert {run.backfill_id for run in await runs_of(store)} == {record.id}
        assert await store.backfills.list(NAMESPACE) == [record]
        assert await store.backfills.list(NAMESPACE, before=record.id) == []
        assert await store.backfills.list(NAMESPACE, schedule="another") == []
        assert await store.backfills.list("elsewhere") == []
        with pytest.raises(NotFoundError, match="no backfill"):
            await store.backfills.get("elsewhere", record.id)
        assert third.origin == "backfill"

    async def test_cancel_a_backfill(self, store: Store) -> None:
        await past(store, 600)
        made = await backfill(store, 60, 300, 610)
        assert made.backfill_id is not None
        running = await start(store, 611)
        record = await store.backfills.cancel(NAMESPACE, made.backfill_id, "ada", note="too slow", now=later(612))
        assert record.counts == {"running": 1, "cancelled": 4}
        assert (record.cancelled_at, record.cancelled_by) == (later(612), "ada")
        gone = (await runs_of(store))[-1]
        assert gone.reason == f"backfill {record.id} cancelled by ada: too slow"
        assert (gone.finished_at, gone.cancel_requested_by) == (later(612), "ada")
        audit = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (audit.action, audit.detail["cancelled"], audit.schedule) == ("cancel_backfill", 4, NAME)
        assert (await read(store, running)).cancel_requested_at is None
        with pytest.raises(ConflictError, match="no run left to cancel"):
            await store.backfills.cancel(NAMESPACE, record.id, "ada", now=later(613))
        record = await store.backfills.cancel(NAMESPACE, record.id, "ada", stop_running=True, now=later(614))
        assert (await read(store, running)).cancel_requested_at == later(614)
        assert record.cancelled_at == later(612)
        assert (await finish(store, running, 615, "cancelled")).released == 0

    async def test_a_cancelled_backfill_lets_others_go(self, store: Store) -> None:
        await past(store, 600)
        made = await backfill(store, 60, 300, 610)
        await backfill(store, 360, 420, 611)
        manual = (await change(store, Trigger(actor="ada"), 612)).run_ids[0]
        assert made.backfill_id is not None
        await store.backfills.cancel(NAMESPACE, made.backfill_id, "ada", now=later(613))
        order = await work_off(store, 614)
        assert order[0].id == manual
        assert instants(order[1:]) == [360, 420]

    async def test_cancelling_what_is_not_there(self, store: Store) -> None:
        with pytest.raises(NotFoundError, match="there is no backfill 77; `tickbird backfills`"):
            await store.backfills.cancel(NAMESPACE, 77, "ada")

    @pytest.mark.parametrize("command", [Delete(actor="ada", cancel_runs=True), Pause(actor="ada", cancel_runs=True)])
    async def test_cancelling_all_runs_ends_a_backfill(self, store: Store, command: Any) -> None:
        await past(store, 300)
        made = await backfill(store, 60, 240, 310)
        await change(store, command, 311)
        assert made.backfill_id is not None
        assert (await store.backfills.get(NAMESPACE, made.backfill_id)).counts == {"cancelled": 4}

    async def test_a_backfill_outlives_its_schedule(self, store: Store) -> None:
        await past(store, 300)
        await backfill(store, 60, 180, 310)
        await change(store, Delete(actor="ada"), 311)
        assert instants(await work_off(store, 312)) == [60, 120, 180]

    async def test_backfills_are_pruned_with_their_runs(self, store: Store) -> None:
        await past(store, 300)
        made = await backfill(store, 60, 120, 310)
        await finish(store, await start(store, 311), 312)
        await store.runs.prune(older_than=10, keep=0, now=later(400))
        assert made.backfill_id is not None
        record = await store.backfills.get(NAMESPACE, made.backfill_id)
        assert (record.counts, record.done) == ({"queued": 1}, 1)
        await work_off(store, 401)
        await store.runs.prune(older_than=10, keep=0, now=later(500))
        await store.runs.prune(older_than=10, keep=0, now=later(500))
        assert await store.backfills.list(NAMESPACE) == []

    # What cannot be

    async def test_what_cannot_be_backfilled(self, store: Store) -> None:
        with pytest.raises(NotFoundError, match="there is no schedule 'nothing'"):
            await backfill(store, 0, 60, 100, name="nothing")
        await past(store, 300)
        await change(store, Delete(actor="ada"), 310)
        for dry_run in (True, False):
            with pytest.raises(NotFoundError, match="schedule 'clock' was deleted; create it again"):
                await backfill(store, 60, 120, 311, dry_run=dry_run)

    async def test_a_parked_schedule_is_not_backfilled(self, store: Store, plain: Plain) -> None:
        schedule = await create(store)
        await plain.redefine(schedule.id, {"v": 1, "trigger": {"cron": "no"}, "target": {"task": "work"}})
        await store.planning.plan_due()
        assert (await get(store)).state == "parked"
        for dry_run in (True, False):
            with pytest.raises(ConflictError, match=r"schedule 'clock' is parked .*repair its definition"):
                await backfill(store, -120, 0, 100, dry_run=dry_run)

    @pytest.mark.parametrize(
        "options, message",
        [
            (
                {"first": 60, "last": 0},
                "first: 2026-01-01T00:01:00Z lies after last, 2026-01-01T00:00:00Z; give the earlier",
            ),
            ({"concurrency": 0}, "concurrency: must be a whole number from 1 to 1,000"),
            ({"concurrency": True}, "concurrency: must be"),
            ({"concurrency": 1_001}, "concurrency: must be"),
            ({"order": "random"}, "order: 'random' is not one of oldest, newest"),
            ({"first": -101 * 366 * DAY}, "longer than 100 years; choose a shorter one"),
            ({"actor": ""}, "actor: must have 1 to 200"),
            ({"payload": {"n": float("nan")}}, "payload: is not JSON"),
            ({"note": "x" * 2_001}, "note: must have"),
        ],
    )
    async def test_a_backfill_that_makes_no_sense(self, options: dict[str, Any], message: str) -> None:
        given = {
            "actor": "ben",
            **options,
            "first": epoch(options.get("first", 0)),
            "last": epoch(options.get("last", 60)),
        }
        with pytest.raises(InvalidError, match=message):
            NewBackfill(**given)

    async def test_a_payload_too_large_for_so_many_runs(self, store: Store) -> None:
        await past(store, 100, trigger=SECOND)
        with pytest.raises(InvalidError, match="payload: too large to be stored 200 times; store it elsewhere"):
            await backfill(store, -199, 0, 101, payload={"text": "x" * 900_000})

    async def test_a_tick_whose_run_was_pruned_is_not_backfilled(self, store: Store) -> None:
        await create(store)
        for tick in (60, 120, 180):
            await plan(store, tick)
            await work_off(store, tick)
        await change(store, Pause(actor="ada"), 200)
        await change(store, Resume(actor="ada"), 310)
        await store.runs.prune(older_than=100, keep=0, now=later(310))
        # A range that ends before the first tick that may run, one that begins behind it, and one with both.
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

    async def test_a_deleted_schedule_made_anew_does_not_run_pruned_ticks(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await work_off(store, 60)
        await store.runs.prune(older_than=10, keep=0, now=later(100))
        await change(store, Delete(actor="ada"), 110)
        await create(store, at=130)
        assert (await backfill(store, 1, 120, 140, dry_run=True)).pruned == 1

    async def test_many_pruned_ticks_are_counted_and_not_looked_at(self, store: Store) -> None:
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
