"""One visit of a page: who comes, to which namespace, with what, and how they are answered."""

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

# Said on the next page that is shown, once.
FLASH_COOKIE: Final = "tickbird_said"
_MAX_FIELDS: Final = 20_000


class Form:
    """What was sent with a form: texts by name, some of them more than once."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def text(self, name: str, default: str = "") -> str:
        """The last value of a field, without white space around it."""
        found = self.all(name)
        return found[-1].strip() if found else default

    def raw(self, name: str) -> str | None:
        """The last value of a field as it was sent; None where it was not."""
        found = self.all(name)
        return found[-1] if found else None

    def all(self, name: str) -> list[str]:
        """Every value of a field."""
        return self._values.get(name, [])

    def names(self) -> list[str]:
        """The fields that were sent, each once."""
        return list(self._values)

    def __contains__(self, name: str) -> bool:
        return name in self._values


def read_form(body: bytes) -> Form:
    """The fields of a body as a browser sends it."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS, encoding="utf-8"
        )
    except ValueError:
        raise InvalidError("The form cannot be read.", hint="Send it again from its page.") from None
    # A browser ends lines as e-mail does.
    return Form([(key, value.replace("\r\n", "\n")) for key, value in pairs])


class RenderedPage(HTMLResponse):
    """A page whose template is rendered by `fill`, in a thread: a payload on it may be a megabyte."""

    def __init__(self, template: str, context: Mapping[str, Any], status: int) -> None:
        super().__init__(status_code=status)
        self._template = template
        self._context = context

    async def fill(self) -> None:
        """Render the body; once, before it is sent."""
        self.body = await asyncio.to_thread(lambda: render(self._template, self._context).encode())
        self.headers["content-length"] = str(len(self.body))


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a page is given."""

    request: Request
    caller: Caller
    namespace: str
    client: StoreClient
    form: Form
    csrf: str
    clock: Clock
    readings: QueryCache
    # Whoever is at this machine needs no session, and cannot end one.
    tokenless: bool = False

    @property
    def actor(self) -> str:
        """Who is recorded as having done something."""
        return self.caller.actor

    @property
    def query(self) -> Mapping[str, str]:
        """What the address asks for."""
        asked: Mapping[str, str] = self.request.query_params
        return asked

    @property
    def by_htmx(self) -> bool:
        """Is only a part of the page wanted, by the script of a page that is open?"""
        return bool(self.request.headers.get("hx-request") == "true")

    @property
    def is_sent(self) -> bool:
        """Was a form sent to do something, and not only to see what would be done?"""
        return bool(self.request.method == "POST" and "look" not in self.query)

    @property
    def root(self) -> str:
        """Where the pages begin, in an app that they are mounted in."""
        return str(self.request.scope.get("root_path", ""))

    @property
    def path(self) -> str:
        """The path of this page within the dashboard."""
        return str(self.request.scope["path"]).removeprefix(self.root)

    @property
    def board(self) -> DashboardReads:
        return DashboardReads(self.client)

    @property
    def own_client(self) -> StoreClient:
        """For what the visitor's tokens and sessions are: audited in the first of their namespaces."""
        client: StoreClient = self.request.app.state.clients(self.namespaces[0] if self.namespaces else "default")
        return client

    @property
    def namespaces(self) -> tuple[str, ...] | None:
        """Those that may be visited; None for all."""
        return self.caller.namespaces

    @property
    def keeps_store(self) -> bool:
        """May the visitor look at the whole store, whatever the namespace? As the API has it, and whoever is at it."""
        return self.may("admin") and (self.tokenless or self.namespaces is None)

    def has(self, *capabilities: str) -> bool:
        """Has the store these capabilities?"""
        return self.client.store.capabilities.issuperset(capabilities)

    def may(self, role: Role) -> bool:
        """May the visitor do what needs this role?"""
        return allows(self.caller.role, role)

    def url(self, path: str, **query: object) -> str:
        """The address of a page in this namespace; parts that are None or empty are left out."""
        return page_url(self.root, self.caller, self.namespace, path, query)

    def schedule(self, name: str, below: str = "", **query: object) -> str:
        """The address of the page of a schedule, or of one below it."""
        return self.url(f"{schedule_path(name)}{below}", **query)

    def here(self, **changed: object) -> str:
        """The address of this page with some of what it asks for changed; None takes it away."""
        asked = {key: value for key, value in self.query.items() if key != "ns"}
        return self.url(self.path, **{**asked, **changed})

    def param(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    @property
    def schedule_name(self) -> str:
        """The schedule that the path is about."""
        return name_from_path(self.param("name"))

    def number(self, name: str) -> int | None:
        """A number of the path; None for what is no number that an id can have."""
        text = self.param(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None

    def render(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """A page."""
        said = self.request.cookies.get(FLASH_COOKIE) if not self.by_htmx else None
        answer = RenderedPage(template, {**context, "visit": self, "said": said}, status)
        if said:
            answer.delete_cookie(FLASH_COOKIE, path=self.root or "/")
        return answer

    def done(self, to: str, said: str = "") -> Response:
        """After a change: go to an address, and say there what was done."""
        answer: Response = RedirectResponse(to, 303)
        if self.by_htmx:
            # Followed by the script, a redirect would be shown inside of the page.
            answer = Response(status_code=204, headers={"HX-Redirect": to})
        if said:
            secure = self.request.url.scheme == "https"
            answer.set_cookie(
                FLASH_COOKIE,
                quote(said[:1_000], errors="replace"),
                max_age=60,
                path=self.root or "/",
                httponly=True,
                samesite="lax",
                secure=secure,
            )
        return answer


def page_url(root: str, caller: Caller, namespace: str, path: str, query: Mapping[str, object]) -> str:
    """The address of a page; the namespace stands in it where it is not the one that the caller comes to first."""
    asked = [(key, str(value)) for key, value in query.items() if value is not None and value != ""]
    if namespace != first_namespace(caller):
        asked.append(("ns", namespace))
    return f"{root}{quote(path, safe='/:@+,~', errors='replace')}" + (
        f"?{urlencode(asked, errors='replace')}" if asked else ""
    )


def first_namespace(caller: Caller) -> str:
    """Where a caller begins: as a request of the API that names no namespace, or at the first of several."""
    return default_namespace(caller.namespaces) or (caller.namespaces or ())[0]


def address_parts(text: str) -> SplitResult:
    """The parts of an address that somebody sent; none where it is no address at all."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def own_path(text: str) -> str:
    """A place of ours to go to, as a link or a form says; the first page for anything else."""
    parts = address_parts(text)
    safe = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if safe and not parts.scheme and not parts.netloc and not text.startswith("/login") else "/"


Page = Callable[[PageRequest], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PageRoute:
    """A page, the path and the methods that lead to it, and the role that it needs."""

    path: str
    page: Page
    role: Role = "viewer"
    methods: tuple[str, ...] = ("GET",)

    def route(self, enter: Callable[[PageRoute, Request], Awaitable[Response]]) -> Route:
        """How the framework knows it."""

        async def endpoint(request: Request) -> Response:
            return await enter(self, request)

        return Route(self.path, endpoint, methods=list(self.methods))
