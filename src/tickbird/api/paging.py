"""Pages by key: `limit` things, behind the one that `after` names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

from fastapi import Query

from tickbird.api.problems import Problem
from tickbird.domain.page_keys import read_key, write_key

__all__ = ["After", "Limit", "page", "read_name", "read_number", "write_key"]

T = TypeVar("T")
MOST: Final = 1_000
_LONGEST_KEY: Final = 1_000

Limit = Annotated[int, Query(ge=1, le=MOST, description="At most so many.")]
After = Annotated[
    str | None, Query(max_length=_LONGEST_KEY, description="The `next` of the page before; the first page without it.")
]


def read_name(key: str | None) -> str:
    """The name behind which a page begins; empty for the first page."""
    if key is None:
        return ""
    place = _read(key)
    # Names are those of things that exist, or may have.
    if not isinstance(place, str) or not place.isprintable():
        raise _no_key(key)
    return place


def read_number(key: str | None) -> int | None:
    """The id behind which a page begins; None for the first page."""
    if key is None:
        return None
    place = _read(key)
    if type(place) is not int or not 0 <= place < 2**63:
        raise _no_key(key)
    return place


def _read(key: str) -> object:
    try:
        return read_key(key)
    except ValueError:
        raise _no_key(key) from None


def page(found: Sequence[T], limit: int, place: Callable[[T], str | int], document: Callable[[T], Any]) -> Any:
    """One page of what was asked for with one more than `limit`."""
    shown = found[:limit]
    following = write_key(place(shown[-1])) if len(found) > limit else None
    return {"items": [document(each) for each in shown], "next": following}


def _no_key(key: str) -> Problem:
    return Problem(
        400,
        "bad-page",
        f"after: {key[:60]!r} is not a key of a page;",
        field="after",
        hint="give the `next` of the page before as it is, or leave it out.",
    )
