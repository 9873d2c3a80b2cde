"""What cron expressions mean, what is refused, and what happens at the edges."""

from __future__ import annotations

import os
import pickle
import random
import string
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tickbird.domain.errors import TriggerError
from tickbird.domain.triggers.cron.cron import Cron, cron
from tickbird.domain.triggers.cron.description import _field
from tickbird.domain.triggers.cron.parser import parse
from tickbird.domain.triggers.every import every

thorough = settings(deadline=None, max_examples=100 * int(os.environ.get("TICKBIRD_FUZZ", "1")))


def walk(expr: str, start: str, n: int, tz: str = "UTC") -> list[str]:
    """The next n ticks after a wall-clock time, as wall-clock text with the offset where it is not UTC."""
    zone = ZoneInfo(tz)
    at: datetime | None = datetime.fromisoformat(start)
    assert at is not None
    at = at.replace(tzinfo=zone) if at.tzinfo is None else at
    found = []
    for _ in range(n):
        at = cron(expr, tz).next_after(at)
        if at is None:
            break
        assert at.tzinfo is UTC
        found.append(at.astimezone(zone).isoformat(" ", "seconds").removesuffix("+00:00"))
    return found


@pytest.mark.parametrize(
    "expr, start, expected",
    [
        ("* * * * *", "2026-01-01 00:00:00", ["2026-01-01 00:01:00", "2026-01-01 00:02:00"]),
        ("* * * * *", "2026-12-31 23:59:59", ["2027-01-01 00:00:00"]),
        ("* * * * *", "2025-12-31 23:59:59.999999", ["2026-01-01 00:00:00"]),
        ("*/15 * * * *", "2026-01-01 00:44:00", ["2026-01-01 00:45:00", "2026-01-01 01:00:00"]),
        ("*/7 * * * *", "2026-01-01 00:50:00", ["2026-01-01 00:56:00", "2026-01-01 01:00:00"]),
        ("*/90 * * * *", "2026-01-01 00:50:00", ["2026-01-01 01:00:00", "2026-01-01 02:00:00"]),
        ("5/20 * * * *", "2026-01-01 00:00:00", ["2026-01-01 00:05:00", "2026-01-01 00:25:00", "2026-01-01 00:45:00"]),
        ("10-20/5,58 1 * * *", "2026-01-01 01:15:00", ["2026-01-01 01:20:00", "2026-01-01 01:58:00"]),
        (
            "0 9-17/4 * * *",
            "2026-01-01 10:00:00",
            ["2026-01-01 13:00:00", "2026-01-01 17:00:00", "2026-01-02 09:00:00"],
        ),
        ("05 007 * * *", "2026-01-01 00:00:00", ["2026-01-01 07:05:00"]),
        ("0 0 5-5 * *", "2026-01-01 00:00:00", ["2026-01-05 00:00:00", "2026-02-05 00:00:00"]),
        ("0 0 31 * *", "2026-01-31 00:00:00", ["2026-03-31 00:00:00", "2026-05-31 00:00:00"]),
        ("0 0 29 2 *", "2096-03-01 00:00:00", ["2104-02-29 00:00:00"]),
        ("0 0 29 2 *", "2026-01-01 00:00:00", ["2028-02-29 00:00:00", "2032-02-29 00:00:00"]),
        ("0 0 * * 0", "2026-01-01 00:00:00", ["2026-01-04 00:00:00", "2026-01-11 00:00:00"]),
        ("0 0 * * 7", "2026-01-01 00:00:00", ["2026-01-04 00:00:00", "2026-01-11 00:00:00"]),
        ("0 0 * * sAt-SuN", "2026-01-01 00:00:00", ["2026-01-03 00:00:00", "2026-01-04 00:00:00"]),
        ("0 0 * * 5-7", "2026-01-01 00:00:00", ["2026-01-02 00:00:00", "2026-01-03 00:00:00", "2026-01-04 00:00:00"]),
        ("0 0 * * 5/2", "2026-01-01 00:00:00", ["2026-01-02 00:00:00", "2026-01-09 00:00:00"]),
        ("0 0 * * */7", "2026-01-01 00:00:00", ["2026-01-04 00:00:00", "2026-01-11 00:00:00"]),
        ("0 0 1 jan,JUL *", "2026-01-01 00:00:00", ["2026-07-01 00:00:00", "2027-01-01 00:00:00"]),
        ("0 0 13 * 5", "2026-01-09 12:00:00", ["2026-01-13 00:00:00", "2026-01-16 00:00:00"]),
        ("0 0 */2 * 1", "2026-01-01 00:00:00", ["2026-01-05 00:00:00", "2026-01-19 00:00:00"]),
        ("0 0 13 * */5", "2026-01-01 00:00:00", ["2026-02-13 00:00:00", "2026-03-13 00:00:00"]),
        ("0 0 13 * ?", "2026-01-01 00:00:00", ["2026-01-13 00:00:00"]),
        ("0 0 ? * 1", "2026-01-01 00:00:00", ["2026-01-05 00:00:00"]),
        ("0 0 1,* * 1", "2026-01-01 00:00:00", ["2026-01-02 00:00:00"]),
        ("0 0 30 2 1", "2026-02-01 00:00:00", ["2026-02-02 00:00:00"]),
        ("0 0 L * *", "2026-01-31 00:00:00", ["2026-02-28 00:00:00", "2026-03-31 00:00:00"]),
        ("0 0 l 2 *", "2027-03-01 00:00:00", ["2028-02-29 00:00:00"]),
        ("0 0 L,15 * *", "2026-01-01 00:00:00", ["2026-01-15 00:00:00", "2026-01-31 00:00:00"]),
        ("0 0 LW * *", "2026-01-01 00:00:00", ["2026-01-30 00:00:00", "2026-02-27 00:00:00"]),
        ("0 0 15W * *", "2026-02-01 00:00:00", ["2026-02-16 00:00:00", "2026-03-16 00:00:00"]),
        ("0 0 15W 8 *", "2026-01-01 00:00:00", ["2026-08-14 00:00:00"]),
        ("0 0 1W * *", "2026-07-15 00:00:00", ["2026-08-03 00:00:00"]),
        ("0 0 31W * *", "2026-01-15 00:00:00", ["2026-01-30 00:00:00", "2026-03-31 00:00:00", "2026-05-29 00:00:00"]),
        ("0 0 * * 5#3", "2026-01-01 00:00:00", ["2026-01-16 00:00:00", "2026-02-20 00:00:00"]),
        ("0 0 * * FRI#5", "2026-01-01 00:00:00", ["2026-01-30 00:00:00", "2026-05-29 00:00:00"]),
        ("0 0 * * 5L", "2026-01-01 00:00:00", ["2026-01-30 00:00:00", "2026-02-27 00:00:00"]),
        ("0 0 * * sunL,7#1", "2026-01-01 00:00:00", ["2026-01-04 00:00:00", "2026-01-25 00:00:00"]),
        ("*/20 * * * * *", "2026-01-01 00:00:30", ["2026-01-01 00:00:40", "2026-01-01 00:01:00"]),
        ("* 5 * * * *", "2026-01-01 00:05:59", ["2026-01-01 01:05:00", "2026-01-01 01:05:01"]),
        ("5 * 7 * * *", "2026-01-01 07:59:04", ["2026-01-01 07:59:05", "2026-01-02 07:00:05"]),
        ("59 59 23 31 12 *", "2026-01-01 00:00:00", ["2026-12-31 23:59:59", "2027-12-31 23:59:59"]),
        ("30 0 12 * * MON", "2026-01-01 00:00:00", ["2026-01-05 12:00:30"]),
        ("@hourly", "2026-01-01 00:00:00", ["2026-01-01 01:00:00"]),
        ("@Daily", "2026-01-01 00:00:00", ["2026-01-02 00:00:00"]),
        ("@midnight", "2026-01-01 00:00:00", ["2026-01-02 00:00:00"]),
        ("@weekly", "2026-01-01 00:00:00", ["2026-01-04 00:00:00"]),
        ("@monthly", "2026-01-01 00:00:00", ["2026-02-01 00:00:00"]),
        ("@yearly", "2026-01-01 00:00:00", ["2027-01-01 00:00:00"]),
        ("@annually", "2026-01-01 00:00:00", ["2027-01-01 00:00:00"]),
        (" \t0  9 \t* * 1-5 ", "2026-01-02 10:00:00", ["2026-01-05 09:00:00"]),
    ],
)
def test_next(expr: str, start: str, expected: list[str]) -> None:
    assert walk(expr, start, len(expected)) == expected


