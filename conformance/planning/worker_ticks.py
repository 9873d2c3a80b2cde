"""Ticks that workers compute themselves: once per tick, under the revision in force, also together with the planner."""

from __future__ import annotations

from dataclasses import replace

from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    claim,
    create,
    finish,
    get,
    later,
    plan,
    plan_all,
    ranges,
    runs_of,
    since,
    ticks,
    work_off,
)
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Override
from tickbird.domain.planning.decided_ticks import recent_start
from tickbird.domain.planning.worker_ticks import WorkerSchedules, WrittenTicks, plan_worker_ticks
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


async def _read(
    store: Store, at: float, known: dict[int, int] | None = None, app: str | None = None
) -> WorkerSchedules:
    return await store.worker_ticks.read(NAMESPACE, app, known or {}, now=later(at))


async def _look(
    store: Store, schedule: Schedule, at: float, *, after: float | None = None, fallback: bool = False
) -> WrittenTicks:
    """One look of a worker that has read this schedule: create the runs of the ticks after its last look."""
    looked_at = at if after is None else after
    cursor = replace(schedule.cursor, planned_until=recent_start(schedule, later(looked_at).timestamp()))
    planned = plan_worker_ticks(schedule, cursor, later(at).timestamp())
    return await store.worker_ticks.write(planned.ticks, fallback=fallback, now=later(at))


def _edit(**fields: object) -> Update:
    return Update(actor="ada", fields=fields)


