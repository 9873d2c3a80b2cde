"""Times and tables as they are printed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tickbird.cli.instants import read_instant
from tickbird.cli.output import clean, clock, iso, relative

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
    "text,at,read",
    [
        ("2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z", False),
        ("2026-03-29 03:00+02:00", "2026-03-29T01:00:00Z", False),
        ("2026-03-29 01:59", "2026-03-29T00:59:00Z", True),
        ("2026-03-29 02:30", "2026-03-29T01:00:00Z", True),  # does not exist
        ("2026-10-25 02:30", "2026-10-25T00:30:00Z", True),  # comes twice
        ("2026-03-29", "2026-03-28T23:00:00Z", True),
        ("now", "2026-03-29T00:30:00Z", False),
        ("-1h", "2026-03-28T23:30:00Z", False),
        (" +1d2h ", "2026-03-30T02:30:00Z", False),
        ("+90s", "2026-03-29T00:31:30Z", False),
    ],
)
def test_read_instant(text: str, at: str, read: bool) -> None:
    found = read_instant(text, "AT", tz="Europe/Rome", now=NOW)
    assert iso(found.at) == at
    assert bool(found.read_as) == read
