"""Parameters of requests: read strictly, with errors that name the field."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from tickbird.domain.errors import InvalidError
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
from tickbird.wire.codec import encoder, wire_name

# No NUL, which databases refuse.
TEXT: Final = r"^[^\u0000]*$"
_NUMBER: Final = re.compile(r"-?[0-9]{1,30}", re.ASCII)
_FRACTION: Final = re.compile(r"(?<=:\d\d)\.\d{1,9}(?=Z|[+-])", re.IGNORECASE)
# In an address, a plus sign stands for a space.
_LOST_PLUS: Final = re.compile(r"(?<=\dT)(.*\d) (\d\d:\d\d)")
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """Limits and description of a parameter, next to its type: `Annotated[int, Meta(ge=1)]`."""

    description: str = ""
    ge: float | None = None
    le: float | None = None
    gt: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    # Only for the description: the domain checks the value, with a better error.
    schema: Mapping[str, Any] | None = None
    # Called by the HTTP client before it sends the value; its errors are raised to the caller.
    check: Callable[[Any], Any] | None = None
    # Raises its own error for a value that is not allowed, in requests and in calls of either client.
    parse: Callable[[Any], Any] | None = None
    # For instants: fractions of a second are rounded up when it is sent, not cut off.
    round_up: bool = False

    @property
    def has_limits(self) -> bool:
        return (self.ge, self.le, self.gt, self.min_length, self.max_length, self.parse) != (None,) * 6

    @property
    def replaces_type(self) -> bool:
        """Does `schema` describe the value completely, without the schema of the type?"""
        return self.schema is not None and not self.schema.keys().isdisjoint(("type", "anyOf", "enum"))

    def describe(self, schema: dict[str, Any]) -> dict[str, Any]:
        """The schema of the type, with these limits."""
        kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            # `int | None`: the limits are those of the number.
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
        """The reason why the value is outside of the limits; None if it is not."""
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
    """The instant of a text, in whole seconds."""
    whole = _LOST_PLUS.sub(r"\1+\2", _FRACTION.sub("", text.upper()))
    at = parse_iso(whole, field)
    if at.tzinfo is None:
        raise InvalidError(
            f"{field}: {text[:60]!r} has no zone;", field=field, hint='write it like "2026-01-31T09:00:00Z".'
        )
    check_instant(at, text, field)
    return at


def check_instant(at: datetime, text: str, field: str) -> None:
    """Refuse an instant at either end of the calendar."""
    if not FIRST_SECOND + 2 * DAY <= to_seconds(at) <= LAST_SECOND - 2 * DAY:
        # Closer to the first or last year, the offset of a zone could leave the calendar.
        raise InvalidError(
            f"{field}: {text[:60]!r} is too near to the end of the calendar;",
            field=field,
            hint="choose an instant from 0001-01-03 to 9999-12-29.",
        )


def read_value(hint: Any, value: Any, field: str) -> Any:
    """A value of a JSON body; InvalidError with the field if it has another type. Nothing is converted."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        read = read_value(inner[0], value, field)
        check_limits(inner[1:], value, field)
        return read
    if hint in (Any, object):
        return value
    if origin in (Union, types.UnionType):
        return _read_union(inner, value, field)
    if origin is Literal:
        if value not in inner or isinstance(value, bool):
            raise _refuse(field, f"{str(value)[:60]!r} is not one of {', '.join(map(str, inner))}")
        return value
    if hint is datetime:
        return read_instant(_typed(value, str, field), field)
    if hint is float:
        return _typed(value, (int, float), field)
    if hint in (int, str, bool):
        return _typed(value, hint, field)
    if origin in (dict, Mapping):
        return _typed(value, dict, field)
    if origin in (list, tuple, Sequence, Collection):
        return [
            read_value(inner[0], member, f"{field}.{number}")
            for number, member in enumerate(_typed(value, list, field))
        ]
    if is_dataclass(hint) and isinstance(hint, type):
        return read_object(hint, value, field)
    raise TypeError(f"{field}: a request cannot hold {hint}")


def read_object(kind: type, value: Any, field: str = "") -> Any:
    """Read a dataclass from a JSON object; other keys are refused."""
    hints = get_type_hints(kind, include_extras=True)
    stored = {wire_name(one.name): one for one in fields(kind)}
    given = _typed(value, dict, field or "body")
    prefix = f"{field}." if field else ""
    check_keys(given, stored, prefix)
    arguments = {}
    for key, one in stored.items():
        if key in given:
            arguments[one.name] = read_value(hints[one.name], given[key], f"{prefix}{key}")
        elif (one.default, one.default_factory) == (MISSING, MISSING):
            raise _refuse(f"{prefix}{key}", "is missing")
    return kind(**arguments)


def check_keys(given: Mapping[str, Any], known: Collection[str], prefix: str = "") -> None:
    """Refuse unknown keys, and suggest a similar one."""
    for key in given:
        if key not in known:
            close = get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(known) or 'nothing'}."
            name = f"{prefix}{key}"[:200]
            raise InvalidError(f"{name}: is not known here;", field=name, hint=hint)


def read_text(hint: Any, text: str, field: str) -> Any:
    """A value from the text of a path, a query or a header."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        read = read_text(inner[0], text, field)
        check_limits(inner[1:], read, field)
        return read
    if origin in (Union, types.UnionType):
        return read_text(next(one for one in inner if one is not type(None)), text, field)
    if hint is int:
        if not _NUMBER.fullmatch(text):
            raise InvalidError(
                f"{field}: {text[:60]!r} is not a whole number;", field=field, hint="write it in digits, such as 10."
            )
        return int(text)
    if hint is bool:
        if text.lower() not in _FLAGS:
            raise _refuse(field, f"{text[:60]!r} is neither true nor false")
        return _FLAGS[text.lower()]
    return read_value(hint, text, field)


def write_value(hint: Any, value: Any) -> Any:
    """An argument as JSON for a request; instants are cut to whole seconds, unless `round_up`."""
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
    """Is it a list, also one that may be None?"""
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
    return tuple(note for one in get_args(hint) if get_origin(one) is Annotated for note in get_args(one)[1:])


def check_limits(notes: tuple[Any, ...], value: Any, field: str) -> None:
    """Refuse a value outside of its limits."""
    for note in notes:
        if not isinstance(note, Meta):
            continue
        if reason := note.refuse(value):
            raise _refuse(field, reason)
        if note.parse is not None and value is not None:
            note.parse(value)


def _read_union(inner: tuple[Any, ...], value: Any, field: str) -> Any:
    if value is None and type(None) in inner:
        return None
    stated = [one for one in inner if one is not type(None)]
    if len(stated) == 1:
        return read_value(stated[0], value, field)
    if isinstance(value, dict) and any(get_origin(one) in (dict, Mapping) for one in stated):
        return value
    if isinstance(value, str) and any(get_origin(one) is Literal for one in stated):
        return value
    # A length of time is a number or a text in JSON; its other types are for Python callers.
    plain = [one for one in stated if one in (int, str, float)]
    for one in plain:
        if isinstance(value, one) and not isinstance(value, bool):
            return value
    names = " or ".join(_NAMES[one] for one in plain)
    raise _refuse(field, f"must be {names}")


_NAMES: Final[Mapping[Any, str]] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def _typed(value: Any, kind: Any, field: str) -> Any:
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    raise _refuse(field, f"must be {_NAMES[kind[-1] if isinstance(kind, tuple) else kind]}")


def _refuse(field: str, reason: str) -> InvalidError:
    return InvalidError(f"{field}: {reason}.", field=field)
