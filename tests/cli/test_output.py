"""Times and tables as they are printed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tickbird.cli.output import clean, clock, iso, relative
from tickbird.cli.time_input import InstantParser
from tickbird.domain.errors import InvalidError

NOW = datetime(2026, 3, 29, 0, 30, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize(
    "seconds,words",
    [
        (0, "now"),
        (-0.4, "now"),
        (1, "in 1 s"),
        (-59, "59 s ago"),
        (61, "in 1 min 1 s"),
        (3_599, "in 59 min 59 s"),
        (3_601, "in 1 h"),
        (-(4 * 3_600 + 12 * 60 + 9), "4 h 12 min ago"),
        (86_400, "in 1 d"),
        (-(3 * 86_400 + 5), "3 d ago"),
        (400 * 86_400 + 7_200, "in 400 d 2 h"),
    ],
)
def test_relative(seconds: float, words: str) -> None:
    assert relative(NOW + timedelta(seconds=seconds), NOW) == words


def test_clock_and_iso() -> None:
    assert clock(NOW, "Europe/Rome") == "2026-03-29 01:30:00 CET"
    assert clock(NOW + timedelta(hours=1), "Europe/Rome") == "2026-03-29 03:30:00 CEST"
    assert clock(NOW) == "2026-03-29 00:30:00 UTC"
    assert iso(NOW) == "2026-03-29T00:30:00.500000Z"
    assert iso(None) is None


@pytest.mark.parametrize(
    "text,shown",
    [
        ("plain text – ünï 漢字 🐦", "plain text – ünï 漢字 🐦"),
        ("a\nb\tc\r", "a\\nb c\\r"),
        ("\x1b[31m\x9b\0", "\\x1b[31m\\x9b\\x00"),
        ("\u202etxt\u2066\u200b", "\\u202etxt\\u2066\\u200b"),
        ("\u2028\ud83d", "\\u2028\\ud83d"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    "text,at",
    [
        ("2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"),
        ("2026-03-29 03:00+02:00", "2026-03-29T01:00:00Z"),
        ("2026-03-29 01:59 Europe/Rome", "2026-03-29T00:59:00Z"),
        ("2026-03-29T02:30 Europe/Rome", "2026-03-29T01:00:00Z"),  # does not exist
        ("2026-10-25 02:30:00 Europe/Rome", "2026-10-25T00:30:00Z"),  # comes twice
        ("2026-03-29 Europe/Rome", "2026-03-28T23:00:00Z"),
        ("2026-03-29 UTC", "2026-03-29T00:00:00Z"),
        ("2026-03-29Z", "2026-03-29T00:00:00Z"),
        ("now", "2026-03-29T00:30:00Z"),
        ("-1h", "2026-03-28T23:30:00Z"),
        ("1h ago", "2026-03-28T23:30:00Z"),
        (" +1d2h ", "2026-03-30T02:30:00Z"),
        ("in 1d2h", "2026-03-30T02:30:00Z"),
        ("+90s", "2026-03-29T00:31:30Z"),
        ("tomorrow UTC", "2026-03-30T00:00:00Z"),
        ("today 09:00 Asia/Tokyo", "2026-03-29T00:00:00Z"),
        ("yesterday 23:59:59 America/New_York", "2026-03-28T03:59:59Z"),
    ],
)
def test_instant_with_zone_is_parsed(text: str, at: str) -> None:
    for reader in (InstantParser(NOW), InstantParser(NOW, "Asia/Tokyo", "Asia/Kolkata")):
        found = reader(text, "AT")
        assert (iso(found.at), found.read_as) == (at, "")


@pytest.mark.parametrize(
    "text,at",
    [
        ("2026-03-29 01:59", "2026-03-29T00:59:00Z"),
        ("2026-03-29", "2026-03-28T23:00:00Z"),
        ("tomorrow 09:00", "2026-03-30T07:00:00Z"),
        ("today", "2026-03-28T23:00:00Z"),
    ],
)
def test_instant_uses_the_given_tz(text: str, at: str) -> None:
    found = InstantParser(NOW, "Europe/Rome", "Asia/Tokyo")(text, "AT")
    assert (iso(found.at), found.read_as) == (at, "")


def test_only_relative_days_use_the_schedules_zone() -> None:
    found = InstantParser(NOW, None, "Europe/Rome")("tomorrow 09:00", "AT")
    assert iso(found.at) == "2026-03-30T07:00:00Z"
    assert found.read_as == "tomorrow 09:00 was read in time zone Europe/Rome: 2026-03-30 09:00:00 CEST"
    for text, reader in (
        ("2026-03-29 03:00", InstantParser(NOW, None, "Europe/Rome")),
        ("tomorrow 09:00", InstantParser(NOW)),
    ):
        with pytest.raises(InvalidError, match=f'has no time zone. Write "{text} Europe/Rome"'):
            reader(text, "AT")


@pytest.mark.parametrize("text", ["2h", "1h30m", "in 2h", "+2h"])
def test_a_length_of_time_ahead(text: str) -> None:
    assert InstantParser(NOW)(text, "until", ahead=True).at > NOW
