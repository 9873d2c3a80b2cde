"""Encode return values and reports of user code: once, inside the attempt, in a form that every store accepts."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any, Final

from tickbird.domain.text import clean_text, describe, type_name
from tickbird.targets.protocol import EncodedResult

MAX_RESULT: Final = 100_000
# Limits of one value: a few shared lists can expand to more values than memory holds, and an iterator may never end.
MAX_VALUES: Final = 250_000
MAX_CHARACTERS: Final = 10_000_000
MAX_DEPTH: Final = 200
# Python reads and writes integers of up to 4,300 digits.
MAX_BITS: Final = 14_000
_ARRAYS: Final = (list, tuple, set, frozenset, deque)
_NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def encode_value(value: Any) -> Any:
    """A value of exact JSON types, bounded in depth and size; never raises."""
    encoder = _Encoder()
    try:
        if type(value) is EncodedResult:
            # The child process that sent it has truncated it already.
            return encoder.encode_or_cut(value.value, 3 * MAX_RESULT)
        return encoder.encode_or_cut(value, MAX_RESULT)
    except BaseException as error:  # noqa: BLE001 - the work is done; only its result cannot be shown
        return {"unreadable": clean_text(f"{type_name(value)}: {describe(error)[:200]}")}


class _Encoder:
    """Encodes one value; drops the rest past its limits."""

    def __init__(self) -> None:
        self._values = 0
        self._characters = 0

    def encode_or_cut(self, value: Any, limit: int) -> Any:
        """Return the value, or the first part of its text if that is longer than `limit`."""
        encoded = self._encode(value, 0)
        # A value other than a text takes at most 30 characters, and a character of a text at most 6.
        if 6 * self._characters + 30 * self._values <= limit:
            return encoded
        text = json.dumps(encoded, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        if len(text) <= limit and not self._is_full:
            return encoded
        cut = {"cut": text[:MAX_RESULT], "characters": len(text)}
        return {**cut, "more": True} if self._is_full else cut

    @property
    def _is_full(self) -> bool:
        return self._values > MAX_VALUES or self._characters > MAX_CHARACTERS

    def _encode(self, value: Any, depth: int) -> Any:
        """Return None, bool, int, finite float, str, list, or a dict of these with str keys."""
        # Call the methods of the built-in classes directly, because subclasses may override them.
        self._values += 1
        kind = type(value)
        if value is None or kind is bool:
            return value
        if issubclass(kind, Enum):
            return self._encode(value.value, depth)
        if issubclass(kind, str):
            return self._text(value)
        if issubclass(kind, int):
            return self._integer(value)
        if issubclass(kind, float):
            number = float.__add__(value, 0.0)
            return number if isfinite(number) else _NOT_FINITE[str(number)]
        if depth > MAX_DEPTH:
            raise ValueError(f"it is cyclic, or nested deeper than {MAX_DEPTH} levels")
        if issubclass(kind, dict):
            items = dict.items(value)
        elif is_dataclass(kind) and not hasattr(kind, "__pydantic_serializer__"):
            items = {field.name: getattr(value, field.name) for field in fields(kind)}.items()
        else:
            array = next((array for array in _ARRAYS if issubclass(kind, array)), None)
            if array is None and not hasattr(kind, "__next__"):
                return self._encode_other(value, kind, depth)
            elements = []
            # Not a comprehension, which would take one more frame per level.
            for element in iter(value) if array is None else array.__iter__(value):
                if self._is_full:
                    break
                elements.append(self._encode(element, depth + 1))
            return elements
        members = {}
        for key, member in items:
            if self._is_full:
                break
            members[self._key(key)] = self._encode(member, depth + 1)
        return members

    def _text(self, value: str) -> str:
        self._characters += str.__len__(value)
        return clean_text(str.__getitem__(value, slice(MAX_CHARACTERS)))

    def _integer(self, value: int) -> int:
        bits = int.bit_length(value)
        if bits > MAX_BITS:
            raise ValueError(f"an integer of {bits:,} bits is too long; at most {MAX_BITS:,} can be stored")
        self._characters += bits // 3
        return int.__add__(value, 0)

    def _key(self, key: Any) -> str:
        if issubclass(type(key), int):
            self._integer(key)
        elif issubclass(type(key), str) and not issubclass(type(key), Enum):
            return self._text(key)
        return self._text(next(iter(_by_pydantic({key: None}))))

    def _encode_other(self, value: Any, kind: type, depth: int) -> Any:
        if issubclass(kind, bytes | bytearray):
            self._characters += len(value)
            return self._text(bytes(value[:MAX_CHARACTERS]).decode(errors="backslashreplace"))
        if hasattr(kind, "__pydantic_serializer__"):
            # pydantic has no limits, so check first that its input ends.
            self._encode(vars(value), depth + 1)
            if self._is_full:
                raise ValueError(f"it has more than {MAX_VALUES:,} values or {MAX_CHARACTERS:,} characters")
        return self._encode(_by_pydantic(value), depth + 1)


def _by_pydantic(value: Any) -> Any:
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, fallback=repr, inf_nan_mode="strings")
