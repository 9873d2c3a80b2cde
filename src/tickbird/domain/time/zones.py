"""Time zones as spans of constant UTC offset, in integers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime
from operator import itemgetter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tickbird.domain.errors import TriggerError, name_field
from tickbird.domain.time.instants import DAY
from tickbird.domain.time.zone_data import zone_info

REPAIR_LIMIT = 3 * 3600  # a larger jump counts as a new clock
MAX_SHIFT = 2 * DAY  # no two offsets of a zone are farther apart (dateline changes move a whole day)

_PROBE = 3 * DAY
_CHUNK = 128 * _PROBE
_EARLIEST = -62_091 * DAY  # 1800: no zone changes before; all use local mean time
_CYCLE = 146_097 * DAY  # the Gregorian calendar, weekdays included, repeats every 400 years
_CYCLE_FROM = 157_054 * DAY  # 2400: only yearly rules are left, so spans repeat with the calendar
_FOREVER = 1 << 200

_NAME = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}", re.ASCII)
_NOT_ZONES = {"localtime", "posixrules", "Factory", "posix", "right"}


class Span(NamedTuple):
    """UTC seconds [start, end) of one offset, and the effect of its start on the wall clock.

    `fresh` is the first wall-clock second that is not a repetition (later than the start after a jump back).
    `lost` is the first wall-clock second in a gap (earlier than the start only after a jump ahead).
    Jumps beyond the repair limit change neither.
    """

    start: int
    end: int
    offset: int
    fresh: int
    lost: int


class Zone:
    """An IANA zone, identified by its name."""

    __slots__ = ("_chunks", "_info", "last", "name")

    def __init__(self, name: str, info: ZoneInfo) -> None:
        self.name = name
        self._info = info
        self._chunks: dict[int, tuple[Span, ...]] = {}
        if name == "UTC":
            self.last = Span(-_FOREVER, _FOREVER, 0, -_FOREVER, -_FOREVER)
        else:
            offset = self._offset(_EARLIEST - 1)
            self.last = Span(-_FOREVER, _EARLIEST, offset, offset - _FOREVER, offset - _FOREVER)
            self._chunks[-1] = (self.last,)

    def span(self, at: int) -> Span:
        """Return the span that contains an epoch second."""
        span = self.last
        if span[0] <= at < span[1]:
            return span
        shift = (at - _CYCLE_FROM) // _CYCLE * _CYCLE if at >= _CYCLE_FROM + _CYCLE else 0
        within = at - shift
        chunk = (within - _EARLIEST) // _CHUNK if within >= _EARLIEST else -1
        spans = self._chunks.get(chunk)
        if spans is None:
            spans = self._chunks[chunk] = self._build(chunk)
        span = spans[bisect_right(spans, within, key=itemgetter(0)) - 1]
        if shift:
            start, end, offset, fresh, lost = span
            span = Span(start + shift, end + shift, offset, fresh + shift, lost + shift)
        self.last = span
        return span

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Yield the spans that overlap [start, end), in order."""
        while start < end:
            span = self.span(start)
            yield span
            start = span.end

    def to_wall(self, at: int) -> int:
        return at + self.span(at)[2]

    def to_epoch(self, wall: int) -> int:
        """Return the first epoch second at which the clock shows `wall`: the end of a gap, or the first of two."""
        span = self.last
        at = wall - span[2]
        if span[0] + MAX_SHIFT <= at < span[1]:
            return at
        span = self.span(wall - MAX_SHIFT)
        while (at := wall - span[2]) >= span[1]:
            span = self.span(span[1])
        return max(at, span[0])

    def _offset(self, at: int) -> int:
        delta = datetime.fromtimestamp(at, self._info).utcoffset()
        return 0 if delta is None else delta.days * DAY + delta.seconds

    def _build(self, chunk: int) -> tuple[Span, ...]:
        first = _EARLIEST + chunk * _CHUNK
        # Start earlier, because a jump back just before the chunk affects it.
        start = first - 2 * _PROBE
        offset = self._offset(start)
        passed = start + offset
        spans = []
        for end, next_offset in (*self._changes(start, first + _CHUNK), (first + _CHUNK, 0)):
            fresh, lost, passed = _jump(passed, start + offset)
            passed = max(passed, end + offset)
            if start < first:
                start, fresh, lost = first, max(fresh, first + offset), first + offset
            if start < end:
                spans.append(Span(start, end, offset, fresh, lost))
            start, offset = end, next_offset
        return tuple(spans)

    def _changes(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        offset = self._offset(start)
        for high in range(start + _PROBE, end + _PROBE, _PROBE):
            low = high - _PROBE
            high_offset = self._offset(high)
            while offset != high_offset:
                same, other = low, high
                while other - same > 1:
                    middle = (same + other) // 2
                    if self._offset(middle) == offset:
                        same = middle
                    else:
                        other = middle
                low, offset = other, self._offset(other)
                if other < end:
                    yield other, offset


def _jump(passed: int, start: int) -> tuple[int, int, int]:
    """Return `fresh`, `lost` and the reached wall-clock second of a span that starts at wall-clock `start`."""
    ahead = start - passed
    if -REPAIR_LIMIT <= ahead <= 0:
        return passed, start, passed
    if 0 < ahead < REPAIR_LIMIT:
        return start, passed, start
    return start, start, start


_zones: dict[str, Zone] = {}


def zone(name: object) -> Zone:
    """Return the zone of an IANA name, or raise TriggerError."""
    if not isinstance(name, str):
        raise _refuse(f"must be the name of an IANA time zone, not {type(name).__name__}")
    if name in _zones:
        return _zones[name]
    if not name:
        raise _refuse("the name is empty")
    if len(name) > 64 or not _NAME.fullmatch(name) or name.split("/")[0] in _NOT_ZONES:
        raise _refuse(f"{name[:40]!r} is not the name of an IANA time zone")
    try:
        info = zone_info(name)
    except (KeyError, ValueError, IsADirectoryError, NotADirectoryError):
        # Other file errors, such as too many open files, do not mean that the name is wrong.
        raise _refuse(f"there is no time zone {name!r}") from None
    loaded = _zones[name] = Zone(name, info)
    return loaded


def _refuse(reason: str) -> TriggerError:
    return TriggerError(
        name_field("tz", reason), field="tz", reason=reason, hint='Use a name such as "UTC" or "Europe/Berlin".'
    )
