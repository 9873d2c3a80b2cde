"""The dashboard as one ASGI app, and the site of which it is the part that people see."""

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
from tickbird.web.guard import PageGuard
from tickbird.web.live_updates import live
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages import (
    audit,
    backfills,
    bulk,
    doctor,
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

# A noun's pages come in here, and nowhere else; the first that fits counts.
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
    *workers.ROUTES,
    *audit.ROUTES,
    *settings.ROUTES,
    *tokens.ROUTES,
    *sessions.ROUTES,
    *doctor.ROUTES,
    *legend.ROUTES,
    *timezone.ROUTES,
    PageRoute("/live", live),
    # Last, since every path below /schedules can be the name of one.
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
    """The pages on the store that an API serves."""
    gate = PageGuard(api, limits)
    login = Login(gate, api)

    async def lost(door_less: Request, error: Exception) -> Response:
        answer = await gate.enter(PageRoute("", _nothing), door_less)
        if answer.status_code == 405 and isinstance(error, HTTPException):
            # Those that the page there takes.
            answer.headers.update(error.headers or {})
        return answer

    routes = [
        Route("/static/{mark}/{name}", asset, methods=["GET"]),
        Route("/login", login.show, methods=["GET"]),
        Route("/login", login.enter, methods=["POST"]),
        PageRoute("/logout", login.leave, methods=("POST",)).route(gate.enter),
        PageRoute("/logout/everywhere", login.leave_everywhere, methods=("GET", "POST")).route(gate.enter),
        PageRoute("/schedules/", _bare).route(gate.enter),
        # What is done to many has no page to come back to.
        PageRoute("/bulk/{deed}", _list).route(gate.enter),
        *(door.route(gate.enter) for door in ROUTES),
    ]
    pages = Starlette(routes=routes, exception_handlers={HTTPException: lost})
    pages.state = api.state
    pages.router.redirect_slashes = False
    return Secured(pages)


async def _bare(visit: PageRequest) -> Response:
    """The page that is meant, where an address ends with a slash."""
    asked = {key: value for key, value in visit.query.items() if key != "ns"}
    return RedirectResponse(visit.url(f"/{visit.path.strip('/')}", **asked), 303)


async def _list(visit: PageRequest) -> Response:
    return RedirectResponse(visit.url("/schedules"), 303)


async def _nothing(visit: PageRequest) -> Response:
    if visit.request.method not in ("GET", "HEAD"):
        raise Problem(405, "no-such-method", "This page accepts no form.", hint="Go back to the page that sent it.")
    if visit.path.endswith("/"):
        return await _bare(visit)
    raise Problem(
        404, "no-such-page", f"There is no page {visit.path[:200]!r}.", hint="Continue with one of these pages:"
    )


class Secured:
    """Says with every answer what a browser may do with it."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def secured(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = message.get("headers", [])
                kept = any(key == b"cache-control" for key, _ in headers)
                message = {
                    **message,
                    "headers": [*headers, *_HEADERS, *([] if kept else [(b"cache-control", b"no-store")])],
                }
            await send(message)

        await self._app(scope, receive, secured)


class Site:
    """The API and the pages of one store, at one address."""

    def __init__(self, api: Any, web: App) -> None:
        self.state = api.state
        self._api = api
        self._web = web
        # All that the API serves begins with one of these.
        self._of_api = frozenset(route.path.split("/")[1] for route in api.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, to whichever it is for."""
        first = path_of(scope).lstrip("/").partition("/")[0] if scope["type"] == "http" else ""
        await (self._api if first in self._of_api else self._web)(scope, receive, send)


def create_site(
    clients: Clients,
    *,
    limits: RequestLimits | None = None,
    pauses: FeedOptions | None = None,
    loopback: str | None = None,
) -> Site:
    """The API and the dashboard on a store that is open; `loopback` as for the API."""
    limits = limits or RequestLimits()
    api = create_api(clients, limits=limits, pauses=pauses, loopback=loopback)
    return Site(api, create_web(api, limits))
