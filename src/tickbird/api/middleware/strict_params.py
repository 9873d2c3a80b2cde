"""What a request asks for: only what its route knows, each once, and numbers as numbers are written."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final, get_args, get_origin

from fastapi import Request

from tickbird.api.middleware.timeouts import run_if_large
from tickbird.api.problems import Problem

_NUMBER: Final = re.compile(r"-?[0-9]{1,30}", re.ASCII)
_PRECONDITION_HEADERS: Final = ("If-Match", "If-None-Match")
# Clients say with every request which namespace they are about; some routes are about none.
_ANYWHERE: Final = "namespace"


async def reject_unknown_params(request: Request) -> None:
    """Refuse what the route would not look at: whoever sends it counts on it."""
    route = request.scope["route"]
    known = {each.alias: each for each in _parameters(route.dependant, "query_params")}
    given = request.query_params.multi_items()
    seen: set[str] = set()
    for name, text in given:
        if name not in known and name != _ANYWHERE:
            raise _unknown(name, [*known])
        if name in seen and not _is_list(known.get(name)):
            raise _wrong(name, "is given more than once;", "give it once.")
        seen.add(name)
        _check_number(known.get(name), name, text)
    for field in route.dependant.path_params:
        _check_number(field, field.alias, str(request.path_params.get(field.alias, "")))
    _check_preconditions(request, route)
    if route.body_field is not None and (body := await request.body()):
        await run_if_large(len(body), _check_unique, body)


def _check_preconditions(request: Request, route: Any) -> None:
    """A change that was only to be made under a condition is not made without looking at it."""
    if request.method in ("GET", "HEAD"):
        return
    honoured = {each.alias.lower() for each in _parameters(route.dependant, "header_params")}
    for name in _PRECONDITION_HEADERS:
        if name in request.headers and name.lower() not in honoured:
            raise Problem(
                400, "bad-tag", f"{name}: this request is not made under a condition;", field=name, hint="leave it out."
            )


def _check_unique(body: bytes) -> None:
    """A key that is there twice means one of two things, and nobody knows which."""

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)[:200]
            raise Problem(
                400,
                "malformed",
                f"{twice}: the body has this key twice in one object;",
                field=twice,
                hint="send it once.",
            )
        return found

    json.loads(body, object_pairs_hook=read)


def _check_number(field: Any, name: str, text: str) -> None:
    if field is not None and int in _kinds(field) and not _NUMBER.fullmatch(text):
        raise _wrong(name, f"{text[:60]!r} is not a whole number;", "write it in digits, such as 10.")


def _parameters(dependant: Any, kind: str) -> Iterator[Any]:
    """Those of a route and of what it depends on."""
    yield from getattr(dependant, kind)
    for each in dependant.dependencies:
        yield from _parameters(each, kind)


def _is_list(field: Any) -> bool:
    return field is not None and any(get_origin(kind) is list for kind in _kinds(field))


def _kinds(field: Any) -> tuple[Any, ...]:
    """The type of a parameter, or the types that it may have."""
    stated = field.field_info.annotation
    return (stated,) if get_origin(stated) is list else (stated, *get_args(stated))


def _unknown(name: str, known: list[str]) -> Problem:
    close = get_close_matches(name, [*known, _ANYWHERE], 1)
    hint = f"did you mean {close[0]}?" if close else f"it takes {', '.join(sorted({*known, _ANYWHERE}))}."
    return _wrong(name, "is not a parameter of this path;", hint)


def _wrong(name: str, why: str, hint: str) -> Problem:
    shown = name[:200]
    return Problem(422, "invalid", f"{shown}: {why}", field=shown, hint=hint)
