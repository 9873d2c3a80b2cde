"""Tasks: Python functions that an app registers under a name."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import Any, ClassVar, Self

from tickbird.domain.errors import DefinitionError
from tickbird.domain.targets.spec import FormField, Schema, TargetSpec
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_name


@dataclass(frozen=True, slots=True)
class TaskSpec(TargetSpec):
    """A task by its name."""

    kind: ClassVar[str] = TASK
    about: ClassVar[str] = "The task of this name."
    executor: ClassVar[str] = "tickbird.targets.task:registered"
    format: ClassVar[int | None] = 1
    form: ClassVar[tuple[FormField, ...]] = ()

    name: str

    def __post_init__(self) -> None:
        check_name(self.name, "task")

    def to_json(self) -> str:
        return self.name

    @classmethod
    def from_json(cls, value: Any) -> Self:
        if not isinstance(value, str):
            raise DefinitionError('target must be an object such as {"task": "digest"}.', field="target")
        return cls(value)

    @classmethod
    def json_schema(cls) -> Schema:
        return {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,200}$"}

    @classmethod
    def requirement(cls, name: str) -> str:
        return f"knows {cls.describe(name)}"

    @classmethod
    def worker_command(cls, queue: str, name: str) -> str:
        return f"tickbird worker MODULE:APP --queues {quote(queue)}   # the app that has task {name!r}"
