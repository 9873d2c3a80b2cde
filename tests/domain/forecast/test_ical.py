"""Coming ticks as iCalendar, read back by a strict reader of RFC 5545."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.ical_reader import Component, read_ical
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.ical import ical
from tickbird.domain.planning.agenda import AgendaEntry, agenda
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every

NOW = datetime(2026, 3, 2, 12, 0, 30, tzinfo=UTC)
MADE = datetime(2026, 3, 1, tzinfo=UTC)


def made(name: str = "digest", trigger: Any = None, state: Any = "active", **fields: Any) -> Schedule:
    """A schedule that is planned up to now."""
    cursor = fields.pop("cursor", {})
    pause = fields.pop("pause", None)
    definition = Definition(trigger=trigger or every(days=1), target=Target("report"), **fields)
    return Schedule(
        id=1,
        namespace="default",
        name=name,
        revision=1,
        state=state,
        definition=definition,
        cursor=Cursor(planned_until=to_seconds(NOW), **cursor),
        pause=pause,
        created_at=MADE,
        changed_at=MADE,
    )


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


def events(*schedules: Schedule, took: float | None = None, **asked: Any) -> list[Component]:
    """The events that a calendar program sees."""
    found = agenda([AgendaEntry(each, took) for each in schedules], NOW, **asked)
    calendar = read_ical(ical(found, version="1").encode())
    return [part for part in calendar.parts if part.kind == "VEVENT"]


def test_a_tick_is_an_event() -> None:
    [first, second] = events(made(tags=("mail", "eu"), description="For Ana;\r\nand Bo, too\\"), days=2, took=61.0)
    assert first.at("DTSTART") == at(3)
    assert second.at("DTSTART") == at(4)
    assert first.values["SUMMARY"] == "digest"
    assert first.at("DTSTAMP") == MADE
    assert first.length() == timedelta(minutes=2)
    assert first.values["CATEGORIES"] == "mail,eu"
    said = "Every day; task report\nFor Ana;\nand Bo, too\\\nTags: mail, eu\nState: active"
    assert first.values["DESCRIPTION"] == said
    assert (first.values["STATUS"], first.values["TRANSP"]) == ("CONFIRMED", "TRANSPARENT")
    # A later request for the same tick gives the identical event.
    assert events(made(), days=2)[0].values == events(made(), days=3)[0].values


def test_calendar_without_ticks_is_valid() -> None:
    assert events() == []
    assert events(made(state="ended"), made("other", state="parked")) == []


def test_skipped_tick_is_cancelled_with_the_reason() -> None:
    overrides = (
        TickOverride(to_seconds(at(3)), actor="bo", created_at=to_seconds(NOW), skip=True, note="feast"),
        TickOverride(to_seconds(at(5)), actor="bo", created_at=to_seconds(NOW), due_at=to_seconds(at(5, 7))),
        TickOverride(to_seconds(at(7)), decided_early=True),
        TickOverride(to_seconds(at(12)), actor="bo", due_at=to_seconds(at(8, 12)), payload={"limit": 1}),
    )
    skips = {"tick_overrides": overrides}
    [skipped, _, moved, _, _, early, *rest] = events(made(cursor=skips), days=7)
    assert (skipped.at("DTSTART"), skipped.values["STATUS"]) == (at(3), "CANCELLED")
    assert "Will not run: an operator skipped it.\nDecided by bo: feast" in skipped.values["DESCRIPTION"]
    assert skipped.at("DTSTAMP") == NOW
    # It has the new instant and the UID of its tick.
    assert (moved.at("DTSTART"), moved.values["STATUS"]) == (at(5, 7), "CONFIRMED")
    assert moved.values["UID"] == "20260305T000000Z/default/digest@tickbird"
    assert "Moved here from 2026-03-05T00:00:00Z." in moved.values["DESCRIPTION"]
    # It was moved into the range from after its end; the decided tick is missing.
    assert early.at("DTSTART") == at(8, 12)
    assert "Runs with another payload." in early.values["DESCRIPTION"]
    assert rest == [each for each in rest if each.at("DTSTART") == at(9)]
    ranged = {"skip_until": to_seconds(at(3)), "skip_by": "al", "skip_note": "quiet"}
    [first, second] = events(made(cursor=ranged), days=2)
    assert (first.values["STATUS"], second.values["STATUS"]) == ("CANCELLED", "CONFIRMED")
    assert "Decided by al: quiet" in first.values["DESCRIPTION"]
    paused = made(state="paused", pause=PauseState("bo", "repairs", to_seconds(at(4))))
    [first, second] = events(paused, days=2)
    assert (first.values["STATUS"], second.values["STATUS"]) == ("CANCELLED", "CONFIRMED")
    assert "State: paused by bo: repairs" in first.values["DESCRIPTION"]
    weekend = made(exclude=exclude("sat", "sun"), trigger=cron("0 0 * * *", "UTC"))
    assert [each.values["STATUS"] for each in events(weekend, days=6)] == ["CONFIRMED"] * 4 + ["CANCELLED"] * 2


def test_frequent_schedule_is_one_event() -> None:
    hourly, busy = made("hourly", every(hours=1)), made("busy", every(minutes=50))
    found = events(hourly, busy, days=2)
    assert len(found) == 48 + 1
    whole = found[0]
    assert whole.values["SUMMARY"] == "busy (about 29 ticks a day)"
    assert (whole.values["DTSTART"], whole.values["DTEND"]) == ("20260302", "20260305")
    # A schedule with few runs left has only those ticks.
    assert len(events(made("busy", every(minutes=1), max_runs=3))) == 3


def test_earliest_ticks_are_listed_if_there_are_too_many() -> None:
    schedules = [made(f"s{number}", every(hours=1)) for number in range(9, 0, -1)]
    found = agenda([AgendaEntry(each) for each in schedules], NOW, 1, 20)
    assert not found.complete
    assert [(tick.scheduled_for.hour, planned.schedule.name) for planned, tick in found.ticks] == [
        (hour, f"s{number}") for hour in (13, 14, 15) for number in range(1, 10)
    ][:20]
    assert agenda([AgendaEntry(made())], NOW, 5, 5).complete


@pytest.mark.parametrize("asked", [{"days": 0}, {"days": 367}, {"events": 0}, {"events": 10_001}])
def test_bounds(asked: dict[str, int]) -> None:
    with pytest.raises(InvalidError, match="must be from 1 to"):
        agenda([], NOW, **asked)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_read_back(description: str, note: str) -> None:
    schedule = made(cursor={"skip_until": to_seconds(at(9)), "skip_by": "bo", "skip_note": note})
    assert schedule.definition is not None
    # Only plain SQL can write an invalid definition.
    object.__setattr__(schedule.definition, "description", description)
    [event] = events(replace(schedule), days=1)

    def kept(text: str) -> str:
        plain = text.replace("\r\n", "\n").replace("\r", "\n")
        return "".join(each if each in "\n\t" or (each >= " " and each != "\x7f") else " " for each in plain)

    assert kept(description) in event.values["DESCRIPTION"]
    assert kept(note) in event.values["DESCRIPTION"]
