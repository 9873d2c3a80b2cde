"""A trigger form: one way to write a trigger, declared once for JSON, files, the command line, pages and help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from tickbird.domain.triggers.base import Trigger

Schema = dict[str, Any]
# The value under the name of the form, and its options. Instants are datetimes or texts.
Document = Mapping[str, Any]
ReadInstant = Callable[[str], datetime]


@dataclass(frozen=True, slots=True)
class FormOption:
    """An option next to the value of a form, such as `anchor` for `every`."""

    name: str
    # moment: a date with a time, with or without an offset; moments: a list of these; object: any JSON object.
    kind: Literal["moment", "moments", "object"]
    about: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class FormatExtension:
    """A later format of definitions, for documents that older code would read wrongly."""

    format: int
    is_needed: Callable[[Document], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerForm:
    """How triggers of one class are read and written."""

    # The key in JSON and files, and the word on the command line and in forms.
    name: str
    noun: str
    metavar: str
    # Descriptions for the schema of the API, and for the schema of files.
    summary: str
    about: str
    # An example line for the schedule form.
    example: str
    # The value in files: a text, a step such as 10m, or an instant.
    kind: Literal["text", "step", "instant"]
    # The value in JSON.
    schema: Schema
    # The first format of definitions that supports it: older code ignores such schedules.
    format: int = 1
    extension: FormatExtension | None = None
    options: tuple[FormOption, ...] = ()
    has_zone: bool = True
    # Builds the trigger from a document and a time zone, or raises TriggerError.
    read: Callable[[Document, str], Trigger]
    # Parses a typed text to a document.
    parse_text: Callable[[str, ReadInstant], Document]
    # Writes a JSON document as a text; None if the text form cannot express it.
    write_text: Callable[[Document], str | None]
    # Converts the value for files.
    write_value: Callable[[Any], Any] = lambda value: value
    # Prefixes of a text that identify the form without its name.
    prefixes: tuple[str, ...] = ()
    # Caches that depend on time zone data, to be cleared with it.
    caches: tuple[dict[Any, Any], ...] = ()

    @property
    def newest_format(self) -> int:
        return self.format if self.extension is None else self.extension.format

    def format_of(self, document: Document) -> int:
        """Return the first format of definitions that supports a document."""
        return self.newest_format if self.extension and self.extension.is_needed(document) else self.format

    @property
    def keys(self) -> tuple[str, ...]:
        """The other keys of its JSON."""
        return (*(option.name for option in self.options), *(("tz",) if self.has_zone else ()))
