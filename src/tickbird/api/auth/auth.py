"""Authentication by a bearer token or a browser's session, and the role that each route requires."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Final, Generic, TypeVar

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

R = TypeVar("R", bound=TokenRecord | SessionRecord)
# A look-up is cached for this long. A revoked token or a closed session is refused afterwards.
TTL_SECONDS: Final = 1.0
_MAX_CACHED: Final = 10_000
# The tokens of all open streams are checked every second in one query; one such check may be late.
_RECHECK_SECONDS: Final = 2 * TTL_SECONDS
# The role of each dependency; a route without one of them refuses every request, and a test detects it.
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
        return holder(self.name, self.token_id) if self.token_id else self.name

    @property
    def held(self) -> str:
        """The id of the token or session; the caller's streams end when it ends."""
        return self.session_id or self.token_id


@dataclass(frozen=True, slots=True)
class Access:
    """The first argument of a route: the caller, and the client of the namespace of the request."""

    caller: Caller
    namespace: str
    client: StoreClient

    @property
    def actor(self) -> str:
        return self.caller.actor


class _Credentials(Generic[R]):
    """Tokens or sessions by id, in a TTL cache; concurrent requests share one look-up."""

    def __init__(
        self,
        parse: Callable[[str], tuple[str, str] | None],
        find: Callable[[str], Awaitable[R | None]],
        clock: Callable[[], float],
    ) -> None:
        self._parse = parse
        self._find = find
        # From the start of a look-up, because a slow one must not extend the time.
        self.cache = SingleFlightCache[str, R | None](from_start(TTL_SECONDS), max_entries=_MAX_CACHED, clock=clock)

    def is_cached(self, text: str) -> bool:
        """Can `check` return without a query? Malformed texts need none."""
        parsed = self._parse(text)
        return parsed is None or self.cache.is_ready_or_loading(parsed[0])

    async def check(self, text: str) -> R | None:
        """Return the record if the secret is right and neither expired nor revoked."""
        parsed = self._parse(text)
        record = parsed and await self.cache.get_or_compute(parsed[0], partial(self._find, parsed[0]))
        if parsed is None or record is None or not record.matches(parsed[1]) or record.state != "live":
            return None
        return record


class Authority:
    """Authenticates requests by their token or session."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._tokens = _Credentials[TokenRecord](parse_token, partial(_find, client, "tokens"), clock)
        self._sessions = _Credentials[SessionRecord](parse_session, partial(_find, client, "sessions"), clock)
        self._touched = SingleFlightCache[str, None](from_start(USE_NOTED_EVERY), max_entries=_MAX_CACHED, clock=clock)
        self._touches: set[asyncio.Task[None]] = set()

    def check(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse a request before its token is read. Subclasses override this."""

    def remembers(self, authorization: str | None) -> bool:
        """Can `caller` return without a query?"""
        return self._tokens.is_cached(_bearer(authorization))

    async def caller(self, authorization: str | None) -> Caller:
        """Return the holder of the token in this header. Every failure raises the same Problem."""
        token = await self._tokens.check(_bearer(authorization))
        if token is None:
            raise unauthorized()
        self._touch(token.id, self._client.store.tokens.touch)
        return Caller(token.id, token.name, token.role, token.namespaces)

    def remembers_session(self, text: str | None) -> bool:
        """Can `session` return without a query?"""
        return self._sessions.is_cached(text or "")

    async def session(self, text: str | None) -> Caller:
        """Return the holder of the session in this cookie. Every failure raises the same Problem."""
        session = await self._sessions.check(text or "")
        if session is None:
            raise logged_out()
        self._touch(session.id, self._client.store.sessions.touch)
        return Caller(session.token_id, session.name, session.role, session.namespaces, session.id)

    async def close(self, caller: Caller) -> None:
        if caller.session_id:
            await self._client.sessions.close(caller.session_id, actor=caller.actor)
            self.forget(caller.session_id)

    def _touch(self, key: str, write: Callable[[str], Awaitable[None]]) -> None:
        if self._touched.is_ready_or_loading(key):
            return
        self._touched.put(key, None)
        # In a task, because the request does not wait for a write.
        task = asyncio.get_running_loop().create_task(_written(write(key)))
        self._touches.add(task)
        task.add_done_callback(self._touches.discard)

    async def live(self, ids: Collection[str]) -> frozenset[str]:
        """The tokens and sessions of these ids that are neither expired nor revoked, in one query.

        The live ones stay in the cache until the next check of streams.
        """
        until = self._clock() + _RECHECK_SECONDS
        live = await self._client.store.tokens.filter_live(ids)
        for key in ids:
            if key in live:
                self._tokens.cache.renew(key, until)
                self._sessions.cache.renew(key, until)
            else:
                self.forget(key)
        return live

    def forget(self, key: str) -> None:
        """Drop a token and its sessions, or one session, from the cache."""
        self._tokens.cache.drop(key)
        self._sessions.cache.drop_values(lambda session: session is not None and key in (session.id, session.token_id))

    async def settle(self) -> None:
        await asyncio.gather(*self._touches)


