"""Intervals on a fixed grid: equal definitions give equal ticks."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import MAXYEAR, date, datetime
from functools import lru_cache
from typing import Any

from tickbird.domain.errors import TriggerError, name_field
from tickbird.domain.time.instants import (
    DAY,
    FIRST_SECOND,
    LAST_SECOND,
    parse_iso,
    to_datetime,
    to_seconds,
    wall_datetime,
    wall_seconds,
)
from tickbird.domain.time.zones import zone
from tickbird.domain.triggers.base import BaseTrigger, DateWarning
from tickbird.domain.triggers.form import Document, FormOption, TriggerForm

_ELAPSED = {"hours": 3600, "minutes": 60, "seconds": 1}
_DAYS = {"weeks": 7, "days": 1}
_MONTHS = {"years": 12, "months": 1}
UNITS = (*_MONTHS, *_DAYS, *_ELAPSED)
MAX_UNITS = {"years": 1_000, "months": 12_000, "weeks": 52_000, "days": 365_000, "hours": 8_760_000}
MAX_UNITS |= {"minutes": 525_600_000, "seconds": 31_536_000_000}
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_WRITTEN = ("weeks", "days", "hours", "minutes", "seconds")
_STEP = re.compile("".join(rf"(?:(\d{{1,9}}){unit[0]})?" for unit in _WRITTEN), re.ASCII)


def every(
    *,
    seconds: int | None = None,
    minutes: int | None = None,
    hours: int | None = None,
    days: int | None = None,
    weeks: int | None = None,
    months: int | None = None,
    years: int | None = None,
    anchor: datetime | None = None,
    tz: str = "UTC",
) -> Every:
    """Create a trigger at equal steps before and after `anchor` (default: 1970-01-01T00:00 on the zone's wall clock).

    Seconds, minutes and hours add up and are elapsed time. Days, weeks, months and years are wall-clock time: an
    instant in a gap moves to the end of the gap, a repeated one runs once, the first time.
    Months and years count from the anchor and use the month's last day if the anchor's day does not exist.
    """
    given = {
        "years": years,
        "months": months,
        "weeks": weeks,
        "days": days,
        "hours": hours,
        "minutes": minutes,
        "seconds": seconds,
    }
    return Every({unit: amount for unit, amount in given.items() if amount is not None}, anchor, tz)


def read_step(text: str) -> dict[str, int]:
    """Parse a step such as 10m, 1h30m or 1d."""
    if not (match := _STEP.fullmatch(text)) or not text:
        raise TriggerError(
            f"every: {text[:60]!r} is not an interval.", field="every", hint='Write "10m", "1h30m" or "1d".'
        )
    return {unit: int(number) for unit, number in zip(_WRITTEN, match.groups(), strict=True) if number}


def step_text(units: Any) -> str | None:
    """Return the text of a step; None if no text expresses it."""
    if not isinstance(units, Mapping) or not units or not units.keys() <= set(_WRITTEN):
        return None
    text = "".join(f"{units[unit]}{unit[0]}" for unit in _WRITTEN if unit in units)
    return text if _STEP.fullmatch(text) and read_step(text) == units else None


class Every(BaseTrigger):
    """The grid of one interval; created by `every()`."""

    __slots__ = (
        "_anchor",
        "_first",
        "_highest",
        "_kind",
        "_lowest",
        "_start",
        "_step",
        "_zone",
        "anchor",
        "tz",
        "units",
    )

    def __init__(self, units: dict[str, int], anchor: datetime | None = None, tz: str = "UTC") -> None:
        for unit, amount in units.items():
            _check_amount(unit, amount)
        self.units = tuple((unit, units[unit]) for unit in UNITS if unit in units)
        self._kind = _kind(set(units))
        self._step = sum(self._kind[unit] * amount for unit, amount in self.units)
        self._zone = zone(tz)
        self.tz = tz
        default = 4 * DAY if "weeks" in units else 0  # Monday the 5th, or the 1st of January 1970
        wall, start = (default, None) if anchor is None else self._read_anchor(anchor)
        self._first = wall
        self._start = self._zone.to_epoch(wall) if start is None else start
        plain = self._kind is not _ELAPSED or self._zone.to_epoch(wall) == self._start
        # Only an anchor in the second pass of a repeated hour needs UTC to be unambiguous.
        self.anchor = None if wall == default and plain else wall_datetime(wall) if plain else to_datetime(self._start)
        self._anchor = date.fromordinal(wall // DAY + _EPOCH_ORDINAL)
        month = self._anchor.year * 12 + self._anchor.month - 1
        if self._kind is _MONTHS:
            self._lowest = -((month - 12) // self._step)
            self._highest = (MAXYEAR * 12 + 11 - month) // self._step
        else:
            self._lowest = -((wall - FIRST_SECOND) // (self._step * DAY))
            self._highest = (LAST_SECOND - wall) // (self._step * DAY)

    def next_tick(self, after: int) -> int | None:
        after = max(after, FIRST_SECOND - 1)
        if self._kind is _ELAPSED:
            tick = after + self._step - (after - self._start) % self._step
            return tick if tick <= LAST_SECOND else None
        if after >= LAST_SECOND:
            return None
        index = self._index(self._zone.to_wall(after)) + 1
        while (wall := self._wall(index)) is not None:
            tick = self._zone.to_epoch(wall)
            if tick > after:
                return tick if tick <= LAST_SECOND else None
            index += 1
        return None

    def previous_tick(self, before: int) -> int | None:
        before = min(before, LAST_SECOND + 1)
        if before <= FIRST_SECOND:
            return None
        if self._kind is _ELAPSED:
            tick = before - 1 - (before - 1 - self._start) % self._step
        else:
            wall = self._wall(self._index_at(before - 1))
            if wall is None:
                return None
            tick = self._zone.to_epoch(wall)
        return tick if tick >= FIRST_SECOND else None

    def count(self, after: int, until: int) -> int:
        after, until = max(after, FIRST_SECOND - 1), min(until, LAST_SECOND)
        if until <= after:
            return 0
        if self._kind is _ELAPSED:
            return (until - self._start) // self._step - (after - self._start) // self._step
        return self._index_at(until) - self._index_at(after) - self._merged(after, until)

    @property
    def period(self) -> int | None:
        return self._step if self._kind is _ELAPSED else None

    def bits(self, low: int, high: int) -> int:
        if self._kind is not _ELAPSED:
            return super().bits(low, high)
        first, high = self.next_tick(low - 1), min(high, LAST_SECOND + 1)
        if first is None or first >= high:
            return 0
        return (_steps(self._step) & (1 << high - first) - 1) << first - low

    def walls(self, tick: int) -> list[int]:
        """Return the wall-clock seconds of a tick, including those lost in a gap."""
        if self._kind is _ELAPSED:
            return [self._zone.to_wall(tick)]
        walls, index = [], self._index_at(tick)
        while (wall := self._wall(index)) is not None and self._zone.to_epoch(wall) == tick:
            walls.append(wall)
            index -= 1
        return walls[::-1]

    @property
    def max_per_day(self) -> int:
        return -(-DAY // self._step) if self._kind is _ELAPSED else 1

    def on_wall_clock(self) -> Every | None:
        """Return the same steps in UTC; None for elapsed time, which DST does not affect."""
        return None if self._kind is _ELAPSED else Every(dict(self.units), self.anchor)

    def date_warnings(self) -> Iterator[DateWarning]:
        """Warn about months without the anchor's day."""
        day = self.anchor.day if self.anchor else 1
        if self._kind is _MONTHS and day > 28:
            nth = f"{day}{'st' if day == 31 else 'th'}"
            yield "last-day", f"in months without a {nth} it ticks on the last day of the month"

    def describe(self) -> str:
        amounts = [f"{amount} {unit}" if amount > 1 else unit[:-1] for unit, amount in self.units]
        words = f"Every {' and '.join(amounts)}"
        if self.anchor is not None:
            words += f", counted from {self.anchor.isoformat(' ').replace('+00:00', ' UTC')}"
        return words if self.tz == "UTC" else f"{words} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        document: dict[str, object] = {"every": dict(self.units)}
        if self.anchor is not None:
            document["anchor"] = self.anchor.isoformat().replace("+00:00", "Z")
        return document if self.tz == "UTC" else {**document, "tz": self.tz}

    def __repr__(self) -> str:
        parts = [f"{unit}={amount}" for unit, amount in self.units]
        if self.anchor is not None:
            parts.append(f"anchor={self.anchor!r}")
        if self.tz != "UTC":
            parts.append(f"tz={self.tz!r}")
        return f"every({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Every) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[type[Every], tuple[dict[str, int], datetime | None, str]]:
        return Every, (dict(self.units), self.anchor, self.tz)

    def _identity(self) -> tuple[object, ...]:
        return self.units, self._first, self._start, self.tz

    def _read_anchor(self, anchor: datetime) -> tuple[int, int | None]:
        """Return the anchor as wall-clock time, and as an instant if elapsed time needs one."""
        if not isinstance(anchor, datetime):
            raise _refuse("anchor", f"must be a datetime, not {type(anchor).__name__}")
        if anchor.microsecond:
            raise _refuse("anchor", "has microseconds, but ticks are whole seconds", "Use .replace(microsecond=0).")
        if anchor.utcoffset() is None:
            return wall_seconds(anchor), None
        start = to_seconds(anchor)
        wall = self._zone.to_wall(start)
        if not FIRST_SECOND <= wall <= LAST_SECOND:
            raise _refuse("anchor", "is outside the years 1 to 9999", "Choose an instant in this range.")
        return wall, start if self._kind is _ELAPSED else None

    def _wall(self, index: int) -> int | None:
        """Return the wall-clock second of the n-th step from the anchor."""
        if not self._lowest <= index <= self._highest:
            return None
        if self._kind is _DAYS:
            return self._first + index * self._step * DAY
        year, month = divmod(self._anchor.year * 12 + self._anchor.month - 1 + index * self._step, 12)
        day = self._anchor.day
        if day > 28:
            day = min(day, calendar.monthrange(year, month + 1)[1])
        return (date(year, month + 1, day).toordinal() - _EPOCH_ORDINAL) * DAY + self._first % DAY

    def _index(self, wall: int) -> int:
        """Return the last step whose wall-clock second is not after `wall`."""
        if wall < FIRST_SECOND:
            return self._lowest - 1
        if wall > LAST_SECOND:
            return self._highest
        if self._kind is _DAYS:
            index = (wall - self._first) // (self._step * DAY)
        else:
            day = date.fromordinal(wall // DAY + _EPOCH_ORDINAL)
            index = ((day.year - self._anchor.year) * 12 + day.month - self._anchor.month) // self._step
            at = self._wall(index)
            if at is None or at > wall:
                index -= 1
        return max(index, self._lowest - 1)

    def _index_at(self, at: int) -> int:
        """Return the last step whose tick is not after an epoch second."""
        index = self._index(self._zone.to_wall(at))
        while (wall := self._wall(index + 1)) is not None and self._zone.to_epoch(wall) <= at:
            index += 1
        return index

    def _merged(self, after: int, until: int) -> int:
        """Count the steps in (after, until] that coincide because a date-line change skipped whole days."""
        if self._kind is not _DAYS or self._step > 1:
            return 0
        merged, previous = 0, None
        for span in self._zone.spans(after, until + 1):
            if previous is not None and span.offset - previous.offset >= DAY:
                begin, end = span.start + previous.offset, span.start + span.offset
                merged += max(0, self._index(end) - self._index(begin - 1) - 1)
            previous = span
        return merged


@lru_cache(maxsize=256)
def _steps(step: int) -> int:
    """Return the multiples of a step within a day as a bitmap."""
    bits, size = 1, step
    while size < DAY:
        bits |= bits << size
        size *= 2
    return bits & (1 << DAY) - 1


def _kind(units: set[str]) -> dict[str, int]:
    if not units:
        raise _refuse("every", "needs an interval", "Write it like every(minutes=5).")
    for kind in (_ELAPSED, _MONTHS):
        if units <= kind.keys():
            return kind
    if len(units) == 1:
        return _DAYS
    raise _refuse(
        "every",
        f"{' and '.join(sorted(units))} cannot be combined",
        "Use hours, minutes and seconds, or days, or weeks, or months and years.",
    )


def _check_amount(unit: str, amount: object) -> None:
    if unit not in UNITS:
        raise _refuse("every", f"{unit[:40]!r} is not a unit", f"Use {', '.join(UNITS)}.")
    if type(amount) is not int:
        raise _refuse(unit, f"must be a whole number, not {type(amount).__name__}")
    if amount < 1:
        raise _refuse(unit, "must be at least 1")
    if amount > MAX_UNITS[unit]:
        raise _refuse(unit, "is longer than 1,000 years", "Choose a shorter interval.")


def _refuse(field: str, reason: str, hint: str = "") -> TriggerError:
    return TriggerError(name_field(field, reason), field=field, reason=reason, hint=hint)


def _read(document: Document, tz: str) -> Every:
    units, anchor = document["every"], document.get("anchor")
    if not isinstance(units, dict) or not all(isinstance(unit, str) for unit in units):
        raise _refuse("every", 'must be an object such as {"minutes": 5}')
    if "anchor" in document and not isinstance(anchor, datetime):
        anchor = parse_iso(anchor, "anchor")
    return Every(units, anchor, tz)


FORM = TriggerForm(
    name="every",
    noun="interval",
    metavar="STEP",
    summary="Equal steps.",
    about="A step such as 10m, 1h30m or 1d; or an object such as { months = 1 }.",
    example="every 15m",
    kind="step",
    schema={
        "type": "object",
        "properties": {
            unit: {"type": "integer", "minimum": 1, "maximum": maximum} for unit, maximum in MAX_UNITS.items()
        },
        "minProperties": 1,
        "additionalProperties": False,
    },
    options=(
        FormOption(
            "anchor",
            "moment",
            "Count the intervals of `every` from this time (default: 1970-01-01T00:00).",
            {"type": "string"},
        ),
    ),
    read=_read,
    parse_text=lambda text, _: {"every": read_step("".join(text.split()))},
    write_text=lambda document: None if "anchor" in document else step_text(document["every"]),
    write_value=lambda units: step_text(units) or units,
)
