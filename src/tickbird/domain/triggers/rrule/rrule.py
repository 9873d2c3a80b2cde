"""Recurrence rules: the grid of an RRULE in one zone, with EXDATE and RDATE."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from tickbird.domain.time.instants import (
    DAY,
    FIRST_SECOND,
    LAST_SECOND,
    parse_iso,
    to_seconds,
    wall_datetime,
    wall_seconds,
)
from tickbird.domain.time.zones import MAX_SHIFT, Zone, zone
from tickbird.domain.triggers.base import BaseTrigger, DateWarning
from tickbird.domain.triggers.form import Document, FormOption, TriggerForm
from tickbird.domain.triggers.rrule.description import describe
from tickbird.domain.triggers.rrule.missing_dates import missing_dates
from tickbird.domain.triggers.rrule.parser import MAX_LENGTH, normalize, parse, read_until, refuse
from tickbird.domain.triggers.rrule.walls import RuleWalls

MAX_DATES: Final = 1_000
_CACHE_LIMIT: Final = 10_000
_DEFAULT_START: Final = 0
_DEFAULT_WEEKLY_START: Final = 4 * DAY  # Monday the 5th of January 1970, as for every(weeks=…)

_rules: dict[tuple[str, int, str], RuleWalls] = {}


def rrule(
    rule: str,
    *,
    dtstart: datetime | str | None = None,
    tz: str = "UTC",
    exdate: Iterable[datetime | str] = (),
    rdate: Iterable[datetime | str] = (),
) -> RRule:
    """Create a trigger from a recurrence rule of RFC 5545, such as `rrule("FREQ=MONTHLY;BYDAY=-1FR", dtstart=…, tz=…)`.

    `dtstart` is the first possible tick and the origin of INTERVAL and COUNT (default: 1970-01-01T00:00, weekly rules:
    Monday 1970-01-05). Datetimes without a zone are in `tz`. `exdate` removes ticks, `rdate` adds some. Rules are
    computed on the wall clock: a tick in a gap moves to the end of the gap, a repeated one runs once, the first time.
    """
    return RRule(rule, dtstart, tz, tuple(exdate), tuple(rdate))


class RRule(BaseTrigger):
    """The grid of one recurrence rule; created by `rrule()`."""

    __slots__ = ("_added", "_default", "_removed", "_start", "_walls", "_zone", "exdates", "rdates", "rule", "tz")

    def __init__(
        self,
        rule: str,
        dtstart: datetime | str | None = None,
        tz: str = "UTC",
        exdate: Sequence[datetime | str] = (),
        rdate: Sequence[datetime | str] = (),
    ) -> None:
        self.rule = normalize(rule)
        self._zone = zone(tz)
        self.tz = tz
        parsed = parse(self.rule)
        if dtstart is None and parsed.max_count is not None:
            raise refuse("rrule", "COUNT needs a start to count from", "Add dtstart.")
        self._default = _DEFAULT_WEEKLY_START if parsed.freq == "WEEKLY" else _DEFAULT_START
        self._start = self._default if dtstart is None else _read_wall(dtstart, self._zone, "dtstart")
        last = None
        if parsed.until is not None:
            until, is_utc = read_until(parsed.until)
            last = wall_seconds(until)
            if is_utc:
                last = self._zone.to_wall(last)
        self._walls = _walls_of(self.rule, self._start, last, self.tz)
        for name, dates in (("exdate", exdate), ("rdate", rdate)):
            if isinstance(dates, str | bytes) or len(dates) > MAX_DATES:
                raise refuse(name, f"expected a list of at most {MAX_DATES:,} dates")
        self.exdates = tuple(sorted({_read_wall(at, self._zone, "exdate") for at in exdate}))
        self.rdates = tuple(sorted({_read_wall(at, self._zone, "rdate") for at in rdate}))
        excluded = set(self.exdates)
        self._added = tuple(at for at in self.rdates if at not in excluded and not self._walls.contains(at))
        self._removed = tuple(at for at in self.exdates if self._walls.contains(at))

    def next_tick(self, after: int) -> int | None:
        if after >= LAST_SECOND:
            return None
        wall = self._next_wall(self._reached(max(after, FIRST_SECOND - 1)) + 1)
        if wall is None:
            return None
        tick = self._zone.to_epoch(wall)
        return tick if FIRST_SECOND <= tick <= LAST_SECOND else None

    def previous_tick(self, before: int) -> int | None:
        if before <= FIRST_SECOND:
            return None
        wall = self._previous_wall(self._reached(min(before, LAST_SECOND + 1) - 1))
        return None if wall is None else self._zone.to_epoch(wall)

    def count(self, after: int, until: int) -> int:
        low, high = max(after, FIRST_SECOND - 1), min(until, LAST_SECOND)
        if high <= low:
            return 0
        total = self._before(self._reached(high) + 1) - self._before(self._reached(low) + 1)
        for span in self._zone.spans(low + 1, high + 1):
            # All times in a gap move to its end, as one tick.
            if low < span.start <= high:
                lost, end = self._reached(span.start - 1) + 1, span.start + span.offset
                if lost < end:
                    total -= max(0, self._before(end + 1) - self._before(lost) - 1)
        return total

    def walls(self, tick: int) -> list[int]:
        """Return the wall-clock seconds of a tick, including those lost in a gap."""
        walls = []
        wall = self._next_wall(self._reached(tick - 1) + 1)
        while wall is not None and self._zone.to_epoch(wall) == tick:
            walls.append(wall)
            wall = self._next_wall(wall + 1)
        return walls

    @property
    def max_per_day(self) -> int:
        return self._walls.max_per_day + len(self._added)

    def on_wall_clock(self) -> RRule:
        if self.tz == "UTC":
            return self
        _, (rule, dtstart, _, exdate, rdate) = self.__reduce__()
        return RRule(rule, dtstart, "UTC", exdate, rdate)

    def date_warnings(self) -> Iterator[DateWarning]:
        return missing_dates(parse(self.rule), self.dtstart)

    @property
    def dtstart(self) -> datetime:
        """The start, as wall-clock time in the zone."""
        return wall_datetime(self._start)

    def describe(self) -> str:
        text = describe(parse(self.rule), self._start)
        if self.exdates:
            text += f", except on {len(self.exdates)} date{'s'[: len(self.exdates) > 1]}"
        if self.rdates:
            text += f", and on {len(self.rdates)} more date{'s'[: len(self.rdates) > 1]}"
        return text if self.tz == "UTC" else f"{text} ({self.tz})"

    def to_json(self) -> dict[str, object]:
        document: dict[str, object] = {"rrule": self.rule}
        if self._start != self._default:
            document["dtstart"] = self.dtstart.isoformat()
        for name, dates in (("exdate", self.exdates), ("rdate", self.rdates)):
            if dates:
                document[name] = [wall_datetime(at).isoformat() for at in dates]
        if self.tz != "UTC":
            document["tz"] = self.tz
        return document

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.to_json().items() if name != "rrule")
        return f"rrule({self.rule!r}{', ' * bool(options)}{options})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RRule) and self._key == other._key

    def __hash__(self) -> int:
        return hash((RRule, self._key))

    def __reduce__(self) -> tuple[type[RRule], tuple[Any, ...]]:
        dates = ([wall_datetime(at) for at in self.exdates], [wall_datetime(at) for at in self.rdates])
        # A weekly rule may start on the default explicitly; both are equal.
        return RRule, (self.rule, self.dtstart, self.tz, *dates)

    @property
    def _key(self) -> tuple[object, ...]:
        return self.rule, self._start, self.tz, self.exdates, self.rdates

    def _reached(self, at: int) -> int:
        """Return the latest wall-clock second shown up to an epoch second."""
        reached = self._zone.to_wall(at)
        for span in self._zone.spans(at - MAX_SHIFT, at):
            reached = max(reached, min(span.end - 1, at) + span.offset)
        return reached

    def _next_wall(self, wall: int) -> int | None:
        ruled = self._walls.next(wall)
        while ruled is not None and self._is_removed(ruled):
            ruled = self._walls.next(ruled + 1)
        index = bisect_left(self._added, wall)
        added = self._added[index] if index < len(self._added) else None
        return min((at for at in (ruled, added) if at is not None), default=None)

    def _previous_wall(self, wall: int) -> int | None:
        ruled = self._walls.previous(wall)
        while ruled is not None and self._is_removed(ruled):
            ruled = self._walls.previous(ruled - 1)
        index = bisect_right(self._added, wall)
        added = self._added[index - 1] if index else None
        return max((at for at in (ruled, added) if at is not None), default=None)

    def _is_removed(self, wall: int) -> bool:
        index = bisect_left(self._removed, wall)
        return index < len(self._removed) and self._removed[index] == wall

    def _before(self, wall: int) -> int:
        """Count the wall-clock seconds of the grid before `wall`."""
        return self._walls.before(wall) + bisect_left(self._added, wall) - bisect_left(self._removed, wall)


def _walls_of(rule: str, start: int, last: int | None, tz: str) -> RuleWalls:
    """Return cached tables, which equal rules share; UNTIL in UTC depends on the zone."""
    key = rule, start, tz if last is not None else ""
    walls = _rules.get(key)
    if walls is None:
        if len(_rules) >= _CACHE_LIMIT:
            _rules.clear()
        walls = _rules[key] = RuleWalls(parse(rule), start, last)
    return walls


def _read_wall(at: datetime | str, in_zone: Zone, field: str) -> int:
    """Return the wall-clock second of a datetime; an aware datetime is converted."""
    if isinstance(at, str):
        at = parse_iso(at, field)
    if not isinstance(at, datetime):
        raise refuse(field, f"expected a date and time, not {type(at).__name__}")
    if at.microsecond:
        raise refuse(field, "has microseconds, but ticks are whole seconds", "Use .replace(microsecond=0).")
    wall = wall_seconds(at) if at.tzinfo is None else in_zone.to_wall(to_seconds(at))
    if not FIRST_SECOND <= wall <= LAST_SECOND:
        raise refuse(field, "is outside the years 1 to 9999")
    return wall


def _read(document: Document, tz: str) -> RRule:
    exdate, rdate = (_read_dates(document.get(name, []), name) for name in ("exdate", "rdate"))
    return RRule(document["rrule"], document.get("dtstart"), tz, exdate, rdate)


def _read_dates(value: object, field: str) -> list[datetime | str]:
    if not isinstance(value, list) or not all(isinstance(item, datetime | str) for item in value):
        raise refuse(field, 'expected a list of dates such as "2026-12-24T18:00:00"')
    return value


def _write_text(document: Document) -> str | None:
    return document["rrule"] if document.keys() <= {"rrule", "tz"} and isinstance(document["rrule"], str) else None


_DATES: Final = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_DATES}

FORM = TriggerForm(
    name="rrule",
    noun="iCalendar rule",
    metavar="RULE",
    summary="An iCalendar rule.",
    about="A recurrence rule of iCalendar, such as FREQ=MONTHLY;BYDAY=-1FR.",
    example="rrule FREQ=MONTHLY;BYDAY=-1FR",
    kind="text",
    schema={
        "type": "string",
        "description": "RFC 5545.",
        "examples": ["FREQ=MONTHLY;BYDAY=-1FR"],
        "minLength": 1,
        "maxLength": MAX_LENGTH,
    },
    options=(
        FormOption(
            "dtstart",
            "moment",
            "The first possible tick of `rrule`, in the time zone tz (default: 1970-01-01T00:00).",
            {"type": "string"},
        ),
        FormOption("exdate", "moments", "Ticks to remove from `rrule`: a list of dates with times.", _DATES),
        FormOption("rdate", "moments", "Ticks to add to `rrule`: a list of dates with times.", _DATES),
    ),
    read=_read,
    parse_text=lambda text, _: {"rrule": text},
    write_text=_write_text,
    prefixes=("RRULE:", "FREQ="),
    # UNTIL may be in UTC.
    caches=(_rules,),
)
