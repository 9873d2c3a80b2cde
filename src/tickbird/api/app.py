"""The API as an ASGI app, which can be served or mounted in another app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.routing import Match

from tickbird.api import PREFIX
from tickbird.api.auth.auth import AnyViewer, Authority
from tickbird.api.auth.local import LocalAuthority
from tickbird.api.middleware.guard import RequestGuard, RequestLimits
from tickbird.api.middleware.idempotency import IdempotencyMiddleware
from tickbird.api.openapi import write_description
from tickbird.api.operation_routes import add_handler, add_route
from tickbird.api.problems import Problem, of_status, problem_of
from tickbird.api.routes import activity, health, ical, logs, metrics
from tickbird.api.routes.health import ReadinessProbe
from tickbird.api.routes.metrics import MetricsCache
from tickbird.api.streams.activity_feed import ActivityFeed, FeedOptions
from tickbird.api.streams.log_feed import LogFeeds
from tickbird.api.streams.sse import SseConnections
from tickbird.client import NOUNS, StoreClient
from tickbird.domain.errors import TickbirdError
from tickbird.version import VERSION
from tickbird.wire.operations import operations_of
from tickbird.wire.schema import Components

# Routes that write their own responses: streams and formats other than JSON. All others are derived.
HANDLERS: Final[tuple[tuple[str, str, Any], ...]] = (
    ("/metrics", "health", metrics.metrics),
    ("/calendar.ics", "ticks", ical.calendar),
    (f"{PREFIX}/runs/{{id}}/logs", "runs", logs.read_logs),
    (f"{PREFIX}/activity/stream", "activity", activity.follow_activity),
)
# Returns the client of a namespace; creating one is cheap.
Clients = Callable[[str], StoreClient]


def create_api(
    clients: Clients,
    *,
    limits: RequestLimits | None = None,
    pauses: FeedOptions | None = None,
    loopback: str | None = None,
) -> Any:
    """The API on an open store; every request needs a token.

    With `loopback`, requests from this machine need none, and use that namespace.
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
    # Added before the guard, so it runs after the guard has authenticated the caller.
    app.add_middleware(IdempotencyMiddleware, client=clients("default"), routes=app.router.routes)
    app.add_middleware(RequestGuard, authority=authority, limits=limits)
    app.router.routes.extend(health.router.routes)
    derived = APIRouter()
    for path, tag, handler in HANDLERS:
        add_handler(derived, path, tag, handler, app.state.components)
    for noun, kind in NOUNS.items():
        for operation in operations_of(kind).values():
            if operation.routed:
                add_route(derived, f"{PREFIX}{operation.path}", noun, operation, app.state.components)
    app.router.routes.extend(derived.routes)
    app.add_api_route(
        f"{PREFIX}/openapi.json", _describe, summary="Get the OpenAPI document", operation_id="openapi", tags=["about"]
    )
    app.add_exception_handler(Problem, _refuse)
    app.add_exception_handler(TickbirdError, _fail)
    app.add_exception_handler(HTTPException, _refuse_route)
    return app


async def _describe(request: Request, _: AnyViewer) -> dict[str, Any]:
    """Get the OpenAPI document of this API."""
    app = request.app
    if not app.openapi_schema:
        app.openapi_schema = await asyncio.to_thread(write_description, app)
    described: dict[str, Any] = app.openapi_schema
    # The path under which another app has mounted this one.
    root = str(request.scope.get("root_path", ""))
    return {**described, "servers": [{"url": root}]} if root else described


async def _refuse(_: Request, problem: Problem) -> Any:
    return problem.response()


async def _fail(_: Request, error: TickbirdError) -> Any:
    return problem_of(error).response()


async def _refuse_route(request: Request, error: Any) -> Any:
    headers = dict(error.headers or {})
    if error.status_code == 405:
        # The framework names only the methods of the first route of this path.
        matching = [route for route in request.app.router.routes if route.matches(request.scope)[0] != Match.NONE]
        # /events/batch is not an event, so the methods of /events/{event_id} are not named.
        named = [route for route in matching if "{" not in route.path] or matching
        headers["Allow"] = ", ".join(sorted({method for route in named for method in route.methods}))
    return of_status(error.status_code, error.detail, headers).response()
