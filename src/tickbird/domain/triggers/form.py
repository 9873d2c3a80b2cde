"""A trigger form: one way to write a trigger, declared once for JSON, files, the command line, pages and help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from tickbird.domain.triggers.base import Trigger

Schema = dict[str, Any]
# A form's own value under its name, and options beside it. Instants may be datetimes as well as texts.
Document = Mapping[str, Any]
ReadInstant = Callable[[str], datetime]


@dataclass(frozen=True, slots=True)
class FormOption:
    """A field beside a form's own value, such as `anchor` beside `every`."""

    name: str
    # moment: a date with a time, with or without an offset; moments: a list of these; object: any JSON object.
    kind: Literal["moment", "moments", "object"]
    about: str
    schema: Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerForm:
    """How triggers of one class are read and written."""

    # The key in JSON and files, and the word on the command line and in forms.
    name: str
    noun: str
    metavar: str
    # For readers of the API, and for those who write files.
    summary: str
    about: str
    # What a person types on a line of the schedule form.
    example: str
    # The value in files: a text, a step such as 10m, or an instant.
    kind: Literal["text", "step", "instant"]
    # The value in JSON.
    schema: Schema
    # The first format of definitions that has it: older code leaves such schedules alone.
    format: int = 1
    options: tuple[FormOption, ...] = ()
    has_zone: bool = True
    # A document and the zone of its wall clock to the trigger, or a TriggerError.
    read: Callable[[Document, str], Trigger]
    # The document of a typed text.
    parse_text: Callable[[str, ReadInstant], Document]
    # The text of a JSON document; None if no text says the same.
    write_text: Callable[[Document], str | None]
    # The value as files have it.
    write_value: Callable[[Any], Any] = lambda value: value
    # Beginnings of a line that need no word before them.
    prefixes: tuple[str, ...] = ()
    # Caches of triggers by the rules of their zones.
    caches: tuple[dict[Any, Any], ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The fields that may stand beside its own in JSON."""
        return (*(option.name for option in self.options), *(("tz",) if self.has_zone else ()))
