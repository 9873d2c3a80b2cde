"""The spec of an echo: all that Tickbird needs to store, show and edit it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from tickbird import DefinitionError
from tickbird.targets import FormField, TargetSpec


@dataclass(frozen=True, slots=True)
class EchoSpec(TargetSpec):
    """A text that a worker writes to the log of the run."""

    kind: ClassVar[str] = "echo"
    about: ClassVar[str] = "Writes a text to the log of the run."
    executor: ClassVar[str] = "tickbird_echo.executor:executables"
    form_title: ClassVar[str] = "an echo"
    form: ClassVar[tuple[FormField, ...]] = (
        FormField("text", "Text", "Text to write to the log."),
        FormField("channel", "Channel", "Channel of the worker (default: main)."),
    )
    expects: ClassVar[str] = 'an object such as { text = "hello" }'

    text: str
    channel: str = "main"

    @property
    def name(self) -> str:
        return self.channel

    @property
    def line(self) -> str:
        return f"{self.channel}: {self.text}"

    def to_json(self) -> dict[str, str]:
        return {"text": self.text, "channel": self.channel}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        if not isinstance(value, dict):
            raise DefinitionError("echo must be an object.", field="echo", hint='Write {"text": "hello"}.')
        for field in value:
            if field not in ("text", "channel"):
                raise DefinitionError(
                    f"echo: {field!r} is not a field of an echo.", field="echo", hint="Fields: text, channel."
                )
        spec = {"channel": "main", **value}
        for field in ("text", "channel"):
            if not isinstance(spec.get(field), str) or not spec[field]:
                raise DefinitionError(f"echo: {field} must be a non-empty text.", field="echo")
        return cls(**spec)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        text = {"type": "string", "minLength": 1}
        return {
            "type": "object",
            "properties": {"text": text, "channel": text},
            "required": ["text"],
            "additionalProperties": False,
        }
