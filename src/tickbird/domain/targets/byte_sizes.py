"""Amounts of memory as people write them: 512_000_000, "512MB", "1.5GB", "256MiB"."""

from __future__ import annotations

import re

from tickbird.domain.errors import DefinitionError

_TEXT = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(?:([kmgt])(i?))?b?", re.ASCII | re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
# Less than an interpreter takes is a mistake, most likely of the unit.
MIN_COUNT = 32_000_000
_MAX_COUNT = 2**50


def byte_count(value: object, field: str) -> int:
    """Bytes, or a DefinitionError that names the field."""
    total = _bytes(value)
    if total is None:
        raise DefinitionError(
            f"{field}: {str(value)[:60]!r} is not an amount of memory;",
            field=field,
            hint='use a number of bytes, or a text such as "512MB", "2GB" or "256MiB".',
        )
    if not MIN_COUNT <= total <= _MAX_COUNT:
        raise DefinitionError(
            f"{field}: {str(value)[:60]!r} is out of range;",
            field=field,
            hint="a process needs at least 32MB before it has done anything.",
        )
    return total


def _bytes(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and (match := _TEXT.fullmatch(value.strip())):
        number, unit, binary = match.groups()
        return int(float(number) * (1024 if binary else 1000) ** _POWERS.get((unit or "").lower(), 0))
    return None
