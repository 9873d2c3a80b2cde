"""REST routes with their OpenAPI description, derived from the declarations of operations."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Access, Caller, admission, admission_of
from tickbird.api.etags import IF_MATCH, IF_NONE_MATCH, etag, parse_if_match, read_either
from tickbird.api.json_response import MAX_PAGE, dump, dump_items, join_items, json_response
from tickbird.api.middleware.idempotency import MAX_KEY_LENGTH
from tickbird.api.middleware.strict_params import RouteParameters, parse_body
from tickbird.api.middleware.timeouts import extend_timeout, run_if_large
from tickbird.api.paging import AFTER_NAME, AFTER_NUMBER, LIMIT, read_name, read_number
from tickbird.api.problems import Problem
from tickbird.domain.access.tokens import TOKEN_ID_LENGTH
from tickbird.domain.errors import ConflictError, InvalidError, NotFinishedError
from tickbird.domain.sized_cache import SizedCache
from tickbird.domain.time.instants import from_micros
from tickbird.wire.codec import encode, encoder
from tickbird.wire.operations import Operation, Parameter
from tickbird.wire.page_tokens import write_key
from tickbird.wire.parameters import Meta, check_keys, read_text, read_value
from tickbird.wire.schema import Components, Schema, object_schema

MAX_WAIT: Final = 300
# Bytes of JSON texts in the cache.
_MAX_TEXTS: Final = 32_000_000
_DEFAULT_PAGE: Final = 100
_RUN_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key again gives the same run.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH},
}
_WAIT_TIME: Final = Annotated[int, Meta(ge=1, le=MAX_WAIT, description="Seconds to wait until the run is final.")]
_WAIT: Final = {
    "anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_WAIT}, {"type": "null"}],
    "description": "Seconds to wait until the run is final; the response has the run as it is by then.",
}


def add_route(router: APIRouter, noun: str, operation: Operation, components: Components) -> None:
    """Add the route of an operation; its role is a dependency of the route, as for routes written by hand."""
    endpoint = _Endpoint(noun, operation)
    router.add_api_route(
        f"{PREFIX}{operation.path}",
        endpoint.function(),
        methods=[operation.method],
        operation_id=operation.id,
        summary=operation.summary,
        description=operation.description,
        tags=[noun],
        status_code=operation.status,
        response_model=None,
        openapi_extra=describe(operation, components),
        route_class_override=OperationRoute,
    )
    route = router.routes[-1]
    assert isinstance(route, OperationRoute)
    # The middleware reads these before the endpoint is called.
    route.parameters = endpoint.parameters
    route.operation = operation
    route.serve = endpoint.serve


class OperationRoute(APIRoute):
    """A route that parses its own parameters; the only FastAPI dependency that it uses is the role."""

    parameters: RouteParameters
    operation: Operation
    serve: Callable[[Request, Access | Caller], Awaitable[Response]]

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the role, then serve; a route without a role refuses every caller."""

        async def handle(request: Request) -> Response:
            admit = admission_of(self)
            if admit is None:
                raise Problem(403, "forbidden", "route: has no role, so every request is refused. Declare its role.")
            return await self.serve(request, await admit(request))

        return handle

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve without the exit stacks of FastAPI, which only dependencies that yield need."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        response = await self._handler(Request(scope, receive, send))
        await response(scope, receive, send)

    @cached_property
    def _handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        return self.get_route_handler()


