"""Instants between Python and SQLite: microseconds since the epoch."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import overload

from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.instants import EARLIEST, EPOCH, LATEST, to_seconds

MICROS = 1_000_000


def clock() -> int:
    """The store's clock, which on SQLite is the machine's."""
    return time.time_ns() // 1_000


def now_micros(now: datetime | None) -> int:
    """The instant of a verb: as it is given, else by the clock.

    Inside a write transaction, so that what is dated later is written later.
    """
    return clock() if now is None else to_micros(now)


@overload
def to_micros(at: datetime) -> int: ...
@overload
def to_micros(at: None) -> None: ...
def to_micros(at: datetime | None) -> int | None:
    """An aware datetime as stored."""
    return None if at is None else to_seconds(at) * MICROS + at.microsecond


@overload
def to_instant(micros: int) -> datetime: ...
@overload
def to_instant(micros: None) -> None: ...
def to_instant(micros: int | None) -> datetime | None:
    """A stored instant as an aware datetime in UTC; one that Python does not have is the nearest that it has."""
    if micros is None:
        return None
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return LATEST if micros > 0 else EARLIEST


def has_jumped(at: int, expected: ClockBounds | None) -> bool:
    """Is the clock where the caller does not expect it?"""
    return expected is not None and not expected[0] <= to_instant(at) <= expected[1]
