"""The fields of a payload from its JSON Schema, as far as a form can represent them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tickbird.web.rendering import plain

Kind = Literal["text", "integer", "number", "choice", "date", "instant", "json"]

# Further fields go into one JSON text.
MAX_FIELDS: Final = 200
MAX_CHOICES: Final = 500
# Limit for chains of references, which may be cyclic.
_MAX_STEPS: Final = 20
_BOUNDS: Final = (
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("pattern", "matching {}"),
)
_EXAMPLES: Final = {"date": "2026-03-29", "instant": "2026-03-29T03:00:00Z"}
_MISSING: Final = object()
# Limits for the depth and size of JSON examples.
_DEEPEST: Final = 3
_MAX_SKETCH_LENGTH: Final = 120
_MAX_SKETCHED: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PayloadFieldSpec:
    """A field of a payload; `choices` are JSON texts."""

    name: str
    kind: Kind = "json"
    required: bool = False
    nullable: bool = False
    title: str = ""
    description: str = ""
    bounds: str = ""
    example: str = ""
    # The shape of a JSON value: "list of text", "object with name, age".
    shape: str = ""
    choices: tuple[str, ...] = ()
    # JSON text; None without a default.
    default: str | None = None


def payload_fields(schema: Mapping[str, Any] | None) -> tuple[PayloadFieldSpec, ...] | None:
    """Return the fields of a schema, required ones first; None if it has no properties."""
    if not isinstance(schema, Mapping):
        return None
    whole = _resolved(schema, schema)
    properties = whole.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return None
    must = whole.get("required")
    required = {name for name in must if isinstance(name, str)} if isinstance(must, list | tuple) else set()
    fields = [
        _field_spec(name, part, schema, name in required)
        for name, part in properties.items()
        if isinstance(name, str) and len(name) <= 200 and is_plain(name) and "\n" not in name
    ]
    fields.sort(key=lambda field: not field.required)
    return tuple(fields[:MAX_FIELDS])


def takes_others(schema: Mapping[str, Any] | None) -> bool:
    """True if the schema allows additional properties."""
    if not isinstance(schema, Mapping):
        return True
    return _resolved(schema, schema).get("additionalProperties", True) is not False


def is_plain(text: str) -> bool:
    """True if all characters of a text are visible and survive a form."""
    return plain(text, len(text)) == text


def _field_spec(name: str, part: Any, schema: Mapping[str, Any], required: bool) -> PayloadFieldSpec:
    stated = _resolved(part, schema) if isinstance(part, Mapping) else {}
    stated, nullable = _without_null(stated, schema)
    choices = _choices(stated)
    kind = "choice" if choices else _kind(stated)
    default = stated.get("default", _MISSING)
    bounds = [
        words.format(_short(stated[key])) for key, words in _BOUNDS if isinstance(stated.get(key), int | float | str)
    ]
    return PayloadFieldSpec(
        name=name,
        kind=kind,
        required=required,
        nullable=nullable,
        title=_text(stated.get("title")),
        description=_text(stated.get("description")),
        bounds=", ".join(bounds) if kind in ("text", "integer", "number") else "",
        example=_EXAMPLES.get(kind, "") or (_sketch(stated, schema) if kind == "json" else ""),
        shape=_shape(stated, schema) if kind == "json" else "",
        choices=choices,
        default=None if default is _MISSING else _short(default, quoted=True),
    )


def _resolved(part: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Resolve references. Keys next to a reference override those of its target.

    Broken, cyclic and external references are ignored.
    """
    merged: dict[str, Any] = {}
    for _ in range(_MAX_STEPS):
        merged = {**part, **merged}
        whole = part.get("allOf")
        if isinstance(whole, list) and len(whole) == 1 and isinstance(whole[0], Mapping):
            merged.pop("allOf", None)
            part = whole[0]
        elif isinstance(part.get("$ref"), str):
            merged.pop("$ref", None)
            target = _at(part["$ref"], schema)
            if target is None:
                break
            part = target
        else:
            break
    return merged


def _at(reference: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if reference != "#" and not reference.startswith("#/"):
        return None
    target: Any = schema
    for step in reference.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        target = target.get(key) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) else None


