"""Arguments of Python callers, checked by the declared types: both clients refuse the same, in the same words."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from tickbird.domain.errors import InvalidError, TriggerError
from tickbird.domain.text import check_storable
from tickbird.domain.time.durations import seconds
from tickbird.wire.parameters import Meta, check_instant, check_limits

# Raises InvalidError if the value is not of the type; the second argument is the field.
Check = Callable[[Any, str], None]
_NAMES: Final[Mapping[Any, str]] = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "True or False",
    datetime: "an aware datetime",
    Mapping: "a mapping",
    Collection: "a list",
    Callable: "a function",
}


def argument_check(hint: Any) -> Check | None:
    """The check of a type; None if it allows every value."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _with_limits(argument_check(inner[0]), tuple(note for note in inner[1:] if isinstance(note, Meta)))
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
    if isinstance(origin, type) and issubclass(origin, Collection) and not issubclass(origin, Mapping):
        return _members_check(argument_check(inner[0]))
    return _type_check(hint if origin is None else origin)


def _type_check(kind: Any) -> Check:
    name = _name(kind)

    def check(value: Any, field: str) -> None:
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _refuse(field, f"must be {name}, not {_shown(value)}")

    return check


def _name(kind: Any) -> str:
    return _NAMES.get(kind) or f"a {kind.__name__}"


def _check_datetime(value: Any, field: str) -> None:
    if not isinstance(value, datetime):
        raise _refuse(field, f"must be an aware datetime, not {_shown(value)}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise TriggerError(
            f"{field}: {value.isoformat()} has no time zone;",
            field=field,
            hint="add one: datetime(..., tzinfo=UTC), or .replace(tzinfo=ZoneInfo('Europe/Berlin')).",
        )
    check_instant(value, str(value), field)


def _check_number(value: Any, field: str) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        raise _refuse(field, f"must be a number, not {_shown(value)}")


def _check_text(value: Any, field: str) -> None:
    if not isinstance(value, str):
        raise _refuse(field, f"must be a text, not {_shown(value)}")
    check_storable(value, field)


def _choice_check(choices: tuple[Any, ...]) -> Check:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, str) or value not in choices:
            raise _refuse(field, f"{str(value)[:60]!r} is not one of {', '.join(map(str, choices))}")

    return check


def _members_check(member: Check | None) -> Check:
    def check(value: Any, field: str) -> None:
        if not isinstance(value, Collection) or isinstance(value, str | bytes | bytearray | Mapping):
            raise _refuse(field, f"must be a list, not {_shown(value)}")
        if member is not None:
            for number, item in enumerate(value):
                member(item, f"{field}.{number}")

    return check


def _object_check(kind: Any) -> Check:
    hints = get_type_hints(kind, include_extras=True)
    members = [(one.name, narrow) for one in fields(kind) if (narrow := argument_check(hints[one.name]))]

    def check(value: Any, field: str) -> None:
        if not isinstance(value, kind):
            raise _refuse(field, f"must be {_name(kind)}, not {_shown(value)}")
        for name, member in members:
            member(getattr(value, name), f"{field}.{name}")

    return check


def _union_check(inner: tuple[Any, ...]) -> Check | None:
    stated = [one for one in inner if one is not type(None)]
    optional = len(stated) < len(inner)
    check = _duration_check if timedelta in stated else _one_of(stated)
    if check is None or not optional:
        return check

    def check_optional(value: Any, field: str) -> None:
        if value is not None:
            check(value, field)

    return check_optional


def _duration_check(value: Any, field: str) -> None:
    seconds(value, field)


def _one_of(stated: list[Any]) -> Check | None:
    """The check of the type that a value has; refused if it has none of them."""
    if len(stated) == 1:
        return argument_check(stated[0])
    pairs = [(_class_of(one), argument_check(one)) for one in stated]
    names = " or ".join(_name(kind) for kind, _ in pairs)

    def check(value: Any, field: str) -> None:
        for kind, narrow in pairs:
            if isinstance(value, kind) and not isinstance(value, bool):
                return None if narrow is None else narrow(value, field)
        raise _refuse(field, f"must be {names}, not {_shown(value)}")

    return check


def _class_of(hint: Any) -> type:
    origin = get_origin(hint)
    if origin is Literal:
        return str
    known: type = hint if origin is None else origin
    return known


def _with_limits(check: Check | None, notes: tuple[Meta, ...]) -> Check | None:
    # A note with `check` has a better error for values outside of its limits.
    limits = tuple(note for note in notes if note.has_limits and note.check is None)
    if not limits:
        return check

    def check_both(value: Any, field: str) -> None:
        if check is not None:
            check(value, field)
        check_limits(limits, value, field)

    return check_both


def _shown(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__}"


def _refuse(field: str, reason: str) -> InvalidError:
    return InvalidError(f"{field}: {reason}.", field=field)
