"""Activity cursors as text."""

from __future__ import annotations

from datetime import UTC, datetime

from tickbird.domain.ledger.activity import ActivityCursor, parse_activity_cursor
from tickbird.domain.time.instants import LATEST


def test_the_text_of_a_cursor_has_microseconds() -> None:
    cursor = ActivityCursor(datetime(2026, 1, 1, 0, 0, 0, 7, UTC), 2, 30, 40, ((5, 6),))
    assert str(cursor) == "1767225600000007.2.30.40~5.6"
    assert parse_activity_cursor(str(cursor)) == cursor


def test_cursor_beyond_all_datetimes_is_clamped() -> None:
    assert parse_activity_cursor(f"{'9' * 18}.0.0.0").at == LATEST