class _Endpoint:
    def __init__(self, noun: str, operation: Operation) -> None:
        self._noun = noun
        self._operation = operation
        self._body = {parameter.key: parameter for parameter in operation.parameters if parameter.place == "body"}
        self._query = {parameter.key: parameter for parameter in operation.parameters if parameter.place == "query"}
        self._path = [parameter for parameter in operation.parameters if parameter.place == "path"]
        self._takes_body = operation.method in ("POST", "PUT", "PATCH")
        self._waits = operation.waits
        headers = {"if-match"} if operation.has("revision") else set()
        if operation.created is not None:
            headers.add("if-none-match")
        paging = ["limit", "after"] if operation.page is not None else []
        if self._waits and not self._takes_body:
            paging.append("wait")
        self.parameters = RouteParameters(query=frozenset([*self._query, *paging]), headers=frozenset(headers))
        self._turn = asyncio.Semaphore(1) if operation.exclusive else None
        kept = hasattr(operation.result, "cache_key")
        self._texts = SizedCache[Hashable, bytes](_MAX_TEXTS) if kept else None
        self._encode = None if operation.result is type(None) else encoder(operation.result)

    def function(self) -> Any:
        """The function that FastAPI calls, with the role as a dependency."""

        async def endpoint(request: Request, access: Any) -> Any:
            return await self.serve(request, access)

        granted = Annotated[Any, Depends(admission(self._operation.role, self._operation.scope))]
        kind = inspect.Parameter.KEYWORD_ONLY
        endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter("request", kind, annotation=Request),
                inspect.Parameter("access", kind, annotation=granted),
            ]
        )
        endpoint.__annotations__ = {}
        endpoint.__name__ = self._operation.id
        return endpoint

    async def serve(self, request: Request, access: Access | Caller) -> Response:
        operation = self._operation
        if operation.timeout:
            extend_timeout(request, operation.timeout)
        caller, client = (
            (access.caller, access.client)
            if isinstance(access, Access)
            # A change of a token for all namespaces is audited in the first namespace of the caller.
            else (access, request.app.state.clients(access.namespaces[0] if access.namespaces else "default"))
        )
        arguments = {**operation.defaults, **await self._arguments(request)}
        wait = arguments.pop("wait", None)
        if operation.has("actor"):
            arguments["actor"] = caller.actor
        if operation.has("within"):
            arguments["within"] = caller.namespaces
        if operation.has("granted"):
            arguments["granted"] = caller.role
        method = getattr(getattr(client, self._noun), operation.name)
        if operation.page is not None:
            return await self._page(request, method, arguments)
        if wait is not None and operation.method == "GET":
            await wait_for_run(request, client, arguments["run_id"], wait)
        with _scoped_key(caller, arguments):
            if self._turn is None:
                value = await method(**arguments)
            else:
                async with self._turn:
                    value = await method(**arguments)
        if operation.shown is not None:
            value = await operation.shown.load(client, value)
        if wait is not None and operation.method != "GET":
            value = await wait_for_run(request, client, value.id, wait)
        if operation.revokes is not None:
            request.app.state.authority.forget(arguments[operation.revokes])
        return await self._respond(client, value, arguments)

    async def _arguments(self, request: Request) -> dict[str, Any]:
        arguments = {path.name: read_text(path.hint, request.path_params[path.key], path.key) for path in self._path}
        query = request.query_params
        for key, parameter in self._query.items():
            if key in query:
                arguments[parameter.name] = read_text(parameter.hint, query[key], key)
            elif parameter.required:
                raise _missing(key)
        if self._takes_body:
            body = await request.body()
            arguments |= self._read_body(await run_if_large(len(body), parse_body, body) if body else None)
        elif self._waits and "wait" in query:
            arguments["wait"] = read_text(_WAIT_TIME, query["wait"], "wait")
        operation = self._operation
        if operation.has("revision"):
            match, none = request.headers.get("if-match"), request.headers.get("if-none-match")
            arguments["revision"] = parse_if_match(match) if operation.created is None else read_either(match, none)
        if operation.has("idempotency_key"):
            arguments["idempotency_key"] = _run_key(request)
        return arguments

    def _read_body(self, given: Any) -> dict[str, Any]:
        if given is None and self._operation.method == "POST":
            given = {}
        if not isinstance(given, dict):
            raise InvalidError("body: must be an object.", field="body", hint="Send one JSON object.")
        groups = {key.partition(".")[0] for key in self._body if "." in key}
        own = [key for key in self._body if "." not in key]
        more = [*groups, *(["wait"] if self._waits else []), *(["none"] if self._operation.settings else [])]
        check_keys(given, [*own, *more])
        for group in groups:
            given |= _ungroup(
                group, given, [key.partition(".")[2] for key in self._body if key.startswith(f"{group}.")]
            )
        arguments = {}
        for key, parameter in self._body.items():
            if key in given:
                value = read_value(parameter.hint, given[key], key)
                # null stands for the default, if the type allows null.
                if value is not None or parameter.default is None:
                    arguments[parameter.name] = value
            elif parameter.required:
                raise _missing(key)
        settings = self._operation.settings
        for name in read_value(list[Literal[settings]], given.get("none", []), "none") if settings else ():  # type: ignore[valid-type]
            if arguments.get(name) is not None:
                raise InvalidError(f"{name}: is set, and listed in `none`;", field=name, hint="leave out one of them.")
            arguments[name] = None
        if self._waits and given.get("wait") is not None:
            arguments["wait"] = _read_wait(given["wait"])
        return arguments

    async def _page(self, request: Request, method: Any, arguments: dict[str, Any]) -> Response:
        """A page of a list; one item more is read, to know whether there is a next page."""
        operation, query = self._operation, request.query_params
        assert operation.page is not None
        limit = read_text(LIMIT, query["limit"], "limit") if "limit" in query else _DEFAULT_PAGE
        cursor = operation.cursor
        token = query.get("after")
        numbered = _is_numbered(operation)
        key: Any = read_number(token) if numbered else read_name(token)
        if cursor is not None and "datetime" in str(operation.hints[cursor]):
            key = from_micros(key)
        if cursor is None:
            page: Callable[[Any], Any] = operation.page
            rows = [row for row in sorted(await method(**arguments), key=page) if token is None or page(row) > key]
        else:
            default = operation.signature.parameters[cursor].default
            rows = await method(**arguments, limit=limit + 1, **{cursor: default if token is None else key})
        parts = await dump_items(rows[:limit], self._dump_row, maximum=MAX_PAGE)
        following = write_key(operation.page(rows[len(parts) - 1])) if len(rows) > len(parts) else None
        return Response(join_items(parts, {"next": following}), media_type="application/json")

    def _dump_row(self, row: Any) -> bytes:
        """The JSON text of an item, from the cache if the item has not changed."""
        key = row.cache_key if self._texts is not None else None
        text = None if key is None or self._texts is None else self._texts.get(key)
        if text is None:
            text = dump(row if self._encode is None else self._encode(row))
            if key is not None and self._texts is not None:
                self._texts.put(key, text, len(text))
        return text

    async def _respond(self, client: Any, value: Any, arguments: Mapping[str, Any]) -> Response:
        operation = self._operation
        if operation.result is type(None):
            return Response(status_code=operation.status)
        headers = {} if operation.etag is None else {"ETag": etag(operation.etag(value))}
        status = 201 if operation.created is not None and operation.created(value) else operation.status
        beside = {key: encode(await compute(client, value, arguments)) for key, compute in operation.beside.items()}
        if operation.is_list:
            parts = await dump_items(value, self._dump_row)
            return Response(join_items(parts, beside), status, headers, "application/json")

        def write() -> Response:
            document = value if self._encode is None or value is None else self._encode(value)
            if operation.envelope is not None:
                document = {operation.envelope: document}
            return json_response({**document, **beside} if beside else document, status, headers)

        # The result of a slow operation may be large.
        return await asyncio.to_thread(write) if operation.timeout else write()


