"""Definitions of calendars, and the impact of a change on coming ticks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.calendars.calendar import Calendar, calendar_to_json, content_from_json, exclude
from tickbird.domain.calendars.definition import read_calendar
from tickbird.domain.errors import DefinitionError
from tickbird.domain.planning.calendar_impact import MAX_LISTED, calendar_impact
from tickbird.domain.schedules.codec import decode_definition, encode_definition, fingerprint
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.fields import Roll
from tickbird.domain.time.instants import DAY, to_datetime, to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger

NOW = to_seconds(datetime(2026, 7, 15, tzinfo=UTC))
days = st.dates(date(2026, 7, 1), date(2026, 9, 30))
calendars = st.builds(
    Calendar,
    st.frozensets(days, max_size=8),
    st.frozensets(st.integers(0, 6), max_size=4),
    st.frozensets(days.map(lambda day: (day.month, day.day)), max_size=3),
    st.frozensets(days, max_size=3),
)


def define(trigger: Trigger, closed: Calendar, roll: Roll = "skip") -> Definition:
    return Definition(trigger=trigger, target=Target("work"), calendars=("days",), closed={"days": closed}, roll=roll)


def closed(**definition: Any) -> list[str]:
    return calendar_to_json(read_calendar(definition).closed())


def test_each_form_of_a_day() -> None:
    assert closed(weekdays=["Sun", "sat"]) == ["sat", "sun"]
    assert closed(dates=["2026-12-24", date(2026, 12, 31)]) == ["2026-12-24", "2026-12-31"]
    assert closed(dates="2026-12-30/2027-01-02") == ["2026-12-30", "2026-12-31", "2027-01-01", "2027-01-02"]
    assert closed(dates=["12-25", "02-28/03-01"]) == ["02-28", "02-29", "03-01", "12-25"]
    assert closed(dates=["12-30/01-02"]) == ["01-01", "01-02", "12-30", "12-31"]
    assert closed(weekdays=["sat"], include=["2026-05-16/2026-05-17"]) == ["sat", "+2026-05-16", "+2026-05-17"]


@pytest.mark.parametrize(
    "definition, said",
    [
        ([], "must be an object"),
        ({}, "closes no days"),
        ({"description": "x"}, "closes no days"),
        ({"days": ["sat"]}, "'days' is not a field"),
        ({"weekdays": ["someday"]}, "'someday' is not a weekday"),
        ({"weekdays": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]}, "all seven"),
        ({"dates": ["2026-02-30"]}, "'2026-02-30' is not a date"),
        ({"dates": ["02-30"]}, "'02-30' is not a date"),
        ({"dates": ["2026-12-31/2026-12-01"]}, "is not a date or range"),
        ({"dates": ["2026-12-31/12-01"]}, "is not a date or range"),
        ({"dates": ["0001-01-01/9999-12-31"]}, "is not a date or range"),
        ({"dates": [datetime(2026, 1, 1, tzinfo=UTC)]}, "is not a day"),
        ({"dates": 5}, "must be a list"),
        ({"dates": [f"{year}-01-01/{year}-12-31" for year in range(2026, 2036)]}, "at most 2,000"),
        ({"include": ["12-24"]}, "has no year"),
        ({"holidays": 5}, "must be an object with country"),
        ({"holidays": {"country": "DE", "region": "BW"}}, "must be an object with country"),
        ({"holidays": {"country": ""}}, "country"),
        ({"holidays": {"country": "DE", "years": [2036, 2026]}}, "first and the last year"),
        ({"holidays": {"country": "DE", "years": [2000, 2100]}}, "at most 40"),
        ({"dates": ["12-25"], "description": "x\0"}, "description"),
    ],
)
def test_invalid_calendar_is_refused(definition: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        read_calendar(definition)


def test_definition_is_read_back() -> None:
    asked = {"weekdays": ["sat"], "dates": ["12-25"], "include": ["2026-05-16"], "description": "d"}
    full = {**asked, "holidays": {"country": "DE", "subdivision": "BW", "years": [2026, 2036]}}
    for definition in (asked, full):
        assert read_calendar(definition).to_json() == definition
    assert read_calendar({"holidays": "us-CA"}).to_json() == {"holidays": {"country": "US", "subdivision": "CA"}}


@given(calendars)
def test_stored_closed_days_are_read_back(calendar: Calendar) -> None:
    assert content_from_json(calendar_to_json(calendar)) == calendar
    definition = define(every(days=1), calendar, "next")
    assert decode_definition(encode_definition(definition)) == definition


def test_fingerprint_ignores_closed_days() -> None:
    marks = {fingerprint(define(every(days=1), exclude(*days))) for days in ((), ("sat",), ("2026-01-01",))}
    assert len(marks) == 1
    assert fingerprint(Definition(trigger=every(days=1), target=Target("work"))) not in marks


def test_opened_date_is_open_unless_the_schedule_excludes_it() -> None:
    shared = Calendar(weekdays=frozenset({5}), opened=frozenset({date(2026, 7, 18)}))
    definition = define(every(days=1), shared)
    saturday = to_seconds(datetime(2026, 7, 18, tzinfo=UTC))
    assert not definition.grid.excludes(saturday)
    assert definition.grid.excludes(saturday + 7 * DAY)
    own = replace(definition, exclude=exclude("2026-07-18"))
    assert own.grid.excludes(saturday)


def running(definition: Definition, first: int, last: int) -> set[datetime]:
    found, tick = set(), definition.grid.next(first)
    while tick is not None and tick <= last:
        if not definition.grid.excludes(tick):
            found.add(to_datetime(tick))
        tick = definition.grid.next(tick)
    return found


@settings(deadline=None)
@given(
    st.sampled_from([cron("0 9 * * *"), cron("0 9 1,15 * *", "Asia/Tokyo"), every(hours=7), cron("30 2 * * 6")]),
    calendars,
    calendars,
    st.sampled_from(["skip", "next", "previous"]),
    st.integers(0, 70),
)
def test_effects_are_the_difference_of_running_ticks(
    trigger: Trigger, old: Calendar, new: Calendar, roll: Roll, length: int
) -> None:
    before, after = define(trigger, old, roll), define(trigger, new, roll)
    last = NOW + length * DAY
    told = calendar_impact("s", before, after, NOW, last)
    ran, runs = running(before, NOW, last), running(after, NOW, last)
    assert not told.more
    assert {*told.vanish, *(one for one, _ in told.moved)} == ran - runs
    assert {*told.appear, *(other for _, other in told.moved)} == runs - ran
    assert len(told.vanish) + len(told.moved) == len(ran - runs)
    assert len(told.appear) + len(told.moved) == len(runs - ran)
    if roll == "skip":
        assert not told.moved


def test_moved_tick_is_reported_as_one_change() -> None:
    monthly = cron("0 9 1 * *")
    told = calendar_impact(
        "s",
        define(monthly, exclude("sat", "sun"), "next"),
        define(monthly, exclude("sun"), "next"),
        NOW,
        NOW + 60 * DAY,
    )
    [(old, new)] = told.moved
    assert (f"{old:%a %d}", f"{new:%a %d}") == ("Mon 03", "Sat 01")
    assert (told.appear, told.vanish) == ((), ())


def test_effect_on_a_dense_schedule_is_truncated() -> None:
    told = calendar_impact(
        "s", define(every(seconds=1), exclude("sun")), define(every(seconds=1), exclude("mon")), NOW, NOW + 366 * DAY
    )
    assert told.more
    assert len(told.vanish) + len(told.appear) == MAX_LISTED


def test_calendars_that_close_all_weekdays_together_are_refused() -> None:
    week = {"one": exclude("mon", "tue", "wed"), "two": exclude("thu", "fri", "sat", "sun")}
    with pytest.raises(DefinitionError, match="all seven"):
        Definition(trigger=every(days=1), target=Target("work"), calendars=("one", "two"), closed=week)
    opened = Calendar(weekdays=frozenset(range(7)), opened=frozenset({date(2026, 7, 20)}))
    only = define(cron("0 9 * * *"), opened)
    assert running(only, NOW, NOW + 90 * DAY) == {datetime(2026, 7, 20, 9, tzinfo=UTC)}
    assert running(define(cron("0 9 * * *"), opened, "next"), NOW, NOW + 90 * DAY) == {
        datetime(2026, 7, 20, 9, tzinfo=UTC)
    }
