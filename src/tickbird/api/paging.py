"""Pages by key: `limit` things, behind the one that `after` names."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

from fastapi import Query

from tickbird.domain.errors import InvalidError, PageTokenError
from tickbird.wire.page_tokens import NAME_KEY, NUMBER_KEY, read_name_key, read_number_key
from tickbird.wire.parameters import Meta

T = TypeVar("T")
MAX_COUNT: Final = 1_000
_MAX_KEY_LENGTH: Final = 2_000
# Characters. The framework encodes a response in the event loop, so a page must not have a thousand payloads.
_MAX_PAGE: Final = 4_000_000
_NEXT_TEXT: Final = "The `next` of the page before; the first page without it."

LIMIT: Final = Annotated[int, Meta(ge=1, le=MAX_COUNT, description="At most so many.")]
AFTER_NAME: Final = {"type": "string", "maxLength": _MAX_KEY_LENGTH, "pattern": NAME_KEY, "description": _NEXT_TEXT}
AFTER_NUMBER: Final = {**AFTER_NAME, "pattern": NUMBER_KEY}
Limit = Annotated[int, Query(ge=1, le=MAX_COUNT, description="At most so many.")]
AfterName = Annotated[
    str | None,
    Query(max_length=_MAX_KEY_LENGTH, description=_NEXT_TEXT, json_schema_extra={"pattern": NAME_KEY}),
]
AfterNumber = Annotated[
    str | None,
    Query(max_length=_MAX_KEY_LENGTH, description=_NEXT_TEXT, json_schema_extra={"pattern": NUMBER_KEY}),
]


def read_name(key: str | None) -> str:
    """The name behind which a page begins; empty for the first page."""
    try:
        return "" if key is None else read_name_key(_check_length(key))
    except InvalidError:
        raise
    except ValueError as error:
        raise _no_key(str(error)) from None


def read_number(key: str | None) -> int | None:
    """The id behind which a page begins; None for the first page."""
    try:
        return None if key is None else read_number_key(_check_length(key))
    except InvalidError:
        raise
    except ValueError as error:
        raise _no_key(str(error)) from None


def _check_length(key: str) -> str:
    if len(key) > _MAX_KEY_LENGTH:
        raise InvalidError(f"after: must have at most {_MAX_KEY_LENGTH:,} characters.", field="after")
    return key


def _no_key(key: str) -> PageTokenError:
    return PageTokenError(
        f"after: {key[:60]!r} is not a key of a page;",
        field="after",
        hint="give the `next` of the page before as it is, or leave it out.",
    )
