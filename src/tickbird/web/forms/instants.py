"""Instants in forms: date and time in a time zone, with notes about DST changes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.time.durations import duration_text, relative
from tickbird.domain.time.instants import (
    DAY,
    FIRST_SECOND,
    LAST_SECOND,
    parse_iso,
    to_datetime,
    to_seconds,
    wall_seconds,
)
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import zone
from tickbird.web.display_clock import Clock, find_zone

# No zone has a larger offset or DST change.
_REACH: Final = 2 * DAY


@dataclass(frozen=True, slots=True)
class Picked:
    """An instant, with a note if its wall-clock time is skipped or repeated."""

    at: datetime
    note: str = ""
    # The second instant with the same wall-clock time.
    twin: datetime | None = None


def read_instant(text: str, tz: str, field: str) -> Picked:
    """Parse an ISO 8601 text; without an offset it is a wall-clock time in `tz`."""
    whole = parse_iso(f"{text}T00:00" if len(text) == 10 else text, field)
    if whole.tzinfo is not None:
        return Picked(to_datetime(_within(to_seconds(whole), field)))
    wall = _within(wall_seconds(whole), field)
    at = zone(tz).to_epoch(wall)
    if zone(tz).to_wall(at) != wall:
        before, after = zone(tz).span(at - 1), zone(tz).span(at)
        leap, shown = (
            duration_text(after.offset - before.offset),
            f"{to_datetime(at).astimezone(zone_info(tz)):%H:%M %Z}",
        )
        note = f"{whole:%H:%M} does not exist on {whole:%d %b %Y} in {tz}: clocks go forward {leap}, to {shown}."
        return Picked(to_datetime(at), f"{note} The end of the gap is used.")
    twin = next(
        (span for span in zone(tz).spans(at + 1, at + DAY) if span.start > at and span.offset + span.start <= wall),
        None,
    )
    if twin is not None and twin.start <= wall - twin.offset < twin.end:
        other = to_datetime(wall - twin.offset)
        note = f"{whole:%H:%M} occurs twice on {whole:%d %b %Y} in {tz}, because clocks go back. The first is used."
        return Picked(to_datetime(at), note, other)
    return Picked(to_datetime(at))


def _within(second: int, field: str) -> int:
    if not FIRST_SECOND + _REACH <= second <= LAST_SECOND - _REACH:
        raise InvalidError(
            f"{field} is outside the years 1 to 9999.", field=field, hint="Choose an instant in this range."
        )
    return second


def in_full(picked: Picked, tz: str, now: datetime) -> str:
    """Describe an instant in its zone and in UTC, relative to now, with its note."""
    text = Clock("mine", tz, now).both(picked.at)
    return f"{text}, {relative(picked.at, now)}" + (f". {picked.note}" if picked.note else "")


def local_value(at: datetime, tz: str) -> str:
    """Format an instant for an input of type datetime-local."""
    try:
        return f"{at.astimezone(zone_info(tz)):%Y-%m-%dT%H:%M:%S}"
    except OverflowError:
        return f"{at:%Y-%m-%dT%H:%M:%S}"


def tomorrow_at(hour: int, now: datetime, tz: str) -> datetime:
    """Return this hour of the next day in a zone."""
    day = now.astimezone(zone_info(tz)).date() + timedelta(days=1)
    return read_instant(f"{day}T{hour:02d}:00:00", tz, "until").at


def zone_choices(clock: Clock, own: str | None, chosen: str | None = None) -> list[str]:
    """Return the zones that a form offers; first the chosen one, or the zone for display."""
    zones = [find_zone(chosen or ""), clock.zone(own), own, clock.mine, "UTC"]
    return list(dict.fromkeys(zone for zone in zones if zone))
