"""Instants: whole epoch seconds inside planning, aware datetimes elsewhere, microseconds in some stored values.

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
# Values beyond these in a store (PostgreSQL has years up to 294276, and infinity) are clamped.
EARLIEST = EPOCH + timedelta(seconds=FIRST_SECOND)
LATEST = EPOCH + timedelta(seconds=LAST_SECOND)

_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?", re.ASCII)


def to_seconds(at: datetime) -> int:
    """Return the whole epoch seconds of an aware datetime, rounded down."""
    try:
        since = at - EPOCH
        return since.days * DAY + since.seconds
    except (TypeError, AttributeError):
        raise _not_aware(at) from None


def to_seconds_ceil(at: datetime) -> int:
    """Return the whole epoch seconds of an aware datetime, rounded up."""
    try:
        since = at - EPOCH
        return since.days * DAY + since.seconds + (since.microseconds > 0)
    except (TypeError, AttributeError):
        raise _not_aware(at) from None


def clamp_seconds(seconds: int) -> int:
    """Clamp epoch seconds to the range that Python supports."""
    return min(max(seconds, FIRST_SECOND), LAST_SECOND)


def to_datetime(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@overload
def to_micros(at: datetime) -> int: ...
@overload
def to_micros(at: None) -> None: ...
def to_micros(at: datetime | None) -> int | None:
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
    """Return the aware UTC datetime of microseconds since the epoch; EARLIEST or LATEST if out of range."""
    if micros is None:
        return None
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return LATEST if micros > 0 else EARLIEST


def utc_text(at: datetime | None) -> str | None:
    """Return an instant as ISO 8601 in UTC, with microseconds if it has any."""
    if at is None:
        return None
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    # The last six characters are +00:00.
    return f"{at.isoformat()[:-6]}Z"


def iso(seconds: int) -> str:
    return to_datetime(seconds).isoformat().replace("+00:00", "Z")


def wall_seconds(wall: datetime) -> int:
    """Return the seconds from 1970-01-01T00:00 to a naive wall-clock time, on the same clock."""
    since = wall.replace(tzinfo=UTC) - EPOCH
    return since.days * DAY + since.seconds


def wall_datetime(seconds: int) -> datetime:
    """Return the naive wall-clock datetime of `wall_seconds`."""
    return (EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)


def parse_iso(text: object, field: str) -> datetime:
    """Parse strict ISO 8601 text in whole seconds to an aware or naive datetime."""
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
        f"a datetime with a time zone is needed, not {type(at).__name__}.",
        field="datetime",
        reason=f"a datetime with a time zone is needed, not {type(at).__name__}",
        hint="Use, for example, datetime(2026, 1, 31, 9, tzinfo=UTC).",
    )


def _short(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def to_exact_seconds(at: datetime, field: str) -> int:
    """The second of an instant; InvalidError if it has a fraction, which ticks do not have."""
    second = to_seconds(at)
    if to_datetime(second) != at:
        raise InvalidError(
            f"{field}: {at.isoformat()} has a fraction of a second, but ticks are whole seconds.",
            field=field,
            hint="Remove the fraction.",
        )
    return second
