"""Ticks that are rolled off closed days, against a model that walks day by day."""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import accumulate
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tickbird.domain.calendars.calendar import Calendar, exclude
from tickbird.domain.errors import DefinitionError
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.fields import Roll
from tickbird.domain.schedules.rolled_grid import MAX_DAYS, RolledGrid
from tickbird.domain.time.instants import DAY, to_datetime, to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import Every, every
from tickbird.domain.triggers.trigger import Trigger, any_of, at

# Changes of the clock by an hour and by half of one, at midnight, just after it, and of the date line.
ZONES = [
    ("UTC", 2026, 3),
    ("Europe/Berlin", 2026, 3),
    ("Europe/Berlin", 2026, 10),
    ("America/New_York", 2026, 3),
    ("America/New_York", 2026, 11),
    ("Australia/Lord_Howe", 2026, 4),
    ("Australia/Lord_Howe", 2026, 10),
    ("America/Nuuk", 2026, 3),
    ("America/Havana", 2026, 11),
    ("America/St_Johns", 2010, 11),
    ("America/Sao_Paulo", 2018, 11),
    ("Pacific/Apia", 2011, 12),
]
DAYS_SEEN = 50


def define(trigger: Trigger, calendar: Calendar, roll: Roll, **fields: Any) -> Definition:
    closed = {"days": calendar}
    return Definition(trigger=trigger, target=Target("work"), calendars=("days",), closed=closed, roll=roll, **fields)


class Model:
    """A naive model: every tick of some months, rolled one by one.

    A twin is the same trigger without a zone, to ask which times it means; none where only instants count.
    """

    def __init__(self, definition: Definition, twin: Trigger | None, first: date, last: date) -> None:
        self.twin = twin
        self.zone = ZoneInfo(definition.trigger.tz)
        self.days: dict[date, tuple[int, int]] = {}
        day = first
        while day <= last:
            self.days[day] = self._midnight(day), self._midnight(day + timedelta(days=1))
            day += timedelta(days=1)
        calendar = definition.closed["days"]
        self.open = {d for d, (begin, end) in self.days.items() if begin < end and not calendar.excludes(d.toordinal())}
        step = timedelta(days=1 if definition.roll == "next" else -1)
        self.ticks: dict[int, bool] = {}
        for day, (begin, end) in self.days.items():
            tick = definition.trigger.next_tick(begin - 1)
            while tick is not None and tick < end:
                homes = [day + away * step for away in range(MAX_DAYS + 1) if day + away * step in self.open]
                stays = not homes or homes[0] == day
                for place in [tick] if stays else [self._place(meant, homes[0]) for meant in self._times(tick)]:
                    self.ticks[place] = not homes
                tick = definition.trigger.next_tick(tick)
        for bound, keep in ((definition.start_at, 1), (definition.end_at, -1)):
            if bound is not None:
                limit = to_seconds(bound)
                self.ticks = {t: far for t, far in self.ticks.items() if (t - limit) * keep >= 0}

    def _midnight(self, day: date) -> int:
        return midnight(self.zone, day)

    def _times(self, tick: int) -> set[time]:
        """The times of day that the wall clock passed in the last second."""
        now = wall(self.zone, tick)
        before = wall(self.zone, tick - 1)
        if self.twin is None or (now - before >= timedelta(hours=3) and not isinstance(self.twin, Every)):
            return {now.time()}
        found, meant = set(), self.twin.next_after(before.replace(tzinfo=UTC))
        while meant is not None and meant.replace(tzinfo=None) <= now:
            found.add(meant.time())
            meant = self.twin.next_after(meant)
        return found

    def _place(self, wanted_time: time, day: date) -> int:
        wanted = datetime.combine(day, wanted_time)
        begin, end = self.days[day]
        minutes, walls = clock_of(self.zone, begin, end)
        place = bisect_left(walls, wanted)
        return minutes[place] if place < len(minutes) else end - 1


def wall(zone: ZoneInfo, instant: int) -> datetime:
    return to_datetime(instant).astimezone(zone).replace(tzinfo=None)


@cache
def midnight(zone: ZoneInfo, day: date) -> int:
    """The first instant at which the wall clock reaches this day, found by a linear search."""
    wanted = datetime(day.year, day.month, day.day)
    instant = to_seconds(wanted.replace(tzinfo=UTC)) - 2 * DAY
    for step in (1800, 60, 1):
        while wall(zone, instant + step) < wanted:
            instant += step
    return instant + 1


@cache
def clock_of(zone: ZoneInfo, begin: int, end: int) -> tuple[list[int], list[datetime]]:
    """The minutes of a day, each with the latest that the wall clock has shown in it."""
    minutes = list(range(begin, end, 60))
    return minutes, list(accumulate((wall(zone, instant) for instant in minutes), max))


Case = tuple[Definition, Trigger | None, date]


