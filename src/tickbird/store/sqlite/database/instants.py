"""The store's clock: on SQLite, the machine's."""

from __future__ import annotations

import time
from datetime import datetime

from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.instants import from_micros, to_micros


def read_clock(now: datetime | None = None) -> datetime:
    """The instant of a verb, in UTC: `now`, or the clock if it is None.

    Read inside a write transaction, so that a later instant is written later.
    """
    return from_micros(time.time_ns() // 1_000 if now is None else to_micros(now))


def has_jumped(now: datetime, expected: ClockBounds | None) -> bool:
    """True if the clock is outside the bounds that the caller expects."""
    return expected is not None and not expected[0] <= now <= expected[1]