@pytest.mark.parametrize(
    "expr, tz, start, expected",
    [
        # spring: 02:00-03:00 does not exist
        ("30 2 * * *", "America/New_York", "2026-03-07 12:00", ["03-08 03:00:00-04:00", "03-09 02:30:00-04:00"]),
        ("0,30 2 * * *", "America/New_York", "2026-03-07 12:00", ["03-08 03:00:00-04:00", "03-09 02:00:00-04:00"]),
        ("30 2,3 * * *", "America/New_York", "2026-03-07 12:00", ["03-08 03:00:00-04:00", "03-08 03:30:00-04:00"]),
        ("0 2,3 * * *", "America/New_York", "2026-03-07 12:00", ["03-08 03:00:00-04:00", "03-09 02:00:00-04:00"]),
        ("30 * * * *", "America/New_York", "2026-03-08 01:00", ["03-08 01:30:00-05:00", "03-08 03:30:00-04:00"]),
        ("*/30 2 * * *", "America/New_York", "2026-03-08 01:00", ["03-09 02:00:00-04:00", "03-09 02:30:00-04:00"]),
        ("15 30 2 * * *", "America/New_York", "2026-03-07 12:00", ["03-08 03:00:00-04:00", "03-09 02:30:15-04:00"]),
        # autumn: 01:00-02:00 passes twice
        ("30 1 * * *", "America/New_York", "2026-11-01 00:00", ["11-01 01:30:00-04:00", "11-02 01:30:00-05:00"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T01:10-05:00", ["11-02 01:30:00-05:00"]),
        ("30 * * * *", "America/New_York", "2026-11-01 01:00", ["11-01 01:30:00-04:00", "11-01 01:30:00-05:00"]),
        (
            "*/30 1 * * *",
            "America/New_York",
            "2026-11-01T01:30-04:00",
            ["11-01 01:00:00-05:00", "11-01 01:30:00-05:00"],
        ),
        ("0 2 * * *", "America/New_York", "2026-11-01 00:00", ["11-01 02:00:00-05:00", "11-02 02:00:00-05:00"]),
        ("0 0-3 * * *", "America/New_York", "2026-11-01 00:30", ["11-01 01:00:00-04:00", "11-01 02:00:00-05:00"]),
        # half an hour
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-03 12:00", ["10-04 02:30:00+11:00", "10-05 02:15:00+11:00"]),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-05 00:00", ["04-05 01:45:00+11:00", "04-06 01:45:00+10:30"]),
        # two hours
        ("30 2 * * *", "Antarctica/Troll", "2026-03-29 00:00", ["03-29 03:00:00+02:00", "03-30 02:30:00+02:00"]),
        # midnight does not exist
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03 12:00", ["11-04 01:00:00-02:00", "11-05 00:00:00-02:00"]),
        ("0 0 * * 0", "America/Sao_Paulo", "2018-11-03 12:00", ["11-04 01:00:00-02:00", "11-11 00:00:00-02:00"]),
        # a whole day passes twice: a new clock as well
        ("0 12 * * *", "Pacific/Kwajalein", "1969-09-30 00:00", ["09-30 12:00:00+11:00", "09-30 12:00:00-12:00"]),
        # a whole day does not exist: a new clock, nothing is made up for
        ("0 12 * * *", "Pacific/Apia", "2011-12-29 00:00", ["12-29 12:00:00-10:00", "12-31 12:00:00+14:00"]),
        ("0 12 30 12 *", "Pacific/Apia", "2011-12-29 00:00", ["12-30 12:00:00+14:00"]),
    ],
)
def test_clock_changes(expr: str, tz: str, start: str, expected: list[str]) -> None:
    assert [text[5:] for text in walk(expr, start, len(expected), tz)] == expected


@pytest.mark.parametrize(
    "expr, field, words",
    [
        ("", "expression", "empty"),
        (" \t ", "expression", "empty"),
        (None, "expression", "not NoneType"),
        (5, "expression", "not int"),
        (b"* * * * *", "expression", "not bytes"),
        (["*"], "expression", "not list"),
        ("* " * 600, "expression", "1000 characters"),
        ("9" * 100_000, "expression", "1000 characters"),
        ("* * * *", "expression", "4 fields"),
        ("* * * * * * *", "expression", "7 fields"),
        ("*", "expression", "1 field "),
        ("* * * * *\n", "expression", "ASCII"),
        ("*\n* * * *", "expression", "ASCII"),
        ("* * * *\x00*", "expression", "ASCII"),
        ("* * * * *\u00a0", "expression", "ASCII"),
        ("٣ * * * *", "expression", "ASCII"),
        ("² * * * *", "expression", "ASCII"),
        ("0 0 * ſep *", "expression", "ASCII"),
        ("@reboot", "expression", "not a time"),
        ("@fortnightly", "expression", "no macro"),
        ("@daily 5", "expression", "no macro"),
        ("@every", "expression", "needs hours"),
        ("@every 1d", "expression", "needs hours"),
        ("@every 1.5h", "expression", "needs hours"),
        ("@every 0s", "expression", "never moves on"),
        ("@every -5m", "expression", "needs hours"),
        ("@everything 5m", "expression", "needs hours"),
        ("60 * * * *", "minute", "0-59"),
        ("-1 * * * *", "minute", "missing"),
        ("5- * * * *", "minute", "missing"),
        ("1.5 * * * *", "minute", "not understood"),
        ("+5 * * * *", "minute", "not understood"),
        ("5,,6 * * * *", "minute", "missing"),
        (", * * * *", "minute", "missing"),
        ("*/ * * * *", "minute", "step is missing"),
        ("*/0 * * * *", "minute", "step of 0"),
        ("*/00 * * * *", "minute", "step of 0"),
        ("*/-1 * * * *", "minute", "whole number"),
        ("*/1000000 * * * *", "minute", "a step of 7 digits makes no sense"),
        ("0 5/99999999999999999999 * * *", "hour", "makes no sense"),
        ("*/1/2 * * * *", "minute", "whole number"),
        ("20-10 * * * *", "minute", "backwards"),
        ("1-2-3 * * * *", "minute", "not understood"),
        ("** * * * *", "minute", "not understood"),
        ("*5 * * * *", "minute", "not understood"),
        ("*-5 * * * *", "minute", "not understood"),
        ("5~9 * * * *", "minute", "not understood"),
        ("H * * * *", "minute", "not understood"),
        ("? * * * *", "minute", "not understood"),
        ("0 24 * * *", "hour", "0-23"),
        ("0 99999999999999999999 * * *", "hour", "0-23"),
        ("0 MON * * *", "hour", "not understood"),
        ("0 0 0 * *", "day of month", "1-31"),
        ("0 0 32 * *", "day of month", "1-31"),
        ("0 0 W * *", "day of month", "missing"),
        ("0 0 32W * *", "day of month", "1-31"),
        ("0 0 L-3 * *", "day of month", "not understood"),
        ("0 0 1-5W * *", "day of month", "not understood"),
        ("0 0 ?,1 * *", "day of month", "not understood"),
        ("0 0 * 0 *", "month", "1-12"),
        ("0 0 * 13 *", "month", "1-12"),
        ("0 0 * JANUARY *", "month", "not understood"),
        ("0 0 * L *", "month", "not understood"),
        ("0 0 * ? *", "month", "not understood"),
        ("0 0 * DEC-FEB *", "month", "backwards"),
        ("0 0 * * 8", "day of week", "0-7"),
        ("0 0 * * FRI-MON", "day of week", "backwards"),
        ("0 0 * * 5-0", "day of week", "backwards"),
        ("0 0 * * MONDAY", "day of week", "not understood"),
        ("0 0 * * L", "day of week", "needs a weekday"),
        ("0 0 * * #", "day of week", "1 to 5"),
        ("30 2 * * 1#6", "day of week", "1 to 5"),
        ("30 2 * * 1#0", "day of week", "1 to 5"),
        ("30 2 * * #1", "day of week", "missing"),
        ("0 0 * * 1W", "day of week", "not understood"),
        ("60 * * * * *", "second", "0-59"),
        ("x * * * * *", "second", "not understood"),
        ("0 0 30 2 *", "day of month", "never run"),
        ("0 0 31 2 *", "day of month", "never run"),
        ("0 0 31 4,6,9,11 *", "day of month", "never run"),
        ("0 0 31 4 ?", "day of month", "never run"),
        ("0 0 31 2 */2", "day of month", "never run"),
        ("0 0 30W 2 *", "day of month", "never run"),
        ("0 0 */31 * 1#2", "day of month", "never run"),
    ],
)
def test_refused(expr: object, field: str, words: str) -> None:
    with pytest.raises(TriggerError) as caught:
        cron(expr)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert words in caught.value.reason
    assert field in str(caught.value)
    assert caught.value.reason in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("tz", ["", "Nowhere/Land", "../etc/passwd", "a\x00b", None, 5, "x" * 10_000, "localtime", []])
def test_unknown_zone_refused(tz: object) -> None:
    with pytest.raises(TriggerError) as caught:
        cron("0 0 * * *", tz)  # type: ignore[arg-type]
    assert caught.value.field == "tz"


@thorough
@given(st.text(max_size=40) | st.text("0123456789*/-,LW#?@ \tAFJMNSUTVERDOHY", max_size=40))
@example("0 0 L-W * *")
@example("0 0 ,L * L#")
def test_any_text_is_a_trigger_or_refused(text: str) -> None:
    try:
        made = cron(text)
    except TriggerError:
        return
    assert made.next_tick(0) is not None
    assert made.describe()


FIELD = st.sampled_from(["*", "*/3", "1", "2-5", "1,4", "3/2", "*/40"])
DAYS = FIELD | st.sampled_from(["L", "LW", "15W", "31W", "1W", "29", "30", "31", "L,1", "?"])
WEEKDAYS = FIELD | st.sampled_from(["0", "7", "5#3", "1#5", "5L", "0L", "MON-FRI", "6/3", "?", "1#1,3L"])


def day_matches(when: date, day: str, weekday: str) -> bool:
    """The two day fields for one date, worked out from the date alone."""
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
        if item.endswith("W"):
            return nearest(int(item[:-1]))
        return item == "?" or plain(item, when.day, 1, 31)

    def in_week(item: str) -> bool:
        if "#" in item:
            name, rank = item.split("#")
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


ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "Asia/Kathmandu"]
TIMES = st.sampled_from(["*", "0", "30", "*/20", "1-3", "2", "5/7", "0-23/2", "1,2"])


