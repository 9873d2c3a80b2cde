"""Instants: whole epoch seconds inside planning, aware datetimes everywhere else, microseconds where one is stored.

Microseconds since the epoch are for SQLite columns, stored rate limiters, page cursors and the forecast's simulation.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import overload

from tickbird.domain.errors import InvalidError, TriggerError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_SECOND = -62_135_596_800  # 0001-01-01T00:00:00Z
LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z
DAY = 86_400
MICROSECOND = timedelta(microseconds=1)
# What a store may hold beyond them (PostgreSQL has years up to 294276, and infinity) counts as these.
EARLIEST = EPOCH + timedelta(seconds=FIRST_SECOND)
LATEST = EPOCH + timedelta(seconds=LAST_SECOND)

_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?", re.ASCII)


def to_seconds(at: datetime) -> int:
    """Whole epoch seconds of an aware datetime, parts of a second dropped (floor)."""
    try:
        since = at - EPOCH
        return since.days * DAY + since.seconds
    except (TypeError, AttributeError):
        raise _not_aware(at) from None


def to_seconds_ceil(at: datetime) -> int:
    """Whole epoch seconds of an aware datetime, parts of a second rounded up."""
    try:
        since = at - EPOCH
        return since.days * DAY + since.seconds + (since.microseconds > 0)
    except (TypeError, AttributeError):
        raise _not_aware(at) from None


def clamp_seconds(seconds: int) -> int:
    """Whole epoch seconds that a store holds, or those of the nearest instant that Python has."""
    return min(max(seconds, FIRST_SECOND), LAST_SECOND)


def to_datetime(seconds: int) -> datetime:
    """The aware UTC datetime of a whole epoch second."""
    return datetime.fromtimestamp(seconds, UTC)


@overload
def to_micros(at: datetime) -> int: ...
@overload
def to_micros(at: None) -> None: ...
def to_micros(at: datetime | None) -> int | None:
    """Microseconds since the epoch of an aware datetime."""
    if at is None:
        return None
    try:
        return (at - EPOCH) // MICROSECOND
    except (TypeError, AttributeError):
        raise _not_aware(at) from None


@overload
def from_micros(micros: int) -> datetime: ...
@overload
def from_micros(micros: None) -> None: ...
def from_micros(micros: int | None) -> datetime | None:
    """The aware UTC datetime of microseconds since the epoch; EARLIEST or LATEST if Python has no such datetime."""
    if micros is None:
        return None
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return LATEST if micros > 0 else EARLIEST


def utc_text(at: datetime | None) -> str | None:
    """An instant for programs: ISO 8601 in UTC, with as many digits as it has."""
    if at is None:
        return None
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    # The last six characters are +00:00.
    return f"{at.isoformat()[:-6]}Z"


def iso(seconds: int) -> str:
    """The ISO 8601 text of a whole epoch second, in UTC."""
    return to_datetime(seconds).isoformat().replace("+00:00", "Z")


def wall_seconds(wall: datetime) -> int:
    """Seconds from 1970-01-01T00:00 to a naive wall-clock time, in the same clock."""
    since = wall.replace(tzinfo=UTC) - EPOCH
    return since.days * DAY + since.seconds


def wall_datetime(seconds: int) -> datetime:
    """The naive wall-clock datetime of such seconds."""
    return (EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)


def parse_iso(text: object, field: str) -> datetime:
    """A datetime, aware or naive, from strict ISO 8601 text in whole seconds."""
    if isinstance(text, str) and len(text) <= 40 and _ISO.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    raise TriggerError(
        f"{field}: {_short(text)} is not an ISO 8601 date and time.",
        field=field,
        reason="not an ISO 8601 date and time",
        hint='Write it like "2026-01-31T09:00:00Z".',
    )


def _not_aware(at: object) -> TriggerError:
    if isinstance(at, datetime):
        return TriggerError(
            f"datetime: {at.isoformat()} has no time zone.",
            field="datetime",
            reason="has no time zone",
            hint="Add one: datetime(..., tzinfo=UTC), or .replace(tzinfo=ZoneInfo('Europe/Berlin')).",
        )
    return TriggerError(
        f"datetime: expected an aware datetime, not {type(at).__name__}.",
        field="datetime",
        reason=f"expected an aware datetime, not {type(at).__name__}",
    )


def _short(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def to_exact_seconds(at: datetime, field: str) -> int:
    """The second of an instant; InvalidError if it has a fraction, which ticks do not have."""
    second = to_seconds(at)
    if to_datetime(second) != at:
        raise InvalidError(f"{field}: {at.isoformat()} is not a whole second, as ticks are.", field=field)
    return second
