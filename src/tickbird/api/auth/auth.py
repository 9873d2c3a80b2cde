"""Who calls: a bearer token or a browser's session, what its role may do, and what each route asks for."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Final

from fastapi import Depends, Request

from tickbird.api.auth.namespaces import choose
from tickbird.api.middleware.strict_params import reject_unknown_params
from tickbird.api.problems import Problem
from tickbird.client import StoreClient
from tickbird.domain.access.sessions import SessionRecord, parse_session
from tickbird.domain.access.tokens import USE_NOTED_EVERY, Namespaces, Role, TokenRecord, allows, holder, parse_token
from tickbird.domain.errors import TickbirdError
from tickbird.domain.schedules.json_schema import NAME
from tickbird.single_flight_cache import SingleFlightCache, from_start
from tickbird.wire.operations import Scope

# A look-up is reused for this long; after that, a token that was revoked or a session that was closed is refused.
TTL_SECONDS: Final = 1.0
_MAX_CACHED: Final = 10_000
# Those who listen are asked about together every second; one such question may be late.
_RECHECK_SECONDS: Final = 2 * TTL_SECONDS
# The role that each dependency asks for; a route without one of them is closed, and a test finds it.
_ROLES: dict[Callable[..., Any], Role] = {}
_NAMESPACED: set[Callable[..., Any]] = set()


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a token, or of a session that was opened with it."""

    token_id: str
    name: str
    role: Role
    namespaces: Namespaces
    session_id: str = ""

    @property
    def actor(self) -> str:
        """Who is recorded as having done something."""
        return holder(self.name, self.token_id) if self.token_id else self.name

    @property
    def held(self) -> str:
        """The id of what they hold: with it ends what they listen to."""
        return self.session_id or self.token_id


@dataclass(frozen=True, slots=True)
class Access:
    """What a route is given: who calls, and the client of the namespace that the request is about."""

    caller: Caller
    namespace: str
    client: StoreClient

    @property
    def actor(self) -> str:
        """Who is recorded as having done something."""
        return self.caller.actor


