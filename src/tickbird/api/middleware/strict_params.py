"""What a request asks for: only what its route knows, each once, and numbers as numbers are written."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, get_args, get_origin

from fastapi import Request

from tickbird.api.middleware.timeouts import run_if_large
from tickbird.api.problems import Problem

_NUMBER: Final = re.compile(r"-?[0-9]{1,30}", re.ASCII)
_PRECONDITION_HEADERS: Final = ("If-Match", "If-None-Match")
# Clients say with every request which namespace they are about; some routes are about none.
_ANYWHERE: Final = "namespace"


@dataclass(frozen=True, slots=True)
class RouteParameters:
    """The parameters and headers that a route reads."""

    query: frozenset[str]
    # Preconditions that it honours.
    headers: frozenset[str]
    # Does the framework read a body? Derived routes do so themselves.
    body: bool = False
    # Of hand-written routes: parameters that may be given several times, and those that are numbers.
    lists: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()


async def reject_unknown_params(request: Request) -> None:
    """Refuse what the route would not look at: whoever sends it counts on it."""
    route = request.scope["route"]
    known: RouteParameters | None = getattr(route, "parameters", None)
    if known is None:
        known = route.parameters = _parameters_of(route)
    seen: set[str] = set()
    for name, text in request.query_params.multi_items():
        if name not in known.query and name != _ANYWHERE:
            raise _unknown(name, [*known.query])
        if name in seen and name not in known.lists:
            raise _wrong(name, "is given more than once;", "give it once.")
        seen.add(name)
        _check_number(known, name, text)
    for name in known.numbers.intersection(request.path_params):
        _check_number(known, name, str(request.path_params[name]))
    if request.method not in ("GET", "HEAD"):
        for name in _PRECONDITION_HEADERS:
            if name in request.headers and name.lower() not in known.headers:
                # A conditional change is refused if the route ignores the condition.
                why = f"{name}: this request is not made under a condition;"
                raise Problem(400, "bad-tag", why, field=name, hint="leave it out.")
    if known.body and (body := await request.body()):
        await run_if_large(len(body), parse_body, body)


def _parameters_of(route: Any) -> RouteParameters:
    """The parameters in the signature of a route that is written by hand."""
    query = list(_parameters(route.dependant, "query_params"))
    numbers = [field.alias for field in (*query, *route.dependant.path_params) if int in _kinds(field)]
    return RouteParameters(
        query=frozenset(field.alias for field in query) - {_ANYWHERE},
        headers=frozenset(field.alias.lower() for field in _parameters(route.dependant, "header_params")),
        body=route.body_field is not None,
        lists=frozenset(field.alias for field in query if _is_list(field)),
        numbers=frozenset(numbers),
    )


def _malformed() -> Problem:
    return Problem(400, "malformed", "The body is not JSON in UTF-8.", hint="Send one JSON object.")


def parse_body(body: bytes) -> Any:
    """The JSON value of a body; an object with a duplicate key is refused, because one would be ignored."""

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

    try:
        return json.loads(body, object_pairs_hook=read)
    except (ValueError, RecursionError):
        raise _malformed() from None


def _check_number(known: RouteParameters, name: str, text: str) -> None:
    if name in known.numbers and not _NUMBER.fullmatch(text):
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
