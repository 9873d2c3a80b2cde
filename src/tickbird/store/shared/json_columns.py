"""JSON columns: each value is decoded separately, and an undecodable one raises nothing."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final

from tickbird.domain.json_depth import check_levels

_MAX_LENGTH: Final = 1_000
MAX_ERROR_LENGTH: Final = 2_000


def error_text(error: BaseException) -> str:
    """An error as text that any database accepts."""
    return clean(str(error) or type(error).__name__)[:MAX_ERROR_LENGTH]


def clean(text: str) -> str:
    """Remove characters that databases refuse: NUL, and lone surrogates."""
    return text.replace("\0", "").encode(errors="replace").decode()


class Undecodable(str):
    """The beginning of a JSON text that Python cannot decode: too long a number, too many levels."""

    __slots__ = ("error",)
    error: str


def decode(stored: Any) -> Any:
    """Decode a JSON text; returns an Undecodable if Python cannot decode it. Returns other values unchanged."""
    if not isinstance(stored, str | bytes):
        return stored
    text = stored.decode(errors="replace") if isinstance(stored, bytes) else stored
    try:
        value = _DECODER.decode(text)
        check_levels(value, text)
    except (ValueError, RecursionError) as error:
        undecodable = Undecodable(text[:_MAX_LENGTH])
        undecodable.error = f"its JSON cannot be decoded: {error_text(error)}"
        return undecodable
    return value


def _parse_float(text: str) -> float:
    """Refuse a number that is too large for Python, which would become infinity and not be JSON."""
    if not isfinite(value := float(text)):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


# Created once: with custom settings, json.loads creates a decoder per text.
_DECODER: Final = json.JSONDecoder(parse_float=_parse_float, parse_constant=_refuse_constant)


def as_object(value: Any, kind: type = object) -> dict[str, Any]:
    """The entries of a decoded object whose values are of `kind`; plain SQL may have written others."""
    members = value if isinstance(value, dict) else {}
    if kind is object:
        return members
    return {name: member for name, member in members.items() if isinstance(member, kind)}


def as_list(value: Any) -> list[Any]:
    """A decoded list; empty for other values, which only plain SQL can write."""
    return value if isinstance(value, list) else []
