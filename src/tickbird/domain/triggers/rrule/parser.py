"""Parser of RRULE by RFC 5545; every error names the part and the reason."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final, NamedTuple

from tickbird.domain.errors import TriggerError, name_field

MAX_LENGTH: Final = 2_000
MAX_INTERVAL: Final = 10_000
MAX_COUNT: Final = 1_000_000
FREQUENCIES: Final = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_RANGES: Final = {
    "BYSECOND": (0, 59),
    "BYMINUTE": (0, 59),
    "BYHOUR": (0, 23),
    "BYMONTHDAY": (1, 31),
    "BYYEARDAY": (1, 366),
    "BYWEEKNO": (1, 53),
    "BYMONTH": (1, 12),
    "BYSETPOS": (1, 366),
}
_SIGNED: Final = ("BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS")
_PARTS: Final = ("FREQ", "UNTIL", "COUNT", "INTERVAL", *_RANGES, "BYDAY", "WKST")
_NUMBER: Final = re.compile(r"[+-]?\d{1,7}", re.ASCII)
_COMBINATION: Final = "RFC 5545 forbids the combination: remove one of them, or change FREQ."
_DAY: Final = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_UNTIL: Final = re.compile(r"\d{8}(T\d{6}Z?)?", re.ASCII)


class Rule(NamedTuple):
    """A parsed rule; an empty tuple means that a part is not given."""

    freq: str
    interval: int
    max_count: int | None
    until: str | None
    months: tuple[int, ...]
    week_numbers: tuple[int, ...]
    year_days: tuple[int, ...]
    month_days: tuple[int, ...]
    # (n, weekday): n is 0 for every such weekday of the period, Monday is 0.
    weekdays: tuple[tuple[int, int], ...]
    hours: tuple[int, ...]
    minutes: tuple[int, ...]
    seconds: tuple[int, ...]
    positions: tuple[int, ...]
    week_start: int

    @property
    def is_sub_daily(self) -> bool:
        return FREQUENCIES.index(self.freq) > FREQUENCIES.index("DAILY")


def normalize(text: object) -> str:
    """Return the text in upper case, without `RRULE:` and spaces, with sorted parts: equal rules are equal texts."""
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_LENGTH:
        raise refuse("rrule", f"must be a text of 1 to {MAX_LENGTH} characters", 'Write "FREQ=MONTHLY;BYDAY=-1FR".')
    rule = "".join(text.split()).upper().removeprefix("RRULE:")
    parts: dict[str, str] = {}
    for part in rule.strip(";").split(";"):
        name, equals, value = part.partition("=")
        if name not in _PARTS or not equals or not value:
            raise refuse("rrule", f"{part[:40]!r} is not a part of a recurrence rule", f"Use {', '.join(_PARTS)}.")
        if name in parts:
            raise refuse("rrule", f"{name} is given twice", "Remove one of them.")
        parts[name] = value
    if parts.get("INTERVAL") == "1":
        del parts["INTERVAL"]
    return ";".join(f"{name}={parts[name]}" for name in _PARTS if name in parts)


def parse(text: str) -> Rule:
    parts = dict(part.split("=", 1) for part in text.split(";"))
    freq = parts.get("FREQ")
    if freq not in FREQUENCIES:
        raise refuse("rrule", "needs FREQ", f"Use one of {', '.join(FREQUENCIES)}.")
    lists = {name: _numbers(parts, name) for name in _RANGES}
    weekdays = _weekdays(parts.get("BYDAY"))
    until, count = parts.get("UNTIL"), parts.get("COUNT")
    if until is not None and count is not None:
        raise refuse("rrule", "COUNT and UNTIL cannot be combined", "Remove one of them.")
    if until is not None:
        read_until(until)
    week_start = parts.get("WKST", "MO")
    if week_start not in WEEKDAYS:
        raise refuse("rrule", f"WKST: {week_start[:20]!r} is not a weekday", f"Use one of {', '.join(WEEKDAYS)}.")
    rule = Rule(
        freq,
        _positive(parts.get("INTERVAL", "1"), "INTERVAL", MAX_INTERVAL),
        None if count is None else _positive(count, "COUNT", MAX_COUNT),
        until,
        lists["BYMONTH"],
        lists["BYWEEKNO"],
        lists["BYYEARDAY"],
        lists["BYMONTHDAY"],
        weekdays,
        lists["BYHOUR"],
        lists["BYMINUTE"],
        lists["BYSECOND"],
        lists["BYSETPOS"],
        WEEKDAYS.index(week_start),
    )
    _check_combination(rule)
    return rule


def read_until(text: str) -> tuple[datetime, bool]:
    """Return UNTIL as a naive datetime, and whether it is in UTC; a date means the end of that day."""
    if _UNTIL.fullmatch(text):
        try:
            if len(text) == 8:
                return datetime.strptime(text + "235959", "%Y%m%d%H%M%S"), False  # noqa: DTZ007 - wall-clock time
            return datetime.strptime(text.rstrip("Z"), "%Y%m%dT%H%M%S"), text.endswith("Z")  # noqa: DTZ007
        except ValueError:
            pass
    raise refuse("rrule", f"UNTIL: {text[:40]!r} is not a date and time", "Write 20271231T235959Z.")


def refuse(field: str, reason: str, hint: str = "") -> TriggerError:
    """Return the error of an invalid rule."""
    return TriggerError(name_field(field, reason), field=field, reason=reason, hint=hint)


def _numbers(parts: dict[str, str], name: str) -> tuple[int, ...]:
    if name not in parts:
        return ()
    low, high = _RANGES[name]
    numbers = set()
    for text in parts[name].split(","):
        number = int(text) if _NUMBER.fullmatch(text) else None
        if number is None or not low <= (abs(number) if name in _SIGNED else number) <= high:
            sign = f", or -{low} to -{high}" if name in _SIGNED else ""
            raise refuse("rrule", f"{name}: {text[:20]!r} is not a number from {low} to {high}{sign}")
        numbers.add(number)
    return tuple(sorted(numbers))


def _weekdays(text: str | None) -> tuple[tuple[int, int], ...]:
    weekdays = set()
    for item in [] if text is None else text.split(","):
        match = _DAY.fullmatch(item)
        number = int(match[1] or 0) if match else 0
        if match is None or abs(number) > 53 or (match[1] and not number):
            raise refuse("rrule", f"BYDAY: {item[:20]!r} is not a weekday", "Write MO, 2TU or -1FR.")
        weekdays.add((number, WEEKDAYS.index(match[2])))
    return tuple(sorted(weekdays))


def _positive(text: str, name: str, maximum: int) -> int:
    number = int(text) if _NUMBER.fullmatch(text) else 0
    if not 1 <= number <= maximum:
        raise refuse("rrule", f"{name} must be a whole number from 1 to {maximum:,}")
    return number


def _check_combination(rule: Rule) -> None:
    """Reject the combinations that RFC 5545 forbids."""
    if rule.week_numbers and rule.freq != "YEARLY":
        raise refuse("rrule", "BYWEEKNO needs FREQ=YEARLY", _COMBINATION)
    if rule.year_days and rule.freq in ("DAILY", "WEEKLY", "MONTHLY"):
        raise refuse("rrule", f"BYYEARDAY cannot be combined with FREQ={rule.freq}", _COMBINATION)
    if rule.month_days and rule.freq == "WEEKLY":
        raise refuse("rrule", "BYMONTHDAY cannot be combined with FREQ=WEEKLY", _COMBINATION)
    if any(number for number, _ in rule.weekdays):
        if rule.freq not in ("MONTHLY", "YEARLY"):
            raise refuse("rrule", "BYDAY with a number, such as -1FR, needs FREQ=MONTHLY or FREQ=YEARLY", _COMBINATION)
        if rule.week_numbers:
            raise refuse("rrule", "BYDAY with a number cannot be combined with BYWEEKNO", _COMBINATION)
    others = (rule.months, rule.week_numbers, rule.year_days, rule.month_days, rule.weekdays)
    if rule.positions and not any((*others, rule.hours, rule.minutes, rule.seconds)):
        raise refuse("rrule", "BYSETPOS needs another BY… part to select from", "Add one, such as BYDAY=MO.")
