"""Rate limits: never too many starts in any period, and no run waits longer than necessary."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.errors import InvalidError
from tickbird.domain.limits.rate_limits import MAX_PERIOD, MAX_POSITION, RateLimit, StartTimes, read_rate
from tickbird.domain.time.instants import LATEST

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

rates = st.builds(
    RateLimit, st.one_of(st.integers(1, 9), st.integers(60, 70), st.integers(1, 10_000)), st.integers(1, 90)
)
# Time until the next request, in thousandths of the period, and its number of runs.
askers = st.lists(st.tuples(st.integers(0, 1_500), st.integers(1, 300)), max_size=80)


@pytest.mark.parametrize(
    "text, rate, shown",
    [
        ("100/min", RateLimit(100, 60), "100/min"),
        (" 5/S ", RateLimit(5, 1), "5/s"),
        ("20/3h", RateLimit(20, 10_800), "20/3h"),
        ("1/90s", RateLimit(1, 90), "1/90s"),
        ("1000/days", RateLimit(1_000, 86_400), "1000/day"),
        ("7/120seconds", RateLimit(7, 120), "7/2min"),
    ],
)
def test_a_rate_is_read_and_shown(text: str, rate: RateLimit, shown: str) -> None:
    assert (read_rate(text), str(rate)) == (rate, shown)
    assert read_rate(str(rate)) == rate


@pytest.mark.parametrize(
    "text, why",
    [
        ("abc", 'is not a rate. Use a rate such as "100/min"'),
        ("100", "is not a rate"),
        ("-1/min", "is not a rate"),
        ("1.5/min", "is not a rate"),
        ("", "is not a rate"),
        (None, "is not a rate"),
        (100, "is not a rate"),
        ("100/fortnight", "has the unknown unit 'fortnight'. Use a rate such as"),
        ("0/min", "would start no runs. To stop all runs, pause their schedules."),
        ("5/0s", "would start no runs"),
        ("1000001/s", "is out of range. Use at most 1,000,000 runs and at most 31 days."),
        ("1/32d", "is out of range"),
    ],
)
def test_invalid_rate_is_refused(text: Any, why: str) -> None:
    with pytest.raises(InvalidError) as refused:
        read_rate(text)
    assert why in str(refused.value)
    assert refused.value.field == "rate"


@given(rates, askers)
def test_never_more_than_the_rate_in_any_period(rate: RateLimit, asked: list[tuple[int, int]]) -> None:
    begun: list[tuple[datetime, int]] = []
    starts: StartTimes = ()
    now = NOW
    for pause, wanted in asked:
        now += pause * rate.period // 1_000
        number = min(wanted, max(0, rate.left(starts, now)))
        if number:
            starts = rate.add(starts, now, number)
            begun.append((now, number))
        assert len(starts) <= 65
        # If any period has too many starts, one that ends with a start has too many.
        within = sum(count for at, count in begun if now - rate.period < at <= now)
        assert within <= rate.count
        # No run waits for starts older than a period and a fraction of it.
        longest = rate.period + (timedelta() if rate.count <= 64 else rate.period // 64)
        still = sum(count for at, count in begun if now - longest < at <= now)
        assert rate.left(starts, now) >= rate.count - still


@given(rates, askers, st.integers(0, 30_000))
def test_turn_of_a_run_is_its_start_time(rate: RateLimit, asked: list[tuple[int, int]], ahead: int) -> None:
    starts: StartTimes = ()
    now = NOW
    for pause, wanted in asked:
        now += pause * rate.period // 1_000
        if number := min(wanted, rate.left(starts, now)):
            starts = rate.add(starts, now, number)
    ahead %= 5 * rate.count
    told = rate.turn_at(starts, now, ahead)
    # Start all runs as soon as possible.
    while True:
        assert rate.next_at(starts, now) == now or rate.left(starts, now) <= 0
        now = rate.next_at(starts, now)
        left = rate.left(starts, now)
        assert left > 0
        if ahead < left:
            break
        starts = rate.add(starts, now, left)
        ahead -= left
    assert told == now


@given(rates, st.integers(1, 20_000), rates)
def test_new_rate_counts_starts_under_the_old_rate(old: RateLimit, number: int, new: RateLimit) -> None:
    number = min(number, old.count)
    starts = old.add((), NOW, number)
    assert new.left(starts, NOW) == new.count - number
    then = new.next_at(starts, NOW)
    assert new.left(starts, then) > 0
    if number >= new.count:
        assert NOW < then <= NOW + new.period + old.period // 64
        assert new.left(starts, then - MICROSECOND) <= 0


def test_clock_set_back_delays_runs_only_briefly() -> None:
    rate = RateLimit(2, 60)
    starts = rate.add((), NOW, 2)
    earlier = NOW - timedelta(hours=1)
    assert rate.left(starts, earlier) == 0
    starts = rate.current(starts, earlier)
    assert rate.next_at(starts, earlier) == earlier + timedelta(seconds=60)


def test_clock_disorder_starts_no_run_earlier() -> None:
    rate = RateLimit(1, 60)
    starts = rate.add((), NOW, 1)
    assert rate.current(starts, NOW - timedelta(milliseconds=5)) == starts


def test_turn_beyond_all_datetimes_is_the_last_datetime() -> None:
    assert RateLimit(1, MAX_PERIOD).turn_at((), NOW, MAX_POSITION) == LATEST


def test_starts_are_stored_in_microseconds() -> None:
    starts = RateLimit(2, 60).add((), NOW + MICROSECOND, 1)
    assert starts == ((1_767_225_600_000_001, 1),)
