"""Decisions for one coming tick: it is skipped, moved or has another payload, or it is as if nothing had been."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.planning.races import race
from conformance.steps import (
    NAMESPACE,
    change,
    claim,
    create,
    epoch,
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
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip
from tickbird.domain.schedules.tick_overrides import VOID
from tickbird.store.protocol.store import Store

OWN = {"limit": 5, "text": "Zoë “ça va” 你好", "ratio": 1.0}


async def decide(
    store: Store,
    tick: int,
    at: float = 10,
    *,
    skip: bool = False,
    to: int | None = None,
    payload: dict[str, Any] | None = None,
    note: str = "why",
) -> ChangeResult:
    """Ada overrides the tick at these seconds after T0."""
    move_to = None if to is None else epoch(to)
    command = Override(actor="ada", tick=epoch(tick), skip=skip, move_to=move_to, payload=payload, note=note)
    return await change(store, command, at)


async def undo(store: Store, tick: int, at: float = 11) -> ChangeResult:
    """Bo removes the override of a tick."""
    return await change(store, ClearOverride(actor="bo", tick=epoch(tick)), at)


async def decided(store: Store) -> list[int | None]:
    """The ticks for which something is decided."""
    return [since(each.tick) for each in (await get(store)).cursor.tick_overrides]


async def void(store: Store) -> list[tuple[int | None, str, str]]:
    """The overrides that were not carried out, oldest first: tick, why not, and by whose doing."""
    rows: list[AuditEntry] = [row for row in await store.ledger.list_audit(NAMESPACE) if row.action == VOID]
    return [(since(row.detail["tick"]), row.detail["reason"], row.actor) for row in rows[::-1]]


class Overrides:
    """The schedule ticks every minute from T0 on, and is overridden at second 10."""

    async def test_one_tick_of_many_is_skipped(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 180, skip=True, note="office closed")
        for at in (60, 120, 180, 240):
            await plan(store, at)
        assert [tick for tick, *_ in await ticks(store)] == [60, 120, 240]
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), skip.count) == ("operator", 180, 1)
        assert (skip.actor, skip.note) == ("ada", "office closed")
        assert await decided(store) == []
        assert await void(store) == []

    async def test_a_later_tick_gets_another_payload(self, store: Store) -> None:
        await create(store, payload={"limit": 100}, overlap="allow")
        await decide(store, 120, payload=OWN)
        await plan(store, 60)
        await plan(store, 120)
        await plan(store, 180)
        runs = await runs_of(store)
        assert [run.payload for run in runs] == [{"limit": 100}, OWN, {"limit": 100}]
        assert [run.applied_override is None for run in runs] == [True, False, True]
        told = runs[1].applied_override
        assert told is not None
        assert (told.moved, told.payload, told.actor, told.note, since(told.created_at)) == (
            False,
            True,
            "ada",
            "why",
            10,
        )
        claimed = (await claim(store, 181)).runs
        assert [run.payload for run in claimed] == [{"limit": 100}, OWN, {"limit": 100}]
        assert type(claimed[1].payload["ratio"]) is float

    async def test_a_tick_is_moved_to_an_earlier_instant(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 180, to=130, payload=OWN)
        await plan(store, 60)
        assert await looks_next(store) == 120
        await plan(store, 120)
        assert await looks_next(store) == 130
        await plan(store, 130)
        run = (await runs_of(store))[-1]
        assert (run.scheduled_for, run.due_at, run.payload) == (later(180), later(130), OWN)
        assert run.applied_override is not None
        assert run.applied_override.moved
        assert await looks_next(store) == 240
        await plan_all(store, 240)
        assert [tick for tick, *_ in await ticks(store)] == [60, 120, 180, 240]

    async def test_a_tick_is_moved_past_others(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 120, to=250)
        await plan(store, 60)
        assert await looks_next(store) == 250
        assert (await plan(store, 240)).runs == 0
        await plan(store, 250)
        assert [tick for tick, *_ in await ticks(store)] == [60, 120]
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), since(skip.last), skip.count) == ("rescheduled", 180, 240, 2)
        assert skip.run_id == (await runs_of(store))[-1].id
        assert await looks_next(store) == 300

    async def test_undo_restores_the_original_tick(self, store: Store) -> None:
        before = (await create(store)).cursor
        for options in ({"skip": True}, {"to": 70}, {"payload": OWN}, {"to": 400, "payload": OWN}):
            await decide(store, 120, **options)
            assert (await get(store)).cursor != before
            after = (await undo(store, 120)).schedule
            assert after.cursor == before
        await plan(store, 60)
        await work_off(store, 61)
        await plan(store, 120)
        run = (await runs_of(store))[-1]
        assert (run.scheduled_for, run.due_at, run.payload, run.applied_override) == (later(120), later(120), {}, None)
        actions = [(row.action, row.actor) for row in await store.ledger.list_audit(NAMESPACE)]
        assert actions[:2] == [("undo_override", "bo"), ("override", "ada")]

    async def test_second_override_replaces_the_first_and_is_audited(self, store: Store) -> None:
        await create(store)
        await decide(store, 120, skip=True, note="first")
        await decide(store, 120, to=130, note="second")
        [override] = (await get(store)).cursor.tick_overrides
        assert (override.skip, override.due_at, override.note) == (False, epoch(130), "second")
        [newest, *_] = await store.ledger.list_audit(NAMESPACE)
        assert (newest.action, newest.detail["tick"], newest.detail["to"]) == ("override", epoch(120), epoch(130))
        assert newest.detail["before"]["note"] == "first"
        revisions = await store.schedules.list_revisions((await get(store)).id)
        assert [each.action for each in revisions] == ["override", "override", "create"]

    async def test_override_of_a_non_future_tick_is_refused(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        with pytest.raises(
            InvalidError, match=r"00:01:30Z is not a tick of 'clock'.*00:01:00Z before and .*00:02:00Z after"
        ):
            await decide(store, 90, 65, skip=True)
        for refused in (decide(store, 60, 65, skip=True), undo(store, 60, 65)):
            with pytest.raises(ConflictError, match="is already decided"):
                await refused
        # Due ticks are planned first, so that a due tick cannot be overridden.
        with pytest.raises(ConflictError, match="is already decided"):
            await decide(store, 120, 120, skip=True)
        assert [tick for tick, *_ in await ticks(store)] == [60]
        with pytest.raises(NotFoundError, match="has no override"):
            await undo(store, 180, 125)
        with pytest.raises(NotFoundError, match="no schedule"):
            await change(store, Override(actor="ada", tick=epoch(180), skip=True), 125, name="other")
        with pytest.raises(ConflictError, match="revision"):
            await change(store, Override(actor="ada", tick=epoch(180), skip=True, revision=9), 125)

    async def test_what_makes_no_sense_is_refused(self, store: Store) -> None:
        await create(store)
        for options in ({}, {"skip": True, "to": 130}, {"skip": True, "payload": OWN}):
            with pytest.raises(InvalidError, match="override: "):
                await decide(store, 120, **options)
        with pytest.raises(InvalidError, match=r"move_to: .* is in the past"):
            await decide(store, 120, to=10)
        with pytest.raises(
            InvalidError, match=r"move_to: .*00:00:59Z is before .*00:01:00Z.*Choose .*00:01:00Z or later"
        ):
            await decide(store, 120, to=59)
        await decide(store, 120, to=60)
        await decide(store, 180, payload=OWN)
        with pytest.raises(ConflictError, match=r"is skipped by tick .*00:02:00Z"):
            await decide(store, 120, to=200)
        with pytest.raises(ConflictError, match="is skipped by tick"):
            await change(store, Reschedule(actor="ada", to=epoch(190)), 11)
        assert await decided(store) == [120, 180]

    async def test_an_undo_that_would_break_the_order_is_refused(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 60, skip=True)
        await decide(store, 120, to=30)
        with pytest.raises(InvalidError, match="decided in order"):
            await undo(store, 60)
        await plan(store, 30)
        # The tick that is to be skipped is recorded with the one that came before it.
        assert (await ranges(store), await ticks(store)) == (
            [("operator", 60, 60, 1)],
            [(120, "schedule", "queued")],
        )

    async def test_number_of_overrides_is_limited(self, store: Store) -> None:
        await create(store)
        for number in range(1, 201):
            await decide(store, 60 * number, skip=True)
        with pytest.raises(ConflictError, match="200 overridden ticks; one more"):
            await decide(store, 60 * 201, skip=True)
        await undo(store, 60 * 100)
        with pytest.raises(ConflictError, match="one more exceeds the limit"):
            await decide(store, 60 * 100, payload={"text": "x" * 999_000})

    async def test_reschedule_and_override_are_one_thing(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 60, payload=OWN)
        await change(store, Reschedule(actor="bo", to=epoch(100), note="later"), 12)
        [override] = (await get(store)).cursor.tick_overrides
        assert (override.tick, override.due_at, override.payload, override.actor) == (epoch(60), epoch(100), OWN, "bo")
        await undo(store, 60)
        assert await looks_next(store) == 60
        await decide(store, 60, skip=True)
        # The next tick to run is the one after it.
        await change(store, Reschedule(actor="bo", to=epoch(110)), 13)
        assert await decided(store) == [60, 120]
        await plan_all(store, 110)
        assert (await ranges(store), [tick for tick, *_ in await ticks(store)]) == ([("operator", 60, 60, 1)], [120])

    async def test_skip_and_override_replace_each_other(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 120, payload=OWN)
        await change(store, Skip(actor="bo", count=3, note="all"), 12)
        assert await decided(store) == []
        assert (await store.ledger.list_audit(NAMESPACE))[0].detail["overrides"][0]["payload"] == OWN
        await decide(store, 120, 13, payload=OWN)
        await plan_all(store, 180)
        assert [(skip.actor, since(skip.first)) for skip in await skips_of(store)] == [("bo", 60), ("bo", 180)]
        [run] = await runs_of(store)
        assert (run.scheduled_for, run.payload) == (later(120), OWN)

    async def test_late_overridden_tick_gets_its_own_run(self, store: Store) -> None:
        await create(store)
        await decide(store, 180, payload=OWN)
        await plan_all(store, 300)
        assert [(since(run.scheduled_for), run.status) for run in await runs_of(store)] == [
            (60, "queued"),
            (180, "waiting"),
        ]
        one, own = await runs_of(store)
        assert one.covers is not None
        assert one.covers.count == 3
        assert (own.covers, own.payload, own.origin) == (None, OWN, "catch_up")
        found = [(reason, first, last) for reason, first, last, _ in await ranges(store)]
        assert found == [("coalesced", 120, 120), ("coalesced", 240, 240), ("overlap", 300, 300)]
        behind = [skip.run_id for skip in await skips_of(store)]
        assert behind == [one.id, one.id, one.id]

    async def test_late_ticks_after_an_override_are_coalesced_to_the_latest(self, store: Store) -> None:
        await create(store, catch_up="latest", overlap="allow")
        await decide(store, 120, payload=OWN)
        await plan_all(store, 255)
        own, latest = await runs_of(store)
        assert (since(own.scheduled_for), since(latest.scheduled_for)) == (120, 240)
        assert {skip.run_id for skip in await skips_of(store)} == {latest.id}
        assert await void(store) == []

    async def test_a_skip_uses_up_no_run(self, store: Store) -> None:
        await create(store, max_runs=2, overlap="allow")
        await decide(store, 60, skip=True)
        await plan_all(store, 65)
        await plan_all(store, 125)
        await plan_all(store, 185)
        assert [tick for tick, *_ in await ticks(store)] == [120, 180]
        assert (await get(store)).state == "ended"

    async def test_closed_days(self, store: Store) -> None:
        await create(store, overlap="allow", exclude=exclude("thu"))
        with pytest.raises(ConflictError, match="excludes the day"):
            await decide(store, 120, payload=OWN)
        await decide(store, 120, to=120, payload=OWN)
        await decide(store, 180, skip=True)
        await plan_all(store, 240)
        assert await ticks(store) == [(120, "catch_up", "queued")]
        found = [(reason, first, last) for reason, first, last, _ in await ranges(store)]
        assert found == [("calendar", 60, 60), ("operator", 180, 180), ("calendar", 240, 240)]

    @needs("limits")
    async def test_key_uses_the_payload_of_the_override(self, store: Store) -> None:
        await create(store, payload={"city": "Rome"}, concurrency_key="{city}", overlap="allow")
        await decide(store, 120, payload={"city": "Oslo"})
        for at in (60, 120, 180):
            await plan(store, at)
        assert [(run.concurrency_key, run.status) for run in await runs_of(store)] == [
            ("Rome", "queued"),
            ("Oslo", "queued"),
            ("Rome", "waiting"),
        ]

    async def test_override_during_planning_is_refused_or_applied(self, store: Store, other: Store) -> None:
        for number in range(8):
            name = f"s{number}"
            await create(store, name, overlap="allow")
            skip = Override(actor="ada", tick=epoch(60), skip=True)
            answer, _ = await race(change(store, skip, 59.9, name=name), other.planning.plan_due(500, now=later(60)))
            await plan_all(store, 60)
            ran = [tick for tick, *_ in await ticks(store, name)] == [60]
            assert ran == isinstance(answer, ConflictError)
            assert await ranges(store, name) == ([] if ran else [("operator", 60, 60, 1)])

    async def test_undo_during_planning_is_refused_or_applied(self, store: Store, other: Store) -> None:
        for number in range(8):
            name = f"s{number}"
            await create(store, name, overlap="allow")
            await change(store, Override(actor="ada", tick=epoch(60), skip=True), 10, name=name)
            undone = ClearOverride(actor="bo", tick=epoch(60))
            answer, _ = await race(change(store, undone, 59.9, name=name), other.planning.plan_due(500, now=later(60)))
            await plan_all(store, 60)
            skipped = await ranges(store, name) == [("operator", 60, 60, 1)]
            assert skipped == isinstance(answer, ConflictError)
            assert [tick for tick, *_ in await ticks(store, name)] == ([] if skipped else [60])

    async def test_ten_people_decide_for_ten_ticks_at_once(self, store: Store, other: Store) -> None:
        await create(store)
        stores = (store, other) * 5
        decisions = [Override(actor=f"p{n}", tick=epoch(60 * n), skip=True) for n in range(1, 11)]
        await race(*(change(each, command, 10) for each, command in zip(stores, decisions, strict=True)))
        assert await decided(store) == [60 * n for n in range(1, 11)]

    async def test_without_any_override_the_cursor_is_plain_again(self, store: Store) -> None:
        await create(store, overlap="allow")
        await decide(store, 60, payload=OWN)
        await plan(store, 60)
        assert (await get(store)).cursor.tick_overrides == ()
        planned = await plan(store, 120)
        assert (planned.runs, (await runs_of(store))[-1].payload) == (1, {})