async def _find(client: StoreClient, noun: str, key: str) -> Any:
    # Not bound earlier, because a store may lack tokens or sessions.
    return await getattr(client.store, noun).find(key)


async def _written(note: Awaitable[None]) -> None:
    with suppress(TickbirdError):
        await note


def _bearer(authorization: str | None) -> str:
    scheme, _, text = (authorization or "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def as_bearer(authorization: str | None) -> str | None:
    """Turn HTTP Basic authentication into a bearer token, which is its password; other headers are unchanged."""
    scheme, _, text = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return authorization
    try:
        _, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return None
    return f"Bearer {password}"


def unauthorized(*, basic: bool = False) -> Problem:
    """The response to a missing or invalid token; `basic`: the route also takes a password."""
    other = ', Basic realm="tickbird", charset="UTF-8"' if basic else ""
    return Problem(
        401,
        "unauthorized",
        "This request needs a valid token. Yours is missing, unknown, expired or revoked.",
        hint="Create one with `tickbird token create`, and send it as `Authorization: Bearer tbk_…`.",
        headers={"WWW-Authenticate": f'Bearer realm="tickbird"{other}'},
    )


def logged_out() -> Problem:
    return Problem(401, "logged-out", "Your session has ended.", hint="Log in with a token.")


def _check_role(caller: Caller, role: Role) -> None:
    if not allows(caller.role, role):
        raise Problem(
            403,
            "forbidden",
            f"This request needs the role {role}, but the token {caller.name!r} has the role {caller.role}.",
            hint=f"Use a token with the role {role}. An admin creates one with `tickbird token create`.",
        )


def _check_all_namespaces(caller: Caller) -> None:
    if caller.namespaces is not None:
        raise Problem(
            403,
            "forbidden",
            f"This request needs all namespaces, but token {caller.name!r} has {', '.join(caller.namespaces[:20])}.",
            hint="Use a token that was created with --all-namespaces.",
        )


@cache
def admission(role: Role, scope: Scope) -> Callable[..., Any]:
    """The dependency of a route that requires a role: in one namespace, on the whole store, or in no namespace."""

    async def admit(request: Request) -> Any:
        caller: Caller = request.scope["state"]["caller"]
        _check_role(caller, role)
        await reject_unknown_params(request)
        if scope == "caller":
            return caller
        namespace = choose(caller.namespaces, request.query_params.get("namespace"))
        if scope == "store":
            _check_all_namespaces(caller)
        return Access(caller, namespace, request.app.state.clients(namespace))

    _ROLES[admit] = role
    if scope != "caller":
        _NAMESPACED.add(admit)
    return admit


# The type of the first parameter of a route that is written by hand.
Viewer = Annotated[Access, Depends(admission("viewer", "namespace"))]
AnyViewer = Annotated[Caller, Depends(admission("viewer", "caller"))]


def admission_of(route: Any) -> Callable[[Request], Awaitable[Any]] | None:
    return next((role.call for role in route.dependant.dependencies if role.call in _ROLES), None)


def role_of(route: Any) -> Role | None:
    admit = admission_of(route)
    return None if admit is None else _ROLES[admit]


def is_namespaced(route: Any) -> bool:
    return admission_of(route) in _NAMESPACED


# OpenAPI descriptions of routes with a role, and of routes in one namespace.
SECURITY: Final[list[dict[str, list[str]]]] = [{"token": []}]
SECURITY_SCHEME: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "Create one with `tickbird token create`.",
}
NAMESPACE_PARAMETER: Final = {
    "name": "namespace",
    "in": "query",
    "required": False,
    "description": "The namespace; may be left out by a token that opens only one.",
    "schema": {"type": "string", "pattern": NAME["pattern"]},
}
