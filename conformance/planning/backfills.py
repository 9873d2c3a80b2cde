"""Backfills: the ticks that they run, and invalid requests."""

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
    runs_of,
    since,
    start,
    ticks,
    work_off,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.planning.backfills import BackfillPlan, NewBackfill
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

DAY = 86_400
DAILY = every(days=1)


async def backfill(
    store: Store, first: int, last: int, at: float, *, name: str = NAME, dry_run: bool = False, **options: Any
) -> BackfillPlan:
    """Ben backfills the ticks of a range, in seconds after T0."""
    new = NewBackfill(actor="ben", first=epoch(first), last=epoch(last), **options)
    return await store.backfills.create(NAMESPACE, name, new, dry_run=dry_run, now=later(at))


def instants(found: list[ClaimedRun]) -> list[int | None]:
    """The ticks of runs, in order."""
    return [since(run.scheduled_for) for run in found]


async def past(store: Store, until: int, **options: Any) -> None:
    """A schedule, created at T0, whose ticks until an instant were skipped because of a pause."""
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

    async def test_ticks_before_the_creation_can_be_backfilled(self, store: Store) -> None:
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
        with pytest.raises(InvalidError, match=r"is after 2026-01-01T00:06:00Z.*are planned as usual"):
            await backfill(store, 361, 900, 362)

    async def test_excluded_days_are_not_backfilled(self, store: Store) -> None:
        # T0 is a Thursday.
        await past(store, 8 * DAY, trigger=DAILY, exclude=exclude("sat", "sun"))
        made = await backfill(store, 0, 7 * DAY, 8 * DAY + 1)
        assert (made.count, made.excluded) == (6, 2)
        assert [tick.strftime("%a") for tick in made.ticks] == ["Thu", "Fri", "Mon", "Tue", "Wed", "Thu"]

    async def test_backfill_run_exists_in_addition_to_the_skip(self, store: Store) -> None:
        await past(store, 180)
        before = await ranges(store)
        assert before == [("paused", 60, 180, 3)]
        await backfill(store, 120, 120, 200)
        await work_off(store, 201)
        assert await ranges(store) == before
        assert await ticks(store) == [(120, "backfill", "succeeded")]

    async def test_overlapping_backfills_run_no_tick_twice(self, store: Store) -> None:
        await past(store, 600)
        assert (await backfill(store, 60, 300, 610)).count == 5
        again = await backfill(store, 180, 420, 611)
        assert (again.count, again.taken) == (2, 3)
        assert (await backfill(store, 60, 420, 612)).count == 0
        assert instants(await work_off(store, 613)) == [60, 120, 180, 240, 300, 360, 420]
        assert (await backfill(store, 60, 420, 614)).count == 0

    async def test_concurrent_backfills_run_no_tick_twice(self, store: Store, other: Store) -> None:
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
        # They are not active runs, so that they do not slow down planning.
        schedule = await get(store)
        assert len(await store.runs.list_active(schedule.id)) == 1
        for number in range(3):
            found = await start(store, 100.5)
            assert since(found.scheduled_for) == number - 9_999
            assert (await finish(store, found, 100.5)).released == 1

    async def test_invalid_backfill_target_is_refused(self, store: Store) -> None:
        with pytest.raises(NotFoundError, match="there is no schedule 'nothing'"):
            await backfill(store, 0, 60, 100, name="nothing")
        await past(store, 300)
        await change(store, Delete(actor="ada"), 310)
        for dry_run in (True, False):
            with pytest.raises(NotFoundError, match=r"schedule 'clock' was deleted\. Create it again"):
                await backfill(store, 60, 120, 311, dry_run=dry_run)

    async def test_a_parked_schedule_is_not_backfilled(self, store: Store, plain: Plain) -> None:
        schedule = await create(store)
        await plain.redefine(schedule.id, {"v": 1, "trigger": {"cron": "no"}, "target": {"task": "work"}})
        await store.planning.plan_due()
        assert (await get(store)).state == "parked"
        for dry_run in (True, False):
            with pytest.raises(ConflictError, match=r"schedule 'clock' is parked .*Repair its definition"):
                await backfill(store, -120, 0, 100, dry_run=dry_run)

    @pytest.mark.parametrize(
        "options, message",
        [
            (
                {"first": 60, "last": 0},
                "first: 2026-01-01T00:01:00Z is after last, 2026-01-01T00:00:00Z. Give the earlier",
            ),
            ({"concurrency": 0}, "concurrency must be a whole number from 1 to 1,000"),
            ({"concurrency": True}, "concurrency must be"),
            ({"concurrency": 1_001}, "concurrency must be"),
            ({"order": "random"}, "order: 'random' is not one of oldest, newest"),
            ({"first": -101 * 366 * DAY}, "longer than 100 years. Choose a shorter range"),
            ({"actor": ""}, "actor must have 1 to 200"),
            ({"payload": {"n": float("nan")}}, "payload is not JSON"),
            ({"note": "x" * 2_001}, "note must have"),
        ],
    )
    async def test_invalid_backfill_is_refused(self, options: dict[str, Any], message: str) -> None:
        given = {
            "actor": "ben",
            **options,
            "first": epoch(options.get("first", 0)),
            "last": epoch(options.get("last", 60)),
        }
        with pytest.raises(InvalidError, match=message):
            NewBackfill(**given)

    async def test_payload_too_large_for_the_number_of_runs_is_refused(self, store: Store) -> None:
        await past(store, 100, trigger=SECOND)
        with pytest.raises(InvalidError, match=r"payload: too large to store 200 times\. Store the data elsewhere"):
            await backfill(store, -199, 0, 101, payload={"text": "x" * 900_000})
