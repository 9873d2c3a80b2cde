"""A calendar moves over: rules, exceptions, changed occurrences, zones, and what is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr

from tests.importers.conftest import AFTER, UNTIL, made_of, ticks
from tickbird.domain.errors import InvalidError
from tickbird.importers.ical import read_calendar, read_zone_names

ROME = ZoneInfo("Europe/Rome")


def calendar(*events: str) -> str:
    """A calendar of these components, with the line ends of RFC 5545."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", *(line for event in events for line in event.strip().splitlines())]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def event(*lines: str, uid: str = "1", summary: str = "Digest") -> str:
    return "\n".join(["BEGIN:VEVENT", f"UID:{uid}", f"SUMMARY:{summary}", *lines, "END:VEVENT"])


def imported(*events: str, **options: Any) -> Any:
    return made_of(read_calendar(calendar(*events), "c.ics", **{"after": AFTER, **options}))


def fields(*events: str, name: str = "Digest", **options: Any) -> dict[str, Any]:
    return dict(imported(*events, **options).document.schedules[name].trigger.to_json())


START = "DTSTART;TZID=Europe/Rome:20270101T090000"


@pytest.mark.parametrize(
    "rule",
    ["FREQ=MONTHLY;BYDAY=-1FR", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR,MO", "FREQ=DAILY;COUNT=100", "FREQ=YEARLY;BYMONTH=1"],
)
def test_a_rule_ticks_as_dateutil_has_it(rule: str) -> None:
    made = imported(event(START, f"RRULE:{rule}"))
    start = datetime(2027, 1, 1, 9, tzinfo=ROME)
    expected = {int(at.timestamp()) for at in rrulestr(rule, dtstart=start).xafter(start, inc=True, count=1_000)}
    # The start is an occurrence, also if the rule does not have it.
    expected.add(int(start.timestamp()))
    assert ticks(made, "Digest") == {at for at in expected if AFTER < at <= UNTIL}


def test_exceptions_and_additions_in_other_zones_and_without_times() -> None:
    assert fields(
        event(
            START,
            "RRULE:FREQ=DAILY",
            "EXDATE:20270102T080000Z,20270103T080000Z",
            "EXDATE;VALUE=DATE:20270104",
            "RDATE;TZID=America/New_York:20270105T090000",
            "RDATE;VALUE=PERIOD:20270106T100000Z/PT1H",
        )
    ) == {
        "rrule": "FREQ=DAILY",
        "dtstart": "2027-01-01T09:00:00",
        "tz": "Europe/Rome",
        "exdate": ["2027-01-02T09:00:00", "2027-01-03T09:00:00", "2027-01-04T09:00:00"],
        "rdate": ["2027-01-05T15:00:00", "2027-01-06T11:00:00"],
    }


def test_changed_occurrences_are_carried_over_and_named() -> None:
    made = imported(
        event("RECURRENCE-ID;TZID=Europe/Rome:20270105T090000", "DTSTART;TZID=Europe/Rome:20270105T110000"),
        event("RECURRENCE-ID:20270106T080000Z", "STATUS:CANCELLED", START),
        event("RECURRENCE-ID;TZID=Europe/Rome:20270107T090000", "DTSTART;TZID=Europe/Rome:20270107T090000"),
        event("RECURRENCE-ID;RANGE=THISANDFUTURE;TZID=Europe/Rome:20270108T090000", START),
        event("RECURRENCE-ID;TZID=Europe/Rome:20270108T090000", START, uid="other", summary="Stray"),
        event(START, "RRULE:FREQ=DAILY"),
    )
    trigger = made.document.schedules["Digest"].trigger.to_json()
    assert trigger["exdate"] == ["2027-01-05T09:00:00", "2027-01-06T09:00:00"]
    assert trigger["rdate"] == ["2027-01-05T11:00:00"]
    [entry] = made.imported.entries
    assert [note.rpartition(" (")[0] for note in entry.notes] == [
        "The occurrence of 2027-01-05 09:00:00 is moved to 2027-01-05 11:00:00",
        "The occurrence of 2027-01-06 09:00:00 is cancelled",
        "The occurrence of 2027-01-07 09:00:00 has another description",
    ]
    assert [each.reason.partition(".")[0] for each in made.not_imported] == [
        "it changes all later occurrences",
        "it changes an occurrence of an event that is not in the calendar",
    ]


def test_single_events_and_whole_days() -> None:
    once = event("DTSTART:20270501T070000Z", uid="2", summary="Once")
    dates = event(START, "RDATE;TZID=Europe/Rome:20270201T090000", uid="3", summary="Two dates")
    day = event("DTSTART;VALUE=DATE:20270131", "RRULE:FREQ=MONTHLY", uid="4", summary="All day")
    made = imported(once, dates, day, tz="Asia/Tokyo", task="call")
    found = {name: one.trigger.to_json() for name, one in made.document.schedules.items()}
    assert found["Once"] == {"at": "2027-05-01T07:00:00Z"}
    assert found["All-day"] == {"rrule": "FREQ=MONTHLY", "dtstart": "2027-01-31T00:00:00", "tz": "Asia/Tokyo"}
    assert ticks(made, "Two-dates") == {int(datetime(2027, month, 1, 8, tzinfo=UTC).timestamp()) for month in (1, 2)}
    assert {one.target.name for one in made.document.schedules.values()} == {"call"}


def test_the_start_is_an_occurrence_even_if_the_rule_does_not_have_it() -> None:
    made = imported(event(START, "RRULE:FREQ=WEEKLY;BYDAY=MO"))
    assert int(datetime(2027, 1, 1, 8, tzinfo=UTC).timestamp()) in ticks(made, "Digest")
    [entry] = made.imported.entries
    assert entry.notes == ["Its start does not match its rule. It is added as rdate, because calendars show it."]


def test_zones_by_other_names() -> None:
    windows = 'DTSTART;TZID="W. Europe Standard Time":20270101T090000'
    mine = event(windows, "RRULE:FREQ=DAILY")
    made = imported(mine)
    [left] = made.not_imported
    assert "Map it with --zone 'W. Europe Standard Time=Europe/Rome'" in left.reason
    assert fields(mine, zones=read_zone_names(["W. Europe Standard Time=Europe/Berlin"]))["tz"] == "Europe/Berlin"
    named = "BEGIN:VTIMEZONE\nTZID:W. Europe Standard Time\nX-LIC-LOCATION:Europe/Vienna\nEND:VTIMEZONE"
    assert fields(named, mine)["tz"] == "Europe/Vienna"
    path = event("DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Oslo:20270101T090000", "RRULE:FREQ=DAILY")
    assert fields(path)["tz"] == "Europe/Oslo"
    for text in ("Europe/Berlin", "=Europe/Berlin", "X=Mars/Phobos"):
        with pytest.raises(InvalidError):
            read_zone_names([text])


def test_folded_and_escaped_lines() -> None:
    folded = event(
        START, "RRULE:FREQ=DAI\r\n LY;BY\r\n\tHOUR=9", summary="One\\, two\\; three\\nand\r\n  four", uid="5"
    )
    made = imported(folded)
    [definition] = made.document.schedules.values()
    assert definition.description == "One, two; three\nand four"
    assert definition.trigger.to_json()["rrule"] == "FREQ=DAILY;BYHOUR=9"


@pytest.mark.parametrize(
    "lines, reason",
    [
        (("RRULE:FREQ=DAILY",), "it has no DTSTART"),
        (("DTSTART:2027-01-01",), "is not an iCalendar date"),
        (("DTSTART:20270230T090000Z",), "there is no '20270230T090000Z' in the calendar"),
        ((START, "RRULE:FREQ=DAILY", "RRULE:FREQ=WEEKLY"), "it has several rules"),
        ((START, "RRULE:FREQ=DAILY", "EXRULE:FREQ=WEEKLY"), "it has several rules"),
        ((START, "RRULE:FREQ=SOMETIMES"), "FREQ"),
        (("DTSTART:20200101T090000Z",), "it is over"),
        (("DTSTART:20200101T090000Z", "RRULE:FREQ=DAILY;COUNT=3"), "it is over"),
    ],
)
def test_events_that_are_left_out(lines: tuple[str, ...], reason: str) -> None:
    made = imported(event(*lines), event(START, uid="9", summary="Kept"))
    [left] = made.not_imported
    assert reason in left.reason
    assert left.line == 3
    assert set(made.document.schedules) == {"Kept"}


def test_cancelled_events_duplicates_and_other_components() -> None:
    made = imported(
        event(START, "STATUS:CANCELLED", uid="1", summary="Off"),
        event(START, "BEGIN:VALARM", "TRIGGER:-PT5M", "END:VALARM", uid="2"),
        event(START, uid="2"),
        "BEGIN:VTODO\nSUMMARY:Write\nEND:VTODO",
        event("nonsense without a colon", START, uid="3", summary="Odd"),
    )
    assert set(made.document.schedules) == {"Digest", "Digest-2", "Odd"}
    assert [entry.off for entry in made.off] == ["it is cancelled"]
    assert {each.reason for each in made.not_imported} == {"a VTODO is not an event", "this is not an iCalendar line"}


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "there is no BEGIN:VCALENDAR"),
        ("hello", "there is no BEGIN:VCALENDAR"),
        ("BEGIN:VCALENDAR\nBEGIN:VEVENT\n", "VEVENT in line 2 has no END"),
        ("BEGIN:VCALENDAR\nEND:VEVENT\n", "END:VEVENT has no BEGIN"),
    ],
)
def test_invalid_calendar_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidError, match=reason):
        read_calendar(text, "c.ics")


