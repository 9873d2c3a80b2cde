"""Parsing of instants: absolute with a time zone, or relative to now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from tickbird.cli.options import GlobalOptions
from tickbird.cli.output import clock
from tickbird.client import Client
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.durations import seconds
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

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LENGTH = r"\d[\dwdhms]*"
_AWAY = re.compile(rf"(?:(?P<sign>[+-])|(?P<ahead>in ))(?P<length>\S+)|(?P<past>{_LENGTH}) ago", re.ASCII)
_BARE = re.compile(_LENGTH + r"(?<=[wdhms])", re.ASCII)
_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_DAY = re.compile(rf"({'|'.join(_DAYS)})(?: (\d\d:\d\d(?::\d\d)?))?(?: (\S+))?", re.ASCII)
# A date or time, then the name of a time zone.
_IN_ZONE = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?) ([A-Za-z]\S*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant; `read_as` explains the reading if the text had no time zone."""

    at: datetime
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class InstantParser:
    """Parses instants; `tz` is the time zone of --tz, `own` that of the schedule."""

    now: datetime
    tz: str | None = None
    own: str | None = None

    def __call__(self, text: str, field: str, *, ahead: bool = False) -> Instant:
        """Parse an instant; with `ahead`, a duration without a sign counts from now."""
        text = " ".join(text.split())
        if text == "now":
            return Instant(self.now.replace(microsecond=0))
        if (away := _AWAY.fullmatch(text)) or (ahead and _BARE.fullmatch(text)):
            return self._away(text if away is None else away["length"] or away["past"], away, field)
        if day := _DAY.fullmatch(text):
            return self._day(text, day, field)
        if named := _IN_ZONE.fullmatch(text):
            return Instant(_on_clock(_parse(named[1], field), zone(named[2]).name, field))
        dated = bool(_DATE.fullmatch(text.removesuffix("Z")))
        try:
            at = _parse(text.removesuffix("Z"), field) if dated else parse_iso(text, field)
        except InvalidError:
            raise self._no_instant(text, field, ahead) from None
        if dated and text.endswith("Z"):
            return Instant(_on_clock(at, "UTC", field))
        if at.tzinfo is not None:
            return Instant(to_datetime(_within(to_seconds(at), field)))
        if self.tz is None:
            raise self._no_zone(text, field)
        return Instant(_on_clock(at, self.tz, field))

    def _away(self, length: str, match: re.Match[str] | None, field: str) -> Instant:
        away = timedelta(seconds=seconds(length, field))
        back = match is not None and (match["sign"] == "-" or match["past"] is not None)
        return Instant((self.now - away if back else self.now + away).replace(microsecond=0))

    def _day(self, text: str, match: re.Match[str], field: str) -> Instant:
        tz = zone(match[3]).name if match[3] else self.tz or self.own
        if tz is None:
            raise self._no_zone(text, field)
        day = self.now.astimezone(zone_info(tz)).date() + timedelta(days=_DAYS[match[1]])
        at = _on_clock(_parse(f"{day}T{match[2] or '00:00'}", field), tz, field)
        return Instant(at, "" if match[3] or self.tz else f"{text} was read in time zone {tz}: {clock(at, tz)}")

    def _no_zone(self, text: str, field: str) -> InvalidError:
        tz = self.own if self.own not in (None, "UTC") else "Europe/Rome"
        whose = " (the schedule's own)" if tz == self.own else ""
        return InvalidError(
            f"{field}: {text!r} has no time zone.",
            field=field,
            hint=f'Write "{text} {tz}"{whose}, "{text}Z", or give --tz.',
        )

    def _no_instant(self, text: str, field: str, ahead: bool) -> InvalidError:
        away = '"2h"' if ahead else '"-1h"'
        hint = f'Write "2026-03-29T01:00:00Z", "2026-03-29 03:00 Europe/Rome", {away}, "in 2h" or "tomorrow 09:00".'
        return InvalidError(f"{field}: {text[:60]!r} is not an instant.", field=field, hint=hint)


def _parse(text: str, field: str) -> datetime:
    try:
        return parse_iso(f"{text}T00:00" if _DATE.fullmatch(text) else text, field)
    except InvalidError:
        raise InvalidError(
            f"{field}: {text[:60]!r} does not exist in the calendar.", field=field, hint="Check day, month and time."
        ) from None


def _on_clock(wall: datetime, tz: str, field: str) -> datetime:
    """Convert wall-clock time like ticks: a time in a DST gap is the end of the gap, a repeated time the first one."""
    return to_datetime(zone(tz).to_epoch(_within(wall_seconds(wall), field)))


def _within(second: int, field: str) -> int:
    """Refuse seconds within two days of the limits of the calendar, because a UTC offset could exceed them."""
    if not FIRST_SECOND + 2 * DAY <= second <= LAST_SECOND - 2 * DAY:
        raise InvalidError(
            f"{field} is outside the years 1 to 9999.", field=field, hint="Choose an instant in this range."
        )
    return second


async def reader(client: Client, name: str, settings: GlobalOptions) -> tuple[Schedule, InstantParser]:
    """Return the schedule and an instant parser for its time zone."""
    schedule = await client.schedules.get(name)
    own = schedule.definition.trigger.tz if schedule.definition else None
    return schedule, InstantParser(await client.system.now(), settings.tz, own)
