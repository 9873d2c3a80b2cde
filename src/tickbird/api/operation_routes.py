"""REST routes, derived from the declarations of operations."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tickbird.api.auth.auth import Access, Caller, admission, admission_of
from tickbird.api.json_response import MAX_PAGE, dump, dump_items, join_items, json_response
from tickbird.api.middleware.strict_params import RouteParameters
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.api.openapi import describe
from tickbird.api.problems import Problem
from tickbird.api.request_arguments import ArgumentParser
from tickbird.domain.errors import ConflictError, NotFinishedError
from tickbird.domain.sized_cache import SizedCache
from tickbird.wire.codec import encode, encoder
from tickbird.wire.operations import Operation
from tickbird.wire.page_tokens import write_key
from tickbird.wire.schema import Components

# Bytes of JSON texts in the cache.
_MAX_TEXTS: Final = 32_000_000
Serve = Callable[[Request, Any], Awaitable[Response]]


def add_route(router: APIRouter, path: str, tag: str, operation: Operation, components: Components) -> None:
    """Add the route of an operation of the client; `tag` is its noun."""
    parser = ArgumentParser(operation)
    _add(router, path, tag, operation, components, parser.parameters, _Endpoint(tag, operation, parser).serve)


def add_handler(router: APIRouter, path: str, tag: str, handler: Any, components: Components) -> None:
    """Add a route whose declared function returns the response itself, such as a stream."""
    operation: Operation = handler.operation
    parser = ArgumentParser(operation)

    async def serve(request: Request, access: Any) -> Response:
        response: Response = await handler(request, access, **await parser.parse(request))
        return response

    _add(router, path, tag, operation, components, parser.parameters, serve)


def _add(
    router: APIRouter,
    path: str,
    tag: str,
    operation: Operation,
    components: Components,
    parameters: RouteParameters,
    serve: Serve,
) -> None:
    router.add_api_route(
        path,
        _with_role(operation, serve),
        methods=[operation.method],
        operation_id=operation.id,
        summary=operation.summary,
        description=operation.description,
        tags=[tag],
        status_code=operation.status,
        response_model=None,
        response_class=Response,
        openapi_extra=describe(operation, components),
        route_class_override=OperationRoute,
    )
    route = router.routes[-1]
    assert isinstance(route, OperationRoute)
    # The middleware reads these before the endpoint is called.
    route.parameters = parameters
    route.operation = operation
    route.serve = serve


def _with_role(operation: Operation, serve: Serve) -> Any:
    """The endpoint as FastAPI reads it, with the role as a dependency."""

    async def endpoint(request: Request, access: Any) -> Any:
        return await serve(request, access)

    granted = Annotated[Any, Depends(admission(operation.role, operation.scope))]
    parameter = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter("request", annotation=Request), parameter("access", annotation=granted)]
    )
    endpoint.__annotations__ = {}
    endpoint.__name__ = operation.id
    return endpoint


class OperationRoute(APIRoute):
    """A route that parses its own parameters; the only FastAPI dependency that it uses is the role."""

    parameters: RouteParameters
    operation: Operation
    serve: Serve

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Check the role, then serve; a route without a role refuses every caller."""

        async def handle(request: Request) -> Response:
            admit = admission_of(self)
            if admit is None:
                raise Problem(
                    403,
                    "forbidden",
                    "This route has no role, so every request is refused. Declare its role in the code.",
                )
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
    """Calls the method of an operation and writes its result as the response."""

    def __init__(self, noun: str, operation: Operation, parser: ArgumentParser) -> None:
        self._noun = noun
        self._operation = operation
        self._parser = parser
        self._turn = asyncio.Semaphore(1) if operation.exclusive else None
        is_cached = hasattr(operation.result, "cache_key")
        self._texts = SizedCache[Hashable, bytes](_MAX_TEXTS) if is_cached else None
        self._encode = None if operation.result is type(None) else encoder(operation.result)

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
        arguments = {**operation.defaults, **await self._parser.parse(request)}
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
        if operation.response is not None:
            value = await operation.response.load(client, value)
        if wait is not None and operation.method != "GET":
            value = await wait_for_run(request, client, value.id, wait)
        if operation.revokes is not None:
            request.app.state.authority.forget(arguments[operation.revokes])
        return await self._respond(client, value, arguments)

    async def _page(self, request: Request, method: Any, arguments: dict[str, Any]) -> Response:
        """A page of a list; one item more is read, to know whether there is a next page."""
        operation = self._operation
        page: Any = operation.page
        limit, key = self._parser.page(request)
        if operation.cursor is None:
            rows = [row for row in sorted(await method(**arguments), key=page) if key is None or page(row) > key]
        else:
            after = operation.signature.parameters[operation.cursor].default if key is None else key
            rows = await method(**arguments, limit=limit + 1, **{operation.cursor: after})
        parts = await dump_items(rows[:limit], self._dump_row, maximum=MAX_PAGE)
        following = write_key(page(rows[len(parts) - 1])) if len(rows) > len(parts) else None
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
        headers = {} if operation.etag is None else {"ETag": f'"{operation.etag(value)}"'}
        status = 201 if operation.created is not None and operation.created(value) else operation.status
        extras = {key: encode(await compute(client, value, arguments)) for key, compute in operation.extras.items()}
        if operation.is_list:
            parts = await dump_items(value, self._dump_row)
            return Response(join_items(parts, extras), status, headers, "application/json")

        def write() -> Response:
            document = value if self._encode is None or value is None else self._encode(value)
            if operation.envelope is not None:
                document = {operation.envelope: document}
            return json_response({**document, **extras} if extras else document, status, headers)

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
