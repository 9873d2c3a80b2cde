"""Fields with one value: a text, a number, a duration, a word, an instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tickbird.domain.errors import DefinitionError
from tickbird.domain.limits.concurrency import MAX_KEY_LENGTH, check_concurrency_key
from tickbird.domain.schedules.kinds.kind import InstantReader, Kind, is_number, is_seconds, parse_duration, refuse
from tickbird.domain.schema_parts import (
    DURATION_TEXT,
    INSTANT,
    NAME,
    WRITTEN_DURATION,
    WRITTEN_INSTANT,
    Schema,
    number_schema,
    text_schema,
)
from tickbird.domain.text import check_name, check_text
from tickbird.domain.time.durations import MAX_DURATION, duration_input, duration_text, seconds
from tickbird.domain.time.instants import parse_iso

_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class Text(Kind):
    """Text, possibly with several lines."""

    title = "text"
    maximum: int

    def check(self, name: str, value: Any) -> None:
        check_text(value, name, maximum=self.maximum)

    def schema(self) -> Schema:
        return {"type": "string", "maxLength": self.maximum}


class Name(Kind):
    title = "name"

    def check(self, name: str, value: Any) -> None:
        check_name(value, name)

    def schema(self) -> Schema:
        return NAME


class ConcurrencyKey(Kind):
    title = "text"
    hint = "Such as warehouse or tenant:{tenant}."

    def check(self, name: str, value: Any) -> None:
        check_concurrency_key(value)

    def schema(self) -> Schema:
        return text_schema(MAX_KEY_LENGTH, 1)


@dataclass(frozen=True)
class Number(Kind):
    """A whole number; `names` are accepted in place of some numbers."""

    title = "whole number"
    minimum: int
    maximum: int
    names: Mapping[str, int] = field(default_factory=dict)

    @property
    def hint(self) -> str:
        return f"One of {', '.join(self.names)}, or {self.minimum} to {self.maximum}." if self.names else ""

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not self.minimum <= value <= self.maximum:
            names = f"one of {', '.join(self.names)}, or " if self.names else ""
            refuse(name, value, f"must be {names}a whole number from {self.minimum} to {self.maximum}")

    def read(self, name: str, value: Any) -> Any:
        return self.names.get(value, value) if isinstance(value, str) else value

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        digits = text.replace(",", "")
        if digits in self.names:
            return self.names[digits]
        if not is_number(digits.removeprefix("-")):
            names = f" nor one of {', '.join(self.names)}" if self.names else ""
            raise DefinitionError(
                f"{name}: {text[:60]!r} is {'neither' if names else 'not'} a whole number{names}.",
                field=name,
                hint=self.hint or f"Use {self.minimum} to {self.maximum}.",
            )
        return int(digits)

    def text(self, encoded: Any) -> str | None:
        if isinstance(encoded, bool) or not isinstance(encoded, int):
            return None
        return self.name_of(encoded) or str(encoded)

    def describe(self, encoded: Any) -> str | None:
        text = self.text(encoded)
        return text if text in (None, str(encoded)) else f"{text} ({encoded})"

    def name_of(self, number: int) -> str | None:
        return next((name for name, named in self.names.items() if named == number), None)

    def schema(self) -> Schema:
        number = number_schema(self.minimum, self.maximum)
        return {"anyOf": [number, {"enum": list(self.names)}]} if self.names else number

    def to_file(self, value: Any) -> Any:
        return self.name_of(value) or value

    @property
    def range(self) -> str:
        names = "".join(f"`{name}`, " for name in self.names)
        return f"{names}{self.minimum:,} to {self.maximum:,}"


@dataclass(frozen=True)
class Duration(Kind):
    """A duration in whole seconds."""

    title = "duration"
    hint = "Such as 90s, 10m or 1h30m."
    minimum: int = 0
    maximum: int = MAX_DURATION

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not self.minimum <= value <= self.maximum:
            refuse(name, value, f"must be whole seconds from {self.minimum} to {self.maximum}")

    def read(self, name: str, value: Any) -> Any:
        return value if value is None else seconds(value, name, minimum=self.minimum)

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        return parse_duration(text, name)

    def text(self, encoded: Any) -> str | None:
        return str(duration_input(encoded)) if is_seconds(encoded) else None

    def describe(self, encoded: Any) -> str | None:
        return (duration_text(encoded) if encoded else "0 s") if is_seconds(encoded) else None

    def schema(self) -> Schema:
        number = number_schema(self.minimum, self.maximum)
        return {"anyOf": [{**number, "description": "Seconds."}, DURATION_TEXT]}

    def to_file(self, value: Any) -> Any:
        return duration_input(value)

    def file_schema(self) -> Schema:
        return WRITTEN_DURATION

    @property
    def range(self) -> str:
        return self.title if self.maximum == MAX_DURATION else f"up to {duration_text(self.maximum)}"


class Choice(Kind):
    """One of a few words, with their meanings."""

    title = "word"

    def __init__(self, words: tuple[Any, ...], meanings: Mapping[str, str]) -> None:
        assert words == tuple(meanings), "every word of the type has one meaning"
        self.meanings = meanings

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(self.meanings)

    @property
    def hint(self) -> str:
        return f"One of {', '.join(self.choices)}."

    def check(self, name: str, value: Any) -> None:
        if value not in self.choices:
            refuse(name, value, f"is not one of {', '.join(self.choices)}")

    def describe(self, encoded: Any) -> str | None:
        has_meaning = isinstance(encoded, str) and encoded in self.meanings
        return f"{encoded}: {self.meanings[encoded]}" if has_meaning else self.text(encoded)

    def schema(self) -> Schema:
        return {"enum": list(self.choices)}

    @property
    def range(self) -> str:
        return ", ".join(f"`{word}`" for word in self.choices)


class Flag(Kind):
    title = "true or false"

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, bool):
            refuse(name, value, "is neither true nor false")

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        if text.lower() not in _FLAGS:
            raise DefinitionError(
                f"{name}: {text[:60]!r} is neither true nor false.", field=name, hint="Use true or false."
            )
        return _FLAGS[text.lower()]

    def text(self, encoded: Any) -> str | None:
        return ("true" if encoded else "false") if isinstance(encoded, bool) else None

    def describe(self, encoded: Any) -> str | None:
        return ("yes" if encoded else "no") if isinstance(encoded, bool) else None

    def schema(self) -> Schema:
        return {"type": "boolean"}


class Instant(Kind):
    title = "instant"
    hint = "Such as 2026-12-24T18:00; without an offset, in the trigger's time zone."

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, datetime):
            refuse(name, value, "is not a datetime")
        if value.tzinfo is None or value.microsecond:
            refuse(name, value, "must be a datetime with a time zone, in whole seconds")

    def encode(self, name: str, value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        if value.tzinfo is None:
            raise DefinitionError(
                f"{name}: {value.isoformat()} has no time zone.",
                field=name,
                hint="Add an offset, such as Z or +02:00, or a tzinfo.",
            )
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")

    def decode(self, name: str, encoded: Any) -> Any:
        return parse_iso(encoded, name)

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        return instant(text, name)

    def schema(self) -> Schema:
        return INSTANT

    def file_schema(self) -> Schema:
        return WRITTEN_INSTANT