async def wait_for_run(request: Request, client: Any, run_id: int, wait: int) -> Any:
    """Wait until a run is final, at most `wait` seconds; returns the run in either case."""
    extend_timeout(request, wait)
    try:
        return await client.runs.wait(run_id, timeout=wait)
    except NotFinishedError:
        return await client.runs.get(run_id)


@contextmanager
def _scoped_key(caller: Caller, arguments: dict[str, Any]) -> Iterator[None]:
    """Prefix the idempotency key with the caller's token, and show the key without it in errors."""
    key = arguments.get("idempotency_key")
    if key is None:
        yield
        return
    own = arguments["idempotency_key"] = f"{caller.token_id}:{key}"
    try:
        yield
    except ConflictError as error:
        error.message = error.message.replace(repr(own), repr(key))
        raise


def _ungroup(group: str, given: Mapping[str, Any], known: list[str]) -> dict[str, Any]:
    """The members of an object in the body, as `group.key`."""
    if group not in given:
        raise _missing(group)
    members = given[group]
    if not isinstance(members, dict):
        raise InvalidError(f"{group}: must be an object.", field=group)
    check_keys(members, known, f"{group}.")
    return {f"{group}.{key}": value for key, value in members.items()}


def _is_numbered(operation: Operation) -> bool:
    """Is the key of a page a number or an instant, rather than a name?"""
    hint = "" if operation.cursor is None else str(operation.hints[operation.cursor])
    return "int" in hint or "datetime" in hint


def _run_key(request: Request) -> str | None:
    key: str | None = request.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= 200 - TOKEN_ID_LENGTH - 1:
        raise InvalidError(f"Idempotency-Key: must have 1 to {MAX_KEY_LENGTH} characters.", field="Idempotency-Key")
    return key


