"""Parser of cron expressions by the rules of Debian's cron; every error names the field and the reason."""

from __future__ import annotations

from typing import NamedTuple

from tickbird.domain.errors import TriggerError, name_field

MAX_LENGTH = 1_000
MAX_BEFORE_LAST = 30
_EXAMPLE = 'Write five fields, such as "0 9 * * 1-5".'
_LAST_DAY_HINT = "The last day is L, three days before it L-3, and the weekday nearest to that L-3W."
_STEP_HINT = "Write a step such as */15."

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

_MONTHS = {
    name: i
    for i, name in enumerate(
        ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"], start=1
    )
}
_WEEKDAYS = {name: i for i, name in enumerate(["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"])}


class _Field(NamedTuple):
    name: str
    low: int
    high: int
    names: dict[str, int]


_SECOND = _Field("second", 0, 59, {})
_MINUTE = _Field("minute", 0, 59, {})
_HOUR = _Field("hour", 0, 23, {})
_DAY = _Field("day of month", 1, 31, {})
_MONTH = _Field("month", 1, 12, _MONTHS)
_WEEKDAY = _Field("day of week", 0, 7, _WEEKDAYS)


class DayRule(NamedTuple):
    """The two day fields: bit n of a mask is day n, or weekday n with Sunday 0."""

    days: int
    nearest: int  # 15W
    before_last: int  # L is bit 0, L-3 bit 3
    nearest_before_last: int  # LW is bit 0, L-3W bit 3
    weekdays: int
    nth: int  # 5#3: bit 7 * (nth - 1) + weekday
    last_weekdays: int  # 5L, 5#L
    both: bool  # one of the two fields starts with a star, so a day must satisfy both


class Fields(NamedTuple):
    """A parsed expression as bit masks."""

    seconds: int
    minutes: int
    hours: int
    months: int
    days: DayRule
    wildcard: bool  # minute or hour starts with a star: follows the real clock when it jumps


