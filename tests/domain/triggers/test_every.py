"""Intervals: a grid that depends on the definition alone."""

from __future__ import annotations

import datetime as dt
import os
import pickle
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.errors import TriggerError
from tickbird.domain.triggers.every import Every, every

thorough = settings(deadline=None, max_examples=100 * int(os.environ.get("TICKBIRD_FUZZ", "1")))

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(at: datetime) -> int:
    return round((at - EPOCH).total_seconds())


def walk(trigger: Every, start: str, n: int) -> list[str]:
    at = datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(trigger.tz))
    found = []
    for _ in range(n):
        following = trigger.next_after(at)
        assert following is not None
        at = following.astimezone(ZoneInfo(trigger.tz))
        found.append(at.isoformat(" ", "minutes").removesuffix("+00:00"))
    return found


@pytest.mark.parametrize(
    "trigger, start, expected",
    [
        (every(minutes=5), "2026-01-01 00:01", ["2026-01-01 00:05", "2026-01-01 00:10"]),
        (every(hours=7), "1970-01-01 00:00", ["1970-01-01 07:00", "1970-01-01 14:00", "1970-01-01 21:00"]),
        (every(hours=1, minutes=30), "1970-01-01 00:00", ["1970-01-01 01:30", "1970-01-01 03:00"]),
        (every(days=1), "2026-01-01 00:00", ["2026-01-02 00:00"]),
        (every(days=2), "1970-01-01 00:00", ["1970-01-03 00:00", "1970-01-05 00:00"]),
        (every(weeks=1), "2026-01-01 00:00", ["2026-01-05 00:00", "2026-01-12 00:00"]),
        (every(weeks=2), "1970-01-01 00:00", ["1970-01-05 00:00", "1970-01-19 00:00"]),
        (every(months=1), "2026-01-15 00:00", ["2026-02-01 00:00", "2026-03-01 00:00"]),
        (
            every(months=1, anchor=datetime(2025, 1, 31, 9)),
            "2025-01-31 09:00",
            ["2025-02-28 09:00", "2025-03-31 09:00", "2025-04-30 09:00"],
        ),
        (every(months=1, anchor=datetime(2025, 1, 31)), "2023-12-31 00:00", ["2024-01-31 00:00", "2024-02-29 00:00"]),
        (every(years=1, anchor=datetime(2024, 2, 29)), "2024-03-01 00:00", ["2025-02-28 00:00", "2026-02-28 00:00"]),
        (every(years=1, months=6), "1970-01-01 00:00", ["1971-07-01 00:00", "1973-01-01 00:00"]),
        (
            every(days=1, anchor=datetime(2026, 1, 1, 2, 30), tz="America/New_York"),
            "2026-03-07 03:00",
            ["2026-03-08 03:00-04:00", "2026-03-09 02:30-04:00"],
        ),
        (
            every(days=1, anchor=datetime(2026, 1, 1, 1, 30), tz="America/New_York"),
            "2026-10-31 03:00",
            ["2026-11-01 01:30-04:00", "2026-11-02 01:30-05:00"],
        ),
        (
            every(hours=1, tz="America/New_York"),
            "2026-11-01 00:30",
            ["2026-11-01 01:00-04:00", "2026-11-01 01:00-05:00", "2026-11-01 02:00-05:00"],
        ),
        (every(hours=12, tz="Asia/Kolkata"), "2026-01-01 00:00", ["2026-01-01 12:00+05:30"]),
        (every(days=1, tz="Pacific/Apia"), "2011-12-29 00:00", ["2011-12-31 00:00+14:00", "2012-01-01 00:00+14:00"]),
    ],
)
def test_next(trigger: Every, start: str, expected: list[str]) -> None:
    assert walk(trigger, start, len(expected)) == expected


