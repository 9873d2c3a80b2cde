"""Times on pages: in the time zone that the user chose, with the difference to now."""

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

# Cookies: the choice (the zone of each schedule, the user's zone, or UTC), and the user's zone.
CHOICE: Final = "tickbird_zone"
MINE: Final = "tickbird_mine"
Choice = Literal["schedule", "mine", "utc"]


@dataclass(frozen=True, slots=True)
class Clock:
    """The time zone for display, and the current time of the store."""

    choice: Choice
    mine: str
    now: datetime

    def zone(self, own: str | None = None) -> str:
        """Return the zone for display; `own` is the zone of the schedule."""
        if self.choice == "utc":
            return "UTC"
        return self.mine if self.choice == "mine" or own is None else own

    def text(self, at: datetime, own: str | None = None, *, short: bool = False) -> str:
        """Format an instant; `short` omits today's date."""
        local = _local(at, self.zone(own))
        if short and local.date() == _local(self.now, self.zone(own)).date():
            return f"{local:%H:%M:%S %Z}"
        return f"{local:%Y-%m-%d %H:%M:%S %Z}" if not short else f"{local:%d %b %H:%M %Z}"

    def both(self, at: datetime, own: str | None = None) -> str:
        """Format an instant in the zone for display and in UTC."""
        shown, utc = self.text(at, own), f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        return shown if shown == utc else f"{shown} ({utc.removeprefix(shown[:11])})"

    def read(self, text: str, field: str) -> datetime:
        """Parse an instant from a form; without an offset it is in the zone for display."""
        given = parse_iso(f"{text}T00:00" if len(text) == 10 else text, field)
        second = wall_seconds(given) if given.tzinfo is None else to_seconds(given)
        if not FIRST_SECOND + 2 * DAY <= second <= LAST_SECOND - 2 * DAY:
            raise InvalidError(
                f"{field} is outside the years 1 to 9999.", field=field, hint="Choose an instant in this range."
            )
        return to_datetime(zone(self.zone()).to_epoch(second) if given.tzinfo is None else second)

    def field(self, at: datetime | None) -> str:
        """Format an instant for an input of type datetime-local."""
        return "" if at is None else f"{_local(at, self.zone()):%Y-%m-%dT%H:%M:%S}"

    def tag(self, at: datetime | None, own: str | None = None, *, far: bool = True) -> Markup:
        """Render an instant, with `far` also relative to now. The tooltip shows it in UTC."""
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
        """Render an instant relative to now. The tooltip shows the instant."""
        if at is None:
            return Markup("—")
        machine = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        words = relative(at, self.now)
        return Markup('<time class="far" datetime="{}" title="{}">{}</time>').format(machine, self.text(at, own), words)


def _local(at: datetime, tz: str) -> datetime:
    try:
        return at.astimezone(zone_info(tz))
    except OverflowError:
        # The first and last hours of the calendar overflow in other zones.
        return at.astimezone(UTC)


def read_clock(cookies: dict[str, str], now: datetime) -> Clock:
    """Read the clock from cookies; invalid choices mean the zone of each schedule."""
    chosen = cookies.get(CHOICE, "schedule")
    choice: Choice = "mine" if chosen == "mine" else "utc" if chosen == "utc" else "schedule"
    return Clock(choice, find_zone(cookies.get(MINE, "")) or "UTC", now)


def find_zone(name: str) -> str | None:
    """Return the canonical name of a zone, or None if it does not exist."""
    try:
        return zone(name).name
    except TickbirdError:
        return None
