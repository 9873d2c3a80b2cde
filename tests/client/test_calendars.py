"""The client's verbs about calendars: put, preview, get, list and delete, and what schedules make of them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from tickbird.client import Client, StoreClient
from tickbird.domain.errors import ConflictError, DefinitionError, InvalidError, NotFoundError
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.cron.cron import cron
from tickbird.engine.code_sync import Declarations, sync
from tickbird.store.sqlite import SqliteStore


@pytest.fixture
def client(store: SqliteStore) -> Client:
    return StoreClient(store)


async def create(client: Client, name: str, expression: str = "0 9 * * *", **options: Any) -> None:
    await client.schedules.create(name, cron(expression), "work", actor="ana", unknown_task_ok=True, **options)


async def test_a_put_tells_what_its_preview_told_and_changes_what_names_it(client: Client) -> None:
    await client.calendars.put("fest", {"dates": ["12-25"]}, actor="ana")
    await create(client, "daily", calendars="fest")
    await create(client, "rolled", "0 9 25 12 *", calendars=["fest"], roll="next")
    await create(client, "apart", calendars=["weekends"])
    preview = await client.calendars.preview("fest", {"dates": ["12-26"]}, horizon="366d")
    assert (preview.schedules, [effect.schedule for effect in preview.effects]) == (2, ["daily", "rolled"])
    daily, rolled = preview.effects
    assert [(tick.month, tick.day) for tick in daily.appear] == [(12, 25)]
    assert [(tick.month, tick.day) for tick in daily.vanish] == [(12, 26)]
    assert [(old.day, new.day) for old, new in rolled.moved] == [(26, 25)]
    assert (await client.schedules.get("daily")).revision == 1
    put = await client.calendars.put("fest", {"dates": ["12-26"]}, actor="bo")
    assert (put.effects, put.failed) == (preview.effects, [])
    for name, revision in (("daily", 2), ("rolled", 2), ("apart", 1)):
        assert (await client.schedules.get(name)).revision == revision
    assert [row.action for row in await client.audit.list()][:3] == ["calendar", "calendar", "put_calendar"]
    again = await client.calendars.put("fest", {"dates": ["12-26"]}, actor="bo")
    assert (again.effects, (await client.schedules.get("daily")).revision) == ([], 2)


async def test_a_calendar_is_read_listed_and_deleted(client: Client) -> None:
    await client.calendars.put("fest", {"weekdays": ["sun"], "description": "d"}, actor="ana")
    record = await client.calendars.get("fest")
    assert (record.definition, record.changed_by) == ({"weekdays": ["sun"], "description": "d"}, "ana")
    assert await client.calendars.list() == [record]
    await create(client, "daily", calendars=["fest"])
    with pytest.raises(ConflictError, match="used by daily"):
        await client.calendars.delete("fest", actor="ana")
    await client.schedules.update("daily", calendars=[], actor="ana")
    await client.calendars.delete("fest", actor="ana")
    with pytest.raises(NotFoundError, match=r"'fest'.*weekends"):
        await client.calendars.get("fest")


async def test_bad_input_is_refused_in_one_sentence(client: Client) -> None:
    for name, definition, said in (
        ("weekends", {"dates": ["12-25"]}, "built in"),
        ("a b", {"dates": ["12-25"]}, "valid name"),
        ("fest", {"dates": ["2026-02-30"]}, "not a date"),
        ("fest", {}, "closes no days"),
    ):
        with pytest.raises(DefinitionError, match=said):
            await client.calendars.put(name, definition, actor="ana")
    for horizon in ("0s", "6000d"):
        with pytest.raises(InvalidError, match="horizon"):
            await client.calendars.preview("fest", {"dates": ["12-25"]}, horizon=horizon)
    with pytest.raises(InvalidError, match="actor"):
        await client.calendars.put("fest", {"dates": ["12-25"]}, actor="")
    with pytest.raises(DefinitionError, match=r"'nope'.*weekends"):
        await create(client, "daily", calendars=["nope"])
    with pytest.raises(DefinitionError, match="previous"):
        await create(client, "daily", roll="forward")
    assert await client.calendars.list() == []


async def test_a_calendar_that_a_schedule_cannot_have_is_not_stored(client: Client) -> None:
    await client.calendars.put("fest", {"weekdays": ["mon"]}, actor="ana")
    await create(client, "daily", calendars=["fest", "weekends"])
    with pytest.raises(DefinitionError, match=r"'daily'.*all seven"):
        await client.calendars.put("fest", {"weekdays": ["mon", "tue", "wed", "thu", "fri"]}, actor="ana")
    assert (await client.calendars.get("fest")).revision == 1


async def test_the_library_of_holidays_is_only_needed_for_holidays(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "holidays", None)
    with pytest.raises(DefinitionError, match=r"tickbird\[holidays\]"):
        await client.calendars.put("de", {"holidays": "DE"}, actor="ana")
    await client.calendars.put("own", {"dates": ["12-25"]}, actor="ana")


async def test_public_holidays_are_resolved_for_a_span_of_years(client: Client) -> None:
    pytest.importorskip("holidays")
    asked = {"holidays": {"country": "de", "subdivision": "BW", "years": [2026, 2027]}}
    record = (await client.calendars.put("de", asked, actor="ana")).calendar
    assert {day.year for day in record.closed.dates} == {2026, 2027}
    assert record.source["years"] == [2026, 2027]
    assert record.source["library"].startswith("holidays ")
    assert record.source["names"]["2026-01-06"]
    for holidays, said in (("XX", "'XX' are unknown"), ("DE-ZZ", "no subdivision 'ZZ'")):
        with pytest.raises(DefinitionError, match=said):
            await client.calendars.put("de", {"holidays": holidays}, actor="ana")
    year = (await client.system.now()).year
    default = await client.calendars.preview("us", {"holidays": "US"})
    assert default.calendar.source["years"] == [year - 1, year + 10]


async def test_why_tells_which_calendar_closed_a_day(client: Client) -> None:
    await client.calendars.put("fest", {"dates": ["2040-12-25"]}, actor="ana")
    await create(client, "daily", calendars=["fest"])
    await create(client, "rolled", "0 9 25 12 *", calendars=["fest"], roll="previous")
    tick = datetime(2040, 12, 25, 9, tzinfo=UTC)
    skipped = await client.ticks.why("daily", tick)
    assert (skipped.verdict, "calendar fest: that date" in skipped.sentence) == ("will be skipped", True)
    moved = await client.ticks.why("rolled", tick)
    assert (moved.verdict, "Rolled to 2040-12-24 09:00:00 UTC" in moved.sentence) == ("not a tick", True)
    here = await client.ticks.why("rolled", datetime(2040, 12, 24, 9, tzinfo=UTC))
    assert here.verdict == "will run"
    assert any("2040-12-25 09:00:00 UTC runs here" in step.text for step in here.steps)


async def test_code_that_names_a_calendar_finds_it_in_the_store(client: Client, store: SqliteStore) -> None:
    definition = Definition(trigger=cron("0 9 * * *"), target=Target("work"), calendars=("fest",))
    declarations = Declarations("default", "app", {"daily": definition})
    with pytest.raises(DefinitionError, match=r"'fest'.*calendar put"):
        await sync(store, declarations)
    await client.calendars.put("fest", {"dates": ["12-25"]}, actor="ana")
    assert await sync(store, declarations) == ["daily: created"]
    await client.calendars.put("fest", {"dates": ["12-26"]}, actor="ana")
    assert await sync(store, declarations) == []
    assert (await client.schedules.get("daily")).definition_json["closed"] == {"fest": ["12-26"]}
