"""Calendars: stored by name and copied into their schedules, which change only by a command."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    create,
    define,
    get,
    later,
    plan,
    ranges,
    runs_of,
    since,
    skips_of,
)
from tickbird.domain.calendars.calendar import Calendar, calendar_to_json
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.errors import ConflictError, DefinitionError, NotFoundError, StaleError
from tickbird.domain.planning.commands.define import Delete, RefreshCalendar, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

DAY = 86_400
# T0 is Thursday, 2026-01-01.
FRIDAY = Calendar(frozenset({date(2026, 1, 2)}))
SATURDAY = Calendar(frozenset({date(2026, 1, 3)}), yearly=frozenset({(12, 25)}), opened=frozenset({date(2026, 12, 25)}))


async def put(
    store: Store, name: str, closed: Calendar, at: float = 0, namespace: str = NAMESPACE, **definition: Any
) -> CalendarRecord:
    """A calendar, put by Cy."""
    source = {"library": "days 1.0", "years": [2025, 2036]}
    return await store.calendars.put(namespace, name, definition, closed, source, "cy", now=later(at))


async def through(store: Store, days: int) -> list[int | None]:
    """Plan hour by hour; the ticks that became runs."""
    for hour in range(days * 24):
        await plan(store, hour * 3_600 + 1)
    return [since(run.scheduled_for) for run in await runs_of(store)]


class Calendars:
    """A calendar takes effect on a schedule when the schedule is updated."""

    async def test_calendar_is_read_back(self, store: Store) -> None:
        first = await put(store, "fest", SATURDAY, dates=["2026-01-03"], description="Zoë’s")
        assert (first.name, first.closed, first.revision, first.changed_by) == ("fest", SATURDAY, 1, "cy")
        assert first.definition == {"dates": ["2026-01-03"], "description": "Zoë’s"}
        assert first.source == {"library": "days 1.0", "years": [2025, 2036]}
        second = await put(store, "fest", FRIDAY, 60)
        assert (second.revision, since(second.created_at), since(second.changed_at)) == (2, 0, 60)
        other = await put(store, "a", SATURDAY, 61)
        assert await store.calendars.list(NAMESPACE) == [other, second]
        assert await store.calendars.list("elsewhere") == []
        audit = await store.ledger.list_audit(NAMESPACE)
        assert [(row.action, row.actor, row.detail["calendar"]) for row in audit] == [
            ("put_calendar", "cy", "a"),
            ("put_calendar", "cy", "fest"),
            ("put_calendar", "cy", "fest"),
        ]

    async def test_calendar_change_needs_the_expected_revision(self, store: Store) -> None:
        async def attempt(revision: int | None) -> int:
            made = await store.calendars.put(NAMESPACE, "fest", {}, FRIDAY, {}, "cy", revision=revision, now=later(1))
            return made.revision

        for wrong in (1, 7):
            with pytest.raises(StaleError, match="does not exist"):
                await attempt(wrong)
        assert await store.calendars.list(NAMESPACE) == []
        assert [await attempt(0), await attempt(1), await attempt(None)] == [1, 2, 3]
        with pytest.raises(StaleError, match="is at revision 3, but it must not exist"):
            await attempt(0)
        for wrong in (2, 4):
            with pytest.raises(StaleError, match=f"is at revision 3, not {wrong}"):
                await attempt(wrong)
            with pytest.raises(StaleError):
                await store.calendars.delete(NAMESPACE, "fest", "cy", revision=wrong, now=later(2))
        [kept] = await store.calendars.list(NAMESPACE)
        assert kept.revision == 3
        assert len(await store.ledger.list_audit(NAMESPACE)) == 3
        await store.calendars.delete(NAMESPACE, "fest", "cy", revision=3, now=later(2))
        assert await store.calendars.list(NAMESPACE) == []

    async def test_calendars_come_in_pages_or_one_by_name(self, store: Store) -> None:
        for name in ("c", "a", "d", "b"):
            await put(store, name, FRIDAY)

        async def names(**bounds: Any) -> list[str]:
            return [record.name for record in await store.calendars.list(NAMESPACE, **bounds)]

        assert await names() == ["a", "b", "c", "d"]
        assert await names(limit=2) == ["a", "b"]
        assert await names(after="b", limit=5) == ["c", "d"]
        assert await names(name="c") == ["c"]
        assert await names(name="x") == []

    async def test_new_schedule_gets_the_closed_days_of_its_calendars(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        schedule = await create(store, NAME, every(days=1), calendars=("fest", "weekends"), overlap="allow")
        assert schedule.definition_json["closed"] == {"fest": ["2026-01-02"], "weekends": ["sat", "sun"]}
        assert schedule.definition is not None
        assert schedule.definition.closed["fest"] == FRIDAY
        assert await through(store, 5) == [4 * DAY]
        assert await ranges(store) == [("calendar", DAY, 3 * DAY, 3)]

    async def test_unknown_calendar_error_lists_existing_calendars(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        await put(store, "fast", FRIDAY, namespace="elsewhere")
        with pytest.raises(DefinitionError, match=r"'fast'.*fest, weekends"):
            await create(store, NAME, calendars=("fast",))
        await create(store)
        with pytest.raises(DefinitionError, match=r"'nope'.*fest"):
            await change(store, Update(actor="ada", fields={"calendars": ["fest", "nope"]}), 5)
        assert (await get(store)).revision == 1

    async def test_a_put_changes_a_schedule_only_by_its_own_command(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        before = await create(store, NAME, every(days=1), calendars=("fest",), overlap="allow")
        await put(store, "fest", SATURDAY, 10)
        assert await get(store) == before
        changed = (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 20)).schedule
        assert changed.definition_json["closed"] == {"fest": calendar_to_json(SATURDAY)}
        assert (changed.revision, changed.cursor) == (2, before.cursor)
        assert (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 30)).schedule.revision == 2
        [newest, *_] = await store.schedules.list_revisions(before.id)
        assert (newest.action, newest.actor, newest.detail) == ("calendar", "cy", {"calendar": "fest"})
        assert await through(store, 4) == [DAY, 3 * DAY]

    async def test_due_ticks_are_decided_before_a_new_calendar(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        await create(store, NAME, every(days=1), calendars=("fest",))
        await put(store, "fest", SATURDAY, DAY + 5)
        await change(store, RefreshCalendar(actor="cy", calendar="fest"), DAY + 6)
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), skip.revision) == ("calendar", DAY, 1)

    async def test_rolled_ticks_follow_the_calendar(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        # The 2nd and the 10th at nine; the 3rd and the 10th are Saturdays.
        trigger = cron("0 9 2,10 * *")
        schedule = await create(store, NAME, trigger, calendars=("fest", "weekends"), roll="next", overlap="allow")
        assert since(schedule.next_run_at) == 4 * DAY + 9 * 3_600
        await put(store, "fest", SATURDAY, 10)
        changed = (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 20)).schedule
        assert since(changed.next_run_at) == DAY + 9 * 3_600
        assert await through(store, 12) == [DAY + 9 * 3_600, 11 * DAY + 9 * 3_600]
        assert await ranges(store) == []

    async def test_a_new_calendar_never_brings_back_the_past(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        await create(store, NAME, cron("0 9 2 * *"), calendars=("fest", "weekends"), roll="next")
        await put(store, "fest", SATURDAY, 2 * DAY)
        # By now Friday at nine is a tick of the new grid, and past.
        changed = (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 2 * DAY)).schedule
        assert since(changed.next_run_at) == 32 * DAY + 9 * 3_600
        assert await through(store, 5) == []

    async def test_ticks_rolled_onto_another_are_one_run(self, store: Store) -> None:
        await create(store, NAME, cron("0 9 * * *"), calendars=("weekends",), roll="previous", overlap="allow")
        # Friday's is also Saturday's and Sunday's.
        assert await through(store, 5) == [day * DAY + 9 * 3_600 for day in (0, 1, 4)]
        assert await ranges(store) == []

    async def test_a_calendar_in_use_is_not_deleted(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        await create(store, "one", every(days=1), calendars=("weekends", "fest"))
        await create(store, "two", every(days=1), calendars=("fest",))
        await create(store, "three", every(days=1), calendars=("weekends",))
        await create(store, "four", every(days=1))
        with pytest.raises(ConflictError, match="one, two"):
            await store.calendars.delete(NAMESPACE, "fest", "cy", now=later(5))
        assert [record.name for record in await store.calendars.list(NAMESPACE)] == ["fest"]
        page = await store.calendars.list_schedules(NAMESPACE, "fest", limit=1)
        assert [schedule.name for schedule in page] == ["one"]
        page = await store.calendars.list_schedules(NAMESPACE, "fest", after="one")
        assert [schedule.name for schedule in page] == ["two"]
        await change(store, Delete(actor="ada"), 6, name="one")
        await change(store, Update(actor="ada", fields={"calendars": []}), 6, name="two")
        await store.calendars.delete(NAMESPACE, "fest", "cy", now=later(7))
        assert await store.calendars.list(NAMESPACE) == []
        assert (await store.ledger.list_audit(NAMESPACE))[0].action == "delete_calendar"
        with pytest.raises(NotFoundError, match=r"'fest'.*weekends"):
            await store.calendars.delete(NAMESPACE, "fest", "cy", now=later(8))
        assert (await get(store, "two")).definition_json.get("closed") is None

    async def test_code_declares_calendar_names_only(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        declared = define(every(days=1), calendars=("fest",))
        mark = fingerprint(declared)
        schedule = await create(store, NAME, every(days=1), calendars=("fest",), app="app", fingerprint=mark)
        assert schedule.definition is not None
        assert fingerprint(schedule.definition) == mark
        await put(store, "fest", SATURDAY, 10)
        changed = (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 20)).schedule
        assert changed.definition is not None
        assert fingerprint(changed.definition) == mark == changed.fingerprint
        assert changed.field_overrides == {}
        # An operator's calendars stand over the code's, and a deploy resolves those.
        await change(store, Update(actor="bo", fields={"calendars": ["weekends"]}), 30)
        redefine = SyncFromCode(
            actor="sync", definition=define(every(hours=6), calendars=("fest",)), app="app", fingerprint="n"
        )
        synced = (await change(store, redefine, 40)).schedule
        assert (synced.field_overrides, synced.definition_json["closed"]) == (
            {"calendars": ["weekends"]},
            {"weekends": ["sat", "sun"]},
        )

    async def test_a_paused_schedule_takes_a_new_calendar(self, store: Store) -> None:
        await put(store, "fest", FRIDAY)
        await create(store, NAME, cron("0 9 2 * *"), calendars=("fest",), roll="next")
        await change(store, Pause(actor="ada"), 5)
        await put(store, "fest", SATURDAY, 10)
        changed = (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 20)).schedule
        assert (changed.state, changed.definition_json["closed"]) == ("paused", {"fest": calendar_to_json(SATURDAY)})

    async def test_a_plain_row_whose_calendar_is_not_resolved_is_parked_until_it_is(
        self, store: Store, plain: Plain
    ) -> None:
        await put(store, "fest", FRIDAY)
        definition = {"v": 1, "trigger": {"every": {"days": 1}}, "target": {"task": "work"}, "calendars": ["fest"]}
        await plain.insert(NAMESPACE, NAME, definition)
        await plan(store, 10 * 365 * DAY)
        parked = await get(store)
        assert parked.state == "parked"
        assert "fest" in (parked.error or "")
        repaired = (await change(store, RefreshCalendar(actor="cy", calendar="fest"), 10 * 365 * DAY + 5)).schedule
        assert (repaired.state, repaired.definition_json["closed"]) == ("active", {"fest": ["2026-01-02"]})
