"""Instants as they are sent: ISO 8601 with a zone."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND, parse_iso, to_seconds

# A text for the routes, so that what is wrong with it is told as everywhere else.
InstantText = Annotated[str, Field(max_length=60, json_schema_extra={"format": "date-time"})]
_FRACTION: Final = re.compile(r"(?<=:\d\d)\.\d{1,9}(?=Z|[+-])", re.IGNORECASE)
# In an address, a plus sign stands for a space.
_LOST_PLUS: Final = re.compile(r"(?<=\dT)(.*\d) (\d\d:\d\d)")


def read_instant(text: str, field: str) -> datetime:
    """The instant of a text, in whole seconds."""
    upper = text.upper()
    whole = _LOST_PLUS.sub(r"\1+\2", _FRACTION.sub("", upper))
    at = parse_iso(whole, field)
    if at.tzinfo is None:
        raise InvalidError(
            f"{field}: {text[:60]!r} has no zone;", field=field, hint='write it like "2026-01-31T09:00:00Z".'
        )
    if not FIRST_SECOND + 2 * DAY <= to_seconds(at) <= LAST_SECOND - 2 * DAY:
        # So near to the first and last year, a zone's offset would lead out of the calendar.
        raise InvalidError(
            f"{field}: {text[:60]!r} is too near to the end of the calendar;",
            field=field,
            hint="choose an instant from 0001-01-03 to 9999-12-29.",
        )
    return at
