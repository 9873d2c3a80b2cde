"""JSON Schema of the types in responses and requests."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from collections.abc import Collection as AbstractCollection
from collections.abc import Sequence as AbstractSequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from inspect import getdoc
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from tickbird.wire.codec import Object, Objects, adapter_of, shape_of, wire_name

Schema = dict[str, Any]
INSTANT: Final[Schema] = {"type": "string", "format": "date-time", "description": "An instant, in UTC."}
_PLAIN: Final[Mapping[Any, Schema]] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    datetime: INSTANT,
}
_REF: Final = "#/components/schemas/"


class Components:
    """The named schemas of a document: a dataclass is described once, and referred to everywhere else."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}
        self._kinds: dict[str, type] = {}

    def schema(self, hint: Any) -> Schema:
        """Return the schema of a type; for a dataclass, a reference."""
        if (adapter := adapter_of(hint)) is not None:
            return adapter.schema(self.schema) if callable(adapter.schema) else dict(adapter.schema)
        if isinstance(hint, Object | Objects):
            properties = {key: self.schema(member) for key, member in hint.members}
            schema = object_schema(properties, properties)
            if isinstance(hint, Objects):
                return {"type": "array", "items": schema}
            return {"anyOf": [schema, {"type": "null"}]} if hint.optional else schema
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Annotated:
            if "instant" in inner[1:]:
                return dict(INSTANT)
            whole = any(getattr(note, "replaces_type", False) for note in inner[1:])
            return _noted({} if whole else self.schema(inner[0]), inner[1:])
        if hint in _PLAIN:
            return dict(_PLAIN[hint])
        if origin is Literal:
            return {"type": "string", "enum": list(inner)}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.schema(part) for part in inner]}
        if origin in (list, tuple, AbstractSequence, AbstractCollection, frozenset):
            return {"type": "array", "items": self.schema(inner[0])}
        if origin in (dict, Mapping):
            named = {"propertyNames": {"enum": list(get_args(inner[0]))}} if get_origin(inner[0]) is Literal else {}
            return {"type": "object", "additionalProperties": self.schema(inner[1]) or True, **named}
        if is_dataclass(hint) and isinstance(hint, type):
            return self._refer(hint)
        raise TypeError(f"{hint} has no JSON Schema; declare one with adapt()")

    def _refer(self, kind: type) -> Schema:
        name = kind.__name__
        if self._kinds.setdefault(name, kind) is not kind:
            raise TypeError(f"{kind} and {self._kinds[name]} would both be the schema {name}")
        if name not in self.schemas:
            self.schemas[name] = {}
            declared = shape_of(kind)
            properties = {
                member.key: _described(self.schema(member.hint), declared.about.get(member.key))
                for member in declared.members
            }
            # In a request, fields with a default can be left out.
            required = required_fields(kind) if declared.closed else properties
            self.schemas[name] = object_schema(properties, required, description=getdoc(kind), closed=declared.closed)
        return {"$ref": f"{_REF}{name}"}


def object_schema(
    properties: Mapping[str, Schema],
    required: Any,
    *,
    description: str | None = None,
    closed: bool = False,
) -> Schema:
    """Return the schema of an object; a closed one refuses other keys."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    if names := list(required):
        schema["required"] = names
    if closed:
        schema["additionalProperties"] = False
    return schema if description is None else {**schema, "description": description}


def required_fields(kind: Any) -> list[str]:
    """Return the keys of fields that have no default."""
    stated = [field for field in fields(kind) if (field.default, field.default_factory) == (MISSING, MISSING)]
    return [wire_name(field.name) for field in stated]


def _described(schema: Schema, text: str | None) -> Schema:
    return schema if text is None else {**schema, "description": text}


def _noted(schema: Schema, notes: tuple[Any, ...]) -> Schema:
    for note in notes:
        describe: Callable[[Schema], Schema] | None = getattr(note, "describe", None)
        schema = schema if describe is None else describe(schema)
    return schema
