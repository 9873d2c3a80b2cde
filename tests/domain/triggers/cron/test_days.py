"""The two day fields, against the calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from tests.domain.triggers.cron.strategies import DAYS, FIELD, WEEKDAYS, thorough
from tickbird.domain.errors import TriggerError
from tickbird.domain.triggers.cron.cron import cron


def day_matches(when: date, day: str, weekday: str) -> bool:
    """The two day fields for one date, computed from the date alone."""
    tomorrow = when + timedelta(days=1)
    last = tomorrow.month != when.month
    number = when.isoweekday() % 7
    last_date = (when.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)

    def nearest(target: int) -> bool:
        if target > last_date.day:
            return False
        options = [last_date.replace(day=n) for n in range(1, last_date.day + 1)]
        workdays = [option for option in options if option.isoweekday() < 6]
        # Saturday goes back and Sunday ahead where the month allows: a tie is never possible.
        return when == min(workdays, key=lambda option: abs(option.day - target))

    def plain(item: str, value: int, low: int, high: int) -> bool:
        span, _, step = item.partition("/")
        first, last_value = (low, high) if span == "*" else (int(span.split("-")[0]), int(span.split("-")[-1]))
        if step and span.isdigit():
            last_value = high
        return first <= value <= last_value and (value - first) % int(step or 1) == 0

    def in_day(item: str) -> bool:
        if item == "L":
            return last
        if item == "LW":
            return nearest(last_date.day)
        if item.startswith("L-"):
            target = last_date - timedelta(days=int(item[2:].removesuffix("W")))
            if target.month != when.month:
                return False
            return nearest(target.day) if item.endswith("W") else when == target
        if item.endswith("W"):
            return nearest(int(item[:-1]))
        return item == "?" or plain(item, when.day, 1, 31)

    def in_week(item: str) -> bool:
        if "#" in item:
            name, rank = item.split("#")
            if rank == "L":
                return int(name) % 7 == number and (when + timedelta(days=7)).month != when.month
            return int(name) % 7 == number and (when.day - 1) // 7 + 1 == int(rank)
        if item.endswith("L"):
            return int(item[:-1]) % 7 == number and (when + timedelta(days=7)).month != when.month
        if item == "MON-FRI":
            return 1 <= number <= 5
        return item == "?" or plain(item, number, 0, 6) or (number == 0 and item == "7")

    by_day, by_week = any(map(in_day, day.split(","))), any(map(in_week, weekday.split(",")))
    both = day[0] in "*?" or weekday[0] in "*?"
    return by_day and by_week if both else by_day or by_week


@thorough
@given(DAYS, WEEKDAYS, FIELD, st.dates(date(1900, 1, 1), date(2100, 1, 1)))
@example("31W", "?", "*", date(2026, 1, 25))
@example("*", "5L", "2-5", date(2026, 2, 25))
@example("L-3W", "*", "*", date(2026, 1, 25))
@example("L-30W", "?", "1", date(2022, 12, 25))
@example("L-28", "*", "2-5", date(2024, 1, 25))
def test_days_against_the_calendar(day: str, weekday: str, month: str, start: date) -> None:
    months = {"*": range(1, 13), "*/3": (1, 4, 7, 10), "1": (1,), "2-5": (2, 3, 4, 5), "1,4": (1, 4), "*/40": (1,)}
    allowed = months.get(month, (3, 5, 7, 9, 11))
    try:
        trigger = cron(f"0 0 {day} {month} {weekday}")
    except TriggerError:
        dates = [date(2000, 1, 1) + timedelta(days=n) for n in range(2_000)]
        assert not any(when.month in allowed and day_matches(when, day, weekday) for when in dates)
        return
    dates = [start + timedelta(days=n) for n in range(75)]
    expected = [when for when in dates if when.month in allowed and day_matches(when, day, weekday)]
    at = int(datetime(start.year, start.month, start.day, tzinfo=UTC).timestamp())
    found, tick = [], trigger.next_tick(at - 1)
    while tick is not None and tick < at + 75 * 86_400:
        found.append(datetime.fromtimestamp(tick, UTC).date())
        tick = trigger.next_tick(tick)
    assert found == expected
    assert trigger.count(at - 1, at + 75 * 86_400 - 1) == len(expected)
