"""Arguments by their declared types: converted from requests, and checked for requests and for both clients."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from tickbird.domain.errors import InvalidError, TriggerError
from tickbird.domain.text import check_storable
from tickbird.domain.time.durations import seconds
from tickbird.wire.codec import wire_name
from tickbird.wire.parameters import Meta, check_instant, check_keys, check_limits, is_list, read_instant, refuse

# Raises InvalidError if the value is invalid; the second argument is the field.
Check = Callable[[Any, str], None]
Read = Callable[[Any, str], Any]
_NUMBER: Final = re.compile(r"-?[0-9]{1,30}", re.ASCII)
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}
_NAMES: Final[Mapping[Any, str]] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    datetime: "an instant with a time zone",
    Mapping: "an object",
    Collection: "a list",
    Callable: "a function",
}


def json_reader(hint: Any) -> Read:
    """The function that reads a value of a JSON body; it raises InvalidError with the field."""
    return _reader(hint, _from_json)


def text_reader(hint: Any) -> Read:
    """The function that reads the text of a path, query or header; it raises InvalidError with the field."""
    return _reader(hint, _from_text)


def _reader(hint: Any, convert: Callable[[Any, Any, str], Any]) -> Read:
    check = argument_check(hint, all_limits=True)

    def read(value: Any, field: str) -> Any:
        converted = convert(hint, value, field)
        if check is not None:
            check(converted, field)
        return converted

    return read


def _from_json(hint: Any, value: Any, field: str) -> Any:
    """Build instants and objects; values of a wrong type are returned unchanged, and refused by the check."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _from_json(inner[0], value, field)
    if origin in (Union, types.UnionType):
        stated = _without_none(inner)
        return _from_json(stated[0], value, field) if len(stated) == 1 else value
    if hint is datetime and isinstance(value, str):
        return read_instant(value, field)
    if isinstance(value, list) and is_list(hint):
        return [_from_json(inner[0], member, f"{field}.{number}") for number, member in enumerate(value)]
    if isinstance(value, dict) and origin is None and is_dataclass(hint):
        return _build(hint, value, field)
    return value


def _from_text(hint: Any, text: str, field: str) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _from_text(inner[0], text, field)
    if origin in (Union, types.UnionType):
        return _from_text(_without_none(inner)[0], text, field)
    if hint is int:
        if not _NUMBER.fullmatch(text):
            hint = "Write it in digits, such as 10."
            raise InvalidError(f"{field}: {text[:60]!r} is not a whole number.", field=field, hint=hint)
        return int(text)
    if hint is bool:
        if text.lower() not in _FLAGS:
            raise refuse(field, f"{text[:60]!r} is neither true nor false")
        return _FLAGS[text.lower()]
    return _from_json(hint, text, field)


def _build(kind: Any, members: dict[str, Any], field: str) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    stored = {wire_name(attribute.name): attribute for attribute in fields(kind)}
    check_keys(members, stored, f"{field}.")
    arguments = {}
    for key, attribute in stored.items():
        if key in members:
            arguments[attribute.name] = _from_json(hints[attribute.name], members[key], f"{field}.{key}")
        elif (attribute.default, attribute.default_factory) == (MISSING, MISSING):
            raise refuse(f"{field}.{key}", "is missing")
    try:
        return kind(**arguments)
    except InvalidError as error:
        if error.field:
            # Which one of a list.
            error.field, error.message = f"{field}.{error.field}", f"{field}.{error.message}"
        raise


