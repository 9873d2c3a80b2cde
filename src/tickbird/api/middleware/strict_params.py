"""Refuses parameters that a route does not have, and bodies with duplicate keys."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from fastapi import Request

from tickbird.api.problems import Problem

_PRECONDITION_HEADERS: Final = ("If-Match", "If-None-Match")
# Clients send it with every request, also to routes that are not in a namespace.
_NAMESPACE: Final = "namespace"


@dataclass(frozen=True, slots=True)
class RouteParameters:
    """The parameters and headers that a route reads."""

    query: frozenset[str] = frozenset()
    # Parameters in the query that may be repeated.
    lists: frozenset[str] = frozenset()
    # Preconditions, in lower case.
    headers: frozenset[str] = frozenset()


_NO_PARAMETERS: Final = RouteParameters()


async def reject_unknown_params(request: Request) -> None:
    """Refuse parameters that the route would ignore."""
    valid: RouteParameters = getattr(request.scope["route"], "parameters", _NO_PARAMETERS)
    seen: set[str] = set()
    for name, _ in request.query_params.multi_items():
        if name not in valid.query and name != _NAMESPACE:
            names = sorted({*valid.query, _NAMESPACE})
            close = get_close_matches(name, names, 1)
            hint = f"Did you mean {close[0]}?" if close else f"Valid parameters: {', '.join(names)}."
            raise _wrong(name, "is not a parameter of this path.", hint)
        if name in seen and name not in valid.lists:
            raise _wrong(name, "is given more than once.", "Give it once.")
        seen.add(name)
    if request.method not in ("GET", "HEAD"):
        for name in _PRECONDITION_HEADERS:
            if name in request.headers and name.lower() not in valid.headers:
                why = f"{name}: this request does not support preconditions."
                raise Problem(400, "bad-tag", why, field=name, hint="Leave it out.")


def parse_body(body: bytes) -> Any:
    """Parse JSON; an object with a duplicate key is refused, because one of the two would be ignored."""

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            key = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)[:200]
            why = f"{key}: the body has this key twice in one object."
            raise Problem(400, "malformed", why, field=key, hint="Send it once.")
        return members

    try:
        return json.loads(body, object_pairs_hook=read)
    except (ValueError, RecursionError):
        raise Problem(400, "malformed", "The body is not JSON in UTF-8.", hint="Send one JSON object.") from None


def _wrong(name: str, why: str, hint: str) -> Problem:
    return Problem(422, "invalid", f"{name[:200]} {why}", field=name[:200], hint=hint)
