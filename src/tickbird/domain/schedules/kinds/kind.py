"""The base class of the kinds of policy fields."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar, NoReturn

from tickbird.domain.errors import DefinitionError
from tickbird.domain.schema_parts import Schema
from tickbird.domain.time.durations import seconds

# Parses an instant that a user typed; the second argument is the name of the field.
InstantReader = Callable[[str, str], datetime]


class Kind(ABC):
    """The type of a policy field. Definitions hold its value, JSON the encoded value, forms and commands a text."""

    title: ClassVar[str]

    @property
    def hint(self) -> str:
        """Input help for forms and the command line."""
        return ""

    def check(self, name: str, value: Any) -> None:  # noqa: B027 - a kind may accept every value
        """Raise DefinitionError if the value is invalid."""

    def read(self, name: str, value: Any) -> Any:
        """Convert a value from code or JSON; other types are returned unchanged, for `check` to reject."""
        return value

    def encode(self, name: str, value: Any) -> Any:
        return value

    def decode(self, name: str, encoded: Any) -> Any:
        return encoded

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        """Parse a typed text."""
        return text

    def text(self, encoded: Any) -> str | None:
        """Return the text to type for a stored value; None if plain SQL stored a value of another kind."""
        return encoded if isinstance(encoded, str) else None

    def describe(self, encoded: Any) -> str | None:
        """Describe a stored value; None as with `text`."""
        return self.text(encoded)

    @abstractmethod
    def schema(self) -> Schema:
        """The JSON Schema of the API."""

    def to_file(self, value: Any) -> Any:
        """Return the value for a file, in JSON types."""
        return self.encode("", value)

    def file_schema(self) -> Schema:
        """The JSON Schema of files."""
        return self.schema()

    @property
    def range(self) -> str:
        """The possible values, for a table in the docs."""
        return self.title


def refuse(name: str, value: Any, reason: str, hint: str = "") -> NoReturn:
    shown = repr(str(value)[:60])
    message = f"{name} {reason}, not {shown}." if reason.startswith("must ") else f"{name}: {shown} {reason}."
    raise DefinitionError(message, field=name, reason=reason, hint=hint)


def json_text(encoded: Any) -> str:
    """Return the JSON of a value on one line."""
    return json.dumps(encoded, ensure_ascii=False, sort_keys=True, default=_plain)


def _plain(value: object) -> object:
    # Payloads are mappings that are not always dicts.
    return dict(value) if isinstance(value, Mapping) else str(value)


def is_seconds(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 12


def parse_duration(text: str, name: str) -> int:
    compact = "".join(text.split())
    return seconds(int(compact) if is_number(compact) else compact, name)


def read_json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DefinitionError(
            f"{name} is not JSON ({str(error)[:200]}).", field=name, hint="Correct the JSON."
        ) from None
