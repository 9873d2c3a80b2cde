"""Arguments of an operation, parsed from a request: path, query, body and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import Request

from tickbird.api.middleware.idempotency import MAX_KEY_LENGTH
from tickbird.api.middleware.strict_params import RouteParameters, parse_body
from tickbird.api.middleware.timeouts import run_if_large
from tickbird.api.problems import Problem
from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import from_micros
from tickbird.wire.arguments import json_reader, text_reader
from tickbird.wire.operations import Operation
from tickbird.wire.page_tokens import (
    NAME_KEY,
    NUMBER_KEY,
    POSITION_KEY,
    read_name_key,
    read_number_key,
    read_position_key,
)
from tickbird.wire.parameters import Meta, check_keys, is_list

MAX_WAIT: Final = 300
MAX_PAGE_TOKEN: Final = 2_000
# The ETag with its quotes, or without, as many clients send it.
ETAG_FORM: Final = r'^(?:\*|"[0-9]{1,9}"|[0-9]{1,9})$'
LIMIT = Annotated[int, Meta(ge=1, le=1_000, description="The maximum number.")]
WAIT_TIME: Final = Annotated[int, Meta(ge=1, le=MAX_WAIT, description="Seconds to wait until the run is final.")]
_read_limit: Final = text_reader(LIMIT)


class ArgumentParser:
    """Parses the arguments of one operation."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._path, self._headers, self._body, self._query = (
            {parameter.key: parameter for parameter in operation.parameters if parameter.place == place}
            for place in ("path", "header", "body", "query")
        )
        self._takes_body = operation.method in ("POST", "PUT", "PATCH")
        self._lists = frozenset(key for key, parameter in self._query.items() if is_list(parameter.hint))
        as_json = {*self._body, *self._lists}
        self._readers = {
            parameter.key: (json_reader if parameter.key in as_json else text_reader)(parameter.hint)
            for parameter in operation.parameters
        }
        self._read_wait = (json_reader if self._takes_body else text_reader)(WAIT_TIME)
        settings = operation.settings
        self._read_none = json_reader(list[Literal[settings]]) if settings else None  # type: ignore[valid-type]
        paging = {"limit", "after"} if operation.page is not None else set()
        wait = {"wait"} if operation.waits and not self._takes_body else set()
        preconditions = {"if-match"} if operation.has("revision") else set()
        preconditions |= {"if-none-match"} if operation.created is not None else set()
        self.parameters = RouteParameters(
            frozenset(self._query) | paging | wait, self._lists, headers=frozenset(preconditions)
        )

    async def parse(self, request: Request) -> dict[str, Any]:
        operation, query, headers = self._operation, request.query_params, request.headers
        read, path = self._readers, request.path_params
        arguments = {parameter.name: read[key](path[key], key) for key, parameter in self._path.items()}
        for key, parameter in self._query.items():
            if key in self._lists:
                arguments[parameter.name] = read[key](query.getlist(key) or None, key)
            elif key in query:
                arguments[parameter.name] = read[key](query[key], key)
            elif parameter.required:
                raise _missing(key)
        for key, parameter in self._headers.items():
            if key in headers:
                arguments[parameter.name] = read[key](headers[key], key)
        if self._takes_body:
            body = await request.body()
            arguments |= self._parse_body(await run_if_large(len(body), parse_body, body) if body else None)
        elif operation.waits and "wait" in query:
            arguments["wait"] = self._read_wait(query["wait"], "wait")
        if operation.has("revision"):
            none_match = None if operation.created is None else headers.get("if-none-match")
            arguments["revision"] = _parse_revision(headers.get("if-match"), none_match)
        if operation.has("idempotency_key"):
            key = arguments["idempotency_key"] = headers.get("idempotency-key")
            if key is not None and not 1 <= len(key) <= MAX_KEY_LENGTH:
                why = f"Idempotency-Key must have 1 to {MAX_KEY_LENGTH} characters."
                raise InvalidError(why, field="Idempotency-Key", hint="Use, for example, a UUID.")
        return arguments

    def _parse_body(self, given: Any) -> dict[str, Any]:
        operation = self._operation
        if given is None and operation.method == "POST":
            given = {}
        if not isinstance(given, dict):
            raise InvalidError("body must be an object.", field="body", hint="Send one JSON object.")
        groups = {key.partition(".")[0] for key in self._body if "." in key}
        own = [key for key in self._body if "." not in key]
        more = [*groups, *(["wait"] if operation.waits else []), *(["none"] if operation.settings else [])]
        check_keys(given, [*own, *more])
        for group in groups:
            known = [key.partition(".")[2] for key in self._body if key.startswith(f"{group}.")]
            given |= _ungroup(group, given, known)
        arguments = {}
        for key, parameter in self._body.items():
            if key in given:
                value = self._readers[key](given[key], key)
                # null means the default, if the type allows null and there is a default.
                if value is not None or parameter.required or parameter.default is None:
                    arguments[parameter.name] = value
            elif parameter.required:
                raise _missing(key)
        for name in () if self._read_none is None else self._read_none(given.get("none", []), "none"):
            if arguments.get(name) is not None:
                raise InvalidError(
                    f"{name} is set and also listed in `none`.", field=name, hint="Leave out one of them."
                )
            arguments[name] = None
        if operation.waits and given.get("wait") is not None:
            arguments["wait"] = self._read_wait(given["wait"], "wait")
        return arguments

    def page(self, request: Request) -> tuple[int, Any]:
        """The limit of a page, and the key of the item before it; None on the first page."""
        query = request.query_params
        limit = _read_limit(query["limit"], "limit") if "limit" in query else 100
        token = query.get("after")
        if token is None:
            return limit, None
        if len(token) > MAX_PAGE_TOKEN:
            raise InvalidError(
                f"after must have at most {MAX_PAGE_TOKEN:,} characters.",
                field="after",
                hint="Send the `next` of the previous page unchanged.",
            )
        match page_key(self._operation):
            case "position":
                return limit, read_position_key(token)
            case "number":
                return limit, read_number_key(token)
            case "instant":
                return limit, from_micros(read_number_key(token))
        return limit, read_name_key(token)


