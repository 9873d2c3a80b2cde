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
        if not isinstance(value, dict) or not value.keys() <= {"text", "channel"}:
            raise DefinitionError("echo: must be an object with text and channel.", field="echo")
        if not all(isinstance(part, str) and part for part in (value.get("text"), value.get("channel", "main"))):
            raise DefinitionError("echo: text and channel must be strings.", field="echo")
        return cls(**value)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        text = {"type": "string", "minLength": 1}
        return {
            "type": "object",
            "properties": {"text": text, "channel": text},
            "required": ["text"],
            "additionalProperties": False,
        }