def _without_null(stated: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """Return the schema without null, and whether null is allowed."""
    kinds = stated.get("type")
    if isinstance(kinds, list) and "null" in kinds:
        others = [kind for kind in kinds if kind != "null"]
        return {**stated, "type": others[0] if len(others) == 1 else others}, True
    for key in ("anyOf", "oneOf"):
        parts = stated.get(key)
        if isinstance(parts, list) and all(isinstance(part, Mapping) for part in parts):
            others = [part for part in parts if part.get("type") != "null"]
            if len(others) < len(parts):
                rest = {name: value for name, value in stated.items() if name != key}
                return ({**_resolved(others[0], schema), **rest} if len(others) == 1 else {**rest, key: others}), True
    if isinstance(stated.get("enum"), list) and None in stated["enum"]:
        return {**stated, "enum": [choice for choice in stated["enum"] if choice is not None]}, True
    return stated, False


def _choices(stated: Mapping[str, Any]) -> tuple[str, ...]:
    if "const" in stated:
        return (as_json(stated["const"]),)
    listed = stated.get("enum")
    if isinstance(listed, list) and 0 < len(listed) <= MAX_CHOICES:
        return tuple(dict.fromkeys(as_json(value) for value in listed))
    return ("true", "false") if stated.get("type") == "boolean" else ()


def _kind(stated: Mapping[str, Any]) -> Kind:
    kind, form = stated.get("type"), stated.get("format")
    if kind == "string":
        return "date" if form == "date" else "instant" if form == "date-time" else "text"
    return kind if kind == "integer" or kind == "number" else "json"


def _sketch(stated: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return a JSON example: from examples or defaults of the schema, or generated from the types."""
    placeholders = (_placeholder(stated, schema, depth) for depth in range(_DEEPEST, 0, -1))
    texts = (as_json(placeholder) for placeholder in placeholders if placeholder is not None)
    return next((text for text in texts if len(text) <= _MAX_SKETCH_LENGTH), "")


def _placeholder(part: Any, schema: Mapping[str, Any], depth: int) -> Any:
    stated = _without_null(_resolved(part, schema), schema)[0] if isinstance(part, Mapping) else {}
    examples = stated.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    if "const" in stated or stated.get("default") is not None:
        return stated.get("const", stated.get("default"))
    for key in ("enum", "oneOf", "anyOf"):
        if depth >= 0 and isinstance(stated.get(key), list) and stated[key]:
            return stated[key][0] if key == "enum" else _placeholder(stated[key][0], schema, depth - 1)
    fields, items = stated.get("properties"), stated.get("items")
    if depth > 0 and isinstance(fields, Mapping):
        named = [name for name in fields if isinstance(name, str)][:_MAX_SKETCHED]
        return {name: _placeholder(fields[name], schema, depth - 1) for name in named}
    if depth > 0 and isinstance(items, Mapping):
        return [_placeholder(items, schema, depth - 1)]
    kind = stated.get("type")
    return {"string": "text", "integer": 1, "number": 0.5, "boolean": True, "array": [], "object": {}}.get(
        kind if isinstance(kind, str) else ""
    )


def _shape(part: Any, schema: Mapping[str, Any], depth: int = 2) -> str:
    """Describe the shape of a value; empty if the schema does not define it."""
    stated = _without_null(_resolved(part, schema), schema)[0] if isinstance(part, Mapping) else {}
    for key in ("oneOf", "anyOf"):
        parts = stated.get(key)
        if isinstance(parts, list) and depth > 0:
            shapes = [_shape(option, schema, depth - 1) for option in parts[:_MAX_SKETCHED]]
            return " or ".join(dict.fromkeys(shape for shape in shapes if shape))
    kind, fields = stated.get("type"), stated.get("properties")
    if kind == "array" and depth > 0:
        of = _shape(stated.get("items"), schema, depth - 1)
        return f"list of {of}" if of else "list"
    if isinstance(fields, Mapping) and fields and depth > 0:
        must = stated.get("required")
        needed = {*must} if isinstance(must, list) and all(isinstance(name, str) for name in must) else set()
        named = [f"{name}{' (required)' if name in needed else ''}" for name in fields if isinstance(name, str)]
        return f"object with {', '.join(named[:_MAX_SKETCHED])}" + (", …" if len(named) > _MAX_SKETCHED else "")
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    words |= {"array": "list", "object": "object"}
    return words.get(kind, "") if isinstance(kind, str) else ""


def as_json(value: Any, indent: int | None = None) -> str:
    """Return JSON that survives a form: invisible characters are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return text if is_plain(text) else json.dumps(value, indent=indent)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _short(value: Any, *, quoted: bool = False) -> str:
    text = value if isinstance(value, str) and not quoted else as_json(value)
    return text if len(text) <= 100 else f"{text[:99]}…"
