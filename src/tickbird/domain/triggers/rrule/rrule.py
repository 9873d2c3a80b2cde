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
    iso,
    wall_datetime,
    wall_seconds,
)
from tickbird.domain.time.zones import zone
from tickbird.domain.triggers.base import BaseTrigger, DateWarning
from tickbird.domain.triggers.form import Document, FormatExtension, FormOption, TriggerForm
from tickbird.domain.triggers.rrule.dates import (
    Exclusions,
    latest_wall,
    read_exdates,
    read_rdates,
    read_wall,
    unused_exdates,
    wall_text,
)
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
    A date with an offset names an instant, also in a repeated hour.
    """
    return RRule(rule, dtstart, tz, tuple(exdate), tuple(rdate))


class RRule(BaseTrigger):
    """The grid of one recurrence rule; created by `rrule()`."""

    __slots__ = (
        "_added",
        "_default",
        "_instants",
        "_removed",
        "_start",
        "_walls",
        "_zone",
        "exdates",
        "rdates",
        "rule",
        "tz",
    )

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
            raise refuse("rrule", "COUNT needs a start to count from", "Add dtstart, the first possible tick.")
        self._default = _DEFAULT_WEEKLY_START if parsed.freq == "WEEKLY" else _DEFAULT_START
        self._start = self._default if dtstart is None else self._read_start(dtstart)
        last = None
        if parsed.until is not None:
            until, is_utc = read_until(parsed.until)
            last = wall_seconds(until)
            if is_utc:
                last = latest_wall(last, self._zone)
        self._walls = _walls_of(self.rule, self._start, last, self.tz)
        for name, dates in (("exdate", exdate), ("rdate", rdate)):
            if isinstance(dates, str | bytes) or len(dates) > MAX_DATES:
                raise refuse(name, f"must be a list of at most {MAX_DATES:,} dates")
        self.exdates = read_exdates(exdate, self._zone)
        self.rdates = read_rdates(rdate, self._zone)
        self._removed = Exclusions(self._walls, self.exdates, self._zone)
        self._added = tuple(
            wall for wall in self.rdates.walls if self._removed.end_of(wall) is None and not self._walls.contains(wall)
        )
        self._instants = tuple(at for at in self.rdates.instants if at not in self.exdates.instants)
        if self.exdates.number and self.next_tick(FIRST_SECOND - 1) is None:
            raise refuse("exdate", "removes every tick of the rule, so it would never run", "Remove some of its dates.")

    def _read_start(self, dtstart: datetime | str) -> int:
        wall, tick = read_wall(dtstart, self._zone, "dtstart")
        if tick is not None:
            raise refuse(
                "dtstart",
                f"{iso(tick)} is the second {wall_datetime(wall):%H:%M} of that day in {self.tz}, and a repeated time "
                "ticks only the first time",
                f"Write {wall_text(wall)} for the first time, or add the instant as rdate.",
            )
        return wall

    def next_tick(self, after: int) -> int | None:
        if after >= LAST_SECOND:
            return None
        wall = self._next_wall(latest_wall(max(after, FIRST_SECOND - 1), self._zone) + 1)
        index = bisect_right(self._instants, after)
        ticks = [] if wall is None else [self._zone.to_epoch(wall)]
        tick = min((*ticks, *self._instants[index : index + 1]), default=None)
        return tick if tick is not None and FIRST_SECOND <= tick <= LAST_SECOND else None

    def previous_tick(self, before: int) -> int | None:
        if before <= FIRST_SECOND:
            return None
        wall = self._previous_wall(latest_wall(min(before, LAST_SECOND + 1) - 1, self._zone))
        index = bisect_left(self._instants, before)
        ticks = [] if wall is None else [self._zone.to_epoch(wall)]
        return max((*ticks, *self._instants[:index][-1:]), default=None)

    def count(self, after: int, until: int) -> int:
        low, high = max(after, FIRST_SECOND - 1), min(until, LAST_SECOND)
        if high <= low:
            return 0
        total = self._before(latest_wall(high, self._zone) + 1) - self._before(latest_wall(low, self._zone) + 1)
        total += bisect_right(self._instants, high) - bisect_right(self._instants, low)
        for span in self._zone.spans(low + 1, high + 1):
            # All times in a gap move to its end, as one tick.
            if low < span.start <= high:
                lost, end = latest_wall(span.start - 1, self._zone) + 1, span.start + span.offset
                if lost < end:
                    total -= max(0, self._before(end + 1) - self._before(lost) - 1)
        return total

    def walls(self, tick: int) -> list[int]:
        """Return the wall-clock seconds of a tick, including those lost in a gap."""
        walls = [self._zone.to_wall(tick)] if tick in self._instants else []
        wall = self._next_wall(latest_wall(tick - 1, self._zone) + 1)
        while wall is not None and self._zone.to_epoch(wall) == tick:
            walls.append(wall)
            wall = self._next_wall(wall + 1)
        return walls

    @property
    def max_per_day(self) -> int:
        return self._walls.max_per_day + len(self._added) + len(self._instants)

    def on_wall_clock(self) -> RRule:
        if self.tz == "UTC":
            return self
        # Shared as they are, because UTC would give UNTIL and the ends of gaps another meaning.
        clock = RRule.__new__(RRule)
        for name in self.__slots__:
            setattr(clock, name, {"_zone": zone("UTC"), "tz": "UTC", "_instants": ()}.get(name, getattr(self, name)))
        return clock

    def date_warnings(self) -> Iterator[DateWarning]:
        yield from missing_dates(parse(self.rule), self.dtstart)
        if unused := unused_exdates(self._walls, self.exdates, self.rdates, self._zone):
            more = f" and {len(unused) - 3:,} more" if len(unused) > 3 else ""
            verb = "removes" if len(unused) == 1 else "remove"
            yield "unused-exdate", f"exdate: {', '.join(unused[:3])}{more} {verb} nothing, because no tick is then"

    @property
    def dtstart(self) -> datetime:
        """The start, as wall-clock time in the zone."""
        return wall_datetime(self._start)

    def describe(self) -> str:
        text = describe(parse(self.rule), self._start, self._merged())
        if number := self.exdates.number:
            text += f", except on {number} date{'s'[: number > 1]}"
        if number := self.rdates.number:
            text += f", and on {number} more date{'s'[: number > 1]}"
        return text if self.tz == "UTC" else f"{text} ({self.tz})"

    def _merged(self) -> int:
        """Return how many of the times that COUNT counts coincide with another time because of a gap."""
        if parse(self.rule).max_count is None or self.tz == "UTC":
            return 0
        first, last = self._zone.to_epoch(self._start), self._zone.to_epoch(self._walls.last)
        return self._walls.before(self._walls.last + 1) - RRule(self.rule, self.dtstart, self.tz).count(first - 1, last)

    def to_json(self) -> dict[str, object]:
        document: dict[str, object] = {"rrule": self.rule}
        if self._start != self._default:
            document["dtstart"] = self.dtstart.isoformat()
        for name, dates in (("exdate", self.exdates), ("rdate", self.rdates)):
            if dates.number:
                document[name] = dates.texts
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
        # A weekly rule may start on the default explicitly; both are equal.
        return RRule, (self.rule, self.dtstart, self.tz, self.exdates.datetimes, self.rdates.datetimes)

    @property
    def _key(self) -> tuple[object, ...]:
        return self.rule, self._start, self.tz, self.exdates, self.rdates

    def _next_wall(self, wall: int) -> int | None:
        ruled = self._walls.next(wall)
        while ruled is not None and (end := self._removed.end_of(ruled)) is not None:
            ruled = self._walls.next(end + 1)
        index = bisect_left(self._added, wall)
        added = self._added[index] if index < len(self._added) else None
        return min((at for at in (ruled, added) if at is not None), default=None)

    def _previous_wall(self, wall: int) -> int | None:
        ruled = self._walls.previous(wall)
        while ruled is not None and self._removed.end_of(ruled) is not None:
            ruled = self._walls.previous(ruled - 1)
        index = bisect_right(self._added, wall)
        added = self._added[index - 1] if index else None
        return max((at for at in (ruled, added) if at is not None), default=None)

    def _before(self, wall: int) -> int:
        """Count the wall-clock seconds of the grid before `wall`."""
        return self._walls.before(wall) + bisect_left(self._added, wall) - self._removed.before(wall)


def _walls_of(rule: str, start: int, last: int | None, tz: str) -> RuleWalls:
    """Return cached tables, which equal rules share; UNTIL in UTC depends on the zone."""
    key = rule, start, tz if last is not None else ""
    walls = _rules.get(key)
    if walls is None:
        if len(_rules) >= _CACHE_LIMIT:
            _rules.clear()
        walls = _rules[key] = RuleWalls(parse(rule), start, last)
    return walls


def _read(document: Document, tz: str) -> RRule:
    exdate, rdate = (_read_dates(document.get(name, []), name) for name in ("exdate", "rdate"))
    return RRule(document["rrule"], document.get("dtstart"), tz, exdate, rdate)


def _read_dates(value: object, field: str) -> list[datetime | str]:
    if not isinstance(value, list) or not all(isinstance(item, datetime | str) for item in value):
        raise refuse(field, 'must be a list of dates such as "2026-12-24T18:00:00"')
    return value


def _has_instants(document: Document) -> bool:
    """Return whether a date has an offset, which older code would convert to a wall-clock time."""
    dates = [date for name in ("exdate", "rdate") if isinstance(document.get(name), list) for date in document[name]]
    return any(isinstance(date, str) and (date.endswith("Z") or date[-6:-5] in ("+", "-")) for date in dates)


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
            "The first possible tick of `rrule`, as local time in the trigger's time zone (default: 1970-01-01T00:00).",
            {"type": "string"},
        ),
        FormOption("exdate", "moments", "Ticks to remove from `rrule`: a list of dates with times.", _DATES),
        FormOption("rdate", "moments", "Ticks to add to `rrule`: a list of dates with times.", _DATES),
    ),
    read=_read,
    parse_text=lambda text, _: {"rrule": text},
    write_text=_write_text,
    prefixes=("RRULE:", "FREQ="),
    extension=FormatExtension(5, _has_instants),
    # UNTIL may be in UTC.
    caches=(_rules,),
)
