"""Ticks become runs: on time, once, with the right labels."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from conformance.steps import (
    MINUTE,
    NAME,
    NAMESPACE,
    a_worker,
    claim,
    create,
    finish,
    get,
    later,
    looks_next,
    plan,
    plan_all,
    ranges,
    read,
    runs_of,
    since,
    skips_of,
    start,
    ticks,
    work_off,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.store import Store


def _hand_off(room: int) -> HandOff:
    return HandOff(a_worker(), room, 20.0, ("default",), [("task", "work")])


class Planning:
    """Decisions about due ticks."""

    async def test_new_schedule_waits_for_its_first_tick(self, store: Store) -> None:
        schedule = await create(store, at=30)
        assert (schedule.state, since(schedule.cursor.planned_until)) == ("active", 30)
        assert await looks_next(store) == 60
        planned = await plan(store, 59)
        assert (planned.schedules, planned.runs, planned.skips, planned.more) == (0, 0, 0, False)
        assert planned.next_at == later(60)
        assert await ticks(store) == []

    async def test_created_on_a_tick_does_not_run_it(self, store: Store) -> None:
        await create(store, at=60)
        await plan(store, 60)
        assert await ticks(store) == []
        assert await looks_next(store) == 120

    async def test_tick_becomes_one_run(self, store: Store) -> None:
        schedule = await create(store, payload={"limit": 5}, priority=7, queue="slow", retries=2)
        planned = await plan(store, 60)
        assert (planned.now, planned.schedules, planned.runs, planned.skips) == (later(60), 1, 1, 0)
        assert planned.parked == ()
        [run] = await runs_of(store)
        assert (run.namespace, run.schedule_id, run.schedule, run.revision) == (NAMESPACE, schedule.id, NAME, 1)
        assert (run.target.kind, run.target.name, run.payload) == ("task", "work", {"limit": 5})
        assert (run.queue, run.priority, run.origin, run.status) == ("slow", 7, "schedule", "queued")
        assert (run.scheduled_for, run.due_at) == (later(60), later(60))
        assert later(60) <= run.available_at <= later(60)
        assert (run.attempt, run.failures, run.crashes) == (0, 0, 0)
        assert (run.covers, run.start_by, run.retry_of) == (None, None, None)
        assert (run.started_at, run.finished_at, run.lease_until, run.worker) == (None, None, None, None)
        assert (run.result, run.error, run.failure_kind, run.cancel_requested_at) == (None, None, None, None)
        assert run.created_at == later(60)

    async def test_ticks_on_time_can_be_leased_to_the_worker_that_plans(self, store: Store) -> None:
        await create(store, payload={"limit": 5}, start_within=30)
        await create(store, "elsewhere", queue="slow")
        await create(store, "unserved", task="other")
        await create(store, "theirs", namespace="theirs")
        planned = await store.planning.plan_due(hand_off=_hand_off(5), now=later(60))
        assert (planned.schedules, planned.runs) == (4, 4)
        [leased] = planned.leased
        assert (leased.attempt, leased.failures, leased.target, leased.origin) == (1, 0, "work", "schedule")
        assert (leased.schedule, leased.scheduled_for, leased.due_at) == (NAME, later(60), later(60))
        assert (leased.payload, leased.covers, leased.definition) == ({"limit": 5}, None, (await get(store)).definition)
        [run] = await runs_of(store)
        assert (run.id, run.status, run.attempt, run.worker) == (leased.id, "running", 1, "w1")
        assert (run.started_at, run.lease_until, run.start_by) == (later(60), later(80), later(90))
        for name, namespace in (("elsewhere", NAMESPACE), ("unserved", NAMESPACE), ("theirs", "theirs")):
            assert await ticks(store, name, namespace) == [(60, "schedule", "queued")]
        assert not (await claim(store, 60)).runs
        assert (await finish(store, leased, 61)).accepted == {leased.id}
        assert (await read(store, leased)).status == "succeeded"

    async def test_no_more_is_leased_than_there_is_room_for_and_the_most_urgent_first(self, store: Store) -> None:
        for name, priority in (("low", -1), ("high", 5), ("plain", 0), ("urgent", 9)):
            await create(store, name, priority=priority)
        planned = await store.planning.plan_due(hand_off=_hand_off(2), now=later(60))
        assert sorted(run.schedule or "" for run in planned.leased) == ["high", "urgent"]
        assert (await plan(store, 60)).runs == 0
        assert [run.schedule for run in (await claim(store, 60)).runs] == ["plain", "low"]
        assert not (await store.planning.plan_due(hand_off=_hand_off(0), now=later(120))).leased

    async def test_late_or_waiting_runs_are_not_leased(self, store: Store) -> None:
        await create(store, "late")
        await create(store, "busy", overlap="queue")
        await store.planning.plan_due(hand_off=_hand_off(9), now=later(60))
        planned = await store.planning.plan_due(hand_off=_hand_off(9), now=later(135))
        assert (list(planned.leased), planned.runs) == ([], 1)
        assert await ticks(store, "busy") == [(60, "schedule", "running"), (120, "catch_up", "waiting")]

    async def test_a_leased_run_whose_worker_is_lost_is_rescued(self, store: Store) -> None:
        await create(store)
        [leased] = (await store.planning.plan_due(hand_off=_hand_off(1), now=later(60))).leased
        assert not (await store.leases.rescue(now=later(79))).requeued
        assert list((await store.leases.rescue(now=later(81))).requeued) == [leased.id]
        assert (await finish(store, leased, 82)).accepted == frozenset()
        assert (await start(store, 82)).attempt == 2

    async def test_planning_again_changes_nothing(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        for at_ in (60, 60.5, 30, 119.999):
            planned = await plan(store, at_)
            assert (planned.schedules, planned.runs, planned.skips) == (0, 0, 0)
        assert await ticks(store) == [(60, "schedule", "queued")]
        assert since((await get(store)).cursor.planned_until) == 60

    async def test_nothing_fires_a_millisecond_early(self, store: Store) -> None:
        await create(store)
        assert (await plan(store, 59.999)).runs == 0
        assert (await plan(store, 60)).runs == 1
        assert (await plan(store, 119.999_999)).runs == 0

    async def test_every_minute_is_every_minute(self, store: Store) -> None:
        await create(store, overlap="allow")
        for minute in range(1, 11):
            # Looking late now and then must not move the grid.
            await plan(store, minute * 60 + minute / 2)
        assert [tick for tick, _, _ in await ticks(store)] == [60 * minute for minute in range(1, 11)]

    async def test_up_to_the_grace_is_on_time(self, store: Store) -> None:
        await create(store, "default")
        await create(store, "patient", grace=30)
        await plan(store, 70)
        assert await ticks(store, "default") == [(60, "schedule", "queued")]
        await work_off(store, 70)
        await plan(store, 130.001)
        assert (await ticks(store, "default"))[1] == (120, "catch_up", "queued")
        await work_off(store, 131)
        await create(store, "more-patient", at=131, grace=30)
        await plan(store, 210)
        assert await ticks(store, "more-patient") == [(180, "schedule", "queued")]
        assert (await ticks(store, "patient"))[2] == (180, "schedule", "queued")

    async def test_start_within_gives_a_deadline(self, store: Store) -> None:
        await create(store, "hour", start_within=3600)
        await create(store, "none", catch_up="skip", grace=20)
        await plan(store, 60)
        assert (await runs_of(store, "hour"))[0].start_by == later(3660)
        assert (await runs_of(store, "none"))[0].start_by == later(80)

    async def test_start_within_passed_before_planning_is_a_misfire(self, store: Store) -> None:
        await create(store, start_within=100, catch_up="all")
        await plan(store, 350)
        # Ticks 60 to 240 had to start by 340; only tick 300 still may.
        assert await ranges(store) == [("misfire", 60, 240, 4)]
        assert await ticks(store) == [(300, "catch_up", "queued")]

    async def test_spread_moves_due_not_the_tick(self, store: Store) -> None:
        spread = 600
        digest = hashlib.blake2b(f"{NAMESPACE}/{NAME}".encode(), digest_size=8).digest()
        offset = int.from_bytes(digest, "big") % spread
        assert offset
        await create(store, NAME, every(seconds=3600), spread=spread)
        assert await looks_next(store) == 3600 + offset
        assert (await plan(store, 3600 + offset - 0.001)).runs == 0
        await plan(store, 3600 + offset)
        [run] = await runs_of(store)
        assert (since(run.scheduled_for), since(run.due_at)) == (3600, 3600 + offset)
        assert run.available_at >= run.due_at
        assert await looks_next(store) == 7200 + offset

    async def test_excluded_days_are_calendar_skips(self, store: Store) -> None:
        day = 86_400
        await create(store, NAME, every(days=1), exclude=exclude("sat", "sun"))
        for number in range(1, 6):
            await plan(store, number * day)
            await work_off(store, number * day)
        # T0 is a Thursday: day 1 is a Friday, days 2 and 3 the weekend.
        assert [tick for tick, _, _ in await ticks(store)] == [day, 4 * day, 5 * day]
        assert await ranges(store) == [("calendar", 2 * day, 3 * day, 2)]

    async def test_one_shot_ends_after_its_tick(self, store: Store) -> None:
        await create(store, NAME, at(later(90)))
        assert await looks_next(store) == 90
        planned = await plan(store, 90)
        assert planned.next_at is None
        assert await ticks(store) == [(90, "schedule", "queued")]
        schedule = await get(store)
        assert (schedule.state, schedule.cursor.next_run_at) == ("ended", None)
        assert (await plan(store, 10_000)).schedules == 0

    async def test_missed_one_shot_is_caught_up(self, store: Store) -> None:
        await create(store, NAME, at(later(90)))
        await plan(store, 9_000)
        assert await ticks(store) == [(90, "catch_up", "queued")]
        assert (await get(store)).state == "ended"

    async def test_max_runs_counts_tick_runs(self, store: Store) -> None:
        await create(store, max_runs=2, overlap="allow")
        for at_ in (60, 120, 180):
            await plan(store, at_)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120]
        assert (await get(store)).state == "ended"
        assert await ranges(store) == []

    async def test_window_bounds_are_part_of_it(self, store: Store) -> None:
        await create(store, start_at=later(120), end_at=later(240), overlap="allow")
        assert await looks_next(store) == 120
        for at_ in (60, 120, 180, 240, 300):
            await plan(store, at_)
        assert [tick for tick, _, _ in await ticks(store)] == [120, 180, 240]
        assert (await get(store)).state == "ended"

    async def test_wall_clock_of_a_zone(self, store: Store) -> None:
        await create(store, NAME, cron("0 9 * * *", tz="America/New_York"))
        assert (await plan(store, 0)).next_at == later(14 * 3600)
        await plan(store, 14 * 3600)
        assert [tick for tick, _, _ in await ticks(store)] == [14 * 3600]

    async def test_next_at_is_the_earliest_of_all(self, store: Store) -> None:
        assert (await plan(store, 0)).next_at is None
        await create(store, "hourly", every(seconds=3600))
        assert (await plan(store, 0)).next_at == later(3600)
        await create(store, "minutely")
        assert (await plan(store, 0)).next_at == later(60)
        assert (await plan(store, 60)).next_at == later(120)

    async def test_unexpected_clock_plans_nothing(self, store: Store) -> None:
        schedule = await create(store)
        for low, high in ((0, 59.9), (60.1, 100)):
            planned = await store.planning.plan_due(expected=(later(low), later(high)), now=later(60))
            assert (planned.now, planned.schedules, planned.runs, planned.skips) == (later(60), 0, 0, 0)
        assert await get(store) == schedule
        assert (await store.planning.plan_due(expected=(later(60), later(60)), now=later(60))).runs == 1

    async def test_a_loop_by_next_at_neither_spins_nor_oversleeps(self, store: Store) -> None:
        await create(store, "a", every(seconds=7 * 60), overlap="allow")
        await create(store, "b", every(seconds=3600), overlap="allow")
        await create(store, "c", every(seconds=1800), spread=300, overlap="allow")
        await create(store, "d", at(later(5_000)))
        now, steps = later(0), 0
        while now <= later(4 * 3600):
            planned = await store.planning.plan_due(now=now)
            steps += 1
            if not planned.more:
                assert planned.next_at is not None
                assert planned.next_at > now
                now = planned.next_at
        runs = [run for name in "abcd" for run in await runs_of(store, name)]
        assert all(run.created_at == run.due_at and run.origin == "schedule" for run in runs)
        assert [tick for tick, _, _ in await ticks(store, "a")] == list(range(420, 14_401, 420))
        assert [tick for tick, _, _ in await ticks(store, "b")] == [3600, 7200, 10_800, 14_400]
        assert [tick for tick, _, _ in await ticks(store, "d")] == [5_000]
        assert steps <= len(runs) + 1

    async def test_more_due_than_the_limit_takes_both_ends(self, store: Store) -> None:
        names = [f"s{number:02}" for number in range(40)]
        for number, name in enumerate(names):
            await create(store, name, every(days=1, anchor=later(60 * number + 60)))
        planned = await plan(store, 3600, limit=10)
        assert (planned.schedules, planned.runs, planned.more) == (10, 10, True)
        done = [name for name in names if await runs_of(store, name)]
        assert done == names[:5] + names[-5:]
        assert await plan_all(store, 3600, limit=10) == (30, 0)
        assert all([len(await runs_of(store, name)) == 1 for name in names])

    async def test_any_limit_gets_everything_done_once(self, store: Store) -> None:
        for number in range(7):
            await create(store, f"s{number}")
        planned = await plan(store, 60, limit=1)
        assert (planned.schedules, planned.runs, planned.more) == (1, 1, True)
        assert await plan_all(store, 60, limit=3) == (6, 0)
        assert not (await plan(store, 60, limit=1)).more

    async def test_exactly_the_limit_is_not_more(self, store: Store) -> None:
        for number in range(4):
            await create(store, f"s{number}")
        await plan(store, 60, limit=4)
        planned = await plan(store, 60, limit=4)
        assert (planned.schedules, planned.more, planned.next_at) == (0, False, later(120))

    async def test_namespaces_are_apart(self, store: Store) -> None:
        one = await create(store, namespace="one", payload={"n": 1})
        two = await create(store, namespace="two", payload={"n": 2})
        assert one.id != two.id
        assert (await plan(store, 60)).runs == 2
        for name, number in (("one", 1), ("two", 2)):
            [run] = await runs_of(store, namespace=name)
            assert (run.namespace, run.payload) == (name, {"n": number})
        assert await store.schedules.get("three", NAME) is None
        assert list(await store.runs.list("three")) == []

    async def test_many_schedules_in_one_step(self, store: Store) -> None:
        for number in range(60):
            await create(store, f"s{number}", payload={"n": number})
        planned = await plan(store, 60)
        assert (planned.schedules, planned.runs, planned.more) == (60, 60, False)
        runs = await store.runs.list(NAMESPACE, limit=1_000)
        assert {(run.schedule, run.payload["n"]) for run in runs} == {(f"s{n}", n) for n in range(60)}

    async def test_store_has_its_own_clock(self, store: Store) -> None:
        now = await store.now()
        assert now.utcoffset() == timedelta(0)
        planned = await store.planning.plan_due()
        assert now <= planned.now <= await store.now()

    async def test_without_now_the_clock_decides(self, store: Store) -> None:
        begun = await store.now()
        await create(store, "past", MINUTE, at=(begun - later(0)).total_seconds() - 3600)
        await create(store, "to-come", at(begun.replace(microsecond=0) + timedelta(days=1)), at=0)
        await store.planning.plan_due()
        [run] = await runs_of(store, "past")
        assert run.created_at >= begun
        assert await runs_of(store, "to-come") == []

    async def test_skip_rows_name_their_revision_and_instant(self, store: Store) -> None:
        schedule = await create(store, catch_up="skip")
        await plan(store, 330)
        [skip] = await skips_of(store)
        assert (skip.schedule_id, skip.revision, skip.decided_at) == (schedule.id, 1, later(330))
        assert (skip.run_id, skip.actor, skip.note) == (None, None, "")
