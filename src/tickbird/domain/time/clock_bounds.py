"""Between which instants the store's clock should be, by what this process knows of time."""

from __future__ import annotations

from datetime import datetime

# The earliest and the latest instant that the store's clock may show; at any other it has jumped, and does nothing.
ClockBounds = tuple[datetime, datetime]


def middle(expected: ClockBounds) -> datetime:
    """The instant that the store's clock should show."""
    return expected[0] + (expected[1] - expected[0]) / 2


def believed_now(now: datetime, expected: ClockBounds | None) -> datetime:
    """What counts as now for runs that wait for the clock: not an instant that is ahead of what is expected."""
    return now if expected is None or now <= expected[1] else middle(expected)
