"""A request for a page, with its caller, namespace, form and URLs, and the routes of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from tickbird.api.auth.auth import Caller
from tickbird.api.auth.namespaces import default_namespace
from tickbird.client import StoreClient
from tickbird.domain.access.tokens import Role, allows
from tickbird.domain.errors import InvalidError
from tickbird.web.dashboard_reads import DashboardReads
from tickbird.web.display_clock import Clock
from tickbird.web.query_cache import QueryCache
from tickbird.web.rendering import render
from tickbird.web.schedule_urls import name_from_path, schedule_path

# A message for the next page.
FLASH_COOKIE: Final = "tickbird_said"
_MAX_FIELDS: Final = 20_000


class Form:
    """The fields of a submitted form; a field can have several values."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of a field, stripped."""
        values = self.all(name)
        return values[-1].strip() if values else default

    def raw(self, name: str) -> str | None:
        """Return the last value of a field, not stripped; None if the field is missing."""
        values = self.all(name)
        return values[-1] if values else None

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def names(self) -> list[str]:
        return list(self._values)

    def __contains__(self, name: str) -> bool:
        return name in self._values


def read_form(body: bytes) -> Form:
    """Parse an URL-encoded body."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS, encoding="utf-8"
        )
    except ValueError:
        raise InvalidError("The form cannot be read.", hint="Reload the page and send the form again.") from None
    # Browsers send CRLF line endings.
    return Form([(key, value.replace("\r\n", "\n")) for key, value in pairs])


class RenderedPage(HTMLResponse):
    """A page that `fill` renders in a thread, because it may show a payload of a megabyte."""

    def __init__(self, template: str, context: Mapping[str, Any], status: int) -> None:
        super().__init__(status_code=status)
        self._template = template
        self._context = context

    async def fill(self) -> None:
        """Render the body. Call it once, before the response is sent."""
        self.body = await asyncio.to_thread(lambda: render(self._template, self._context).encode())
        self.headers["content-length"] = str(len(self.body))


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page, authenticated and with its form."""

    request: Request
    caller: Caller
    namespace: str
    client: StoreClient
    form: Form
    csrf: str
    clock: Clock
    readings: QueryCache
    # True if requests from this machine need no login.
    tokenless: bool = False

    @property
    def actor(self) -> str:
        """The actor for the audit log."""
        return self.caller.actor

    @property
    def query(self) -> Mapping[str, str]:
        query: Mapping[str, str] = self.request.query_params
        return query

    @property
    def by_htmx(self) -> bool:
        """True if htmx requests a part of the page."""
        return bool(self.request.headers.get("hx-request") == "true")

    @property
    def is_sent(self) -> bool:
        """True if a form was submitted; False for a preview of it (`look`)."""
        return bool(self.request.method == "POST" and "look" not in self.query)

    @property
    def root(self) -> str:
        """The mount path of the dashboard; empty at the root."""
        return str(self.request.scope.get("root_path", ""))

    @property
    def path(self) -> str:
        return str(self.request.scope["path"]).removeprefix(self.root)

    @property
    def board(self) -> DashboardReads:
        return DashboardReads(self.client)

    @property
    def own_client(self) -> StoreClient:
        """The client for tokens and sessions, which are audited in the caller's first namespace."""
        client: StoreClient = self.request.app.state.clients(self.namespaces[0] if self.namespaces else "default")
        return client

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """The namespaces that the caller can access; None for all."""
        return self.caller.namespaces

    @property
    def keeps_store(self) -> bool:
        """True if the caller may inspect the complete store: an admin for all namespaces, or a local user."""
        return self.may("admin") and (self.tokenless or self.namespaces is None)

    def has(self, *capabilities: str) -> bool:
        return self.client.store.capabilities.issuperset(capabilities)

    def may(self, role: Role) -> bool:
        return allows(self.caller.role, role)

    def url(self, path: str, **query: object) -> str:
        """Return the URL of a page in this namespace. Parameters that are None or empty are omitted."""
        return page_url(self.root, self.caller, self.namespace, path, query)

    def schedule(self, name: str, below: str = "", **query: object) -> str:
        """Return the URL of the page of a schedule, or of a page `below` it."""
        return self.url(f"{schedule_path(name)}{below}", **query)

    def here(self, **changed: object) -> str:
        """Return the URL of this page with changed parameters; None removes a parameter."""
        query = {key: value for key, value in self.query.items() if key != "ns"}
        return self.url(self.path, **{**query, **changed})

    def param(self, name: str) -> str:
        return str(self.request.path_params[name])

    @property
    def schedule_name(self) -> str:
        """The schedule name in the path."""
        return name_from_path(self.param("name"))

    def number(self, name: str) -> int | None:
        """Return an id from the path; None if it is not a valid id."""
        text = self.param(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None

    def render(self, template: str, *, status: int = 200, **context: Any) -> Response:
        message = self.request.cookies.get(FLASH_COOKIE) if not self.by_htmx else None
        answer = RenderedPage(template, {**context, "visit": self, "message": message}, status)
        if message:
            answer.delete_cookie(FLASH_COOKIE, path=self.root or "/")
        return answer

    def done(self, to: str, message: str = "") -> Response:
        """Redirect after a change, and show a message on the next page."""
        answer: Response = RedirectResponse(to, 303)
        if self.by_htmx:
            # htmx would follow a redirect and insert the page into the current one.
            answer = Response(status_code=204, headers={"HX-Redirect": to})
        if message:
            secure = self.request.url.scheme == "https"
            answer.set_cookie(
                FLASH_COOKIE,
                quote(message[:1_000], errors="replace"),
                max_age=60,
                path=self.root or "/",
                httponly=True,
                samesite="lax",
                secure=secure,
            )
        return answer


def page_url(root: str, caller: Caller, namespace: str, path: str, query: Mapping[str, object]) -> str:
    """Return the URL of a page, with the namespace unless it is the caller's first."""
    pairs = [(key, str(value)) for key, value in query.items() if value is not None and value != ""]
    if namespace != first_namespace(caller):
        pairs.append(("ns", namespace))
    return f"{root}{quote(path, safe='/:@+,~', errors='replace')}" + (
        f"?{urlencode(pairs, errors='replace')}" if pairs else ""
    )


def first_namespace(caller: Caller) -> str:
    """Return the default namespace of a caller, or the first of several."""
    return default_namespace(caller.namespaces) or (caller.namespaces or ())[0]


def address_parts(text: str) -> SplitResult:
    """Split a URL from a request; an invalid URL has empty parts."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def own_path(text: str) -> str:
    """Return a path within the dashboard; `/` for anything else, such as another site."""
    parts = address_parts(text)
    safe = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if safe and not parts.scheme and not parts.netloc and not text.startswith("/login") else "/"


Page = Callable[[PageRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page with its path, methods and required role."""

    path: str
    page: Page
    role: Role = "viewer"
    methods: tuple[str, ...] = ("GET",)

    def route(self, enter: Callable[[PageRoute, Request], Awaitable[Response]]) -> Route:
        """Return the Starlette route that calls `enter`."""

        async def endpoint(request: Request) -> Response:
            return await enter(self, request)

        return Route(self.path, endpoint, methods=list(self.methods))
