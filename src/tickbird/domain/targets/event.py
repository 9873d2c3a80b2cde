"""Events as targets: a tick publishes an event, and no worker executes anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NoReturn, Self

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.events.event import MAX_KEY, MAX_TENANT, MAX_TYPE, NewEvent
from tickbird.domain.events.topics import TOPIC_SCHEMA
from tickbird.domain.targets.spec import FormField, Schema, TargetSpec, WrittenPart

EVENT: Final = "event"
FIELDS: Final = ("topic", "type", "key", "data", "headers", "tenant")
_EXAMPLE: Final = '{"topic": "orders.nightly", "type": "ReportDue", "key": "orders"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSpec(TargetSpec):
    """An event that each tick publishes in the transaction that plans it."""

    kind: ClassVar[str] = EVENT
    about: ClassVar[str] = "An event that the tick publishes; no worker executes anything."
    executor: ClassVar[str] = "tickbird.targets.event:no_executables"
    runs_in_store: ClassVar[bool] = True
    form_title: ClassVar[str] = "an event"
    form: ClassVar[tuple[FormField, ...]] = (FormField("", "Event as JSON", f"Such as {_EXAMPLE}.", kind="json"),)
    expects: ClassVar[str] = f"an object such as {_EXAMPLE}"

    topic: str
    type: str
    key: str | None = None
    # The payload of the run is merged into it, if both are objects; otherwise a payload replaces it.
    data: Any = None
    headers: tuple[tuple[str, str], ...] = ()
    tenant: str | None = None

    def __post_init__(self) -> None:
        try:
            NewEvent(
                topic=self.topic,
                type=self.type,
                key=self.key,
                data={} if self.data is None else self.data,
                headers=dict(self.headers),
                tenant=self.tenant,
            )
        except InvalidError as error:
            raise DefinitionError(f"event: {error.message}", field=EVENT, hint=error.hint) from None

    def __hash__(self) -> int:
        return hash((self.topic, self.type, self.key, self.headers, self.tenant))

    @property
    def name(self) -> str:
        return self.topic

    @property
    def line(self) -> str:
        return f"{self.type} to {self.topic}" + (f", key {self.key}" if self.key else "")

    @property
    def details(self) -> Mapping[str, Any]:
        return {name: value for name, value in self.to_json().items() if name not in ("topic", "type", "key")}

    def to_json(self) -> dict[str, Any]:
        encoded = {name: getattr(self, name) for name in FIELDS if getattr(self, name) not in (None, ())}
        return encoded | ({"headers": dict(self.headers)} if self.headers else {})

    @classmethod
    def from_json(cls, value: Any) -> Self:
        if not isinstance(value, Mapping):
            _refuse("topic is missing", hint=f"Write {_EXAMPLE}.")
        for name in value:
            if name not in FIELDS:
                _refuse(f"{str(name)[:60]} is not a field of an event", hint=f"Fields: {', '.join(FIELDS)}.")
        for name in ("topic", "type"):
            if name not in value:
                _refuse(f"{name} is missing", hint=f"Write {_EXAMPLE}.")
        given = dict(value)
        headers = given.get("headers", {})
        if not isinstance(headers, Mapping):
            _refuse("headers must be an object with texts")
        given["headers"] = tuple(sorted(headers.items(), key=lambda item: str(item[0])))
        return cls(**given)

    @classmethod
    def json_schema(cls) -> Schema:
        return {
            "type": "object",
            "description": "An event that the tick publishes.",
            "properties": {
                "topic": {**TOPIC_SCHEMA, "description": "Words joined by dots, such as orders.nightly."},
                "type": {"type": "string", "minLength": 1, "maxLength": MAX_TYPE},
                "key": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_KEY,
                    "description": "Events with the same key are read in order.",
                },
                "data": {"description": "The payload of the run is merged into it."},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                "tenant": {"type": "string", "minLength": 1, "maxLength": MAX_TENANT},
            },
            "required": ["topic", "type"],
            "additionalProperties": False,
        }

    @classmethod
    def written_parts(cls, value: Any) -> Iterator[WrittenPart]:
        for name, part in value.items() if isinstance(value, Mapping) else ():
            yield (name,), {"topic": "a", "type": "a", name: part}

    @classmethod
    def describe(cls, name: str) -> str:
        return f"event on {name}"

    @classmethod
    def requirement(cls, name: str) -> str:
        return f"publishes to {name}"

    @classmethod
    def worker_command(cls, queue: str, name: str) -> str:
        return "tickbird worker   # any worker that plans publishes events"


def event(
    topic: str,
    type: str,  # noqa: A002 - as CloudEvents has it
    *,
    key: str | None = None,
    data: Any = None,
    headers: Mapping[str, str] | None = None,
    tenant: str | None = None,
) -> EventSpec:
    """Create an event target: each tick publishes this event, in the transaction that plans the tick."""
    given = {"topic": topic, "type": type, "key": key, "data": data, "headers": headers or {}, "tenant": tenant}
    return EventSpec.from_json(given)


def _refuse(reason: str, *, hint: str = "") -> NoReturn:
    raise DefinitionError(f"event: {reason}.", field=EVENT, hint=hint)