class _Refused(Exception):
    """A field is invalid."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def normal_text(expr: object) -> str:
    """Return the expression with single spaces, or raise TriggerError if it is not text."""
    if not isinstance(expr, str):
        raise refusal(None, "expression", f"must be a text, not {type(expr).__name__}", _EXAMPLE)
    if len(expr) > MAX_LENGTH:
        raise refusal(
            expr, "expression", f"is longer than {MAX_LENGTH} characters", "Split it into several with any_of()."
        )
    if not expr.isascii() or any((c < " " and c != "\t") or c == "\x7f" for c in expr):
        raise refusal(expr, "expression", "has characters other than plain ASCII text, spaces and tabs", _EXAMPLE)
    text = " ".join(expr.split())
    if not text:
        raise refusal(expr, "expression", "is empty", _EXAMPLE)
    return text


def parse(text: str) -> Fields:
    """Parse five fields, six with seconds first, or a macro."""
    if text.startswith("@"):
        if text.lower() not in MACROS:
            reason = "@reboot is not a time" if text.lower() == "@reboot" else f"{text[:40]!r} is not a macro"
            raise refusal(text, "expression", reason, f"Use {', '.join(MACROS)} or @every.")
        text = MACROS[text.lower()]
    parts = text.upper().split(" ")
    if len(parts) == 5:
        parts.insert(0, "0")
    if len(parts) != 6:
        reason = f"has {len(parts)} field{'s' if len(parts) > 1 else ''} instead of 5 (or 6 with seconds first)"
        raise refusal(text, "expression", reason, _EXAMPLE)
    second, minute, hour, day, month, weekday = parts
    field = _SECOND
    try:
        seconds = _plain(field, second)
        minutes = _plain(field := _MINUTE, minute)
        hours = _plain(field := _HOUR, hour)
        days = _days(field := _DAY, day)
        months = _plain(field := _MONTH, month)
        weekdays = _weekdays(field := _WEEKDAY, weekday)
    except _Refused as refused:
        raise refusal(text, field.name, refused.reason, refused.hint) from None
    rule = DayRule(*days, *weekdays, both=day[0] in "*?" or weekday[0] in "*?")
    return Fields(seconds, minutes, hours, months, rule, wildcard=minute[0] == "*" or hour[0] == "*")


def refusal(expr: str | None, field: str, reason: str, hint: str = "") -> TriggerError:
    """Return the error for an expression; its message has the field and the reason."""
    shown = "" if expr is None else f" {expr if len(expr) <= 60 else expr[:57] + '...'!r}"
    return TriggerError(f"cron{shown}: {name_field(field, reason)}", field=field, reason=reason, hint=hint)


def _plain(field: _Field, text: str) -> int:
    mask = 0
    for item in text.split(","):
        mask |= _range(field, item)
    return mask


def _days(field: _Field, text: str) -> tuple[int, int, int, int]:
    mask = nearest = before_last = nearest_before_last = 0
    for item in _star(text).split(","):
        if item.startswith("L"):
            offset = 1 << _days_before_last(item)
            if item.endswith("W"):
                nearest_before_last |= offset
            else:
                before_last |= offset
        elif item.endswith("W"):
            nearest |= 1 << _number(field, item[:-1])
        else:
            mask |= _range(field, item)
    return mask, nearest, before_last, nearest_before_last


def _days_before_last(item: str) -> int:
    """Return the offset in `L`, `LW`, `L-3` or `L-3W`."""
    offset = item.removesuffix("W")[1:]
    if not offset:
        return 0
    sign, digits = offset[0], offset[1:]
    if sign != "-" or not digits.isdigit():
        raise _Refused(f"{item[:40]!r} is not understood", _LAST_DAY_HINT)
    digits = digits.lstrip("0")
    if not digits or len(digits) > 2 or int(digits) > MAX_BEFORE_LAST:
        raise _Refused(f"{item[:40]!r} needs a number from 1 to {MAX_BEFORE_LAST} after L-", _LAST_DAY_HINT)
    return int(digits)


def _weekdays(field: _Field, text: str) -> tuple[int, int, int]:
    mask = nth = last = 0
    for item in _star(text).split(","):
        day, hash_sign, rank = item.partition("#")
        if hash_sign:
            if rank == "L":
                last |= 1 << _number(field, day) % 7
                continue
            if rank not in ("1", "2", "3", "4", "5"):
                raise _Refused(f"{item[:40]!r} needs a number from 1 to 5 or L after #", "The last Friday is 5#L.")
            nth |= 1 << (7 * (int(rank) - 1) + _number(field, day) % 7)
        elif item == "L":
            raise _Refused("L needs a weekday here", "The last Friday of the month is 5L or 5#L.")
        elif item.endswith("L"):
            last |= 1 << _number(field, item[:-1]) % 7
        else:
            mask |= _range(field, item)
    return mask & 127 | mask >> 7, nth, last


def _star(text: str) -> str:
    return "*" if text == "?" else text


def _range(field: _Field, item: str) -> int:
    """Return the mask of `*`, `N` or `N-M`, with an optional `/step`."""
    span, slash, step_text = item.partition("/")
    step = 1
    if slash:
        if not step_text.isdigit():
            reason = f"{item[:40]!r} needs a whole number after /" if step_text else "a step is missing after /"
            raise _Refused(reason, _STEP_HINT)
        digits = step_text.lstrip("0")
        if len(digits) > 6:
            raise _Refused(f"a step of {len(digits)} digits is too large", _STEP_HINT)
        step = int(digits or "0")
        if step == 0:
            raise _Refused("a step must be at least 1", _STEP_HINT)
    low_text, dash, high_text = span.partition("-")
    if span == "*":
        low, high = field.low, field.high
    elif not dash:
        low = _number(field, span)
        # A step that starts at a weekday ends on Saturday: 7 would be the Sunday before.
        high = low if not slash else max(low, 6) if field is _WEEKDAY else field.high
    else:
        low, high = _number(field, low_text), _number(field, high_text)
        if high_text == "SUN" and low > 0:
            high = 7
        if low > high:
            raise _Refused(f"the range {span[:40]!r} runs backwards", "Write it as two ranges with a comma between.")
    mask = 0
    for n in range(low, high + 1, step):
        mask |= 1 << n
    return mask


def _number(field: _Field, text: str) -> int:
    if text in field.names:
        return field.names[text]
    if not text:
        raise _Refused("a value is missing", _valid(field))
    if not text.isdigit():
        raise _Refused(f"{text[:40]!r} is not understood", _valid(field))
    digits = text.lstrip("0") or "0"
    number = int(digits) if len(digits) <= 9 else 1 << 30
    if not field.low <= number <= field.high:
        raise _Refused(f"{text[:40]} is not within {field.low}-{field.high}", _valid(field))
    return number


def _valid(field: _Field) -> str:
    names = f", or a name such as {next(iter(field.names))}" if field.names else ""
    return f"Use {field.low} to {field.high}{names}."
