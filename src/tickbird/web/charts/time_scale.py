"""Instants in a zone: their formats, and round times for an axis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

from tickbird.domain.time.instants import DAY, EPOCH, FIRST_SECOND, LAST_SECOND, wall_datetime
from tickbird.domain.time.zone_data import zone_info
from tickbird.domain.time.zones import zone

_MINUTE, _HOUR, _WEEK = 60, 3_600, 7 * DAY
_SECONDS = (1, 5, 15, 30, _MINUTE, 5 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE)
_HOURS = (_HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR)
_DAYS = (DAY, 2 * DAY, _WEEK, 2 * _WEEK)
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 300, 600, 1_200, 3_000, 6_000, 12_000, 60_000, 120_000)
_MONTH_SECONDS = 2_629_746
_MONDAY = -3 * DAY  # 1969-12-29, from which weeks are counted
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class TimeTick:
    """A round time on an axis; `is_strong` at the start of a day (or year, between months)."""

    at: float
    text: str
    is_strong: bool = False


def epoch(at: datetime) -> float:
    """Return the epoch seconds of an aware datetime, with fraction."""
    since = at - EPOCH
    return since.days * DAY + since.seconds + since.microseconds / 1_000_000


def wall(at: float, tz: str) -> datetime:
    """Return the wall-clock time of an epoch second, clamped to the last year."""
    second = int(min(max(at, FIRST_SECOND), LAST_SECOND) // 1)
    return wall_datetime(min(max(zone(tz).to_wall(second), FIRST_SECOND), LAST_SECOND))


def abbreviation(at: float, tz: str) -> str:
    """Return the zone abbreviation at an instant: CET, or UTC+03 for numeric names."""
    second = min(max(at, FIRST_SECOND + 2 * DAY), LAST_SECOND - 2 * DAY)
    name = datetime.fromtimestamp(int(second), UTC).astimezone(zone_info(zone(tz).name)).tzname() or tz
    return f"UTC{name}" if name[0] in "+-" else name


def day_text(day: date) -> str:
    """Format a day: "16 Nov"."""
    return f"{day.day} {_NAMES[day.month - 1]}"


def weekday_text(day: date) -> str:
    """Format a day with its weekday: "Mon 16 Nov"."""
    return f"{_WEEKDAYS[day.weekday()]} {day_text(day)}"


def time_text(at: float, tz: str) -> str:
    """Format the time of day: "03:00", with seconds if they are not 0."""
    local = wall(at, tz)
    return f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"


def moment(at: datetime, tz: str) -> str:
    """Format an instant completely: "Mon 16 Nov 2026 03:00 CET"."""
    seconds = epoch(at)
    local = wall(seconds, tz)
    return f"{weekday_text(local)} {local.year:04d} {time_text(seconds, tz)} {abbreviation(seconds, tz)}"


def time_ticks(start: float, end: float, tz: str, maximum: int) -> tuple[TimeTick, ...]:
    """Return about `maximum` round local times within [start, end]."""
    maximum = max(1, maximum)
    span = min(max(end, start), LAST_SECOND) - max(start, FIRST_SECOND)
    if span <= 0:
        return (TimeTick(start, time_text(start, tz)),)
    for step in (*_SECONDS, *_HOURS):
        if span / step <= maximum:
            return tuple(_clock_ticks(start, end, tz, step))
    for step in _DAYS:
        if span / step <= maximum:
            return tuple(_day_ticks(start, end, tz, step))
    months = next((number for number in _MONTHS if span / (number * _MONTH_SECONDS) <= maximum), _MONTHS[-1])
    return tuple(_month_ticks(start, end, tz, months))


def _clock_ticks(start: float, end: float, tz: str, step: int) -> Iterator[TimeTick]:
    """Yield multiples of a step on the wall clock; a repeated hour appears twice, a skipped hour never."""
    place = zone(tz)
    first = int(min(max(-(-start // 1), FIRST_SECOND), LAST_SECOND))
    last = int(min(max(end // 1, FIRST_SECOND), LAST_SECOND))
    name = abbreviation(first, tz)
    for span in place.spans(first, last + 1):
        low, high = max(first, span.start), min(last, span.end - 1)
        at = -(-(low + span.offset) // step) * step - span.offset
        while at <= high:
            local = wall(at, tz)
            text = f"{local:%H:%M:%S}" if step < _MINUTE else f"{local:%H:%M}"
            is_midnight = local.hour == local.minute == local.second == 0
            if (now_called := abbreviation(at, tz)) != name:
                text, name = f"{text} {now_called}", now_called
            yield TimeTick(at, weekday_text(local) if is_midnight else text, is_midnight)
            at += step


def _day_ticks(start: float, end: float, tz: str, step: int) -> Iterator[TimeTick]:
    place = zone(tz)
    at_wall = (int(place.to_wall(int(max(start, FIRST_SECOND)))) - _MONDAY) // step * step + _MONDAY
    while at_wall <= LAST_SECOND and (at := place.to_epoch(at_wall)) <= end:
        if at >= start:
            yield TimeTick(at, day_text(wall_datetime(max(at_wall, FIRST_SECOND))))
        at_wall += step


def _month_ticks(start: float, end: float, tz: str, months: int) -> Iterator[TimeTick]:
    place = zone(tz)
    local = wall(start, tz)
    month = (local.year * 12 + local.month - 1) // months * months
    while month < 10_000 * 12:
        if month >= 12:
            first = datetime(month // 12, month % 12 + 1, 1, tzinfo=UTC)
            at = place.to_epoch(int(epoch(first)))
            if at > end:
                return
            if at >= start:
                is_year = first.month == 1
                yield TimeTick(at, f"{first.year}" if is_year else _NAMES[first.month - 1], is_year and months < 12)
        month += months
