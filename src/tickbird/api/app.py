"""The API as one ASGI app, to be served by itself or mounted in another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match

from tickbird.api import PREFIX
from tickbird.api.auth.auth import (
    NAMESPACE_PARAMETER,
    SECURITY,
    SECURITY_SCHEME,
    AnyViewer,
    Authority,
    is_namespaced,
    role_of,
)
from tickbird.api.auth.local import LocalAuthority
from tickbird.api.middleware.guard import RequestGuard, RequestLimits
from tickbird.api.middleware.idempotency import DESCRIBED, IdempotencyMiddleware, repeatable
from tickbird.api.operation_routes import add_route
from tickbird.api.problems import MEDIA_TYPE, PROBLEM, Problem, of_status, of_validation, problem_of
from tickbird.api.routes import activity, health, ical, logs, metrics
from tickbird.api.routes.health import ReadinessProbe
from tickbird.api.routes.metrics import MetricsCache
from tickbird.api.streams.activity_feed import ActivityFeed, FeedOptions
from tickbird.api.streams.log_feed import LogFeeds
from tickbird.api.streams.sse import SseConnections
from tickbird.client import NOUNS, StoreClient
from tickbird.client.idempotency import ResponseStore
from tickbird.domain.errors import TickbirdError
from tickbird.domain.runs.logs import LogLine
from tickbird.version import VERSION
from tickbird.wire.operations import operations_of
from tickbird.wire.schema import Components

# Routes that are written by hand: streams, uploads, and what is not JSON. All others are derived.
ROUTERS: Final = (health.router, metrics.router, ical.router, logs.router, activity.router)
# Gives the client of a namespace; making one costs nothing.
Clients = Callable[[str], StoreClient]


def create_api(
    clients: Clients,
    *,
    limits: RequestLimits | None = None,
    pauses: FeedOptions | None = None,
    loopback: str | None = None,
) -> Any:
    """The API on a store that is open; closed to everyone without a token.

    `loopback` names the namespace of those who need none, where nobody else can reach it.
    """
    limits = limits or RequestLimits()
    authority = Authority(clients("default")) if loopback is None else LocalAuthority(clients("default"), loopback)
    app = FastAPI(
        title="Tickbird", version=VERSION, openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.clients = clients
    app.state.components = Components()
    app.state.authority = authority
    app.state.streams = SseConnections(authority, limits)
    app.state.log_feeds = LogFeeds()
    app.state.feed = ActivityFeed(clients("default"), pauses or FeedOptions())
    app.state.readiness = ReadinessProbe(clients("default"))
    app.state.gauges = MetricsCache(clients("default"))
    # The guard comes before it, and with it who calls.
    app.add_middleware(IdempotencyMiddleware, answers=ResponseStore(clients("default")), routes=app.router.routes)
    app.add_middleware(RequestGuard, authority=authority, limits=limits)
    for router in ROUTERS:
        # As they are: each states its whole path and the role that it needs.
        app.router.routes.extend(router.routes)
    derived = APIRouter()
    for noun, kind in NOUNS.items():
        for operation in operations_of(kind).values():
            if operation.routed:
                add_route(derived, noun, operation, app.state.components)
    app.router.routes.extend(derived.routes)
    app.add_api_route(
        f"{PREFIX}/openapi.json", _describe, summary="This API, described", operation_id="openapi", tags=["about"]
    )
    app.add_exception_handler(Problem, _refuse)
    app.add_exception_handler(TickbirdError, _fail)
    app.add_exception_handler(RequestValidationError, _refuse_parameters)
    app.add_exception_handler(HTTPException, _refuse_route)
    return app


async def _describe(request: Request, _: AnyViewer) -> dict[str, Any]:
    """The OpenAPI document."""
    app = request.app
    if not app.openapi_schema:
        app.openapi_schema = await asyncio.to_thread(_write_description, app)
    described: dict[str, Any] = app.openapi_schema
    # Where it is mounted in another app, its paths begin there.
    root = str(request.scope.get("root_path", ""))
    return {**described, "servers": [{"url": root}]} if root else described


def _write_description(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    document.setdefault("components", {})["securitySchemes"] = {"token": SECURITY_SCHEME}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema and role_of(route) is not None:
            for method in route.methods or ():
                described = document["paths"][route.path_format][method.lower()]
                described["security"] = SECURITY
                if is_namespaced(route):
                    described.setdefault("parameters", []).append(dict(NAMESPACE_PARAMETER))
    for route in repeatable(app.routes):
        document["paths"][route.path_format]["post"].setdefault("parameters", []).append(dict(DESCRIBED))
    components: Components = app.state.components
    components.schema(LogLine)
    document.setdefault("components", {}).setdefault("schemas", {}).update(components.schemas)
    return _completed(document)


def _completed(document: dict[str, Any]) -> dict[str, Any]:
    """Everything that is refused is a problem, on every path."""
    schemas = document["components"]["schemas"]
    schemas["Problem"] = PROBLEM
    streamed = schemas["Activity"]
    run = {
        "anyOf": [{"type": "object"}, {"type": "null"}],
        "description": "The run as it was when this was sent, without payload and result.",
    }
    schemas["StreamedActivity"] = {**streamed, "properties": {**streamed["properties"], "run": run}}
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    problem = {
        "description": "It was refused, or cannot be served.",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for methods in document["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = _stated(parameter["schema"])
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = problem
    return document


def _stated(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that may be left out, when it is there: an address and a header have no null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    return (
        {**kinds[0], **{key: value for key, value in schema.items() if key != "anyOf"}} if len(kinds) == 1 else schema
    )


async def _refuse(_: Request, problem: Problem) -> Any:
    return problem.response()


async def _fail(_: Request, error: TickbirdError) -> Any:
    return problem_of(error).response()


async def _refuse_parameters(_: Request, error: Any) -> Any:
    return of_validation(error.errors()).response()


async def _refuse_route(request: Request, error: Any) -> Any:
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # The framework names only the methods of the first route of this path.
        met = (route for route in request.app.router.routes if route.matches(request.scope)[0] != Match.NONE)
        headers["Allow"] = ", ".join(sorted({method for route in met for method in route.methods}))
    return of_status(error.status_code, error.detail, headers).response()
