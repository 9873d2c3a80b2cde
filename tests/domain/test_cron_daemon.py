"""Cron triggers against a simulated cron daemon that lives through real clock changes, minute by minute."""

from __future__ import annotations

import os
import random
import zoneinfo
from datetime import UTC, datetime, timedelta

import pytest

from tickbird.domain.triggers.cron.cron import Cron

BUDGET = int(os.environ.get("TICKBIRD_FUZZ", "1"))
ZONES = sorted(zoneinfo.available_timezones() - {"localtime", "Factory", "posixrules"})
REPAIRED = 3 * 3600
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def offset_at(tz: str, second: int) -> int:
    delta = (EPOCH + timedelta(seconds=second)).astimezone(zoneinfo.ZoneInfo(tz)).utcoffset()
    assert delta is not None
    return round(delta.total_seconds())


def changes(tz: str, start: int, end: int, step: int) -> list[int]:
    """The seconds in (start, end] at which the zone's offset changes, if they are farther apart than `step`."""
    found = []
    before = offset_at(tz, start)
    for low in range(start, end, step):
        after = offset_at(tz, low + step)
        left, right = low, low + step
        while after != before and right - left > 1:
            middle = (left + right) // 2
            if offset_at(tz, middle) == before:
                left = middle
            else:
                right = middle
        if after != before:
            found.append(right)
        before = after
    return found