class WorkerTicks:
    """Schedules in memory, and runs that workers create in fallback."""

    async def test_planner_leaves_a_schedule_in_memory(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        assert (schedule.state, schedule.in_memory, schedule.cursor.next_run_at) == ("active", True, None)
        await create(store, "durable")
        planned = await plan(store, 600)
        assert (planned.schedules, planned.next_at) == (1, later(660))
        assert await ticks(store) == []

    async def test_worker_reads_only_what_it_does_not_know(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        await create(store, "durable", app="shop")
        read = await _read(store, 1)
        assert (read.now, read.ids, [found.name for found in read.changed]) == (
            later(1),
            frozenset({schedule.id}),
            [NAME],
        )
        again = await _read(store, 2, {schedule.id: schedule.revision})
        assert (again.ids, again.changed) == (frozenset({schedule.id}), ())
        of_app = await _read(store, 3, {schedule.id: schedule.revision}, app="shop")
        assert [found.name for found in of_app.changed] == ["durable"]
        [durable] = of_app.changed
        # A schedule that was never planned may have due ticks.
        assert of_app.due <= {durable.id}
        assert (await _read(store, 61, app="shop")).due == {durable.id}
        await plan(store, 61)
        assert (await _read(store, 62, app="shop")).due == frozenset()
        await change(store, _edit(priority=5), 4)
        assert [found.revision for found in (await _read(store, 5, {schedule.id: 1})).changed] == [2]
        await change(store, Pause(actor="ada"), 6)
        assert (await _read(store, 7)).ids == frozenset()

    async def test_two_workers_create_one_run(self, store: Store, other: Store) -> None:
        schedule = await create(store, durable=False, payload={"limit": 5})
        first = await _look(store, schedule, 60)
        second = await _look(other, schedule, 60.5)
        assert (first.now, first.runs, second.runs, second.stale) == (later(60), 1, 0, frozenset())
        [run] = await runs_of(store)
        assert (since(run.scheduled_for), run.origin, run.status, run.actor) == (60, "schedule", "queued", "in memory")
        assert (run.payload, run.revision) == ({"limit": 5}, 1)
        assert [done.payload for done in await work_off(store, 61)] == [{"limit": 5}]

    async def test_worker_with_an_old_revision_creates_nothing(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        await change(store, _edit(trigger={"cron": "30 9 * * *"}), 30)
        written = await _look(store, schedule, 60)
        assert (written.runs, written.stale) == (0, frozenset({schedule.id}))
        assert await ticks(store) == []

    async def test_pause_is_respected_and_its_ticks_are_skipped(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        await change(store, Pause(actor="ada"), 30)
        assert (await _look(store, schedule, 60)).stale == frozenset({schedule.id})
        resumed = (await change(store, Resume(actor="ada"), 150)).schedule
        assert (resumed.state, resumed.cursor.next_run_at) == ("active", None)
        assert await ranges(store) == [("paused", 60, 120, 2)]
        assert (await _look(store, resumed, 180)).runs == 1
        assert await ticks(store) == [(180, "schedule", "queued")]

    async def test_pause_ends_by_itself(self, store: Store) -> None:
        await create(store, durable=False)
        await change(store, Pause(actor="ada", until=int(later(150).timestamp())), 30)
        assert (await plan(store, 150)).schedules == 1
        resumed = await get(store)
        assert (resumed.state, resumed.cursor.next_run_at) == ("active", None)
        assert (await plan(store, 400)).schedules == 0

    async def test_edit_decides_a_tick_that_no_worker_has_run_yet(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        edited = (await change(store, _edit(priority=5), 61)).schedule
        assert (await _look(store, schedule, 61.5)).runs == 0
        await _look(store, edited, 62)
        assert await ticks(store) == [(60, "schedule", "queued")]

    async def test_switch_to_durable_loses_and_doubles_no_tick(self, store: Store) -> None:
        schedule = await create(store, durable=False, overlap="allow")
        await _look(store, schedule, 60)
        await _look(store, schedule, 120)
        durable = (await change(store, _edit(durable=True), 150)).schedule
        assert since(durable.cursor.next_run_at) == 180
        assert (await _look(store, schedule, 180)).runs == 0
        await plan_all(store, 180)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120, 180]
        assert await ranges(store) == []

    async def test_switch_to_memory_loses_and_doubles_no_tick(self, store: Store) -> None:
        await create(store, overlap="allow")
        await plan_all(store, 60)
        in_memory = (await change(store, _edit(durable=False), 121)).schedule
        assert (in_memory.cursor.next_run_at, since(in_memory.cursor.planned_until)) == (None, 120)
        # A worker notices the edit late; it has looked before the edit.
        await _look(store, in_memory, 185, after=110)
        assert (await plan(store, 300)).schedules == 0
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120, 180]

    async def test_both_modes_at_once_give_one_run_per_tick(self, store: Store, other: Store) -> None:
        """During a deploy, each version of the code thinks that its mode is in force."""
        schedule = await create(store, durable=False, overlap="allow")
        in_memory = schedule
        for minute in range(1, 20):
            at = 60 * minute
            edited = (await change(store, _edit(durable=minute % 2 == 0), at - 30)).schedule
            if edited.in_memory:
                in_memory = edited
            await _look(other, in_memory, at + 0.1)
            await plan_all(store, at + 0.2)
            await _look(store, in_memory, at + 0.3, after=at - 60)
        assert [tick for tick, _, _ in await ticks(store)] == [60 * minute for minute in range(1, 20)]

    async def test_overlap_is_decided_when_the_run_is_created(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        await _look(store, schedule, 60)
        assert (await _look(store, schedule, 120)).runs == 0
        await work_off(store, 121)
        assert (await _look(store, schedule, 180)).runs == 1
        assert [tick for tick, _, _ in await ticks(store)] == [60, 180]

    async def test_run_waits_for_a_manual_one(self, store: Store) -> None:
        schedule = await create(store, durable=False)
        await change(store, Trigger(actor="ada"), 30)
        [manual] = (await claim(store, 31)).runs
        await _look(store, schedule, 60)
        assert [(origin, status) for _, origin, status in await ticks(store)] == [
            ("manual", "running"),
            ("schedule", "waiting"),
        ]
        await finish(store, manual, 70)
        assert (await ticks(store))[1] == (60, "schedule", "queued")

    async def test_late_ticks_follow_catch_up(self, store: Store) -> None:
        schedule = await create(store, trigger=every(seconds=5), durable=False, overlap="allow")
        await _look(store, schedule, 33, after=3)
        [late, *on_time] = await runs_of(store)
        assert (since(late.scheduled_for), late.origin, late.covers and late.covers.count) == (5, "catch_up", 4)
        assert [since(run.scheduled_for) for run in on_time] == [25, 30]

    async def test_override_of_a_tick_changes_its_run(self, store: Store) -> None:
        await create(store, durable=False, overlap="allow")
        tick = int(later(120).timestamp())
        schedule = (await change(store, Override(actor="ada", tick=tick, payload={"limit": 9}), 30)).schedule
        for at in (60, 120):
            await _look(store, schedule, at)
        runs = await runs_of(store)
        assert [run.payload for run in runs] == [{}, {"limit": 9}]
        assert runs[1].applied_override is not None
        assert runs[1].applied_override.payload

    async def test_ticks_run_in_fallback_are_not_planned_again(self, store: Store) -> None:
        """After a fallback, the cursor continues: the ticks without a run get the decision of their policy."""
        schedule = await create(store, overlap="allow", payload={"limit": 5})
        await plan_all(store, 60)
        for at in (120, 180, 300):
            assert (await _look(store, schedule, at, fallback=True)).runs == 1
        await plan_all(store, 400)
        assert [(tick, origin) for tick, origin, _ in await ticks(store)] == [
            (60, "schedule"),
            (120, "schedule"),
            (180, "schedule"),
            (300, "schedule"),
            (240, "catch_up"),
        ]
        runs = await runs_of(store)
        assert [run.actor for run in runs] == [None, "fallback", "fallback", "fallback", None]
        assert [run.payload for run in runs] == [{"limit": 5}] * 5
        assert await ranges(store) == [("coalesced", 360, 360, 1)]
        assert (await get(store)).cursor.runs_planned == 5

    async def test_fallback_and_planner_at_once_give_one_run_per_tick(self, store: Store, other: Store) -> None:
        schedule = await create(store)
        for at in (60, 120, 180):
            await _look(other, schedule, at, fallback=True)
            await plan_all(store, at + 0.5)
            await _look(other, schedule, at + 1, fallback=True)
            await work_off(store, at + 2)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120, 180]
        assert await ranges(store) == []