@pytest.mark.parametrize(
    "units, field",
    [
        ({}, "every"),
        ({"seconds": 0}, "seconds"),
        ({"minutes": -5}, "minutes"),
        ({"seconds": True}, "seconds"),
        ({"seconds": 1.5}, "seconds"),
        ({"hours": Decimal(1)}, "hours"),
        ({"days": "1"}, "days"),
        ({"days": timedelta(days=1)}, "days"),
        ({"seconds": 10**12}, "seconds"),
        ({"months": 10**6}, "months"),
        ({"years": 10**400}, "years"),
        ({"days": 1, "weeks": 1}, "every"),
        ({"days": 1, "hours": 1}, "every"),
        ({"months": 1, "days": 1}, "every"),
        ({"years": 1, "seconds": 1}, "every"),
    ],
)
def test_refused(units: dict[str, int], field: str) -> None:
    with pytest.raises(TriggerError) as caught:
        every(**units)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert field in str(caught.value)


@pytest.mark.parametrize(
    "anchor", [date(2026, 1, 1), "2026-01-01", 5, datetime(2026, 1, 1, microsecond=1), datetime.min.replace(tzinfo=UTC)]
)
def test_anchor_refused(anchor: datetime) -> None:
    with pytest.raises(TriggerError) as caught:
        every(days=1, anchor=anchor, tz="America/New_York")
    assert caught.value.field == "anchor"


def test_zone_refused() -> None:
    with pytest.raises(TriggerError) as caught:
        every(days=1, tz="Nowhere")
    assert caught.value.field == "tz"


def test_aware_anchor_is_an_instant() -> None:
    second_pass = datetime(2026, 11, 1, 6, 30, tzinfo=UTC)
    hourly = every(hours=5, anchor=second_pass, tz="America/New_York")
    assert hourly.contains(seconds(second_pass))
    assert hourly.to_json() == {"every": {"hours": 5}, "anchor": "2026-11-01T06:30:00Z", "tz": "America/New_York"}
    daily = every(days=1, anchor=second_pass, tz="America/New_York")
    assert daily == every(days=1, anchor=datetime(2026, 11, 1, 1, 30), tz="America/New_York")
    assert every(hours=1, anchor=datetime(2026, 1, 1, 9, tzinfo=UTC)) == every(hours=1, anchor=datetime(2026, 1, 1, 9))


def test_second_pass_of_a_repeated_hour_has_no_tick() -> None:
    trigger = every(days=1, anchor=datetime(2026, 1, 1, 1, 30), tz="America/New_York")
    first, second_pass = (datetime(2026, 11, 1, hour, minute, tzinfo=UTC) for hour, minute in ((5, 30), (6, 10)))
    assert trigger.next_after(second_pass) == datetime(2026, 11, 2, 6, 30, tzinfo=UTC)
    assert trigger.previous_before(second_pass) == first
    assert trigger.count(seconds(first) - 1, seconds(second_pass)) == 1
    assert trigger.count(seconds(second_pass), seconds(second_pass) + 3600) == 0


