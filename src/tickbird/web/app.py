"""The ASGI app of the dashboard, and the site that combines it with the API."""

from __future__ import annotations

from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from tickbird.api.app import Clients, create_api
from tickbird.api.middleware.guard import App, Receive, RequestLimits, Scope, Send, path_of
from tickbird.api.problems import Problem
from tickbird.api.streams.activity_feed import FeedOptions
from tickbird.web.actions import consumers as group_actions
from tickbird.web.actions import dead_letters as letter_actions
from tickbird.web.guard import PageGuard
from tickbird.web.live_updates import live
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages import (
    audit,
    backfills,
    bulk,
    consumers,
    dead_letters,
    doctor,
    events,
    held,
    legend,
    load,
    overview,
    run,
    run_log,
    runs,
    schedule,
    schedule_edit,
    schedules,
    sessions,
    settings,
    timezone,
    tokens,
    workers,
)
from tickbird.web.pages.login import Login
from tickbird.web.static_files import asset

# The first route that matches wins.
ROUTES: Final[tuple[PageRoute, ...]] = (
    *overview.ROUTES,
    *bulk.ROUTES,
    *schedule_edit.ROUTES,
    *schedules.ROUTES,
    *load.ROUTES,
    *runs.ROUTES,
    *run_log.ROUTES,
    *run.ROUTES,
    *backfills.ROUTES,
    *held.ROUTES,
    *group_actions.ROUTES,
    *letter_actions.ROUTES,
    *consumers.ROUTES,
    *dead_letters.ROUTES,
    *events.ROUTES,
    *workers.ROUTES,
    *audit.ROUTES,
    *settings.ROUTES,
    *tokens.ROUTES,
    *sessions.ROUTES,
    *doctor.ROUTES,
    *legend.ROUTES,
    *timezone.ROUTES,
    PageRoute("/live", live),
    # Last, because every path below /schedules can be the name of a schedule.
    *schedule.ROUTES,
)
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


def create_web(api: Any, limits: RequestLimits) -> App:
    """Create the pages. They share the store and the state of `api`."""
    guard = PageGuard(api, limits)
    login = Login(guard, api)

    async def handle_http_error(request: Request, error: Exception) -> Response:
        response = await guard.enter(PageRoute("", _missing_page), request)
        if response.status_code == 405 and isinstance(error, HTTPException):
            # The Allow header lists the methods of the page.
            response.headers.update(error.headers or {})
        return response

    routes = [
        Route("/static/{mark}/{name}", asset, methods=["GET"]),
        Route("/login", login.show, methods=["GET"]),
        Route("/login", login.enter, methods=["POST"]),
        PageRoute("/logout", login.leave, methods=("POST",)).route(guard.enter),
        PageRoute("/logout/everywhere", login.leave_everywhere, methods=("GET", "POST")).route(guard.enter),
        PageRoute("/schedules/", _without_slash).route(guard.enter),
        # Bulk actions have no page for GET.
        PageRoute("/bulk/{deed}", _to_schedules).route(guard.enter),
        *(route.route(guard.enter) for route in ROUTES),
    ]
    pages = Starlette(routes=routes, exception_handlers={HTTPException: handle_http_error})
    pages.state = api.state
    pages.router.redirect_slashes = False
    return Secured(pages)


async def _without_slash(visit: PageRequest) -> Response:
    """Redirect to the URL without the trailing slash."""
    query = {key: value for key, value in visit.query.items() if key != "ns"}
    return RedirectResponse(visit.url(f"/{visit.path.strip('/')}", **query), 303)


async def _to_schedules(visit: PageRequest) -> Response:
    return RedirectResponse(visit.url("/schedules"), 303)


async def _missing_page(visit: PageRequest) -> Response:
    if visit.request.method not in ("GET", "HEAD"):
        raise Problem(
            405, "no-such-method", "This page does not accept a form.", hint="Go back to the page that sent it."
        )
    if visit.path.endswith("/"):
        return await _without_slash(visit)
    raise Problem(
        404, "no-such-page", f"The page {visit.path[:200]!r} does not exist.", hint="Continue with one of these pages:"
    )


class Secured:
    """Middleware that adds the security headers to each response."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_secured(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", [])
                has_cache_control = any(key == b"cache-control" for key, _ in headers)
                message = {
                    **message,
                    "headers": [*headers, *_HEADERS, *([] if has_cache_control else [(b"cache-control", b"no-store")])],
                }
            await send(message)

        await self._app(scope, receive, send_secured)


class Site:
    """The API and the dashboard under one URL."""

    def __init__(self, api: Any, web: App) -> None:
        self.state = api.state
        self._api = api
        self._web = web
        # The first path segments of the API.
        self._api_prefixes = frozenset(route.path.split("/")[1] for route in api.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        first = path_of(scope).lstrip("/").partition("/")[0] if scope["type"] == "http" else ""
        await (self._api if first in self._api_prefixes else self._web)(scope, receive, send)


def create_site(
    clients: Clients,
    *,
    limits: RequestLimits | None = None,
    pauses: FeedOptions | None = None,
    loopback: str | None = None,
) -> Site:
    """Create the API and the dashboard on an open store; `loopback` as in `create_api`."""
    limits = limits or RequestLimits()
    api = create_api(clients, limits=limits, pauses=pauses, loopback=loopback)
    return Site(api, create_web(api, limits))