def wall_clock_triggers(tz: str) -> list[Trigger]:
    """Triggers with fixed times of day."""
    return [
        cron("0 9 * * *", tz),
        cron("0 9 1,15 * *", tz),
        cron("30 2 * * *", tz),
        cron("15 2 * * 0", tz),
        cron("30 1,2 * * *", tz),
        cron("0,30 2,3 * * *", tz),
        cron("0 0 * * *", tz),
        cron("45 23 * * 0,6", tz),
        every(days=1, anchor=datetime(2026, 1, 1, 2, 15), tz=tz),
        every(days=3, tz=tz),
        every(months=1, anchor=datetime(2026, 1, 29, 2, 30), tz=tz),
        any_of(cron("0 6 * * 6", tz), cron("30 17 * * *", tz)),
        any_of(cron("30 2 * * *", tz), cron("0 3 * * *", tz)),
    ]


def other_triggers(tz: str, year: int, month: int) -> list[Trigger]:
    """Triggers with instants, or with every hour of the clock."""
    return [
        cron("*/20 0-3,22-23 * * *", tz),
        every(hours=5),
        every(hours=1, tz=tz),
        at(datetime(year, month, 15, 12, tzinfo=UTC)),
    ]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    tz, year, month = draw(st.sampled_from(ZONES))
    middle = date(year, month, 1)
    pairs = [
        *zip(wall_clock_triggers(tz), wall_clock_triggers("UTC"), strict=True),
        *((trigger, None) for trigger in other_triggers(tz, year, month)),
    ]
    trigger, twin = draw(st.sampled_from(pairs))
    weekdays = draw(st.just(frozenset((5, 6))) | st.frozensets(st.integers(0, 6), max_size=6))
    away = draw(st.frozensets(st.integers(-20, 40), max_size=12))
    dates = {middle + timedelta(days=n) for n in away}
    if draw(st.booleans()):
        begin = draw(st.integers(-20, 10))
        dates |= {middle + timedelta(days=n) for n in range(begin, begin + draw(st.integers(1, 50)))}
    opened = frozenset(middle + timedelta(days=n) for n in draw(st.frozensets(st.integers(-20, 40), max_size=2)))
    calendar = Calendar(frozenset(dates), weekdays, frozenset(draw(st.sets(st.just((12, 24))))), opened)
    window = {}
    if draw(st.booleans()):
        window["start_at"] = datetime(middle.year, middle.month, 5, 10, tzinfo=UTC)
    if draw(st.booleans()):
        window["end_at"] = datetime(middle.year, middle.month, 20, 10, tzinfo=UTC)
    return define(trigger, calendar, draw(st.sampled_from(("next", "previous"))), **window), twin, middle


def case(trigger: Trigger, twin: Trigger, roll: Roll) -> Case:
    return define(trigger, exclude("sat", "sun"), roll), twin, date(2026, 3, 1)


@settings(deadline=None, max_examples=60)
@given(cases(), st.integers(0, DAYS_SEEN * DAY), st.integers(0, DAYS_SEEN * DAY))
@example(case(cron("0 9 * * *"), cron("0 9 * * *"), "next"), 0, 30 * DAY)
@example(case(cron("30 2 * * *", "Europe/Berlin"), cron("30 2 * * *"), "next"), 0, 60 * DAY)
@example(case(cron("0,30 2,3 * * *", "Europe/Berlin"), cron("0,30 2,3 * * *"), "previous"), 0, 60 * DAY)
@example(case(cron("15 2 * * 0", "America/New_York"), cron("15 2 * * 0"), "next"), 0, 60 * DAY)
def test_rolled_ticks_match_the_model(made: Case, one: int, other: int) -> None:
    definition, twin, middle = made
    model = Model(definition, twin, middle - timedelta(days=62), middle + timedelta(days=62))
    base = to_seconds(datetime(middle.year, middle.month, 1, tzinfo=UTC)) - 25 * DAY
    after, until = base + min(one, other), base + max(one, other)
    grid = definition.grid
    expected = sorted(tick for tick in model.ticks if after < tick <= until)

    found, tick = [], grid.next(after)
    while tick is not None and tick <= until:
        found.append(tick)
        tick = grid.next(tick)
    assert found == expected
    back, tick = [], grid.previous(until + 1)
    while tick is not None and tick > after:
        back.append(tick)
        tick = grid.previous(tick)
    assert back[::-1] == expected
    assert grid.count(after, until) == len(expected)
    assert all(grid.contains(tick) for tick in expected)
    assert not grid.contains(after) or after in model.ticks
    segments = list(grid.segments(after, until))
    assert sum(segment.count for segment in segments) == len(expected)
    for segment in segments:
        part = [tick for tick in expected if segment.first <= tick <= segment.last]
        assert (part[0], part[-1], len(part)) == (segment.first, segment.last, segment.count)
        assert {grid.excludes(tick) for tick in part} == {segment.excluded}
    if definition.closed_days:
        assert {tick: grid.excludes(tick) for tick in expected} == {tick: model.ticks[tick] for tick in expected}


