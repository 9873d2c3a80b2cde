"""Fields with an object: payload and backoff."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.errors import DefinitionError
from tickbird.domain.schedules.backoff import Backoff
from tickbird.domain.schedules.kinds.kind import InstantReader, Kind, is_seconds, parse_duration, read_json, refuse
from tickbird.domain.schedules.kinds.scalars import Duration
from tickbird.domain.schedules.payload import check_payload
from tickbird.domain.schema_parts import Schema, object_schema
from tickbird.domain.time.durations import duration_input, duration_text, seconds


class Payload(Kind):
    title = "JSON object"
    hint = 'Such as {"limit": 5}.'

    def check(self, name: str, value: Any) -> None:
        check_payload(value)

    def encode(self, name: str, value: Any) -> Any:
        return dict(value) if isinstance(value, Mapping) else value

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        return read_json(name, text)

    def schema(self) -> Schema:
        return {"type": "object"}

    def file_schema(self) -> Schema:
        return {"type": ["object", "string"]}


_PARTS = {"base", "max"}
_LENGTH = Duration(maximum=10**9)


class ExponentialBackoff(Kind):
    title = "duration, or the first and the longest"
    hint = "Such as 5s, or 5s,10m with the longest wait."

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, Backoff):
            refuse(name, value, "must be a Backoff, or an object with base and max in whole seconds")
        for length in (value.base, value.max):
            _LENGTH.check(name, length)

    def read(self, name: str, value: Any) -> Any:
        if isinstance(value, Backoff):
            return value
        if not isinstance(value, Mapping):
            return Backoff(base=seconds(value, name))
        if not {*value} <= _PARTS:
            refuse(name, dict(value), "must be a duration, or an object with base and max")
        return Backoff(**{part: seconds(length, name, part) for part, length in value.items()})

    def encode(self, name: str, value: Any) -> Any:
        return {"base": value.base, "max": value.max} if isinstance(value, Backoff) else value

    def decode(self, name: str, encoded: Any) -> Any:
        return Backoff(**encoded) if _is_backoff(encoded) else encoded

    def parse(self, name: str, text: str, instant: InstantReader) -> Any:
        if text.startswith("{"):
            return self.read(name, read_json(name, text))
        lengths = [parse_duration(part, name) for part in text.split(",")]
        if len(lengths) > 2:
            raise DefinitionError(f"{name} must be one or two durations.", field=name, hint="Use 5s, or 5s,10m.")
        return Backoff(*lengths)

    def text(self, encoded: Any) -> str | None:
        if not _is_backoff(encoded):
            return None
        value = Backoff(**encoded)
        return f"{duration_input(value.base)},{duration_input(value.max)}"

    def describe(self, encoded: Any) -> str | None:
        if not _is_backoff(encoded):
            return None
        value = Backoff(**encoded)
        first, longest = (duration_text(length) if length else "0 s" for length in (value.base, value.max))
        return f"up to {first}, doubled each time, at most {longest}"

    def schema(self) -> Schema:
        length = _LENGTH.schema()
        return {"anyOf": [*length["anyOf"], object_schema({"base": length, "max": length}, needed=())]}

    def to_file(self, value: Any) -> Any:
        base, maximum = duration_input(value.base), duration_input(value.max)
        return base if value.max == Backoff().max else {"base": base, "max": maximum}

    def file_schema(self) -> Schema:
        length = _LENGTH.file_schema()
        return {"anyOf": [*length["anyOf"], object_schema({"base": length, "max": length}, needed=())]}


def _is_backoff(encoded: Any) -> bool:
    return isinstance(encoded, Mapping) and {*encoded} <= _PARTS and all(map(is_seconds, encoded.values()))
