"""Spans of constant offset against the time zone data itself."""

from __future__ import annotations

import os
import random
import zoneinfo
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.errors import TriggerError
from tickbird.domain.time.zones import zone

thorough = settings(deadline=None, max_examples=100 * int(os.environ.get("TICKBIRD_FUZZ", "1")))

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = sorted(zoneinfo.available_timezones() - {"localtime", "Factory", "posixrules"})
NAMES = st.sampled_from(ZONES)
SECONDS = st.integers(-6_000_000_000, 5_000_000_000) | st.integers(-62_000_000_000, 253_000_000_000)


def offset_at(tz: str, second: int) -> int:
    delta = (EPOCH + timedelta(seconds=second)).astimezone(zoneinfo.ZoneInfo(tz)).utcoffset()
    assert delta is not None
    return round(delta.total_seconds())


@thorough
@given(NAMES, SECONDS)
def test_offset_is_that_of_the_zone_data(tz: str, second: int) -> None:
    span = zone(tz).span(second)
    assert span.start <= second < span.end
    assert span.offset == offset_at(tz, second)
    assert zone(tz).to_wall(second) == second + span.offset
    if span.start > -62_000_000_000:
        assert offset_at(tz, span.start) == span.offset
        assert zone(tz).span(span.start - 1).end == span.start
    if span.end < 253_000_000_000:
        assert offset_at(tz, span.end - 1) == span.offset
        assert zone(tz).span(span.end).start == span.end


@thorough
@given(NAMES, SECONDS)
def test_wall_clock_goes_back_to_the_first_instant_that_reaches_it(tz: str, second: int) -> None:
    wall = second + offset_at(tz, second)
    found = zone(tz).to_epoch(wall)
    assert found <= second
    assert found + offset_at(tz, found) == wall
    assert all(at + offset_at(tz, at) < wall for at in range(found - 100_000, found, 1_800))


def test_no_change_of_any_zone_is_missed() -> None:
    draw = random.Random(3)
    for tz in draw.choices(ZONES, k=6 * int(os.environ.get("TICKBIRD_FUZZ", "1"))):
        found = {span.start for span in zone(tz).spans(-5_400_000_000, 2_500_000_000)}
        for second in range(-5_364_000_000, 2_400_000_000, 86_400 * 2 + 7):
            if offset_at(tz, second) != offset_at(tz, second - 86_400):
                assert any(second - 86_400 < start <= second for start in found), (tz, second)


def test_gap_moves_to_its_end_and_a_repeated_hour_is_the_first() -> None:
    new_york = zone("America/New_York")

    def instant(text: str) -> int:
        wall = round((datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH).total_seconds())
        return new_york.to_epoch(wall)

    assert instant("2026-03-08 02:00") == instant("2026-03-08 02:59:59") == instant("2026-03-08 03:00")
    assert instant("2026-03-08 03:00") == datetime(2026, 3, 8, 7, tzinfo=UTC).timestamp()
    assert instant("2026-11-01 01:30") == datetime(2026, 11, 1, 5, 30, tzinfo=UTC).timestamp()
    assert instant("2026-11-01 02:00") == datetime(2026, 11, 1, 7, tzinfo=UTC).timestamp()


def test_far_future_repeats_with_the_calendar() -> None:
    for year in (2399, 2400, 2401, 2799, 2800, 2801, 6400, 9998):
        at = round((datetime(year, 7, 1, tzinfo=UTC) - EPOCH).total_seconds())
        span = zone("Europe/Berlin").span(at)
        assert span.offset == 7200
        assert (EPOCH + timedelta(seconds=span.start)).month in (3, 4, 5, 6)
        assert offset_at("Europe/Berlin", span.end) == offset_at("Europe/Berlin", span.end - 1) or span.end > at


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "UTC ",
        "Mars/Olympus",
        "../etc/passwd",
        "/etc/localtime",
        "Europe/../UTC",
        "Europe//Berlin",
        "Europe/",
        "Europe",
        "localtime",
        "posixrules",
        "posix/UTC",
        "right/UTC",
        "Factory",
        "tzdata.zi",
        "a\x00b",
        "UTC\n",
        "Európe/Berlin",
        "x" * 10_000,
        None,
        5,
        b"UTC",
        ["UTC"],
        UTC,
    ],
)
def test_odd_names_are_refused(name: object) -> None:
    with pytest.raises(TriggerError) as caught:
        zone(name)
    assert caught.value.field == "tz"
    assert "tz" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_every_known_zone_is_accepted() -> None:
    for tz in ZONES:
        assert zone(tz).name == tz
    assert zone("UTC") is zone("UTC")