def days_of(definition: Definition, start: datetime, count: int) -> list[str]:
    tick, found = to_seconds(start), []
    for _ in range(count):
        tick = definition.grid.next(tick)  # type: ignore[assignment]
        found.append(f"{to_datetime(tick):%a %m-%d %H:%M}")
    return found


def test_a_month_ends_on_a_business_day() -> None:
    weekends = exclude("sat", "sun")
    following = define(cron("0 9 1 * *"), weekends, "next")
    start = datetime(2026, 7, 15, tzinfo=UTC)
    assert days_of(following, start, 3) == ["Mon 08-03 09:00", "Tue 09-01 09:00", "Thu 10-01 09:00"]
    before = define(cron("0 9 1 * *"), weekends, "previous")
    assert days_of(before, start, 2) == ["Fri 07-31 09:00", "Tue 09-01 09:00"]


def test_ticks_rolled_to_one_instant_are_one_tick() -> None:
    daily = define(cron("0 9 * * *"), exclude("sat", "sun"), "next")
    assert days_of(daily, datetime(2026, 7, 16, tzinfo=UTC), 4) == [
        "Thu 07-16 09:00",
        "Fri 07-17 09:00",
        "Mon 07-20 09:00",
        "Tue 07-21 09:00",
    ]
    assert isinstance(daily.grid, RolledGrid)
    monday = to_seconds(datetime(2026, 7, 20, 9, tzinfo=UTC))
    assert [f"{to_datetime(tick):%a}" for tick in daily.grid.origins(monday)] == ["Sun", "Sat"]
    assert daily.grid.landings_of(monday - DAY) == [monday]


WEEKENDS = exclude("sat", "sun")


@pytest.mark.parametrize("roll", ["next", "previous"])
@pytest.mark.parametrize(
    "trigger, meant, friday",
    [
        (cron("30 2 * * *", "Europe/Berlin"), time(2, 30), date(2026, 3, 27)),
        (cron("30 2 * * *", "Europe/Berlin"), time(2, 30), date(2026, 10, 23)),
        (cron("30 2 * * *", "America/New_York"), time(2, 30), date(2026, 3, 6)),
        (cron("30 23 * * *", "America/Nuuk"), time(23, 30), date(2026, 3, 27)),
        (every(days=1, anchor=datetime(2026, 1, 1, 2, 15), tz="Australia/Lord_Howe"), time(2, 15), date(2026, 10, 2)),
    ],
)
def test_a_daily_tick_runs_once_around_a_weekend_whose_clock_changes(
    trigger: Trigger, meant: time, friday: date, roll: Roll
) -> None:
    zone, days = ZoneInfo(trigger.tz), (friday, friday + timedelta(days=3))
    definition = define(trigger, WEEKENDS, roll)
    first, last = midnight(zone, days[0]) - 1, midnight(zone, days[1] + timedelta(days=1)) - 1
    expected = [to_seconds(datetime.combine(day, meant, tzinfo=zone)) for day in days]
    assert [definition.grid.next(first), definition.grid.next(expected[0])] == expected
    assert definition.grid.count(first, last) == 2


def test_times_merged_by_a_gap_are_rolled_separately() -> None:
    sundays = define(any_of(cron("30 2 * * 0", "Europe/Berlin"), cron("0 3 * * 0", "Europe/Berlin")), WEEKENDS, "next")
    assert days_of(sundays, datetime(2026, 3, 27, tzinfo=UTC), 2) == ["Mon 03-30 00:30", "Mon 03-30 01:00"]
    assert isinstance(sundays.grid, RolledGrid)
    leap, half, full = (to_seconds(datetime(2026, 3, *at, tzinfo=UTC)) for at in ((29, 1, 0), (30, 0, 30), (30, 1, 0)))
    assert sundays.grid.landings_of(leap) == [half, full]
    assert (sundays.grid.origins(half), sundays.grid.origins(full)) == ([leap], [leap])


def test_tick_too_far_from_an_open_day_is_excluded() -> None:
    shut = Calendar(frozenset(date(2026, 7, 1) + timedelta(days=n) for n in range(60)))
    definition = define(cron("0 9 1 * *"), shut, "next")
    july, august = (to_seconds(datetime(2026, month, 1, 9, tzinfo=UTC)) for month in (7, 8))
    assert (definition.grid.contains(july), definition.grid.excludes(july)) == (True, True)
    assert not definition.grid.contains(august)
    assert definition.grid.next(july) == to_seconds(datetime(2026, 8, 30, 9, tzinfo=UTC))


def test_long_ranges_are_counted_by_day() -> None:
    hours = define(cron("0 * * * *"), exclude("sat"), "next")
    assert hours.grid.count(0, 7 * 1_000 * DAY) == 6 * 1_000 * 24


def test_a_trigger_that_is_too_dense_is_not_rolled() -> None:
    with pytest.raises(DefinitionError, match="86,400"):
        define(every(seconds=1), exclude("sat"), "next")
    define(every(seconds=1), exclude("sat"), "skip")
