"""Parts that JSON Schemas are built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tickbird.domain.text import NAME as _NAME

Schema = dict[str, Any]

NAME: Final[Schema] = {"type": "string", "pattern": f"^{_NAME.pattern}$"}
INSTANT: Final[Schema] = {"type": "string", "format": "date-time", "description": "An instant with a UTC offset."}
DATE: Final[Schema] = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
DURATION_TEXT: Final[Schema] = {
    "type": "string",
    "format": "length-of-time",
    "pattern": r"^(?=.)(\d{1,9}w)?(\d{1,9}d)?(\d{1,9}h)?(\d{1,9}m)?(\d{1,9}s)?$",
    "description": 'A duration, such as "90s" or "1h30m".',
}
# The forms that users write in files.
WRITTEN_DURATION: Final[Schema] = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": "^(?=.)([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$"},
    ]
}
WRITTEN_INSTANT: Final[Schema] = {
    "type": "string",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?$",
}


def number_schema(minimum: int, maximum: int) -> Schema:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


def text_schema(maximum: int, minimum: int = 0) -> Schema:
    return {"type": "string", "minLength": minimum, "maxLength": maximum}


def object_schema(fields: Mapping[str, Schema], description: str = "", needed: Sequence[str] | None = None) -> Schema:
    """Return the schema of an object with exactly these fields; all are required unless `needed` is given."""
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": fields,
        "required": list(fields if needed is None else needed),
        "additionalProperties": False,
    }


def one_or_more(item: Schema, maximum: int | None = None) -> Schema:
    """Return the schema of an item or a list of items."""
    several: Schema = {"type": "array", "items": item}
    return {"anyOf": [item, several | ({"maxItems": maximum} if maximum else {})]}
