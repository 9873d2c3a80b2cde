"""Fields with several values: names, days, other schedules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tickbird.domain.calendars.calendar import WEEKDAYS, Calendar, calendar_from_json, calendar_to_json, exclude
from tickbird.domain.errors import DefinitionError
from tickbird.domain.schedules.dependencies import (
    MAX_DEPENDENCIES,
    After,
    after,
    check_depends_on,
    has_duration_texts,
    read_dependencies,
    stored_dependencies,
)
from tickbird.domain.schedules.kinds.kind import InstantReader, Kind, parse_duration, read_json, refuse
from tickbird.domain.schedules.kinds.scalars import Duration
from tickbird.domain.schema_parts import (
    DATE,
    NAME,
    Schema,
    object_schema,
    one_or_more,
    text_schema,
)
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import duration_input
from tickbird.domain.time.instants import parse_iso


@dataclass(frozen=True)
class Names(Kind):
    """Names in the order in which they were given."""

    title = "list of names"
    hint = "Separate several with commas."
    maximum: int | None = None

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, tuple) or (self.maximum is not None and len(value) > self.maximum):
            limit = "names" if self.maximum is None else f"at most {self.maximum} names"
            refuse(name, value, f"must be a list of {limit}")
        for item in value:
            check_name(item, name)

    def read(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return (value,)
        if isinstance(value, set | frozenset):
            return tuple(sorted(value))
        return tuple(value or ()) if value is None or isinstance(value, Iterable) else value

    def encode(self, name: str, value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else value

    def decode(self, name: str, encoded: Any) -> Any:
        if not isinstance(encoded, list):
            raise DefinitionError(f"{name} must be a list.", field=name)
        return tuple(encoded)

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        return self.decode(name, read_list(name, text))

    def text(self, encoded: Any) -> str | None:
        return list_text(encoded)

    def schema(self) -> Schema:
        return {"type": "array", "items": NAME, **({"maxItems": self.maximum} if self.maximum else {})}

    def file_schema(self) -> Schema:
        return one_or_more(NAME, self.maximum)


class Days(Kind):
    title = "list of weekdays and dates"
    hint = "Such as sat, sun, 2026-12-25."

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, Calendar):
            refuse(name, value, "must be a list of weekdays and dates")

    def read(self, name: str, value: Any) -> Any:
        if isinstance(value, Calendar):
            return value
        return exclude(*([value] if isinstance(value, str) else value or ()))

    def encode(self, name: str, value: Any) -> Any:
        return calendar_to_json(value) if isinstance(value, Calendar) else value

    def decode(self, name: str, encoded: Any) -> Any:
        return calendar_from_json(encoded)

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        return self.decode(name, read_list(name, text))

    def text(self, encoded: Any) -> str | None:
        return list_text(encoded)

    def schema(self) -> Schema:
        date = {"format": "date", **text_schema(10)}
        return {"type": "array", "items": {"anyOf": [{"enum": list(WEEKDAYS)}, date]}}

    def file_schema(self) -> Schema:
        return one_or_more({"anyOf": [{"enum": list(WEEKDAYS)}, DATE]})


_LENGTH = Duration()


class Dependencies(Kind):
    title = "list of schedules"
    hint = "Such as load:24h, or load:24h:2h to wait 2 hours for it."

    def check(self, name: str, value: Any) -> None:
        check_depends_on(value)

    def read(self, name: str, value: Any) -> Any:
        return read_dependencies(value)

    def encode(self, name: str, value: Any) -> Any:
        return [dependency.to_json() for dependency in value] if isinstance(value, tuple) else value

    def decode(self, name: str, encoded: Any) -> Any:
        # `read` parses durations that are texts; a stored definition has whole seconds, or `check` refuses it.
        return encoded if has_duration_texts(encoded) else stored_dependencies(encoded)

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        if text.startswith("["):
            return self.read(name, self.decode(name, read_json(name, text)))
        return tuple(_parse_dependency(part) for part in read_list(name, text))

    def text(self, encoded: Any) -> str | None:
        try:
            items = stored_dependencies(encoded)
            text = ", ".join(map(_dependency_text, items))
            return text if self.parse("", text, parse_iso) == items else None
        except DefinitionError:
            return None

    def describe(self, encoded: Any) -> str | None:
        try:
            return "; ".join(map(str, stored_dependencies(encoded)))
        except DefinitionError:
            return None

    def schema(self) -> Schema:
        length = _LENGTH.schema()
        described = "Another schedule that must have succeeded, how recently, and how long to wait for it."
        item = object_schema({"after": NAME, "within": length, "wait": length}, described, needed=("after", "within"))
        return {"type": "array", "items": item, "maxItems": MAX_DEPENDENCIES}

    def to_file(self, value: Any) -> Any:
        return [
            {
                "after": item.schedule,
                "within": duration_input(item.within),
                **({"wait": duration_input(item.wait)} if item.wait else {}),
            }
            for item in value
        ]

    def file_schema(self) -> Schema:
        length = _LENGTH.file_schema()
        item = object_schema({"after": NAME, "within": length, "wait": length}, needed=("after", "within"))
        return one_or_more(item, MAX_DEPENDENCIES)


def read_list(name: str, text: str) -> Any:
    """Return the items of a JSON list, or of a text separated by commas or newlines."""
    if text.startswith("["):
        return read_json(name, text)
    return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]


def list_text(encoded: Any) -> str | None:
    """Return a list as text; None if `read_list` would parse the text to a different list."""
    if not isinstance(encoded, list) or not all(isinstance(item, str) for item in encoded):
        return None
    text = ", ".join(encoded)
    return text if not text.startswith("[") and read_list("", text) == encoded else None


def _dependency_text(item: After) -> str:
    waits = [duration_input(item.wait)] if item.wait else []
    return ":".join(map(str, (item.schedule, duration_input(item.within), *waits)))


def _parse_dependency(text: str) -> After:
    """Parse schedule, `within` and `wait`: load:24h or load:24h:2h."""
    name, *lengths = text.split(":")
    if not 1 <= len(lengths) <= 2:
        raise DefinitionError(
            f"depends_on: {text[:60]!r} is not of the form SCHEDULE:WITHIN or SCHEDULE:WITHIN:WAIT.",
            field="depends_on",
            hint="Write, for example, depends_on=load:24h:2h.",
        )
    return after(name, *(parse_duration(length, "depends_on") for length in lengths))
