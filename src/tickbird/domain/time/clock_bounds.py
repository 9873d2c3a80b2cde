"""Bounds of the store's clock, derived from the clock of this process."""

from __future__ import annotations

from datetime import datetime

# The earliest and latest plausible instant of the store's clock. Outside of them, it has jumped.
ClockBounds = tuple[datetime, datetime]


def middle(expected: ClockBounds) -> datetime:
    """Return the expected instant of the store's clock."""
    return expected[0] + (expected[1] - expected[0]) / 2


def believed_now(now: datetime, expected: ClockBounds | None) -> datetime:
    """Return the store's time, or the expected time if the store's clock has jumped ahead."""
    return now if expected is None or now <= expected[1] else middle(expected)
