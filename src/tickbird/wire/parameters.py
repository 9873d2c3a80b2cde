"""Limits and descriptions of parameters, and their values in requests."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Annotated, Any, Final, Union, get_args, get_origin

from tickbird.domain.errors import InvalidError, name_field
from tickbird.domain.time.durations import seconds
from tickbird.domain.time.instants import (
    DAY,
    FIRST_SECOND,
    LAST_SECOND,
    parse_iso,
    to_datetime,
    to_seconds,
    to_seconds_ceil,
    utc_text,
)
from tickbird.wire.codec import encoder

# No NUL, which databases refuse.
TEXT: Final = r"^[^\u0000]*$"
_FRACTION: Final = re.compile(r"(?<=:\d\d)\.\d{1,9}(?=Z|[+-])", re.IGNORECASE)
# In a query, a plus sign means a space.
_LOST_PLUS: Final = re.compile(r"(?<=\dT)(.*\d) (\d\d:\d\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Limits and description of a parameter, next to its type: `Annotated[int, Meta(ge=1)]`."""

    description: str = ""
    ge: float | None = None
    le: float | None = None
    gt: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    # Only described: the domain checks the value, with a better error. A dict has no hash.
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    # Called by the HTTP client before it sends the value; its errors are raised to the caller.
    check: Callable[[Any], Any] | None = None
    # Raises an error for an invalid value, in requests and in both clients.
    parse: Callable[[Any], Any] | None = None
    # Of instants: the HTTP client rounds fractions of a second up, instead of down.
    round_up: bool = False

    @property
    def has_limits(self) -> bool:
        return (self.ge, self.le, self.gt, self.min_length, self.max_length, self.parse) != (None,) * 6

    @property
    def replaces_type(self) -> bool:
        """Does `schema` describe the value completely, without the schema of the type?"""
        return self.schema is not None and not self.schema.keys().isdisjoint(("type", "anyOf", "enum"))

    def describe(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Add the limits and the description to the schema of the type."""
        kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            # `int | None`: only the number has limits.
            schema = {"anyOf": [{**kinds[0], **self._limits(kinds[0])}, {"type": "null"}]}
        else:
            schema = {**schema, **self._limits(schema)}
        described = {"description": self.description} if self.description else {}
        return {**schema, **described, **(self.schema or {})}

    def _limits(self, schema: dict[str, Any]) -> dict[str, Any]:
        size = ("minItems", "maxItems") if schema.get("type") == "array" else ("minLength", "maxLength")
        limits = {
            "minimum": self.ge,
            "maximum": self.le,
            "exclusiveMinimum": self.gt,
            size[0]: self.min_length,
            size[1]: self.max_length,
        }
        return {key: value for key, value in limits.items() if value is not None}

    def refuse(self, value: Any) -> str | None:
        """Return why a value is outside of the limits, or None."""
        if isinstance(value, int | float):
            if self.gt is not None and not value > self.gt:
                return f"must be greater than {self.gt:g}"
            low, high = self.ge, self.le
            if (low is not None and value < low) or (high is not None and value > high):
                if low is None or high is None:
                    return f"must be at least {low:g}" if low is not None else f"must be at most {high:g}"
                return f"must be from {low:.0f} to {high:.0f}"
        elif isinstance(value, Collection) and not (self.min_length or 0) <= len(value) <= (self.max_length or 10**9):
            things = "characters" if isinstance(value, str) else "members"
            return f"must have {self.min_length or 0} to {self.max_length:,} {things}"
        return None


def read_instant(text: str, field: str) -> datetime:
    """Parse an instant; fractions of a second are dropped."""
    whole = _LOST_PLUS.sub(r"\1+\2", _FRACTION.sub("", text.upper()))
    at = parse_iso(whole, field)
    if at.tzinfo is None:
        raise InvalidError(
            f"{field}: {text[:60]!r} has no time zone.", field=field, hint='Write it like "2026-01-31T09:00:00Z".'
        )
    check_instant(at, text, field)
    return at


def check_instant(at: datetime, text: str, field: str) -> None:
    if not FIRST_SECOND + 2 * DAY <= to_seconds(at) <= LAST_SECOND - 2 * DAY:
        # Closer to either end, the offset of a time zone could leave the range of datetime.
        raise InvalidError(
            f"{field}: {text[:60]!r} is out of range.",
            field=field,
            hint="Choose an instant from 0001-01-03 to 9999-12-29.",
        )


def check_keys(given: Mapping[str, Any], known: Collection[str], prefix: str = "") -> None:
    for key in given:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Valid keys: {', '.join(known) or 'none'}."
            name = f"{prefix}{key}"[:200]
            raise InvalidError(f"{name} is not a valid key.", field=name, hint=hint)


def write_value(hint: Any, value: Any) -> Any:
    """Encode an argument for a request; instants lose their fractions of a second, unless `round_up`."""
    for note in _notes(hint):
        if isinstance(note, Meta) and note.check is not None and value is not None:
            note.check(value)
    if isinstance(value, timedelta):
        return seconds(value, "length")
    if isinstance(value, datetime):
        rounds_up = any(isinstance(note, Meta) and note.round_up for note in _notes(hint))
        return utc_text(to_datetime((to_seconds_ceil if rounds_up else to_seconds)(value)))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, Collection):
        return [write_value(Any, member) for member in value]
    kind: Any = type(value)
    convert = encoder(kind)
    return value if convert is None else convert(value)


def is_list(hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return is_list(inner[0])
    if origin in (Union, types.UnionType):
        return any(map(is_list, inner))
    return origin in (list, tuple, Sequence, Collection)


def _notes(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        return get_args(hint)[1:]
    # `From | None` has its notes inside.
    return tuple(note for part in get_args(hint) if get_origin(part) is Annotated for note in get_args(part)[1:])


def check_limits(notes: tuple[Any, ...], value: Any, field: str) -> None:
    for note in notes:
        if not isinstance(note, Meta):
            continue
        if reason := note.refuse(value):
            raise refuse(field, reason)
        if note.parse is not None and value is not None:
            note.parse(value)


def refuse(field: str, reason: str) -> InvalidError:
    return InvalidError(name_field(field, reason), field=field)
