"""Times on pages: in the zone that the visitor chose, with its abbreviation, and how far off they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from markupsafe import Markup

from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.domain.time.durations import relative
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

# What the visitor chose: each schedule's own zone, the browser's, or UTC; and which zone the browser is in.
CHOICE: Final = "tickbird_zone"
MINE: Final = "tickbird_mine"
Choice = Literal["schedule", "mine", "utc"]


@dataclass(frozen=True, slots=True)
class Clock:
    """On whose clock times are shown, and what time it is by the store's."""

    choice: Choice
    mine: str
    now: datetime

    def zone(self, own: str | None = None) -> str:
        """The zone for something whose own zone this is."""
        if self.choice == "utc":
            return "UTC"
        return self.mine if self.choice == "mine" or own is None else own

    def text(self, at: datetime, own: str | None = None, *, short: bool = False) -> str:
        """An instant on that clock; `short` leaves out the date where it is today."""
        local = _local(at, self.zone(own))
        if short and local.date() == _local(self.now, self.zone(own)).date():
            return f"{local:%H:%M:%S %Z}"
        return f"{local:%Y-%m-%d %H:%M:%S %Z}" if not short else f"{local:%d %b %H:%M %Z}"

    def both(self, at: datetime, own: str | None = None) -> str:
        """An instant on that clock and in UTC, for who has just chosen it."""
        shown, utc = self.text(at, own), f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return shown if shown == utc else f"{shown} ({utc.removeprefix(shown[:11])})"

    def read(self, text: str, field: str) -> datetime:
        """The instant of what a form sends; without an offset it is on the visitor's own clock."""
        given = parse_iso(f"{text}T00:00" if len(text) == 10 else text, field)
        second = wall_seconds(given) if given.tzinfo is None else to_seconds(given)
        if not FIRST_SECOND + 2 * DAY <= second <= LAST_SECOND - 2 * DAY:
            raise InvalidError(f"{field}: is outside the years 1 to 9999.", field=field)
        return to_datetime(zone(self.zone()).to_epoch(second) if given.tzinfo is None else second)

    def field(self, at: datetime | None) -> str:
        """An instant as a form's field for a date and a time has it."""
        return "" if at is None else f"{_local(at, self.zone()):%Y-%m-%dT%H:%M:%S}"

    def tag(self, at: datetime | None, own: str | None = None, *, far: bool = True) -> Markup:
        """Absolute and, with `far`, relative to now; in UTC as well where one points at it."""
        if at is None:
            return Markup("—")
        utc = at.astimezone(UTC)
        title = f"{utc:%Y-%m-%d %H:%M:%S UTC}"
        machine = utc.isoformat().replace("+00:00", "Z")
        shown = Markup('<time datetime="{}" title="{}">{}</time>').format(machine, title, self.text(at, own))
        if not far:
            return shown
        return Markup('{} <span class="far" data-at="{}">{}</span>').format(shown, machine, relative(at, self.now))

    def far(self, at: datetime | None, own: str | None = None) -> Markup:
        """How far off an instant is; the instant itself where one points at it."""
        if at is None:
            return Markup("—")
        machine = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        words = relative(at, self.now)
        return Markup('<time class="far" datetime="{}" title="{}">{}</time>').format(machine, self.text(at, own), words)


def _local(at: datetime, tz: str) -> datetime:
    try:
        return at.astimezone(zone_info(tz))
    except OverflowError:
        # The first and the last hours of the calendar exist in UTC alone.
        return at.astimezone(UTC)


def read_clock(cookies: dict[str, str], now: datetime) -> Clock:
    """The clock that a browser asks for; each schedule's own where it asks for none that there is."""
    chosen = cookies.get(CHOICE, "schedule")
    choice: Choice = "mine" if chosen == "mine" else "utc" if chosen == "utc" else "schedule"
    return Clock(choice, find_zone(cookies.get(MINE, "")) or "UTC", now)


def find_zone(name: str) -> str | None:
    """The zone of this name, if there is one."""
    try:
        return zone(name).name
    except TickbirdError:
        return None
