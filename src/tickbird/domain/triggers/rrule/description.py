"""Description of recurrence rules."""

from __future__ import annotations

from calendar import day_name, month_name
from collections.abc import Iterable
from typing import Final

from tickbird.domain.time.instants import wall_datetime
from tickbird.domain.triggers.rrule.parser import Rule, read_until

_PERIODS: Final = {
    "YEARLY": "year",
    "MONTHLY": "month",
    "WEEKLY": "week",
    "DAILY": "day",
    "HOURLY": "hour",
    "MINUTELY": "minute",
    "SECONDLY": "second",
}


def describe(rule: Rule, start: int, merged: int) -> str:
    """Describe the rule in a sentence, including the parts that come from its start.

    `merged` is the number of counted times that a gap moves to the tick of another time.
    """
    at = wall_datetime(start)
    period = _PERIODS[rule.freq]
    text = f"Every {period}" if rule.interval == 1 else f"Every {rule.interval} {period}s"
    days = _days(rule)
    if not days and rule.freq == "YEARLY":
        days = [f"on the {_ordinal(at.day)}" if rule.months else f"on {at.day} {month_name[at.month]}"]
    elif not days and rule.freq == "MONTHLY":
        days = [f"on the {_ordinal(at.day)}"]
    elif not days and rule.freq == "WEEKLY":
        days = [f"on {day_name[at.weekday()]}"]
    if rule.months:
        days.append(f"in {_join(month_name[month] for month in rule.months)}")
    text = " ".join([text, *days])
    times = _times(rule, start)
    if times:
        text += f", {times}"
    if rule.positions:
        text += f", only the {_join(_ordinal(position) for position in rule.positions)} of these in each {period}"
    if rule.max_count is not None:
        text += f", {rule.max_count:,} time{'s'[: rule.max_count > 1]}"
        if merged:
            ticks = rule.max_count - merged
            text += f" ({ticks:,} tick{'s'[: ticks > 1]}, because a DST change moves several times to one tick)"
    if rule.until is not None:
        until, is_utc = read_until(rule.until)
        text += f", until {until:%Y-%m-%d %H:%M:%S}{' UTC' if is_utc else ''}"
    return text


def _days(rule: Rule) -> list[str]:
    parts = []
    if rule.weekdays:
        named = [
            f"the {_ordinal(number)} {day_name[weekday]}" if number else day_name[weekday]
            for number, weekday in sorted(rule.weekdays, key=lambda item: (item[0] == 0, item[0] < 0, item))
        ]
        parts.append(f"on {_join(named)}")
    if rule.month_days:
        days = sorted(rule.month_days, key=lambda day: (day < 0, day))
        parts.append(f"on the {_join(_ordinal(day) for day in days)}" + (" day of the month" if min(days) < 0 else ""))
    if rule.year_days:
        parts.append(f"on the {_join(_ordinal(day) for day in rule.year_days)} day of the year")
    if rule.week_numbers:
        parts.append(f"in week {_join(map(str, rule.week_numbers))}")
    return parts


def _times(rule: Rule, start: int) -> str:
    at = wall_datetime(start)
    if not rule.is_sub_daily:
        times = [
            f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
            for hour in rule.hours or (at.hour,)
            for minute in rule.minutes or (at.minute,)
            for second in rule.seconds or (at.second,)
        ]
        return f"at {_join(times)}" if len(times) <= 6 else f"at {len(times)} times of the day"
    parts = []
    if rule.hours:
        parts.append(f"in hour {_join(map(str, rule.hours))}")
    if rule.minutes:
        parts.append(f"at minute {_join(map(str, rule.minutes))}")
    if rule.seconds:
        parts.append(f"at second {_join(map(str, rule.seconds))}")
    return " ".join(parts)


def _ordinal(number: int) -> str:
    """1st, 2nd, last, 2nd to last."""
    if number < 0:
        return "last" if number == -1 else f"{_ordinal(-number)} to last"
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def _join(items: Iterable[str]) -> str:
    words = list(items)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
