"""Next, previous and count agree, from the first year to the last."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.triggers.cron.strategies import DAYS, FIELD, WEEKDAYS, thorough
from tickbird.domain.errors import TriggerError
from tickbird.domain.triggers.cron.cron import cron

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
