"""Pause, resume, reschedule, skip and trigger: their effect on future ticks."""

from __future__ import annotations

import pytest

from conformance.steps import (
    NAME,
    NAMESPACE,
    SECOND,
    YEAR,
    change,
    create,
    epoch,
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
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store


class States:
    """Active, paused and ended schedules, and manual runs in each state."""

    async def test_paused_schedule_is_not_planned(self, store: Store) -> None:
        await create(store)
        schedule = (await change(store, Pause(actor="ada", note="moving"), 10)).schedule
        assert schedule.pause is not None
        assert (schedule.state, schedule.pause.by, schedule.pause.note, schedule.pause.until) == (
            "paused",
            "ada",
            "moving",
            None,
        )
        assert await get(store) == schedule
        planned = await plan(store, 100_000)
        assert (planned.schedules, planned.next_at, planned.more) == (0, None, False)
        assert await ticks(store) == []

    async def test_resume_does_not_flood(self, store: Store) -> None:
        await create(store, NAME, SECOND, catch_up="all", overlap="allow")
        await change(store, Pause(actor="ada", note="moving"), 10)
        before = [tick for tick, _, _ in await ticks(store)]
        assert before == list(range(1, 11))
        schedule = (await change(store, Resume(actor="bo"), YEAR + 10)).schedule
        assert (schedule.state, schedule.pause) == ("active", None)
        await plan_all(store, YEAR + 10)
        assert len(await ticks(store)) == 10
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), since(skip.last), skip.count) == ("paused", 11, YEAR + 10, YEAR)
        assert skip.actor == "ada"
        assert "moving" in skip.note
        await plan_all(store, YEAR + 11)
        assert (await ticks(store))[-1] == (YEAR + 11, "schedule", "queued")

    async def test_pause_between_two_ticks_skips_nothing(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada"), 10)
        await change(store, Resume(actor="ada"), 50)
        await plan(store, 60)
        assert await ticks(store) == [(60, "schedule", "queued")]
        assert await ranges(store) == []

    async def test_pause_until_wakes_up_by_itself(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada", until=epoch(250)), 10)
        assert (await plan(store, 200)).next_at == later(250)
        await plan(store, 250)
        schedule = await get(store)
        assert (schedule.state, schedule.pause) == ("active", None)
        assert await ticks(store) == []
        assert await ranges(store) == [("paused", 60, 240, 4)]
        await plan(store, 300)
        assert await ticks(store) == [(300, "schedule", "queued")]

    async def test_a_tick_due_at_the_end_of_a_pause_runs(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada", until=epoch(180)), 10)
        await plan(store, 180)
        assert await ranges(store) == [("paused", 60, 120, 2)]
        assert [tick for tick, _, _ in await ticks(store)] == [180]

    @pytest.mark.parametrize("text", ["a\0b", "half \ud83d", "x" * 3_000])
    async def test_notes_and_actors_must_be_text_that_can_be_stored(self, store: Store, text: str) -> None:
        await create(store)
        with pytest.raises(InvalidError):
            await change(store, Pause(actor="ada", note=text), 10)
        with pytest.raises(InvalidError):
            await change(store, Pause(actor=text), 10)
        assert (await get(store)).state == "active"

    async def test_pause_until_seen_late_still_ends_then(self, store: Store) -> None:
        await create(store, catch_up="all")
        await change(store, Pause(actor="ada", until=epoch(150)), 10)
        await plan_all(store, 330)
        assert await ranges(store) == [("paused", 60, 120, 2)]
        assert [tick for tick, _, _ in await ticks(store)] == [180, 240, 300]

    async def test_pause_keeps_runs_unless_cancel_runs_is_set(self, store: Store) -> None:
        await create(store, overlap="allow")
        for at_ in (60, 120, 180):
            await plan(store, at_)
        running = await start(store, 181)
        await change(store, Pause(actor="ada"), 190)
        assert [run.status for run in await runs_of(store)] == ["running", "queued", "queued"]
        assert (await start(store, 191)).attempt == 1
        await change(store, Pause(actor="bo", cancel_runs=True), 200)
        found = await runs_of(store)
        assert [run.status for run in found] == ["running", "running", "cancelled"]
        assert [run.cancel_requested_by for run in found[:2]] == ["bo", "bo"]
        assert (found[2].finished_at, (await read(store, running)).status) == (later(200), "running")

    async def test_invalid_pause_is_refused(self, store: Store) -> None:
        await create(store)
        with pytest.raises(InvalidError):
            await change(store, Pause(actor="ada", until=epoch(10)), 10)
        with pytest.raises(ConflictError):
            await change(store, Resume(actor="ada"), 10)
        await create(store, "once", at(later(30)))
        await plan(store, 30)
        with pytest.raises(ConflictError):
            await change(store, Pause(actor="ada"), 40, name="once")

    async def test_edit_while_paused_stays_paused(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada"), 10)
        schedule = (await change(store, Update(actor="bo", fields={"trigger": {"every": {"hours": 1}}}), 130)).schedule
        assert schedule.state == "paused"
        assert schedule.pause is not None
        assert schedule.pause.by == "ada"
        assert await ranges(store) == [("paused", 60, 120, 2)]
        await change(store, Resume(actor="bo"), 140)
        assert await looks_next(store) == 3600

    async def test_ended_schedule_begins_again_with_a_new_trigger(self, store: Store) -> None:
        await create(store, NAME, at(later(30)))
        await plan(store, 30)
        await change(store, Update(actor="ada", fields={"trigger": {"at": later(500).isoformat()}}), 100)
        assert ((await get(store)).state, await looks_next(store)) == ("active", 500)

    async def test_reschedule_later_skips_ticks_in_between(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ada", to=epoch(200)), 10)
        assert await looks_next(store) == 200
        assert (await plan(store, 199)).runs == 0
        await plan(store, 200)
        [run] = await runs_of(store)
        assert (run.scheduled_for, run.due_at, run.origin) == (later(60), later(200), "schedule")
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), since(skip.last), skip.count) == ("rescheduled", 120, 180, 2)
        assert skip.run_id == run.id
        await work_off(store, 201)
        await plan(store, 240)
        assert (await ticks(store))[-1] == (240, "schedule", "queued")

    async def test_reschedule_earlier_runs_the_tick_once(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ada", to=epoch(30)), 10)
        await plan(store, 30)
        [run] = await runs_of(store)
        assert (run.scheduled_for, run.due_at) == (later(60), later(30))
        await work_off(store, 31)
        assert await looks_next(store) == 120
        for at_ in (60, 119):
            await plan(store, at_)
        assert len(await runs_of(store)) == 1
        await plan(store, 120)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120]

    async def test_reschedule_again_moves_the_same_tick(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ada", to=epoch(200)), 10)
        await change(store, Reschedule(actor="ada", to=epoch(100)), 70)
        await plan(store, 100)
        [run] = await runs_of(store)
        assert (run.scheduled_for, run.due_at) == (later(60), later(100))
        assert await ranges(store) == []

    async def test_reschedule_into_the_past_is_refused(self, store: Store) -> None:
        await create(store)
        with pytest.raises(InvalidError):
            await change(store, Reschedule(actor="ada", to=epoch(10)), 10)
        assert await looks_next(store) == 60

    async def test_skipped_ticks_are_recorded_at_their_time(self, store: Store) -> None:
        await create(store)
        await change(store, Skip(actor="ada", count=3, note="inventory"), 10)
        for at_ in (60, 120, 180):
            await plan(store, at_)
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), since(skip.last), skip.count) == ("operator", 60, 180, 3)
        assert (skip.actor, skip.note, skip.run_id) == ("ada", "inventory", None)
        await plan(store, 240)
        assert await ticks(store) == [(240, "schedule", "queued")]

    async def test_skipping_again_adds(self, store: Store) -> None:
        await create(store)
        await change(store, Skip(actor="ada"), 10)
        await change(store, Skip(actor="ada", count=2), 20)
        await plan_all(store, 240)
        assert await ranges(store) == [("operator", 60, 180, 3)]
        assert await ticks(store) == [(240, "schedule", "queued")]

    async def test_skip_of_a_whole_window_ends_it(self, store: Store) -> None:
        await create(store, end_at=later(120))
        await change(store, Skip(actor="ada", count=10), 10)
        for at_ in (60, 120):
            await plan(store, at_)
        assert await ranges(store) == [("operator", 60, 120, 2)]
        assert (await get(store)).state == "ended"

    async def test_invalid_skip_count_is_refused(self, store: Store) -> None:
        await create(store)
        for count in (0, -1, 10_001):
            with pytest.raises(InvalidError):
                await change(store, Skip(actor="ada", count=count), 10)

    async def test_trigger_returns_the_stored_run(self, store: Store) -> None:
        await create(store, payload={"b": 1, "a": 2.0})
        first = (await change(store, Trigger(actor="ada"), 10.5)).run
        assert first is not None
        again = Trigger(actor="eve", payload={"z": 1, "a": [True]}, retry_of=first.id)
        second = (await change(store, again, 10.5)).run
        assert second is not None
        assert [first, second] == [await store.runs.get(first.id), await store.runs.get(second.id)]
        assert (first.status, first.payload, first.reason) == ("queued", {"b": 1, "a": 2.0}, None)
        assert (second.origin, second.status, second.retry_of) == ("retry", "waiting", first.id)
        told = [(record.action, record.actor, record.run_id) for record in await store.ledger.list_audit(NAMESPACE)]
        assert told[:2] == [("retry", "eve", second.id), ("trigger", "ada", first.id)]

    async def test_trigger_plans_due_ticks_first(self, store: Store) -> None:
        await create(store, catch_up="one")
        changed = await change(store, Trigger(actor="ada"), 60)
        tick, manual = sorted(await runs_of(store), key=lambda run: run.id)
        assert (tick.origin, tick.status, manual.status) == ("schedule", "queued", "waiting")
        assert changed.run == manual

    async def test_update_without_effect_leaves_no_trace(self, store: Store) -> None:
        await create(store, priority=3)
        before = await get(store)
        audit, revisions = await store.ledger.list_audit(NAMESPACE), await store.schedules.list_revisions(before.id)
        changed = await change(store, Update(actor="ada", fields={"priority": 3, "grace": 10}), 10)
        assert (changed.schedule, changed.run, list(changed.run_ids)) == (before, None, [])
        assert await get(store) == before
        assert (await store.ledger.list_audit(NAMESPACE), await store.schedules.list_revisions(before.id)) == (
            audit,
            revisions,
        )

    async def test_trigger_leaves_the_cursor_alone(self, store: Store) -> None:
        await create(store, payload={"n": 1})
        before = await get(store)
        changed = await change(store, Trigger(actor="ada", payload={"n": 2}), 10)
        assert await get(store) == before == changed.schedule
        [run] = await runs_of(store)
        assert (list(changed.run_ids), changed.run) == ([run.id], run)
        assert (run.origin, run.status, run.scheduled_for, run.covers) == ("manual", "queued", None, None)
        assert (run.due_at, run.created_at, run.revision, run.actor) == (later(10), later(10), 1, "ada")
        assert (run.payload, run.target.name) == ({"n": 2}, "work")
        assert (await start(store, 10)).id == run.id

    async def test_trigger_without_payload_uses_the_definitions(self, store: Store) -> None:
        await create(store, payload={"n": 1})
        await change(store, Trigger(actor="ada"), 10)
        assert (await start(store, 10)).payload == {"n": 1}

    async def test_trigger_with_an_empty_payload_means_empty(self, store: Store) -> None:
        await create(store, payload={"n": 1})
        await change(store, Trigger(actor="ada", payload={}), 10)
        assert (await start(store, 10)).payload == {}

    async def test_trigger_hides_no_pending_tick(self, store: Store) -> None:
        await create(store)
        await change(store, Trigger(actor="ada"), 65)
        assert await ticks(store) == [(60, "schedule", "queued"), (None, "manual", "waiting")]
        assert await looks_next(store) == 120

    async def test_trigger_counts_neither_for_max_runs_nor_as_a_tick(self, store: Store) -> None:
        await create(store, max_runs=1, overlap="allow")
        for at_ in (10, 20):
            await change(store, Trigger(actor="ada"), at_)
        await plan(store, 60)
        assert [origin for _, origin, _ in await ticks(store)] == ["manual", "manual", "schedule"]

    async def test_trigger_works_while_paused_and_after_the_end(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada"), 10)
        before = await get(store)
        await change(store, Trigger(actor="ada"), 20)
        assert await get(store) == before
        assert (await start(store, 20)).origin == "manual"
        await create(store, "once", at(later(30)), at=20)
        await plan(store, 30)
        changed = await change(store, Trigger(actor="ada"), 40, name="once")
        assert changed.schedule.state == "ended"
        assert [origin for _, origin, _ in await ticks(store, "once")] == ["schedule", "manual"]

    async def test_a_retry_carries_its_payload_and_origin(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [done] = await work_off(store, 61)
        changed = await change(store, Trigger(actor="ada", retry_of=done.id, payload={"n": 3}), 70)
        run = await read(store, changed.run_ids[0])
        assert (run.origin, run.retry_of, run.payload, run.scheduled_for) == ("retry", done.id, {"n": 3}, None)

    async def test_state_changes_void_nothing_decided(self, store: Store) -> None:
        await create(store, NAME, every(seconds=60), overlap="allow")
        await plan(store, 60)
        await change(store, Pause(actor="ada"), 61)
        await change(store, Resume(actor="ada"), 62)
        await change(store, Skip(actor="ada"), 63)
        await change(store, Reschedule(actor="ada", to=epoch(70)), 64)
        await change(store, Delete(actor="ada"), 65)
        await create(store, at=66, overlap="allow")
        await plan_all(store, 120)
        found = [tick for tick, _, _ in await ticks(store)]
        assert found == [60, 120]