# The patterns of page tokens, by the kind of their key.
PAGE_KEYS: Final = {"name": NAME_KEY, "number": NUMBER_KEY, "instant": NUMBER_KEY, "position": POSITION_KEY}


def page_key(operation: Operation) -> str:
    """The kind of the key of a page, by the type of the cursor."""
    hint = "" if operation.cursor is None else str(operation.hints[operation.cursor])
    kinds = (("EventPosition", "position"), ("datetime", "instant"), ("int", "number"))
    return next((kind for name, kind in kinds if name in hint), "name")


def _parse_revision(match: str | None, none_match: str | None) -> int | None:
    """The revision of If-Match; 0 for `If-None-Match: *`, None for any revision."""
    revision = None
    if match is not None and match.strip() != "*":
        if not re.fullmatch(ETAG_FORM, match.strip()):
            raise Problem(
                400,
                "bad-tag",
                f"If-Match: {match[:60]!r} is not an ETag of this API.",
                field="If-Match",
                hint='Send the ETag of the response, such as "3" in quotes.',
            )
        revision = int(match.strip().strip('"'))
        if not revision:
            raise Problem(
                412,
                "stale",
                "If-Match: there is no revision 0.",
                field="If-Match",
                hint="Send the ETag of the last response.",
            )
    if none_match is None:
        return revision
    if none_match.strip() != "*":
        raise Problem(
            400,
            "bad-tag",
            "If-None-Match must be `*` here.",
            field="If-None-Match",
            hint="Send `If-None-Match: *`, or leave it out.",
        )
    if match is not None:
        raise Problem(
            412,
            "stale",
            "If-None-Match cannot be combined with If-Match, which requires that the object exists.",
            field="If-None-Match",
            hint="Leave out one of them.",
        )
    return 0


def _ungroup(group: str, given: Mapping[str, Any], known: list[str]) -> dict[str, Any]:
    """The members of an object in the body, as `group.key`."""
    if group not in given:
        raise _missing(group)
    members = given[group]
    if not isinstance(members, dict):
        raise InvalidError(f"{group} must be an object.", field=group, hint="Send a JSON object.")
    check_keys(members, known, f"{group}.")
    return {f"{group}.{key}": value for key, value in members.items()}


def _missing(key: str) -> InvalidError:
    return InvalidError(f"{key} is missing.", field=key, hint="Add it to the request.")