@thorough
@given(
    TIMES,
    TIMES,
    DAYS,
    FIELD,
    WEEKDAYS,
    st.sampled_from(ZONES),
    st.integers(-2_000_000_000, 30_000_000_000),
    st.integers(0, 40_000_000),
)
def test_next_previous_and_count_agree(
    minute: str, hour: str, day: str, month: str, weekday: str, tz: str, start: int, length: int
) -> None:
    try:
        trigger = cron(f"{minute} {hour} {day} {month} {weekday}", tz)
    except TriggerError:
        return
    tick = trigger.next_tick(start)
    assert tick is not None
    assert tick > start
    assert trigger.contains(tick)
    assert trigger.count(start, tick) == 1
    assert trigger.count(start, tick - 1) == 0
    assert trigger.previous_tick(tick + 1) == tick
    before = trigger.previous_tick(tick)
    assert before is not None
    assert before <= start
    assert trigger.next_tick(before) == tick
    assert trigger.count(before, tick) == 1
    middle, end = start + length // 3, start + length
    assert trigger.count(start, end) == trigger.count(start, middle) + trigger.count(middle, end)
    assert trigger.count(end, start) == 0 or length == 0


@pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Pacific/Kiritimati", "Asia/Kolkata"])
@pytest.mark.parametrize(
    "expr", ["* * * * *", "0 0 1 1 *", "*/5 9-17 * * 1-5", "* * * * * *", "0 0 29 2 *", "0 9 * * *"]
)
def test_first_and_last_year(expr: str, tz: str) -> None:
    trigger = cron(expr, tz)
    low, high = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert trigger.previous_before(low) is None
    assert trigger.next_after(high) is None
    first, last = trigger.next_after(low), trigger.previous_before(high)
    assert first is not None
    assert last is not None
    assert first.year <= 5
    assert last.year >= 9995
    assert trigger.previous_before(first) in (None, low)
    assert trigger.next_after(last) is None
    assert trigger.next_after(low.replace(tzinfo=timezone(timedelta(hours=14)))) is not None
    assert trigger.next_tick(10**30) is None
    assert trigger.previous_tick(-(10**30)) is None
    assert trigger.next_tick(-(10**30)) in (trigger.next_tick(-62_135_596_801), int(low.timestamp()))
    assert trigger.previous_tick(10**30) is not None
    assert trigger.count(10**30, -(10**30)) == 0
    tail = int(last.timestamp())
    assert trigger.count(tail - 1, 10**30) == 1
    assert trigger.count(tail, 10**30) == 0


