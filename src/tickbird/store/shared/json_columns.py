"""JSON columns: each value is decoded by itself, and one that Python cannot decode raises nothing."""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final

from tickbird.domain.json_depth import check_levels

_MAX_LENGTH: Final = 1_000
MAX_ERROR_LENGTH: Final = 2_000


def error_text(error: BaseException) -> str:
    """An error as text that any database takes."""
    return clean(str(error) or type(error).__name__)[:MAX_ERROR_LENGTH]


def clean(text: str) -> str:
    """A text without what databases refuse: NUL, and halves of characters."""
    return text.replace("\0", "").encode(errors="replace").decode()


class Undecodable(str):
    """The beginning of a JSON text that Python cannot decode: too long a number, too many levels."""

    __slots__ = ("error",)
    error: str


def decode(stored: Any) -> Any:
    """The value of a JSON text; an Undecodable if Python cannot decode it. What is no text stays as it is."""
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
    """A number that JSON can say again: one that is too large for Python would become infinity."""
    if not isfinite(value := float(text)):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


# Made once: with any setting of its own, json.loads makes a decoder for every text.
_DECODER: Final = json.JSONDecoder(parse_float=_parse_float, parse_constant=_refuse_constant)


def as_object(value: Any, kind: type = object) -> dict[str, Any]:
    """A decoded value that should be an object of `kind`, without anything else, which only plain SQL can write."""
    members = value if isinstance(value, dict) else {}
    if kind is object:
        return members
    return {name: member for name, member in members.items() if isinstance(member, kind)}


def as_list(value: Any) -> list[Any]:
    """A decoded value that should be a list; anything else, which only plain SQL can write, is an empty one."""
    return value if isinstance(value, list) else []
