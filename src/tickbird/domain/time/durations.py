"""Durations: 90, "90s", "1h30m", timedelta(minutes=90)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from tickbird.domain.errors import DefinitionError

_HINT = 'Use whole seconds, or a text such as "90s", "10m" or "1h30m".'
Duration = int | str | timedelta

_UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_TEXT = re.compile(r"(?:(\d{1,9})w)?(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII)
MAX_DURATION = 100 * 366 * 86_400


def seconds(value: Duration, field: str, part: str = "", *, minimum: int = 0) -> int:
    """Return the whole seconds of a duration, or raise DefinitionError, which names the field and the part."""
    total, where = _seconds(value), f"{field}: {part}" if part else field
    if total is None:
        raise DefinitionError(f"{where}: {_shown(value)} is not a duration.", field=field, hint=_HINT)
    if not minimum <= total <= MAX_DURATION:
        raise DefinitionError(
            f"{where}: {_shown(value)} is out of range. It must be from {minimum} s to 100 years.", field=field
        )
    return total


def _seconds(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, timedelta):
        return value // timedelta(seconds=1) if value.microseconds == 0 else None
    if isinstance(value, str) and value and (match := _TEXT.fullmatch(value)):
        return sum(int(n) * unit for n, unit in zip(match.groups(), _UNITS.values(), strict=True) if n)
    return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def duration_text(total: float) -> str:
    """Return a duration in its two largest units: "1 h 30 min"."""
    if total < 0:
        return "-" + duration_text(-total)
    if total < 1:
        return f"{round(total * 1000)} ms"
    parts = []
    rest = round(total)
    for name, unit in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        n, rest = divmod(rest, unit)
        if n:
            parts.append(f"{n} {name}")
    return " ".join(parts[:2])


def duration_input(total: int) -> str | int:
    """Return seconds in their input form: 5400 is 1h30m."""
    text, rest = "", total
    for unit, size in _UNITS.items():
        number, rest = divmod(rest, size)
        text += f"{number}{unit}" if number else ""
    return text or 0


def relative(at: datetime, now: datetime) -> str:
    """Return the distance of an instant: "in 4 h 12 min", "3 d ago"."""
    away = (at - now).total_seconds()
    length = abs(away)
    if length < 1:
        return "now"
    for unit, step in ((86_400, 3_600), (3_600, 60), (0, 1)):
        if length >= unit:
            words = duration_text(round(length / step) * step)
            return f"in {words}" if away > 0 else f"{words} ago"
    raise AssertionError