def _read_wait(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_WAIT:
        raise InvalidError(f"wait: must be a whole number from 1 to {MAX_WAIT}.", field="wait")
    return value


def _missing(key: str) -> InvalidError:
    return InvalidError(f"{key}: is missing.", field=key)


def describe(operation: Operation, components: Components) -> dict[str, Any]:
    """The OpenAPI description of an operation: parameters, body and responses."""
    described: dict[str, Any] = {"responses": _responses(operation, components)}
    parameters = [_parameter(item, components) for item in operation.parameters if item.place in ("path", "query")]
    if operation.page is not None:
        numbered = _is_numbered(operation)
        parameters += [
            _query("limit", {**components.schema(LIMIT), "default": _DEFAULT_PAGE}),
            _query("after", dict(AFTER_NUMBER if numbered else AFTER_NAME)),
        ]
    if operation.waits and operation.method == "GET":
        parameters.append(_query("wait", components.schema(_WAIT_TIME)))
    if operation.has("revision"):
        parameters.append(dict(IF_MATCH))
        if operation.created is not None:
            parameters.append(dict(IF_NONE_MATCH))
    if operation.has("idempotency_key"):
        parameters.append(dict(_RUN_KEY))
    if parameters:
        described["parameters"] = parameters
    if (body := _body(operation, components)) is not None:
        described["requestBody"] = body
    return described


def _body(operation: Operation, components: Components) -> dict[str, Any] | None:
    sent = [parameter for parameter in operation.parameters if parameter.place == "body"]
    if operation.method in ("GET", "DELETE") or (not sent and not operation.waits):
        return None
    properties: dict[str, Schema] = {}
    for parameter in sent:
        group, _, key = parameter.key.partition(".")
        schema = _with_default(_of_request(components.schema(parameter.hint)), parameter)
        if parameter.required:
            schema = _without_null(schema)
        if key:
            properties.setdefault(group, object_schema({}, (), closed=True))["properties"][key] = schema
        else:
            properties[parameter.key] = schema
    if operation.waits:
        properties["wait"] = dict(_WAIT)
    if operation.settings:
        names = {"type": "array", "items": {"type": "string", "enum": list(operation.settings)}}
        properties["none"] = {**names, "description": "Settings that have no value, even if the task declares one."}
    needed = [*{item.key.partition(".")[0]: None for item in sent if item.required or "." in item.key}]
    schema = object_schema(properties, needed, closed=True)
    required = bool(needed) or operation.method != "POST"
    if not required:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {"content": {"application/json": {"schema": schema}}, **({"required": True} if required else {})}


def _of_request(schema: Schema) -> Schema:
    """The schema of a request, in which an instant has a maximum length."""
    if schema.get("format") == "date-time":
        return {**schema, "maxLength": 60}
    if "anyOf" in schema:
        return {**schema, "anyOf": [_of_request(kind) for kind in schema["anyOf"]]}
    return schema


def _with_default(schema: Schema, parameter: Parameter) -> Schema:
    default = None if parameter.required else parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, type)
    return {**schema, "default": default} if plain else schema


def _responses(operation: Operation, components: Components) -> dict[str, Any]:
    if operation.result is type(None):
        return {str(operation.status): {"description": "Successful Response"}}
    value = components.schema(operation.result)
    beside = {
        key: components.schema(inspect.get_annotations(compute, eval_str=True)["return"])
        for key, compute in operation.beside.items()
    }
    if operation.is_list:
        paged: dict[str, Schema] = {"next": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": _NEXT}}
        properties: dict[str, Schema] = {
            "items": {"type": "array", "items": value},
            **(paged if operation.page else {}),
            **beside,
        }
        value = object_schema(properties, properties)
    elif operation.envelope is not None:
        properties = {operation.envelope: value, **beside}
        value = object_schema(properties, properties)
    elif beside:
        value = {"allOf": [value, object_schema(beside, beside)]}
    content = {"content": {"application/json": {"schema": value}}}
    responses = {str(operation.status): {"description": "Successful Response", **content}}
    for status, text in operation.responses.items():
        responses[str(status)] = {"description": text, **content}
    return responses


_NEXT: Final = "The `after` of the next page; null on the last."


def _parameter(parameter: Parameter, components: Components) -> dict[str, Any]:
    schema = _with_default(_without_null(_of_request(components.schema(parameter.hint))), parameter)
    if parameter.place == "query":
        return _query(parameter.key, schema, required=parameter.required)
    return {"name": parameter.key, "in": "path", "required": True, "schema": schema}


def _query(name: str, schema: Schema, *, required: bool = False) -> dict[str, Any]:
    described = {"description": schema["description"]} if "description" in schema else {}
    return {"name": name, "in": "query", "required": required, "schema": schema, **described}


def _without_null(schema: Schema) -> Schema:
    """The schema of a parameter in a URL, which can be left out but cannot be null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**kinds[0], **rest} if len(kinds) == 1 else schema