def test_count_of_all_time_is_the_sum_of_its_parts() -> None:
    trigger = cron("30 2 * * *", "America/New_York")
    ends = [-(10**30), -3_000_000_000, 0, 1_700_000_000, 4_000_000_000, 100_000_000_000, 10**30]
    parts = sum(trigger.count(low, high) for low, high in pairwise(ends))
    # One tick a day, even through every change of clock: 9999 years less the day cut off by the zone.
    assert trigger.count(ends[0], ends[-1]) == parts
    assert abs(parts - (date.max - date.min).days) <= 1


def test_parts_of_a_second_round_away_from_the_answer() -> None:
    trigger = cron("* * * * * *")
    at = datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)
    assert trigger.next_after(at) == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert trigger.previous_before(at) == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("at", [datetime(2026, 1, 1), date(2026, 1, 1), None, 5, "2026-01-01"])
def test_only_aware_datetimes(at: datetime) -> None:
    for ask in (cron("* * * * *").next_after, cron("* * * * *").previous_before):
        with pytest.raises(TriggerError) as caught:
            ask(at)
        assert caught.value.field == "datetime"
    with pytest.raises(TriggerError, match="tzinfo=UTC"):
        cron("* * * * *").next_after(datetime(2026, 1, 1))


def test_is_a_value() -> None:
    one, two = cron("0  9 * * 1-5", "America/New_York"), cron("0 9 * * 1-5", tz="America/New_York")
    assert one == two
    assert hash(one) == hash(two)
    assert one != cron("0 9 * * 1-5")
    assert one != cron("1 9 * * 1-5", "America/New_York")
    assert one != "0 9 * * 1-5"
    assert len({one, two}) == 1
    assert repr(one) == "cron('0 9 * * 1-5', tz='America/New_York')"
    assert eval(repr(one)) == one
    assert eval(repr(cron("@daily"))) == cron("@daily")
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.tz == "America/New_York"
    assert isinstance(one, Cron)
    with pytest.raises(AttributeError):
        one.expr = "* * * * *"


