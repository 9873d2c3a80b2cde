"""Wall-clock seconds of a recurrence rule, ignoring DST: computed by year, so that counting never enumerates them.

A day is a number counted from 1970-01-01, Monday is weekday 0. The days of a year depend only on the weekday of its 1st
of January, on leap years, and on the phase of the interval, so each kind of year is computed once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from calendar import isleap, monthrange
from datetime import MAXYEAR, date
from typing import Final

from tickbird.domain.cancellation import checkpoint
from tickbird.domain.time.instants import DAY
from tickbird.domain.triggers.rrule.parser import Rule, refuse

_EPOCH: Final = date(1970, 1, 1).toordinal()
_LAST_DAY: Final = date.max.toordinal() - _EPOCH
_UNITS: Final = {"HOURLY": 3_600, "MINUTELY": 60, "SECONDLY": 1}
# Years without a match after which a rule counts as empty: the calendar repeats after 400.
_MAX_EMPTY_YEARS: Final = 400
_MAX_KINDS: Final = 2_000
_MAX_PHASES: Final = 64


class RuleWalls:
    """The wall-clock seconds of a rule that starts at `start`, up to `last` if it ends."""

    __slots__ = ("_kinds", "_phases", "_positioned", "_rule", "_start", "_times", "_totals", "last", "max_per_day")

    def __init__(self, rule: Rule, start: int, last: int | None) -> None:
        self._rule = _with_defaults(rule, start)
        self._start = start
        self.last = _LAST_DAY * DAY + DAY - 1 if last is None else last
        self._kinds: dict[tuple[int, ...], int] = {}
        self._phases: dict[int, tuple[int, ...]] = {}
        self._positioned: dict[int, dict[int, tuple[int, ...]]] = {}
        # Matches before the first, second, … year from the year of the start.
        self._totals = [0]
        self._times = () if rule.is_sub_daily else _times_of_day(self._rule)
        self.max_per_day = len(self._times) or _max_times(self._rule)
        first = self.next(start, _MAX_EMPTY_YEARS)
        if first is None:
            raise refuse("rrule", "no instant after its start matches, so it would never run", "Check its parts.")
        if rule.max_count is not None:
            self.last = self._nth(rule.max_count)

    def next(self, wall: int, max_years: int = MAXYEAR) -> int | None:
        """Return the first match at or after `wall`."""
        day, second = divmod(max(wall, self._start), DAY)
        if day > _LAST_DAY:
            return None
        year = date.fromordinal(day + _EPOCH).year
        for number in range(year, min(MAXYEAR, year + max_years) + 1):
            checkpoint()
            first = _first_day(number)
            mask = self._days(number)
            if number == year:
                mask = mask >> day - first << day - first
            while mask:
                match_day = first + (mask & -mask).bit_length() - 1
                times = self._times_of(match_day)
                index = bisect_left(times, second) if match_day == day else 0
                if index < len(times):
                    match = match_day * DAY + times[index]
                    return match if match <= self.last else None
                mask &= mask - 1
            if first * DAY > self.last:
                return None
        return None

    def previous(self, wall: int) -> int | None:
        """Return the last match at or before `wall`."""
        wall = min(wall, self.last)
        if wall < self._start:
            return None
        day, second = divmod(wall, DAY)
        year, start = date.fromordinal(day + _EPOCH).year, date.fromordinal(self._start // DAY + _EPOCH).year
        for number in range(year, start - 1, -1):
            checkpoint()
            first = _first_day(number)
            mask = self._days(number)
            if number == year:
                mask &= (2 << day - first) - 1
            while mask:
                match_day = first + mask.bit_length() - 1
                times = self._times_of(match_day)
                index = bisect_right(times, second) if match_day == day else len(times)
                if index:
                    match = match_day * DAY + times[index - 1]
                    return match if match >= self._start else None
                mask ^= 1 << mask.bit_length() - 1
        return None

    def before(self, wall: int) -> int:
        """Count the matches before `wall`."""
        wall = min(wall, self.last + 1)
        if wall <= self._start:
            return 0
        day, second = divmod(wall, DAY)
        year = MAXYEAR + 1 if day > _LAST_DAY else date.fromordinal(day + _EPOCH).year
        total = self._before_year(year)
        if year <= MAXYEAR:
            first = _first_day(year)
            mask = self._days(year) & (1 << day - first) - 1
            total += self._count(year, mask)
            if self._days(year) >> day - first & 1:
                total += bisect_left(self._times_of(day), second)
        return total - self._before_start()

    def contains(self, wall: int) -> bool:
        return self.next(wall) == wall

    def _nth(self, count: int) -> int:
        """Return the n-th match, counted from 1; the last one if there are fewer."""
        year = date.fromordinal(self._start // DAY + _EPOCH).year
        while year <= MAXYEAR and self._before_year(year + 1) - self._before_start() < count:
            year += 1
        if year > MAXYEAR:
            return _LAST_DAY * DAY + DAY - 1
        low, high = self._start, (_first_day(year + 1) if year < MAXYEAR else _LAST_DAY + 1) * DAY - 1
        while low < high:
            middle = (low + high) // 2
            if self.before(middle + 1) >= count:
                high = middle
            else:
                low = middle + 1
        return low

    def _before_start(self) -> int:
        """Count the matches in the year of the start that are before it."""
        day, second = divmod(self._start, DAY)
        year = date.fromordinal(day + _EPOCH).year
        first = _first_day(year)
        total = self._count(year, self._days(year) & (1 << day - first) - 1)
        if self._days(year) >> day - first & 1:
            total += bisect_left(self._times_of(day), second)
        return total

    def _before_year(self, year: int) -> int:
        start = date.fromordinal(self._start // DAY + _EPOCH).year
        totals = self._totals
        while len(totals) <= year - start:
            checkpoint()
            number = start + len(totals) - 1
            totals.append(totals[-1] + self._count(number, self._days(number)))
        return totals[year - start]

    def _count(self, year: int, mask: int) -> int:
        """Count the matches of the days in a mask."""
        if self._times and not self._rule.positions:
            return mask.bit_count() * len(self._times)
        total, first = 0, _first_day(year)
        while mask:
            total += len(self._times_of(first + (mask & -mask).bit_length() - 1))
            mask &= mask - 1
        return total

    def _times_of(self, day: int) -> tuple[int, ...]:
        """Return the seconds of a matching day, in order."""
        rule = self._rule
        if rule.is_sub_daily:
            return self._sub_daily_times(day)
        if rule.positions:
            return self._position(date.fromordinal(day + _EPOCH).year)[day]
        return self._times

    def _sub_daily_times(self, day: int) -> tuple[int, ...]:
        rule, unit = self._rule, _UNITS[self._rule.freq]
        # The first unit of the day that is on the interval's grid.
        phase = (self._start // unit - day * DAY // unit) % rule.interval
        times = self._phases.get(phase)
        if times is None:
            if len(self._phases) >= _MAX_PHASES:
                self._phases.clear()
            offsets = _offsets(rule)
            times = self._phases[phase] = tuple(
                index * unit + offset
                for index in range(phase, DAY // unit, rule.interval)
                if _unit_matches(rule, index * unit)
                for offset in offsets
            )
        return times

    def _days(self, year: int) -> int:
        """Return the matching days of a year as bits (bit 0: January 1)."""
        rule = self._rule
        if rule.positions and not rule.is_sub_daily:
            first = _first_day(year)
            return sum(1 << day - first for day in self._position(year))
        return self._unpositioned_days(year)

    def _unpositioned_days(self, year: int) -> int:
        rule, first = self._rule, _first_day(year)
        kind: tuple[int, ...] = ((first + 3) % 7, isleap(year), isleap(year - 1), self._phase(year))
        if rule.freq == "YEARLY" and kind[-1]:
            return 0
        mask = self._kinds.get(kind)
        if mask is None:
            if len(self._kinds) >= _MAX_KINDS:
                self._kinds.clear()
            mask = self._kinds[kind] = _year_mask(rule, year, self._start)
        return mask

    def _phase(self, year: int) -> int:
        """Return the position of January 1 in the interval: years with the same phase have the same periods."""
        rule, start = self._rule, date.fromordinal(self._start // DAY + _EPOCH)
        if rule.freq == "YEARLY":
            return (year - start.year) % rule.interval
        if rule.freq == "MONTHLY":
            return (12 * (year - start.year)) % rule.interval
        if rule.freq == "WEEKLY":
            return (_first_day(year) - _week_of(rule, self._start // DAY)) % (7 * rule.interval)
        return (_first_day(year) - self._start // DAY) % rule.interval if rule.freq == "DAILY" else 0

    def _position(self, year: int) -> dict[int, tuple[int, ...]]:
        """Return the seconds by day of the matches that BYSETPOS selects in a year."""
        chosen = self._positioned.get(year)
        if chosen is None:
            if len(self._positioned) >= _MAX_KINDS:
                self._positioned.clear()
            times_by_day: dict[int, list[int]] = {}
            first, stop = _first_day(year), _first_day(year + 1) if year < MAXYEAR else _LAST_DAY + 1
            for days in self._periods(year):
                size = len(days) * len(self._times)
                indexes = {position - 1 if position > 0 else size + position for position in self._rule.positions}
                for index in sorted(index for index in indexes if 0 <= index < size):
                    day, time = divmod(index, len(self._times))
                    if first <= days[day] < stop:
                        times_by_day.setdefault(days[day], []).append(self._times[time])
            chosen = self._positioned[year] = {day: tuple(times) for day, times in sorted(times_by_day.items())}
        return chosen

    def _periods(self, year: int) -> list[list[int]]:
        """Return the matching days of each period that overlaps a year."""
        rule = self._rule
        years = [year]
        if rule.freq == "WEEKLY":
            years = [number for number in (year - 1, year, year + 1) if 1 <= number <= MAXYEAR]
        periods: dict[int, list[int]] = {}
        for number in years:
            first, mask = _first_day(number), self._unpositioned_days(number)
            while mask:
                day = first + (mask & -mask).bit_length() - 1
                periods.setdefault(_period_of(rule, day), []).append(day)
                mask &= mask - 1
        return list(periods.values())


def _with_defaults(rule: Rule, start: int) -> Rule:
    """Return the rule with the parts that come from its start."""
    day, second = divmod(start, DAY)
    at = date.fromordinal(day + _EPOCH)
    if not (rule.week_numbers or rule.year_days or rule.month_days or rule.weekdays):
        if rule.freq == "YEARLY":
            rule = rule._replace(months=rule.months or (at.month,), month_days=(at.day,))
        elif rule.freq == "MONTHLY":
            rule = rule._replace(month_days=(at.day,))
        elif rule.freq == "WEEKLY":
            rule = rule._replace(weekdays=((0, at.weekday()),))
    elif rule.week_numbers and not (rule.year_days or rule.month_days or rule.weekdays):
        rule = rule._replace(weekdays=((0, at.weekday()),))
    hour, minute, rest = second // 3_600, second // 60 % 60, second % 60
    if not rule.is_sub_daily:
        rule = rule._replace(hours=rule.hours or (hour,))
    if rule.freq not in ("MINUTELY", "SECONDLY"):
        rule = rule._replace(minutes=rule.minutes or (minute,))
    if rule.freq != "SECONDLY":
        rule = rule._replace(seconds=rule.seconds or (rest,))
    return rule


def _times_of_day(rule: Rule) -> tuple[int, ...]:
    return tuple(
        hour * 3_600 + minute * 60 + second for hour in rule.hours for minute in rule.minutes for second in rule.seconds
    )


def _offsets(rule: Rule) -> tuple[int, ...]:
    """Return the seconds within one hour, minute or second of the frequency, as BYSETPOS selects them."""
    if rule.freq == "SECONDLY":
        offsets: tuple[int, ...] = (0,)
    elif rule.freq == "MINUTELY":
        offsets = rule.seconds
    else:
        offsets = tuple(minute * 60 + second for minute in rule.minutes for second in rule.seconds)
    if rule.positions:
        size = len(offsets)
        indexes = {position - 1 if position > 0 else size + position for position in rule.positions}
        offsets = tuple(offsets[index] for index in sorted(indexes) if 0 <= index < size)
    return offsets


def _unit_matches(rule: Rule, second: int) -> bool:
    """Return whether an hour, minute or second of the day matches the parts that limit it."""
    if rule.hours and second // 3_600 not in rule.hours:
        return False
    if rule.freq == "HOURLY":
        return True
    if rule.minutes and second // 60 % 60 not in rule.minutes:
        return False
    return rule.freq == "MINUTELY" or not rule.seconds or second % 60 in rule.seconds


def _max_times(rule: Rule) -> int:
    return -(-DAY // (_UNITS[rule.freq] * rule.interval)) * max(1, len(_offsets(rule)))


def _year_mask(rule: Rule, year: int, start: int) -> int:
    """Return the matching days of a year, without BYSETPOS."""
    first, length = _first_day(year), 365 + isleap(year)
    numbered = _numbered_weekdays(rule, year)
    every = {weekday for number, weekday in rule.weekdays if not number}
    origin = date.fromordinal(start // DAY + _EPOCH)
    days = range(length)
    if rule.freq == "DAILY":
        days = range((start // DAY - first) % rule.interval, length, rule.interval)
    mask = 0
    for index in days:
        day = first + index
        at = date.fromordinal(day + _EPOCH)
        if rule.months and at.month not in rule.months:
            continue
        if rule.weekdays and at.weekday() not in every and index not in numbered:
            continue
        if rule.month_days:
            left = at.day - monthrange(year, at.month)[1] - 1
            if at.day not in rule.month_days and left not in rule.month_days:
                continue
        if rule.year_days and index + 1 not in rule.year_days and index - length not in rule.year_days:
            continue
        if rule.week_numbers and not _in_weeks(rule, day):
            continue
        if not _on_interval(rule, at, day, origin, start // DAY):
            continue
        mask |= 1 << index
    return mask


def _on_interval(rule: Rule, at: date, day: int, origin: date, start: int) -> bool:
    """Return whether the period of a day is on the interval."""
    if rule.interval == 1 or rule.is_sub_daily:
        return True
    if rule.freq == "YEARLY":
        return (at.year - origin.year) % rule.interval == 0
    if rule.freq == "MONTHLY":
        return (12 * (at.year - origin.year) + at.month - origin.month) % rule.interval == 0
    if rule.freq == "WEEKLY":
        return (_week_of(rule, day) - _week_of(rule, start)) // 7 % rule.interval == 0
    # The step already selects the days of a DAILY rule.
    return True


def _numbered_weekdays(rule: Rule, year: int) -> set[int]:
    """Return the days of a year, counted from 0, for numbered weekdays such as -1FR."""
    if not any(number for number, _ in rule.weekdays):
        return set()
    first, length = _first_day(year), 365 + isleap(year)
    spans = [(0, length)]
    if rule.freq == "MONTHLY" or rule.months:
        starts = [date(year, month, 1).toordinal() - _EPOCH - first for month in range(1, 13)]
        spans = list(zip(starts, [*starts[1:], length], strict=True))
    matches = set()
    for number, weekday in rule.weekdays:
        for low, high in spans if number else ():
            days = range(low + (weekday - (first + 3 + low)) % 7, high, 7)
            if number > 0 and number <= len(days):
                matches.add(days[number - 1])
            elif number < 0 and -number <= len(days):
                matches.add(days[number])
    return matches


def _in_weeks(rule: Rule, day: int) -> bool:
    """Return whether the week of a day has one of the numbers; week 1 is the first with four days in the year."""
    monday = _week_of(rule, day)
    # The year of a week is that of its fourth day.
    year = date.fromordinal(min(max(monday + 3, _first_day(1)), _LAST_DAY) + _EPOCH).year
    first = _first_week(rule, year)
    number = (monday - first) // 7 + 1
    if number in rule.week_numbers:
        return True
    if not any(week < 0 for week in rule.week_numbers):
        return False
    weeks = 52 if year == MAXYEAR else (_first_week(rule, year + 1) - first) // 7
    return number - weeks - 1 in rule.week_numbers


def _first_week(rule: Rule, year: int) -> int:
    return _week_of(rule, _first_day(year) + 3)


def _week_of(rule: Rule, day: int) -> int:
    return day - (day + 3 - rule.week_start) % 7


def _period_of(rule: Rule, day: int) -> int:
    at = date.fromordinal(day + _EPOCH)
    if rule.freq == "YEARLY":
        return at.year
    if rule.freq == "MONTHLY":
        return 12 * at.year + at.month
    return _week_of(rule, day) if rule.freq == "WEEKLY" else day


def _first_day(year: int) -> int:
    return date(year, 1, 1).toordinal() - _EPOCH
