"""Rows written by plain SQL: new ones, changed ones and broken ones, and no other schedule is later for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pytest

from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    create,
    define,
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
)
from tickbird.client import StoreClient
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.codec import FORMAT, encode_definition
from tickbird.domain.schedules.diff import revision_origin
from tickbird.domain.triggers.every import Every, every
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store

HOUR, DAY = 3_600, 86_400
BROKEN: dict[str, Mapping[str, Any]] = {
    "bad-cron": {"trigger": {"cron": "61 * * * *"}},
    "never": {"trigger": {"cron": "0 0 30 2 *"}},
    "bad-zone": {"trigger": {"cron": "0 9 * * *", "tz": "Mars/Olympus"}},
    "no-trigger": {"trigger": None},
    "bad-target": {"target": 7},
    "unknown-field": {"colour": "red"},
    "bad-policy": {"overlap": "perhaps"},
    "huge-number": {"priority": 10**30},
    "huge-payload": {"payload": {"x": "y" * 2_000_000}},
    "list-payload": {"payload": [1]},
    "text-grace": {"grace": "10s"},
}


class Plain(Protocol):
    """Writes rows of schedules as a person with plain SQL would."""

    async def insert(self, namespace: str, name: str, definition: Mapping[str, Any] | str) -> None:
        """INSERT a schedule with nothing but its definition, given as an object or as JSON text."""
        ...

    async def redefine(self, schedule_id: int, definition: Mapping[str, Any] | str) -> None:
        """UPDATE a schedule's definition and nothing else."""
        ...

    async def replace(self, namespace: str, name: str, definition: Mapping[str, Any]) -> None:
        """Replace the row of a schedule, by DELETE and INSERT or by REPLACE."""
        ...

    async def rewrite_revision(self, schedule_id: int, revision: int, definition: str) -> None:
        """UPDATE the stored definition of a revision, given as JSON text."""
        ...

    async def delete_revision(self, schedule_id: int, revision: int) -> None:
        """DELETE a revision."""
        ...

    async def refuse_rows(self, table: str, schedule_id: int | None, message: str) -> None:
        """CREATE a trigger that refuses every new row of a schedule, or of all, with this message."""
        ...

    async def accept_rows(self) -> None:
        """DROP that trigger."""
        ...

    async def park(self, schedule_id: int, error: str) -> None:
        """UPDATE a schedule and its cursor so that it is parked."""
        ...

    async def rewrite_payload(self, run_id: int, payload: str) -> None:
        """UPDATE the payload that a run has of its own, given as JSON text."""
        ...


def raw(**policies: Any) -> dict[str, Any]:
    """A valid definition as JSON, with some fields replaced."""
    return {**encode_definition(define()), **policies}


async def seconds(store: Store) -> int:
    """The store's own clock, which dates plain edits, in seconds after T0."""
    return since(await store.now()) or 0