def test_every_macro_is_an_interval() -> None:
    assert cron("@every 1h30m") == every(hours=1, minutes=30)
    assert cron("@EVERY  90s", "Asia/Kolkata") == every(seconds=90, tz="Asia/Kolkata")


@pytest.mark.parametrize(
    "expr, tz, words",
    [
        ("0 9 * * 1-5", "UTC", "At 09:00, Monday through Friday"),
        ("0 9 * * 1-5", "Europe/Berlin", "At 09:00, Monday through Friday (Europe/Berlin)"),
        ("*/5 * * * *", "UTC", "Every 5 minutes"),
        ("0 0 13 * 5", "UTC", "At 00:00, on day 13 of the month, or on Friday"),
        ("@daily", "UTC", "At 00:00"),
        ("0 0 * * 7", "UTC", "At 00:00, only on Sunday"),
        ("0 9,17 * * *", "UTC", "At 09:00 and 17:00"),
        ("*/5 9-17 * * MON-FRI", "UTC", "Every 5 minutes, between 09:00 and 17:59, Monday through Friday"),
        ("5/20 * * * *", "UTC", "Every 20 minutes, starting at 5 minutes past the hour"),
        ("*/30 * * * * *", "UTC", "Every 30 seconds"),
        ("0 */6 * * *", "UTC", "Every 6 hours"),
        ("0 0 1 */3 *", "UTC", "At 00:00, on day 1 of the month, every 3 months"),
        ("0 0 * * FRI-SUN", "UTC", "At 00:00, Friday through Sunday"),
        ("0 0 1 1 *", "UTC", "At 00:00, on day 1 of the month, only in January"),
        ("0 0 L * *", "UTC", "At 00:00, on the last day of the month"),
        ("0 0 * * 5#3", "UTC", "At 00:00, on the third Friday of the month"),
        # Steps that do not divide what they step through.
        ("*/90 * * * *", "UTC", "Every hour"),
        ("*/45 * * * *", "UTC", "At 0 and 45 minutes past the hour"),
        ("59/100 * * * *", "UTC", "At 59 minutes past the hour"),
        ("10/25 * * * *", "UTC", "At 10 and 35 minutes past the hour"),
        ("*/45 * * * * *", "UTC", "At 0 and 45 seconds past the minute"),
        ("0 */7 * * *", "UTC", "At 00:00, 07:00, 14:00 and 21:00"),
        ("0 9-17/4 * * *", "UTC", "Every 4 hours, between 09:00 and 17:59"),
        ("0 9-17/5 * * *", "UTC", "At 09:00 and 14:00"),
        ("0 0 * * 5/2", "UTC", "At 00:00, only on Friday"),
        ("0 0 * * */2", "UTC", "At 00:00, only on Tuesday, Thursday, Saturday, and Sunday"),
        ("0 0 */15 * *", "UTC", "At 00:00, on day 1, 16, and 31 of the month"),
        ("0 0 1 */5 *", "UTC", "At 00:00, on day 1 of the month, only in January, June, and November"),
        # Text that is odd.
        ("*,5 * * * *", "UTC", "Every minute"),
        ("0-59 * * * *", "UTC", "Every minute"),
        ("0000005 * * * *", "UTC", "At 5 minutes past the hour"),
        ("5-5,5 * * * *", "UTC", "At 5 minutes past the hour"),
        ("10-20/5,58 * * * *", "UTC", "At 10, 15, 20, and 58 minutes past the hour"),
        ("0 9-11,15 * * *", "UTC", "At 09:00, 10:00, 11:00 and 15:00"),
        ("0 0 * * 0-7", "UTC", "At 00:00"),
        ("0 0 * * SUN-SUN", "UTC", "At 00:00, only on Sunday"),
        ("0 0 * 1-12 *", "UTC", "At 00:00"),
        # Two day fields: either, or both where one starts with a star.
        ("0 0 13 * 1-5", "UTC", "At 00:00, on day 13 of the month, or on Monday through Friday"),
        ("0 0 13 * 5L", "UTC", "At 00:00, on day 13 of the month, or on the last Friday of the month"),
        ("0 0 13 * 0-7", "UTC", "At 00:00"),
        ("0 0 1-31 * 1", "UTC", "At 00:00"),
        ("0 0 */15 * 1", "UTC", "At 00:00, on day 1, 16, and 31 of the month, but only on Monday"),
        ("0 0 ? * 1", "UTC", "At 00:00, only on Monday"),
        ("0 0 13 * ?", "UTC", "At 00:00, on day 13 of the month"),
        ("0 0 L,1 * *", "UTC", "At 00:00, on day 1 of the month and on the last day of the month"),
        ("0 0 15W,20 * *", "UTC", "At 00:00, on day 20 of the month and on the weekday nearest day 15 of the month"),
        (
            "0 0 * * 1#1,3L",
            "UTC",
            "At 00:00, on the first Monday of the month and on the last Wednesday of the month",
        ),
    ],
)
def test_describe(expr: str, tz: str, words: str) -> None:
    assert cron(expr, tz).describe() == words


@given(
    st.sets(st.integers(0, 23), min_size=1),
    st.sampled_from(["", "/", "-/", ",/"]),
    st.sampled_from([60, 24]),
    st.booleans(),
)
def test_what_is_described_matches_the_same(numbers: set[int], text: str, size: int, mixed: bool) -> None:
    mask = sum(1 << n for n in numbers)
    found = _field(mask, 0, size, text, mixed=mixed)
    fields = parse(f"{found} * * * *" if size == 60 else f"0 {found} * * *")
    assert (fields.minutes if size == 60 else fields.hours) == mask


def test_many_distinct_expressions_stay_right() -> None:
    draw = random.Random(7)
    for _ in range(500):
        minute, hour = draw.randrange(60), draw.randrange(24)
        tick = cron(f"{minute} {hour} * * *{' ' * draw.randrange(5)}").next_tick(0)
        assert tick == hour * 3600 + minute * 60 or (minute == hour == 0 and tick == 86_400)


def test_long_garbage_is_quick_to_refuse() -> None:
    for text in (string.printable * 10, "," * 1_000, "1," * 499 + "x * * * *", "*/" * 500, "@" * 1_000):
        with pytest.raises(TriggerError):
            cron(text)