def some_changes(tz: str, draw: random.Random) -> list[int]:
    """A few DST changes of a zone, one from each of these ranges of years."""
    found = []
    for first, last in (
        (1880, 1920),
        (1920, 1970),
        (1970, 2000),
        (2000, 2040),
        (2085, 2089),
        (2399, 2402),
        (5000, 5002),
    ):
        start, end = (round((datetime(year, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) for year in (first, last))
        if points := changes(tz, start, end, 5 * 86_400):
            found.append(draw.choice(points))
    return found


def expand(text: str, low: int, high: int) -> set[int]:
    """The values of a plain field, computed naively."""
    values: set[int] = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        if span == "*":
            first, last = low, high
        elif "-" in span:
            first, last = map(int, span.split("-"))
        else:
            first = int(span)
            last = min(high, 6 if high == 7 else high) if step else first
        values |= set(range(first, last + 1, int(step or 1)))
    return values


class Daemon:
    """A simulated cron daemon: a copy of its rules, not of our arithmetic."""

    def __init__(self, expr: str, tz: str) -> None:
        parts = expr.split()
        if len(parts) == 5:
            parts.insert(0, "0")
        second, minute, hour, day, month, weekday = parts
        self.tz = tz
        self.seconds, self.minutes = expand(second, 0, 59), expand(minute, 0, 59)
        self.hours, self.days = expand(hour, 0, 23), expand(day, 1, 31)
        self.months, self.weekdays = expand(month, 1, 12), {value % 7 for value in expand(weekday, 0, 7)}
        self.either = not (day.startswith("*") or weekday.startswith("*"))
        self.wild = minute.startswith("*") or hour.startswith("*")
        self.by_second = len(expr.split()) == 6
        self.known_days: dict[int, bool] = {}

    def matches(self, wall: int) -> bool:
        day, rest = divmod(wall, 86_400)
        if rest % 60 not in self.seconds or rest // 60 % 60 not in self.minutes or rest // 3600 not in self.hours:
            return False
        if day not in self.known_days:
            when = EPOCH + timedelta(days=day)
            in_day, in_week = when.day in self.days, when.isoweekday() % 7 in self.weekdays
            self.known_days[day] = when.month in self.months and (
                in_day or in_week if self.either else in_day and in_week
            )
        return self.known_days[day]

    def run(self, start: int, end: int, offsets: list[tuple[int, int]]) -> list[int]:
        """The instants in [start, end) at which something runs; `offsets` are (from, offset), in order."""
        odd = any(offset % 60 for _, offset in offsets)
        step = 1 if self.by_second or odd else 60
        ticks: list[int] = []
        virtual: int | None = None
        owed = False
        for index, (begin, offset) in enumerate(offsets):
            stop = offsets[index + 1][0] if index + 1 < len(offsets) else end
            for now in range(max(begin, start), min(stop, end), step):
                wall = now + offset
                if virtual is None:
                    virtual = wall - step
                ahead = wall - virtual - step
                runs = False
                if ahead == 0 or ahead >= REPAIRED or -ahead > REPAIRED:
                    runs = self.matches(wall)
                    virtual = wall
                elif self.wild:
                    runs = self.matches(wall)
                    virtual = max(virtual, wall)
                elif ahead > 0:
                    runs = self.matches(wall)
                    owed = any(self.matches(missed) for missed in range(virtual + step, wall, step))
                    virtual = wall
                if owed and wall % 60 == 0:
                    runs, owed = True, False
                if runs:
                    ticks.append(now)
        return ticks


def daemon_ticks(expr: str, tz: str, start: int, end: int) -> list[int]:
    points = [start, *changes(tz, start, end, 900)]
    return Daemon(expr, tz).run(start, end, [(point, offset_at(tz, point)) for point in points])


def check(expr: str, tz: str, start: int, end: int, draw: random.Random) -> None:
    trigger = Cron(expr, tz)
    expected = [tick for tick in daemon_ticks(expr, tz, start - 86_400, end) if tick >= start]
    where = f"{expr!r} in {tz} from {start} to {end}"
    at, forwards, backwards = start - 1, list[int](), list[int]()
    while len(forwards) <= len(expected) and (found := trigger.next_tick(at)) is not None and found < end:
        forwards.append(at := found)
    assert forwards == expected, where
    at = end
    while len(backwards) <= len(expected) and (found := trigger.previous_tick(at)) is not None and found >= start:
        backwards.append(at := found)
    assert backwards[::-1] == expected, where
    for _ in range(8):
        low, high = sorted(draw.sample(range(start - 1, end), 2))
        inside = [tick for tick in expected if low < tick <= high]
        assert trigger.count(low, high) == len(inside), f"{where}: count {low} {high}"
        found = trigger.next_tick(low)
        assert (found if found is not None and found <= high else None) == (inside[0] if inside else None), where
        assert trigger.contains(high) == (high in expected), where


def minute_field(draw: random.Random) -> str:
    n = draw.randrange(60)
    return draw.choice(
        ["*", "*/15", "*/7", "0", "30", str(n), f"{n},{draw.randrange(60)}", "0-59", "0-59/10", f"{n}/9", "0,15,30,45"]
    )


def hour_field(draw: random.Random, near: int) -> str:
    n = (near + draw.randrange(-3, 4)) % 24
    return draw.choice(["*", "*/2", "0-23", str(n), str(n), f"{n},{(n + 1) % 24}", f"{n}/2", f"0-{n}", "1-3", "0"])


def expression(draw: random.Random, wall: int) -> str:
    """A random expression that is likely to matter near a wall-clock second."""
    when = EPOCH + timedelta(seconds=wall)
    day = draw.choice(["*", "*", "*", str(when.day), "*/2", f"1-{when.day}", "1,15"])
    month = draw.choice(["*", "*", "*", str(when.month)])
    weekday = draw.choice(["*", "*", "*", str(when.isoweekday()), "*/2", "1-5", "0"])
    fields = [minute_field(draw), hour_field(draw, when.hour), day, month, weekday]
    return " ".join(fields)


def test_five_fields_near_changes_of_every_zone() -> None:
    draw = random.Random(20_260_101)
    for tz in draw.choices(ZONES, k=60 * BUDGET):
        for change in some_changes(tz, draw):
            # The few changes that leave an odd second need a simulation by the second.
            odd = offset_at(tz, change) % 60 or offset_at(tz, change - 1) % 60
            wide = 1 if odd else draw.choice([1, 1, 2])
            start = change - wide * 40_000
            start -= (start + offset_at(tz, start)) % 60
            expr = expression(draw, change + offset_at(tz, draw.choice([change, change - 1])))
            check(expr, tz, start, start + wide * 90_000, draw)


@pytest.mark.parametrize(
    "tz, change",
    [
        ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
        ("Antarctica/Troll", "2026-03-29T01:00Z"),
        ("Antarctica/Troll", "2026-10-25T01:00Z"),
        ("Pacific/Apia", "2011-12-30T10:00Z"),
        ("Pacific/Kwajalein", "1993-08-21T12:00Z"),
        ("Pacific/Kwajalein", "1969-09-30T13:00Z"),
        ("Asia/Gaza", "2039-09-16T23:00Z"),
        ("Pacific/Kiritimati", "1994-12-31T10:40Z"),
        ("America/New_York", "2026-03-08T07:00Z"),
        ("America/New_York", "2026-11-01T06:00Z"),
        ("Europe/London", "2026-10-25T01:00Z"),
        ("Africa/Casablanca", "2026-02-15T02:00Z"),
        ("Africa/Casablanca", "2026-03-22T02:00Z"),
        ("America/Sao_Paulo", "2018-11-04T03:00Z"),
        ("Asia/Gaza", "2011-08-01T00:00Z"),
        ("America/Caracas", "2007-12-09T07:00Z"),
        ("Asia/Pyongyang", "2018-05-04T15:00Z"),
        ("Antarctica/Casey", "2010-03-04T15:00Z"),
        ("Africa/Monrovia", "1972-01-07T00:44Z"),
        ("Europe/Dublin", "1916-05-21T02:25Z"),
        ("America/St_Johns", "2006-10-29T02:31Z"),
        ("Asia/Kathmandu", "1985-12-31T18:30Z"),
    ],
)
def test_many_expressions_at_one_change(tz: str, change: str) -> None:
    draw = random.Random(change)
    at = round((datetime.fromisoformat(change) - EPOCH).total_seconds())
    odd = any(offset_at(tz, at + shift) % 60 for shift in (-86_400, 0, 86_400))
    for _ in range((2 if odd else 12) * BUDGET):
        expr = expression(draw, at + offset_at(tz, at + draw.choice([-120, 120])))
        start = at - 40_000
        start -= (start + offset_at(tz, start)) % 60
        check(expr, tz, start, at + 50_000, draw)


@pytest.mark.parametrize(
    "tz, change",
    [
        ("America/New_York", "2026-03-08T07:00Z"),
        ("America/New_York", "2026-11-01T06:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
        ("Africa/Monrovia", "1972-01-07T00:44:30Z"),
    ],
)
def test_six_fields_at_one_change(tz: str, change: str) -> None:
    draw = random.Random(change)
    at = round((datetime.fromisoformat(change) - EPOCH).total_seconds())
    for _ in range(3 * BUDGET):
        second = draw.choice(["0", "30", "*/20", "59", "10-12"])
        expr = second + " " + expression(draw, at + offset_at(tz, at + draw.choice([-120, 120])))
        check(expr, tz, at - 9_000, at + 13_000, draw)
