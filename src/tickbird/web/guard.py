"""What stands before every page: who comes, what they may do, and that it was they who sent a form."""

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
from tickbird.domain.errors import TickbirdError
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
# Each form has it, and each request of a script sends it.
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf"
# While the store cannot be asked, somebody who was let in so lately still sees what they saw before.
_TRUSTED_FOR: Final = 900.0
_MAX_CACHED: Final = 1_000
# A byte of a form takes up to three on its way: a payload that may be stored must get through.
_ENCODED: Final = 3
# Where a page that is shown again says how old it is.
STALE_COMMENT: Final = b"<!--stale-->"


class NoSession(Exception):
    """Nobody that the server knows."""


class PageGuard:
    """Lets visitors in to pages, and shows them what went wrong as a page."""

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
        # By the hash of their session.
        self._callers: SingleFlightCache[str, Caller] = SingleFlightCache(
            from_start(_TRUSTED_FOR), max_entries=_MAX_CACHED
        )
        # Of who needs no session.
        self._secret = secrets.token_hex(32)

    @property
    def tokenless(self) -> bool:
        """Is it open to whoever is at this machine?"""
        return isinstance(self._authority, LocalAuthority)

    async def enter(self, door: PageRoute, request: Request) -> Response:
        """One visit: the page, or a page that says why not."""
        caller: Caller | None = None
        try:
            async with asyncio.timeout(self._limits.body_within + self._limits.answer_within) as timeout:
                request.scope.setdefault("state", {})["timeout"] = timeout
                self._check_site(request)
                caller, sure = await self._caller(request)
                _check_rate(self._paces.take(caller.held))
                form = await self._form(request)
                timeout.reschedule(asyncio.get_running_loop().time() + self._limits.answer_within)
                if not sure:
                    raise _away()
                visit = await self._page_request(door, request, caller, form)
                answer = await door.page(visit)
                if isinstance(answer, RenderedPage):
                    await answer.fill()
                if request.method not in ("GET", "HEAD"):
                    # Whoever did something sees it on the next page, also where nobody follows what happens.
                    self._readings.expire(visit.namespace)
        except NoSession:
            return _to_login(request, shows="GET" in door.methods)
        except (Problem, TickbirdError, TimeoutError, HTTPException) as error:
            return self._refuse(request, caller, problem_from(error))
        except ClientDisconnect:
            raise
        except Exception:
            log.exception("unexpected error in a page")
            return self._refuse(request, caller, unexpected())
        self._remember(request, caller, answer)
        return answer

    def _check_site(self, request: Request) -> None:
        if isinstance(self._authority, LocalAuthority):
            self._authority.check_site(request.scope)
        check_origin(request)

    async def _caller(self, request: Request) -> tuple[Caller, bool]:
        """Who comes; and whether the store could be asked about it."""
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
        """What was sent, if it was sent by a page of ours to this very visitor."""
        if request.method != "POST":
            # No page takes any other, and is asked for what it does.
            return Form([])
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise Problem(415, "not-a-form", "The request is not a form of the dashboard.", hint="Go back to the page.")
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
        """What was sent, if it is no longer and takes no longer than it may."""
        parts, size = [], 0
        async with asyncio.timeout(self._limits.body_within):
            async for part in request.stream():
                size += len(part)
                if size > maximum:
                    raise Problem(413, "too-large", f"The form is larger than {maximum:,} bytes.")
                parts.append(part)
        return b"".join(parts)

    def csrf(self, request: Request) -> str:
        """What only pages of this visitor know: it cannot be told from it who they are."""
        secret = self._secret if self.tokenless else request.cookies.get(SESSION, "")
        return hashlib.blake2b(b"form", key=secret.encode()[:64], digest_size=16).hexdigest()

    async def _page_request(self, door: PageRoute, request: Request, caller: Caller, form: Form) -> PageRequest:
        if not allows(caller.role, door.role):
            raise Problem(
                403,
                "forbidden",
                f"This requires the role {door.role}. Your role is {caller.role}.",
                hint="Log in with another token.",
            )
        asked = request.query_params.get("ns")
        namespace = choose(caller.namespaces, asked if asked is not None else first_namespace(caller))
        client: StoreClient = self._state.clients(namespace)
        # By the store's clock, whatever this machine's says.
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
        """Nobody tries tokens faster than this."""
        _check_rate(self._lookups.take(request.client.host if request.client else ""))

    def forget(self, request: Request) -> None:
        """Somebody has left."""
        text = request.cookies.get(SESSION, "")
        caller = self._callers.drop(hashlib.sha256(text.encode()).hexdigest())
        if caller is not None:
            self._memory.drop_caller(caller.token_id)

    def forget_all(self, key: str) -> None:
        """A token with its sessions, or one session, has ended: nobody who came with it is known any more."""
        self._authority.forget(key)
        for caller in self._callers.drop_values(lambda caller: key in (caller.token_id, caller.session_id)):
            self._memory.drop_caller(caller.token_id)

    def _remember(self, request: Request, caller: Caller, answer: Response) -> None:
        if request.method == "GET" and answer.status_code == 200 and isinstance(answer, HTMLResponse):
            self._memory.put(caller.token_id, _where(request), bytes(answer.body))

    def _refuse(self, request: Request, caller: Caller | None, problem: Problem) -> Response:
        if problem.status == 503 and caller is not None and request.method == "GET":
            kept = self._memory.get(caller.token_id, _where(request))
            if kept is not None:
                return _stale(kept, problem)
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
    """Refuse a form that a page of another site has sent."""
    if request.method in ("GET", "HEAD"):
        return
    origin = request.headers.get("origin")
    if origin is not None and address_parts(origin).netloc.lower() != request.headers.get("host", "").lower():
        raise Problem(
            403, "foreign-origin", f"Origin: {origin[:100]!r} is another site.", hint="Use the dashboard's own pages."
        )


