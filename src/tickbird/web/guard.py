"""Authentication, authorization and CSRF protection of all pages."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import time
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tickbird.api.auth.auth import Authority, Caller
from tickbird.api.auth.local import LocalAuthority
from tickbird.api.auth.namespaces import choose
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.middleware.rate_limiter import RateLimiter
from tickbird.api.middleware.timeouts import run_if_large
from tickbird.api.problems import Problem, busy, of_status, problem_of, unexpected
from tickbird.api.streams.sse import MEDIA_TYPE as STREAM
from tickbird.api.streams.sse import event, wants_events
from tickbird.client import StoreClient
from tickbird.domain.access.tokens import allows
from tickbird.domain.errors import ConflictError, NotFoundError, TickbirdError
from tickbird.single_flight_cache import SingleFlightCache, from_start
from tickbird.web.display_clock import read_clock
from tickbird.web.live_updates import LiveUpdates
from tickbird.web.page_request import (
    Form,
    PageRequest,
    PageRoute,
    RenderedPage,
    address_parts,
    first_namespace,
    read_form,
)
from tickbird.web.query_cache import QueryCache
from tickbird.web.rendering import render
from tickbird.web.stale_pages import StalePage, StalePageCache

log = logging.getLogger("tickbird.web")
SESSION: Final = "tickbird_session"
# Forms send the field, htmx sends the header.
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf"
# If the store is unavailable, callers authenticated within this time (seconds) still see their cached pages.
_TRUSTED_FOR: Final = 900.0
_MAX_CACHED: Final = 1_000
# URL encoding can triple the size of a form. The limit for payloads applies to the decoded size.
_ENCODED: Final = 3
# Placeholder for the banner that shows the age of a stale page.
STALE_COMMENT: Final = b"<!--stale-->"


class NoSession(Exception):
    """The request has no valid session."""


class PageGuard:
    """Authenticates requests for pages, and renders errors as pages."""

    def __init__(self, api: Any, limits: RequestLimits) -> None:
        self._state = api.state
        self._limits = limits
        self._authority: Authority = api.state.authority
        self._readings = QueryCache()
        api.state.beats = LiveUpdates(api.state.feed, self._readings)
        api.state.gate = self
        self._memory = StalePageCache()
        self._paces = RateLimiter(limits.per_second, limits.burst)
        self._lookups = RateLimiter(limits.lookups_per_second, limits.lookups_burst)
        # Keys are hashes of session tokens.
        self._callers: SingleFlightCache[str, Caller] = SingleFlightCache(
            from_start(_TRUSTED_FOR), max_entries=_MAX_CACHED
        )
        # Derives CSRF tokens if the server needs no login.
        self._secret = secrets.token_hex(32)

    @property
    def tokenless(self) -> bool:
        """True if requests from this machine need no token."""
        return isinstance(self._authority, LocalAuthority)

    async def enter(self, route: PageRoute, request: Request) -> Response:
        """Handle a request for a page; errors become pages too."""
        caller: Caller | None = None
        try:
            async with asyncio.timeout(self._limits.body_within + self._limits.answer_within) as timeout:
                request.scope.setdefault("state", {})["timeout"] = timeout
                self._check_site(request)
                caller, is_verified = await self._caller(request)
                _check_rate(self._paces.take(caller.held))
                form = await self._form(request)
                timeout.reschedule(asyncio.get_running_loop().time() + self._limits.answer_within)
                if not is_verified:
                    raise _store_unavailable()
                visit = await self._page_request(route, request, caller, form)
                response = await route.page(visit)
                if isinstance(response, RenderedPage):
                    await response.fill()
                if request.method not in ("GET", "HEAD"):
                    # The next page must show the change, even if no activity feed runs.
                    self._readings.expire(visit.namespace)
        except NoSession:
            return _to_login(request, shows="GET" in route.methods)
        except (Problem, TickbirdError, TimeoutError, HTTPException) as error:
            if isinstance(error, ConflictError | NotFoundError) and "look" in request.query_params:
                # The form itself may have just made the change; a late preview of it is ignored.
                return Response(status_code=204)
            return self._refuse(request, caller, problem_from(error))
        except ClientDisconnect:
            raise
        except Exception:
            log.exception("unexpected error in a page")
            return self._refuse(request, caller, unexpected())
        self._remember(request, caller, response)
        return response

    def _check_site(self, request: Request) -> None:
        if isinstance(self._authority, LocalAuthority):
            self._authority.check_site(request.scope)
        check_origin(request)

    async def _caller(self, request: Request) -> tuple[Caller, bool]:
        """Return the caller, and False if the store was unavailable and the caller comes from the cache."""
        if self.tokenless:
            return await self._authority.caller(None), True
        text = request.cookies.get(SESSION, "")
        if not text:
            raise NoSession
        mark = hashlib.sha256(text.encode()).hexdigest()
        if not self._authority.remembers_session(text):
            self.check_lookup(request)
        try:
            caller = await self._authority.session(text)
        except Problem:
            self._callers.drop(mark)
            raise NoSession from None
        except TickbirdError:
            cached = self._callers.get(mark)
            if cached is None:
                raise
            return cached, False
        self._callers.put(mark, caller)
        return caller, True

    async def _form(self, request: Request) -> Form:
        """Read the form and check its CSRF token."""
        if request.method != "POST":
            # Pages accept forms only by POST.
            return Form([])
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise Problem(
                415,
                "not-a-form",
                "The request is not a form of the dashboard.",
                hint="Open the page and send the form again.",
            )
        body = await self.body(request, self._limits.body * _ENCODED)
        form = await run_if_large(len(body), read_form, body)
        given = request.headers.get(CSRF_HEADER) or form.raw(CSRF_FIELD) or ""
        if not hmac.compare_digest(given.encode(), self.csrf(request).encode()):
            raise Problem(
                403,
                "foreign-form",
                "This form does not belong to your session. Nothing was changed.",
                hint="Reload the page and send the form again.",
            )
        return form

    async def body(self, request: Request, maximum: int) -> bytes:
        """Read the body within the limits of size and time."""
        parts, size = [], 0
        async with asyncio.timeout(self._limits.body_within):
            async for part in request.stream():
                size += len(part)
                if size > maximum:
                    raise Problem(413, "too-large", f"The form is larger than {maximum:,} bytes.")
                parts.append(part)
        return b"".join(parts)

    def csrf(self, request: Request) -> str:
        """Return the CSRF token of the session. The session cannot be derived from it."""
        secret = self._secret if self.tokenless else request.cookies.get(SESSION, "")
        return hashlib.blake2b(b"form", key=secret.encode()[:64], digest_size=16).hexdigest()

    async def _page_request(self, route: PageRoute, request: Request, caller: Caller, form: Form) -> PageRequest:
        if not allows(caller.role, route.role):
            raise Problem(
                403,
                "forbidden",
                f"This requires the role {route.role}. Your role is {caller.role}.",
                hint="Log in with another token.",
            )
        requested = request.query_params.get("ns")
        namespace = choose(caller.namespaces, requested if requested is not None else first_namespace(caller))
        client: StoreClient = self._state.clients(namespace)
        # The clock of this machine may be wrong.
        read_at, now = await self._readings.share(("", "now"), lambda: _now(client), fresh=10.0)
        request.scope.setdefault("state", {})["caller"] = caller
        return PageRequest(
            request=request,
            caller=caller,
            namespace=namespace,
            client=client,
            form=form,
            csrf=self.csrf(request),
            clock=read_clock(request.cookies, now + timedelta(seconds=time.monotonic() - read_at)),
            readings=self._readings,
            tokenless=self.tokenless,
        )

    def check_lookup(self, request: Request) -> None:
        """Rate-limit attempts to guess tokens."""
        _check_rate(self._lookups.take(request.client.host if request.client else ""))

    def forget(self, request: Request) -> None:
        """Drop the cached caller and pages at logout."""
        text = request.cookies.get(SESSION, "")
        caller = self._callers.drop(hashlib.sha256(text.encode()).hexdigest())
        if caller is not None:
            self._memory.drop_caller(caller.token_id)

    def forget_all(self, key: str) -> None:
        """Drop everything cached for a revoked token or closed session."""
        self._authority.forget(key)
        for caller in self._callers.drop_values(lambda caller: key in (caller.token_id, caller.session_id)):
            self._memory.drop_caller(caller.token_id)

    def _remember(self, request: Request, caller: Caller, response: Response) -> None:
        if request.method == "GET" and response.status_code == 200 and isinstance(response, HTMLResponse):
            self._memory.put(caller.token_id, _where(request), bytes(response.body))

    def _refuse(self, request: Request, caller: Caller | None, problem: Problem) -> Response:
        if problem.status == 503 and caller is not None and request.method == "GET":
            page = self._memory.get(caller.token_id, _where(request))
            if page is not None:
                return _stale(page, problem)
        return problem_page(request, problem, caller)


async def _now(client: StoreClient) -> tuple[float, datetime]:
    before = time.monotonic()
    return before, await client.system.now()


def _where(request: Request) -> str:
    return f"{request.url.path}?{request.url.query}"


def _check_rate(wait: float) -> None:
    if wait > 0:
        raise Problem(429, "too-many", "Too many requests.", hint=f"Wait {wait:.0f} s.", headers={"Retry-After": "5"})


def check_origin(request: Request) -> None:
    """Refuse a form that was sent by a page of another site."""
    if request.method in ("GET", "HEAD"):
        return
    origin = request.headers.get("origin")
    if origin is not None and address_parts(origin).netloc.lower() != request.headers.get("host", "").lower():
        raise Problem(
            403, "foreign-origin", f"Origin: {origin[:100]!r} is another site.", hint="Use the dashboard's own pages."
        )


def _to_login(request: Request, *, shows: bool) -> Response:
    """Redirect to the login and then back; `shows` means that the route also serves GET."""
    root = request.scope.get("root_path", "")
    part = request.headers.get("hx-request") == "true"
    where = _path_of(request, root)
    if request.method not in ("GET", "HEAD") and shows:
        # Return to the page of the form. Its script restores the input.
        query = [(key, value) for key, value in request.query_params.multi_items() if key != "look"]
        where += f"?{urlencode(query)}" if query else ""
    elif request.method not in ("GET", "HEAD"):
        # The form cannot be sent again. Return to the page that sent it.
        where = _page_of(request.headers.get("referer", ""), root)
    elif part and (shown := request.headers.get("hx-current-url")):
        # The request was for a part of a page. Return to the page.
        where = _page_of(shown, root)
    elif request.url.query:
        where += f"?{request.url.query}"
    to = f"{root}/login?next={quote(where, safe='')}"
    if wants_events(request):
        # The event makes the page refresh, and the refresh redirects it to the login.
        return Response(event({}, name="changed"), media_type=STREAM)
    if part:
        return Response(status_code=401, headers={"HX-Redirect": to})
    return RedirectResponse(to, 303)


def _path_of(request: Request, root: str) -> str:
    """Return the path as the client encoded it; an encoded question mark stays encoded."""
    raw = bytes(request.scope.get("raw_path") or quote(request.scope["path"]).encode()).decode("latin-1")
    return raw.removeprefix(quote(root)) or "/"


def _page_of(address: str, root: str) -> str:
    """Return path and query of a URL that the browser reports."""
    shown = address_parts(address)
    return (shown.path.removeprefix(root) or "/") + (f"?{shown.query}" if shown.query else "")


def _store_unavailable() -> Problem:
    return Problem(
        503, "store-unavailable", "The store cannot be used at the moment.", hint="This page retries automatically."
    )


def problem_from(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, TickbirdError):
        return problem_of(error)
    if isinstance(error, TimeoutError):
        return busy()
    assert isinstance(error, HTTPException)
    return of_status(error.status_code, error.detail, error.headers)


def problem_page(request: Request, problem: Problem, caller: Caller | None) -> Response:
    """Render an error as a page, or as a message for htmx."""
    root = str(request.scope.get("root_path", ""))
    context = {
        "problem": problem,
        "root": root,
        "where": _path_of(request, root) + (f"?{request.url.query}" if request.url.query else ""),
        "caller": caller,
        "part": request.headers.get("hx-request") == "true",
    }
    return HTMLResponse(render("problem.html", context), problem.status, problem.headers)


def _stale(page: StalePage, problem: Problem) -> Response:
    banner = render("stale.html", {"age": page.age, "problem": problem}).encode()
    body = page.body.replace(STALE_COMMENT, banner, 1).replace(b"<body ", b"<body data-stale ", 1)
    return HTMLResponse(body, 503, {"Retry-After": "2"})