class Authority:
    """Tells whose token, or whose session, a request carries."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        # From the start, because a slow look-up must not extend the time.
        lifetime = from_start(TTL_SECONDS)
        self._tokens = SingleFlightCache[str, TokenRecord | None](lifetime, max_entries=_MAX_CACHED, clock=clock)
        self._sessions = SingleFlightCache[str, SessionRecord | None](lifetime, max_entries=_MAX_CACHED, clock=clock)
        self._noted = SingleFlightCache[str, None](from_start(USE_NOTED_EVERY), max_entries=_MAX_CACHED, clock=clock)
        self._notes: set[asyncio.Task[None]] = set()

    def check(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse what must not even be looked at; a token is all that counts here."""

    def remembers(self, authorization: str | None) -> bool:
        """Can it be told without asking the store?"""
        parsed = _parsed(authorization)
        return parsed is None or self._tokens.is_ready_or_loading(parsed[0])

    async def caller(self, authorization: str | None) -> Caller:
        """The holder of the token in this header; a Problem in the same words whatever is wrong with it."""
        parsed, credentials = _parsed(authorization), self._client.credentials
        token = parsed and await self._tokens.get_or_compute(parsed[0], partial(credentials.find_token, parsed[0]))
        if parsed is None or token is None or not token.matches(parsed[1]) or token.state != "live":
            raise unauthorized()
        self._note_use(token.id, credentials.touch_token)
        return Caller(token.id, token.name, token.role, token.namespaces)

    def remembers_session(self, text: str | None) -> bool:
        """Can it be told without asking the store?"""
        parsed = parse_session(text or "")
        return parsed is None or self._sessions.is_ready_or_loading(parsed[0])

    async def session(self, text: str | None) -> Caller:
        """The holder of the session in this cookie; a Problem in the same words whatever is wrong with it."""
        parsed = parse_session(text or "")
        session = parsed and await self._sessions.get_or_compute(
            parsed[0], partial(self._client.credentials.find_session, parsed[0])
        )
        if parsed is None or session is None or not session.matches(parsed[1]) or session.state != "live":
            raise logged_out()
        self._note_use(session.id, self._client.credentials.touch_session)
        return Caller(session.token_id, session.name, session.role, session.namespaces, session.id)

    async def close(self, caller: Caller) -> None:
        """End the session that somebody came with: they log out."""
        if caller.session_id:
            await self._client.sessions.close(caller.session_id, actor=caller.actor)
            self.forget(caller.session_id)

    def _note_use(self, key: str, write: Callable[[str], Awaitable[None]]) -> None:
        if self._noted.is_ready_or_loading(key):
            return
        self._noted.put(key, None)
        # Beside the request, which does not wait for a write.
        task = asyncio.get_running_loop().create_task(_written(write(key)))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def live(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these tokens and sessions that open anything: one question for all who listen.

        Nobody needs to ask for each of them then: whoever was found stays known until the next such question.
        """
        until = self._clock() + _RECHECK_SECONDS
        live = await self._client.store.tokens.filter_live(ids)
        for key in ids:
            if key in live:
                self._tokens.renew(key, until)
                self._sessions.renew(key, until)
            else:
                self.forget(key)
        return live

    def forget(self, key: str) -> None:
        """Look a token and its sessions, or one session, up anew the next time."""
        self._tokens.drop(key)
        self._sessions.drop_values(lambda session: session is not None and key in (session.id, session.token_id))

    async def settle(self) -> None:
        """Wait for what is still being written."""
        await asyncio.gather(*self._notes)


async def _written(note: Awaitable[None]) -> None:
    with suppress(TickbirdError):
        await note


def _parsed(authorization: str | None) -> tuple[str, str] | None:
    scheme, _, text = (authorization or "").partition(" ")
    return parse_token(text.strip()) if scheme.lower() == "bearer" else None


def as_bearer(authorization: str | None) -> str | None:
    """The header as if the password in it had been sent as a bearer token; as it is where it holds none."""
    scheme, _, text = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return authorization
    try:
        _, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return f"Bearer {password}"


def unauthorized(*, basic: bool = False) -> Problem:
    """No token, or none that opens anything; `basic` where a password is taken for one."""
    other = ', Basic realm="tickbird", charset="UTF-8"' if basic else ""
    return Problem(
        401,
        "unauthorized",
        "This needs a token that is neither expired nor revoked;",
        hint="make one with `tickbird token create`, and send it as `Authorization: Bearer tbk_…`.",
        headers={"WWW-Authenticate": f'Bearer realm="tickbird"{other}'},
    )


def logged_out() -> Problem:
    """No session, or none that is open."""
    return Problem(401, "logged-out", "This needs a session, and yours has ended;", hint="log in with a token.")


def _check_role(caller: Caller, role: Role) -> None:
    if not allows(caller.role, role):
        raise Problem(
            403,
            "forbidden",
            f"This needs the role {role}, and the token {caller.name!r} has {caller.role};",
            hint="use another token.",
        )


def _check_all_namespaces(caller: Caller) -> None:
    if caller.namespaces is not None:
        raise Problem(
            403,
            "forbidden",
            f"This is about the whole store, and the token {caller.name!r} opens {', '.join(caller.namespaces[:20])};",
            hint="use a token that was made with --all-namespaces.",
        )


def _namespaced(role: Role, *, whole: bool = False) -> Callable[..., Any]:
    async def admit(request: Request) -> Access:
        caller: Caller = request.scope["state"]["caller"]
        _check_role(caller, role)
        await reject_unknown_params(request)
        chosen = choose(caller.namespaces, request.query_params.get("namespace"))
        if whole:
            _check_all_namespaces(caller)
        return Access(caller, chosen, request.app.state.clients(chosen))

    _ROLES[admit] = role
    _NAMESPACED.add(admit)
    return admit


def _anywhere(role: Role) -> Callable[..., Any]:
    async def admit(request: Request) -> Caller:
        caller: Caller = request.scope["state"]["caller"]
        _check_role(caller, role)
        await reject_unknown_params(request)
        return caller

    _ROLES[admit] = role
    return admit


@cache
def admission(role: Role, scope: Scope) -> Callable[..., Any]:
    """The dependency of a route that is for this role: in one namespace, on the whole store, or of no namespace."""
    return _anywhere(role) if scope == "caller" else _namespaced(role, whole=scope == "store")


# The type of the first parameter of a route that is written by hand.
Viewer = Annotated[Access, Depends(admission("viewer", "namespace"))]
Operator = Annotated[Access, Depends(admission("operator", "namespace"))]
Editor = Annotated[Access, Depends(admission("editor", "namespace"))]
SystemAdmin = Annotated[Access, Depends(admission("admin", "store"))]
Admin = Annotated[Access, Depends(admission("admin", "namespace"))]
AnyViewer = Annotated[Caller, Depends(admission("viewer", "caller"))]
AnyAdmin = Annotated[Caller, Depends(admission("admin", "caller"))]


def admission_of(route: Any) -> Callable[[Request], Awaitable[Any]] | None:
    """The dependency that checks the role of a route; None if it has none."""
    return next((role.call for role in route.dependant.dependencies if role.call in _ROLES), None)


def role_of(route: Any) -> Role | None:
    """The role that a route requires; None if it requires none."""
    admit = admission_of(route)
    return None if admit is None else _ROLES[admit]


def is_namespaced(route: Any) -> bool:
    """Is a route about one namespace?"""
    return admission_of(route) in _NAMESPACED


# OpenAPI descriptions of routes with a role, and of routes in one namespace.
SECURITY: Final[list[dict[str, list[str]]]] = [{"token": []}]
SECURITY_SCHEME: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "`tickbird token create` makes one.",
}
NAMESPACE_PARAMETER: Final = {
    "name": "namespace",
    "in": "query",
    "required": False,
    "description": "The namespace; may be left out by a token that opens only one.",
    "schema": {"type": "string", "pattern": NAME["pattern"]},
}