def test_clock_changes_by_the_rule_of_the_standard() -> None:
    made = imported(event("DTSTART;TZID=Europe/Rome:20270101T023000", "RRULE:FREQ=DAILY"))
    [first, _] = made.differences["Digest"]
    assert first.description("iCalendar") == "2027-03-28: iCalendar at 03:30 CEST, Tickbird at 03:00 CEST"


def test_single_event_in_a_gap_gets_the_note_of_rules() -> None:
    made = imported(event("DTSTART;TZID=Europe/Rome:20270328T023000"))
    [difference] = made.differences["Digest"]
    assert difference.description("iCalendar") == "2027-03-28: iCalendar at 03:30 CEST, Tickbird at 03:00 CEST"
    assert imported(event("DTSTART;TZID=Europe/Rome:20271031T023000")).differences == {}


@pytest.mark.parametrize(
    "exdate",
    ["EXDATE:20270328T013000Z", "EXDATE:20270328T010000Z", "EXDATE;TZID=Europe/Rome:20270328T023000"],
)
def test_exdate_of_an_occurrence_in_a_gap_removes_its_tick(exdate: str) -> None:
    made = imported(event("DTSTART;TZID=Europe/Rome:20270327T023000", "RRULE:FREQ=DAILY;COUNT=3", exdate))
    days = [datetime(2027, 3, 27, 1, 30, tzinfo=UTC), datetime(2027, 3, 29, 0, 30, tzinfo=UTC)]
    assert ticks(made, "Digest") == {int(at.timestamp()) for at in days}
    assert "Digest" not in made.differences


def test_cancelled_occurrence_in_a_gap_is_removed() -> None:
    cancelled = event("RECURRENCE-ID:20270328T013000Z", "STATUS:CANCELLED")
    made = fields(event("DTSTART;TZID=Europe/Rome:20270101T023000", "RRULE:FREQ=DAILY"), cancelled)
    assert made["exdate"] == ["2027-03-28T02:30:00"]


def test_dates_in_the_second_occurrence_of_a_repeated_hour_keep_their_instant() -> None:
    rule = ("DTSTART;TZID=Europe/Rome:20271030T023000", "RRULE:FREQ=DAILY;COUNT=3")
    first, second = (int(datetime(2027, 10, 31, hour, 30, tzinfo=UTC).timestamp()) for hour in (0, 1))
    added = imported(event(*rule, "RDATE:20271031T013000Z"))
    assert {first, second} < ticks(added, "Digest")
    assert added.differences == {}
    removed = imported(event(*rule, "EXDATE:20271031T013000Z"))
    assert first in ticks(removed, "Digest")
    [note] = removed.imported.entries[0].notes
    assert "2027-10-31T01:30:00Z removes nothing" in note
    assert imported(event(*rule, "EXDATE:20271031T003000Z")).imported.entries[0].notes == []