def _to_login(request: Request, *, shows: bool) -> Response:
    """Log in, and come back to where one was; `shows`: what was asked for is a page, whatever was sent to it."""
    root = request.scope.get("root_path", "")
    part = request.headers.get("hx-request") == "true"
    where = _path_of(request, root)
    if request.method not in ("GET", "HEAD") and shows:
        # The page that has the form: its script fills in again what was written.
        asked = [(key, value) for key, value in request.query_params.multi_items() if key != "look"]
        where += f"?{urlencode(asked)}" if asked else ""
    elif request.method not in ("GET", "HEAD"):
        # What was sent cannot be sent again by us; the page that it was sent from can be shown.
        where = _page_of(request.headers.get("referer", ""), root)
    elif part and (shown := request.headers.get("hx-current-url")):
        # A part of a page is no place to come back to.
        where = _page_of(shown, root)
    elif request.url.query:
        where += f"?{request.url.query}"
    to = f"{root}/login?next={quote(where, safe='')}"
    if wants_events(request):
        # The page that listens looks for news, and is sent to the log-in itself.
        return Response(event({}, name="changed"), media_type=STREAM)
    if part:
        return Response(status_code=401, headers={"HX-Redirect": to})
    return RedirectResponse(to, 303)


def _path_of(request: Request, root: str) -> str:
    """The path that was asked for as it was written: a question mark that is part of a name stays one."""
    raw = bytes(request.scope.get("raw_path") or quote(request.scope["path"]).encode()).decode("latin-1")
    return raw.removeprefix(quote(root)) or "/"


def _page_of(address: str, root: str) -> str:
    """The page that a browser says it shows, with all that was asked of it."""
    shown = address_parts(address)
    return (shown.path.removeprefix(root) or "/") + (f"?{shown.query}" if shown.query else "")


def _away() -> Problem:
    return Problem(
        503, "store-unavailable", "The store cannot be used at the moment.", hint="This page retries automatically."
    )


def problem_from(error: Exception) -> Problem:
    """What went wrong, for the page that says so."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, TickbirdError):
        return problem_of(error)
    if isinstance(error, TimeoutError):
        return busy()
    assert isinstance(error, HTTPException)
    return of_status(error.status_code, error.detail, error.headers)


def problem_page(request: Request, problem: Problem, caller: Caller | None) -> Response:
    """A page that says what went wrong, and what to do."""
    root = str(request.scope.get("root_path", ""))
    context = {
        "problem": problem,
        "root": root,
        "where": _path_of(request, root) + (f"?{request.url.query}" if request.url.query else ""),
        "caller": caller,
        # A part of a page shows the sentence where it was asked for.
        "part": request.headers.get("hx-request") == "true",
    }
    return HTMLResponse(render("problem.html", context), problem.status, problem.headers)


def _stale(kept: StalePage, problem: Problem) -> Response:
    banner = render("stale.html", {"age": kept.age, "problem": problem}).encode()
    body = kept.body.replace(STALE_COMMENT, banner, 1).replace(b"<body ", b"<body data-stale ", 1)
    return HTMLResponse(body, 503, {"Retry-After": "2"})
