"""Instants as people type them: with a zone, on a schedule's own clock, or relative to now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from tickbird.cli.output import clock
from tickbird.domain.durations import seconds
from tickbird.domain.errors import InvalidError
from tickbird.domain.instants import DAY, FIRST_SECOND, LAST_SECOND, parse_iso, to_datetime, to_seconds, wall_seconds
from tickbird.domain.zones import zone

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FORMS = '"2026-03-29T01:00:00Z", "2026-03-29 03:00" on the schedule\'s own clock'


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant, and how the text was read where that was not plain."""

    at: datetime
    read_as: str = ""


def read_instant(text: str, field: str, *, tz: str, now: datetime, ahead: bool = False) -> Instant:
    """The instant of a text; with `ahead`, a length of time without a sign counts from now on."""
    text = text.strip()
    if text == "now":
        return Instant(now.replace(microsecond=0))
    signed = text[:1] in ("+", "-")
    if signed or (ahead and text[:1].isdigit() and text[-1:] in "smhdw"):
        away = timedelta(seconds=seconds(text[signed:], field))
        return Instant((now - away if text[0] == "-" else now + away).replace(microsecond=0))
    try:
        at = parse_iso(f"{text}T00:00" if _DATE.fullmatch(text) else text, field)
    except InvalidError:
        hint = f'write {_FORMS}, or relative to now: {"2h" if ahead else "-1h"} or "+2d".'
        raise InvalidError(f"{field}: {text[:60]!r} is not an instant;", field=field, hint=hint) from None
    if at.tzinfo is not None:
        return Instant(to_datetime(_within(to_seconds(at), field)))
    # A time that the clock leaps over is the end of the leap, one that it repeats the first: as for ticks.
    found = to_datetime(zone(tz).to_epoch(_within(wall_seconds(at), field)))
    return Instant(found, f"{text} was read on the clock of {tz}: {clock(found, tz)}")


def _within(second: int, field: str) -> int:
    """Not so near to the first and last year that a zone's offset leads out of the calendar."""
    if not FIRST_SECOND + 2 * DAY <= second <= LAST_SECOND - 2 * DAY:
        raise InvalidError(f"{field}: lies outside the years 1 to 9999.", field=field)
    return second
