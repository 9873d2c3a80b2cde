"""Sizes of memory: 512_000_000, "512MB", "1.5GB", "256MiB"."""

from __future__ import annotations

import re

from tickbird.domain.errors import DefinitionError

_TEXT = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(?:([kmgt])(i?))?b?", re.ASCII | re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
# A value below the size of an interpreter is a mistake, most likely of the unit.
MIN_COUNT = 32_000_000
_MAX_COUNT = 2**50


def byte_count(value: object, field: str) -> int:
    """Return bytes, or raise DefinitionError."""
    total = _bytes(value)
    if total is None:
        raise DefinitionError(
            f"{field}: {str(value)[:60]!r} is not a memory size.",
            field=field,
            hint='Use a number of bytes, or a text such as "512MB", "2GB" or "256MiB".',
        )
    if not MIN_COUNT <= total <= _MAX_COUNT:
        raise DefinitionError(
            f"{field}: {str(value)[:60]!r} is out of range.",
            field=field,
            hint="Use at least 32MB, which a process needs to start.",
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