def daily(now: int) -> Every:
    """A tick a day, as far from now as can be."""
    return every(days=1, anchor=later(now + DAY // 2))


class PlainEdits:
    """Edits of the tables by plain SQL."""

    async def test_an_inserted_row_gets_a_next_run_and_does_not_fire(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw(payload={"n": 1}))
        fresh = await get(store)
        assert (fresh.state, fresh.revision, fresh.cursor.planned_until) == ("active", 1, None)
        assert fresh.definition == define(payload={"n": 1})
        planned = await plan(store, 1_000_030)
        assert (planned.schedules, planned.runs, planned.skips) == (1, 0, 0)
        assert planned.next_at is not None
        assert await looks_next(store) == 1_000_080
        assert (await plan(store, 1_000_030)).schedules == 0
        await plan(store, 1_000_080)
        [run] = await runs_of(store)
        assert (run.origin, run.payload, run.revision) == ("schedule", {"n": 1}, 1)
        [revision] = await store.schedules.list_revisions(fresh.id)
        assert (revision.revision, revision.definition) == (1, raw(payload={"n": 1}))

    async def test_an_inserted_row_that_is_past_ends(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw(trigger={"at": "2026-01-01T00:00:30Z"}))
        await plan(store, 100)
        assert (await get(store)).state == "ended"
        assert await ranges(store) == [("misfire", 30, 30, 1)]
        assert await ticks(store) == []

    async def test_an_inserted_row_takes_commands_before_it_was_planned(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw())
        changed = await change(store, Trigger(actor="ada"), 10)
        assert len(changed.run_ids) == 1
        await plain.insert(NAMESPACE, "second", raw())
        paused = (await change(store, Pause(actor="ada"), 10, name="second")).schedule
        assert paused.state == "paused"
        resumed = (await change(store, Resume(actor="ada"), 100, name="second")).schedule
        assert (resumed.state, since(resumed.cursor.next_run_at)) == ("active", 120)

    @pytest.mark.parametrize("flaw", BROKEN)
    async def test_broken_row_is_parked_and_delays_no_other_schedule(
        self, store: Store, plain: Plain, flaw: str
    ) -> None:
        await create(store, "a-good")
        await plain.insert(NAMESPACE, "broken", raw(**BROKEN[flaw]))
        await create(store, "z-good")
        planned = await plan(store, 60)
        assert (planned.runs, planned.parked) == (2, ("broken",))
        schedule = await get(store, "broken")
        assert (schedule.state, schedule.definition, schedule.cursor.next_run_at) == ("parked", None, None)
        assert schedule.error
        assert (await plan(store, 61)).schedules == 0
        [row] = await store.schedules.list(NAMESPACE, state="parked")
        assert row.schedule == schedule
        with pytest.raises(ConflictError):
            await change(store, Trigger(actor="ada"), 70, name="broken")

    async def test_many_broken_rows_do_not_crowd_out_a_good_one(self, store: Store, plain: Plain) -> None:
        for number in range(3):
            for kind, fields in BROKEN.items():
                if not kind.startswith("huge"):
                    await plain.insert(NAMESPACE, f"{kind}-{number}", raw(**fields))
        await create(store)
        runs, _ = await plan_all(store, 60, limit=5)
        assert runs == 1
        parked = await store.schedules.list(NAMESPACE, state="parked")
        assert len(parked) == 3 * (len(BROKEN) - 2)

    async def test_updated_parked_row_continues(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now)
        await plain.redefine(schedule.id, raw(trigger={"cron": "61 * * * *"}))
        await plan(store, now + 10)
        parked = await get(store)
        assert (parked.state, parked.revision) == ("parked", 2)
        await plan(store, now + 2 * DAY)
        fields = {"trigger": daily(now).to_json()}
        repaired = (await change(store, Update(actor="ada", fields=fields), now + 3 * DAY)).schedule
        assert (repaired.state, repaired.error, repaired.revision) == ("active", None, 3)
        [skip] = await skips_of(store)
        assert (skip.reason, skip.count) == ("invalid", 3)
        next_at = since(repaired.cursor.next_run_at)
        assert next_at is not None
        assert now + 3 * DAY < next_at <= now + 4 * DAY
        await plan(store, next_at)
        assert await ticks(store) == [(next_at, "schedule", "queued")]

    async def test_parked_row_repaired_by_sql_continues(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now - 3 * DAY)
        await plain.redefine(schedule.id, raw(trigger={"cron": "61 * * * *"}))
        await plan(store, now + 10)
        assert (await get(store)).state == "parked"
        await plain.redefine(schedule.id, raw(trigger=daily(now).to_json()))
        await plan(store, now + 20)
        await plan(store, now + 20)
        repaired = await get(store)
        assert (repaired.state, repaired.error, repaired.revision) == ("active", None, 3)
        assert await ticks(store) == []
        assert [(skip.reason, skip.count) for skip in await skips_of(store)] == [("invalid", 3)]
        next_at = since(repaired.cursor.next_run_at)
        assert next_at is not None
        assert now < next_at <= now + DAY + 20

    async def test_a_pause_outlives_being_parked(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw(overlap="perhaps"))
        await plan(store, 10)
        parked = (await change(store, Pause(actor="ada"), 20)).schedule
        assert parked.state == "parked"
        assert parked.pause is not None
        repaired = (await change(store, Update(actor="bo", fields={"overlap": "skip"}), 30)).schedule
        assert repaired.state == "paused"
        assert repaired.pause is not None
        assert repaired.pause.by == "ada"

    async def test_an_edited_trigger_decides_the_past_as_it_was(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now - 2 * DAY)
        await plain.redefine(schedule.id, raw(trigger={"every": {"hours": 7}}))
        edited = await get(store)
        assert edited.revision == 2
        after = await seconds(store) + 1
        await plan_all(store, after)
        [run] = await runs_of(store)
        assert (run.origin, run.revision) == ("catch_up", 1)
        assert run.covers is not None
        assert run.covers.count == 2
        assert [(skip.reason, skip.revision) for skip in await skips_of(store)] == [("coalesced", 1)]
        next_at = await looks_next(store)
        assert next_at is not None
        assert now < next_at <= after + 7 * 3600
        newest, oldest = await store.schedules.list_revisions(schedule.id)
        assert (newest.revision, oldest.revision) == (2, 1)
        assert newest.definition == raw(trigger={"every": {"hours": 7}})
        assert newest.actor

    async def test_the_revisions_of_plain_sql_say_so(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw())
        await plain.redefine((await get(store)).id, raw(priority=9))
        revisions = await store.schedules.list_revisions((await get(store)).id)
        assert [revision.action for revision in revisions] == ["update", "create"]
        origins = {revision_origin(revision.action, revision.actor, revision.detail) for revision in revisions}
        assert origins == {"sql"}

    async def test_an_edited_policy_keeps_the_cursor(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now)
        before = schedule.cursor
        await plain.redefine(schedule.id, raw(trigger=daily(now).to_json(), priority=9))
        await plan_all(store, await seconds(store) + 1)
        after = (await get(store)).cursor
        assert (after.next_run_at, after.planned_until) == (before.next_run_at, before.planned_until)
        next_at = since(after.next_run_at)
        assert next_at is not None
        await plan(store, next_at)
        [run] = await runs_of(store)
        assert (run.revision, run.priority) == (2, 9)

    async def test_an_edit_is_told_from_one_by_a_person(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw())
        await plan(store, await seconds(store))
        await change(store, Update(actor="ada", fields={"priority": 3}), await seconds(store))
        await plain.redefine((await get(store)).id, raw(priority=9))
        history = await StoreClient(store, NAMESPACE).revisions.history(NAME)
        assert [(entry.revision.action, entry.origin) for entry in history] == [
            ("update", "sql"),
            ("update", "person"),
            ("create", "sql"),
        ]

    async def test_an_inserted_row_misses_no_tick_before_a_planner_sees_it(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, NAME, raw(trigger=every(hours=1).to_json()))
        now = await seconds(store)
        await plan(store, now + 5 * HOUR)
        await plan(store, now + 6 * HOUR)
        assert len(await ticks(store)) == 1
        report = await StoreClient(store, NAMESPACE).ticks.verify(NAME)
        assert (report.findings, report.runs, report.expected) == ((), 1, 1)

    async def test_edits_leave_a_complete_ledger(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, every(hours=1), at=now - DAY)
        await plan(store, now - DAY // 2)
        for trigger in (every(seconds=1), every(minutes=30), every(hours=7)):
            await plain.redefine(schedule.id, raw(trigger=trigger.to_json()))
        await plan_all(store, await seconds(store) + DAY)
        report = await StoreClient(store, NAMESPACE).ticks.verify(NAME)
        assert (report.findings, report.expected > 24) == ((), True)

    async def test_a_replaced_row_keeps_the_decisions_of_its_name(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        await create(store, NAME, every(hours=1), at=now - DAY)
        await change(store, Update(actor="ada", fields={"priority": 3}), now - DAY)
        for hours in (20, 10, 5):
            await plan(store, now - hours * HOUR)
        await plain.replace(NAMESPACE, NAME, raw(trigger=every(hours=2).to_json()))
        before = await ticks(store)
        now = await seconds(store)
        for hours in (0, 2, 4):
            await plan(store, now + hours * HOUR)
        assert len(await ticks(store)) == len(before)
        assert [skip.reason for skip in await skips_of(store)][-1:] == ["overlap"]
        report = await StoreClient(store, NAMESPACE).ticks.verify(NAME)
        assert (report.findings, report.skipped >= 2) == ((), True)
        # It can be edited, by either way.
        replaced = await get(store)
        await plain.redefine(replaced.id, raw(trigger=every(hours=3).to_json()))
        await change(store, Update(actor="ada", fields={"priority": 5}), now + 5 * HOUR)
        assert (await get(store)).revision == replaced.revision + 2

    async def test_an_edit_of_a_paused_row_leaves_it_paused(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now - DAY // 2)
        await change(store, Pause(actor="ada"), now)
        await plain.redefine(schedule.id, raw(trigger={"every": {"hours": 7}}))
        await plan_all(store, await seconds(store) + 1)
        edited = await get(store)
        assert (edited.state, edited.revision) == ("paused", 3)
        assert edited.pause is not None
        assert edited.pause.by == "ada"

    async def test_two_edits_before_a_planner_pass_use_the_oldest_definition(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now - 2 * DAY)
        await plain.redefine(schedule.id, raw(trigger={"every": {"seconds": 1}}))
        await plain.redefine(schedule.id, raw(trigger={"every": {"hours": 7}}))
        await plan_all(store, await seconds(store) + 1)
        [run] = await runs_of(store)
        assert run.revision == 1
        assert run.covers is not None
        assert run.covers.count == 2
        assert (await get(store)).revision == 3
        assert len(await store.schedules.list_revisions(schedule.id)) == 3

    async def test_a_command_after_a_plain_edit_sees_it(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now)
        await plain.redefine(schedule.id, raw(trigger=daily(now).to_json(), priority=9))
        with pytest.raises(ConflictError):
            await change(store, Update(actor="ada", fields={"grace": 5}, revision=1), now + 5)
        changed = (await change(store, Update(actor="ada", fields={"grace": 5}, revision=2), now + 5)).schedule
        assert (changed.revision, changed.definition) == (3, define(daily(now), priority=9, grace=5))

    async def test_newer_format_is_ignored(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, "newer", {"v": FORMAT + 1, "anything": {"may": "be"}})
        await create(store)
        for at_ in (60, 120):
            planned = await plan(store, at_)
            assert (planned.parked, planned.more) == ((), False)
        newer = await get(store, "newer")
        assert (newer.state, newer.definition, newer.cursor.planned_until) == ("active", None, None)
        assert len(await store.schedules.list(NAMESPACE)) == 2

    async def test_a_row_edited_into_a_newer_format_does_not_make_planners_spin(
        self, store: Store, plain: Plain
    ) -> None:
        now = await seconds(store)
        schedule = await create(store, NAME, daily(now), at=now)
        await plain.redefine(schedule.id, {"v": FORMAT + 1, "anything": True})
        for at_ in (now + 60, now + 2 * DAY):
            planned = await plan(store, at_)
            assert (planned.schedules, planned.parked, planned.more) == (0, (), False)
            assert planned.next_at is None or planned.next_at > later(at_)
        with pytest.raises(ConflictError):
            await change(store, Trigger(actor="ada"), now + 60)
        newer = await get(store)
        assert (newer.state, newer.definition, newer.revision) == ("active", None, 2)
        # In a known format again, planning continues.
        await plain.redefine(schedule.id, raw(trigger=daily(now).to_json()))
        await plan_all(store, now + 120)
        again = await get(store)
        assert (again.state, again.error, again.revision) == ("active", None, 3)
        assert (since(again.cursor.next_run_at), await ticks(store)) == (now + DAY // 2, [])

    async def test_an_edit_wakes_an_ended_row_but_no_deleted_one(self, store: Store, plain: Plain) -> None:
        now = await seconds(store)
        ended = await create(store, "ended", at(later(now - 100)), at=now - 200)
        deleted = await create(store, "deleted", daily(now), at=now - 200)
        await plan_all(store, now - 50)
        await change(store, Delete(actor="ada"), now - 40, name="deleted")
        for schedule in (ended, deleted):
            await plain.redefine(schedule.id, raw(trigger=daily(now).to_json()))
        await plan_all(store, await seconds(store) + 1)
        assert await looks_next(store, "ended") == now + DAY // 2
        assert ((await get(store, "ended")).state, (await get(store, "deleted")).state) == ("active", "deleted")
        assert await looks_next(store, "deleted") is None