ANCHORS = st.none() | st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(microsecond=0))
ZONES = st.sampled_from(
    ["UTC", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kiritimati", "Asia/Kathmandu"]
)
UNITS = st.one_of(
    st.fixed_dictionaries({"seconds": st.integers(1, 10_000)}),
    st.fixed_dictionaries({"hours": st.integers(1, 50), "minutes": st.integers(1, 500)}),
    st.fixed_dictionaries({"days": st.integers(1, 40)}),
    st.fixed_dictionaries({"weeks": st.integers(1, 9)}),
    st.fixed_dictionaries({"months": st.integers(1, 30)}),
    st.fixed_dictionaries({"years": st.integers(1, 9), "months": st.integers(1, 30)}),
)
DATELINE = 1_325_239_200  # Samoa leaves out a day
STARTS = st.integers(-3_000_000_000, 20_000_000_000) | st.integers(DATELINE - 400_000, DATELINE + 400_000)


@thorough
@given(UNITS, ANCHORS, ZONES, STARTS)
def test_next_previous_and_count_agree(units: dict[str, int], anchor: datetime | None, tz: str, start: int) -> None:
    trigger = Every(units, anchor, tz)
    ticks: list[int] = []
    at = start
    for _ in range(8):
        tick = trigger.next_tick(at)
        assert tick is not None
        assert tick > at
        assert trigger.contains(tick)
        assert trigger.previous_tick(tick + 1) == tick
        ticks.append(at := tick)
    for one, two in pairwise(ticks):
        assert trigger.previous_tick(two) == one
        assert not trigger.contains((one + two) // 2) or two - one == 1
    for i, tick in enumerate(ticks):
        assert trigger.count(start, tick) == i + 1
        assert trigger.count(start, tick - 1) == i
    before = trigger.previous_tick(ticks[0])
    assert before is not None
    assert before <= start


@thorough
@given(UNITS, ANCHORS, ZONES, st.integers(-200, 200))
def test_calendar_steps_keep_the_wall_clock(units: dict[str, int], anchor: datetime | None, tz: str, n: int) -> None:
    if units.keys() & {"seconds", "hours"}:
        return
    wall = anchor or (datetime(1970, 1, 5) if "weeks" in units else datetime(1970, 1, 1))
    if "days" in units or "weeks" in units:
        wall += n * timedelta(**units)
    else:
        months = wall.month - 1 + n * (units.get("years", 0) * 12 + units["months"])
        year, month = wall.year + months // 12, months % 12 + 1
        if not 1 < year < 9999:
            return
        length = (date(year + month // 12, month % 12 + 1, 1) - date(year, month, 1)).days
        wall = wall.replace(year=year, month=month, day=min(wall.day, length))
    instant = wall.replace(tzinfo=ZoneInfo(tz), fold=0)
    if instant.astimezone(UTC).astimezone(ZoneInfo(tz)).replace(tzinfo=None) == wall:
        assert Every(units, anchor, tz).contains(seconds(instant.astimezone(UTC)))


def test_count_of_a_year_of_seconds() -> None:
    assert every(seconds=1).count(1_700_000_000, 1_700_000_000 + 31_536_000) == 31_536_000
    assert every(seconds=1).count(5, 5) == every(days=1).count(9, 3) == 0


@pytest.mark.parametrize("tz", ["UTC", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    "units", [{"seconds": 7}, {"hours": 1}, {"days": 1}, {"weeks": 1}, {"months": 1}, {"years": 1000}]
)
def test_first_and_last_year(units: dict[str, int], tz: str) -> None:
    trigger = Every(units, None, tz)
    low, high = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    first, last = trigger.next_after(low), trigger.previous_before(high)
    assert first is not None
    assert last is not None
    assert trigger.previous_before(low) is None
    assert trigger.next_after(last) is None
    assert trigger.previous_before(first) in (None, low)
    assert trigger.next_tick(10**30) is None
    assert trigger.previous_tick(-(10**30)) is None
    assert trigger.previous_tick(10**30) == seconds(last)
    assert trigger.count(seconds(last) - 1, 10**30) == 1
    assert trigger.count(seconds(last), 10**30) == 0
    assert trigger.count(seconds(first) - 1, seconds(first)) == 1


def test_is_a_value() -> None:
    one = every(months=1, anchor=datetime(2026, 1, 31, 9), tz="Europe/Berlin")
    assert one == every(months=1, anchor=datetime(2026, 1, 31, 9), tz="Europe/Berlin")
    assert hash(one) == hash(eval(repr(one), {"every": every, "datetime": dt}))
    assert one == eval(repr(one), {"every": every, "datetime": dt})
    assert one == pickle.loads(pickle.dumps(one))
    assert one != every(months=1, tz="Europe/Berlin")
    assert every(days=1) == every(days=1, anchor=datetime(1970, 1, 1))
    assert every(days=1) != every(days=2)
    assert every(days=1) != every(days=1, tz="Asia/Tokyo")
    assert repr(every(hours=1, seconds=5)) == "every(hours=1, seconds=5)"
    with pytest.raises(AttributeError):
        one.tz = "UTC"


@pytest.mark.parametrize(
    "trigger, words",
    [
        (every(minutes=5), "Every 5 minutes"),
        (every(days=1), "Every day"),
        (every(hours=1, minutes=30), "Every hour and 30 minutes"),
        (every(weeks=2, tz="Asia/Tokyo"), "Every 2 weeks (Asia/Tokyo)"),
        (every(months=1, anchor=datetime(2026, 1, 31)), "Every month, counted from 2026-01-31 00:00:00"),
    ],
)
def test_describe(trigger: Every, words: str) -> None:
    assert trigger.describe() == words