def argument_check(hint: Any, *, all_limits: bool = False) -> Check | None:
    """The check of a type; None if it allows every value. `all_limits`: also of parameters with `check`."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        notes = tuple(note for note in inner[1:] if isinstance(note, Meta) and note.has_limits)
        # In a client, a note with `check` has a better error for values outside of its limits.
        notes = notes if all_limits else tuple(note for note in notes if note.check is None)
        return _with_limits(argument_check(inner[0]), notes)
    if hint in (Any, object):
        return None
    if origin in (Union, types.UnionType):
        return _union_check(inner)
    if origin is Literal:
        return _choice_check(inner)
    if hint is datetime:
        return _check_datetime
    if hint is float:
        return _check_number
    if hint is str:
        return _check_text
    if origin is None and is_dataclass(hint):
        return _object_check(hint)
    if is_list(hint):
        return _members_check(argument_check(inner[0]))
    return _type_check(hint if origin is None else origin)


def _type_check(kind: Any) -> Check:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _wrong_type(field, kind, value)

    return check


def _check_datetime(value: Any, field: str) -> None:
    if not isinstance(value, datetime):
        raise _wrong_type(field, datetime, value)
    if value.tzinfo is None or value.utcoffset() is None:
        raise TriggerError(
            f"{field}: {value.isoformat()} has no time zone.",
            field=field,
            hint="Add one: datetime(..., tzinfo=UTC), or .replace(tzinfo=ZoneInfo('Europe/Berlin')).",
        )
    check_instant(value, str(value), field)


def _check_number(value: Any, field: str) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise _wrong_type(field, float, value)


def _check_text(value: Any, field: str) -> None:
    if not isinstance(value, str):
        raise _wrong_type(field, str, value)
    check_storable(value, field)


def _choice_check(choices: tuple[Any, ...]) -> Check:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, str) or value not in choices:
            raise refuse(field, f"{str(value)[:60]!r} is not one of {', '.join(map(str, choices))}")

    return check


def _members_check(member: Check | None) -> Check:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, Collection) or isinstance(value, str | bytes | bytearray | Mapping):
            raise _wrong_type(field, Collection, value)
        if member is not None:
            for number, item in enumerate(value):
                member(item, f"{field}.{number}")

    return check


def _object_check(kind: Any) -> Check:
    hints = get_type_hints(kind, include_extras=True)
    checks = [(attribute.name, argument_check(hints[attribute.name])) for attribute in fields(kind)]

    def check(value: Any, field: str) -> None:
        if not isinstance(value, kind):
            raise _wrong_type(field, kind, value)
        for name, member in checks:
            if member is not None:
                member(getattr(value, name), f"{field}.{wire_name(name)}")

    return check


def _union_check(inner: tuple[Any, ...]) -> Check | None:
    stated = _without_none(inner)
    check = _check_duration if timedelta in stated else _any_of(stated)
    if check is None or len(stated) == len(inner):
        return check

    def check_optional(value: Any, field: str) -> None:
        if value is not None:
            check(value, field)

    return check_optional


def _check_duration(value: Any, field: str) -> None:
    seconds(value, field)


def _any_of(hints: list[Any]) -> Check | None:
    if len(hints) == 1:
        return argument_check(hints[0])
    pairs = [(str if get_origin(hint) is Literal else get_origin(hint) or hint, argument_check(hint)) for hint in hints]

    def check(value: Any, field: str) -> None:
        for kind, narrow in pairs:
            if isinstance(value, kind) and not isinstance(value, bool):
                return None if narrow is None else narrow(value, field)
        raise _wrong_type(field, [kind for kind, _ in pairs], value)

    return check


def _with_limits(check: Check | None, limits: tuple[Meta, ...]) -> Check | None:
    if not limits:
        return check

    def check_both(value: Any, field: str) -> None:
        if check is not None:
            check(value, field)
        check_limits(limits, value, field)

    return check_both


def _without_none(inner: tuple[Any, ...]) -> list[Any]:
    return [hint for hint in inner if hint is not type(None)]


def _wrong_type(field: str, expected: Any, value: Any) -> InvalidError:
    kinds = expected if isinstance(expected, list) else [expected]
    names = " or ".join(_NAMES.get(kind) or f"a {kind.__name__}" for kind in kinds)
    return refuse(field, f"must be {names}, not {'None' if value is None else type(value).__name__}")
