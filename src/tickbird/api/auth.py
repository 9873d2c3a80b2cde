"""Who calls: a bearer token, what its role may do, and what each route asks for."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from collections.abc import Callable, Collection, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Request
from fastapi.security import HTTPBearer

from tickbird.api.asked import check_asked
from tickbird.api.namespaces import choose
from tickbird.api.problems import Problem
from tickbird.client import Client
from tickbird.domain.definition_schema import NAME
from tickbird.domain.errors import TickbirdError
from tickbird.domain.tokens import USE_NOTED_EVERY, Namespaces, Role, TokenRecord, allows, parse_token

# A look-up counts for so many seconds: a token that is revoked opens nothing any more after that.
REMEMBERED: Final = 1.0
_MOST_REMEMBERED: Final = 10_000
_SCHEME = HTTPBearer(auto_error=False, scheme_name="token", description="`tickbird token create` makes one.")
# The role that each dependency asks for; a route without one of them is closed, and a test finds it.
_ROLES: dict[Callable[..., Any], Role] = {}


@dataclass(frozen=True, slots=True)
class Caller:
    """The holder of a token."""

    token_id: str
    name: str
    role: Role
    namespaces: Namespaces

    @property
    def actor(self) -> str:
        """Who is recorded as having done something: names are not unique, and neither are they checked."""
        return f"{self.name} (token {self.token_id})" if self.token_id else self.name


@dataclass(frozen=True, slots=True)
class Access:
    """What a route is given: who calls, and the client of the namespace that the request is about."""

    caller: Caller
    namespace: str
    client: Client

    @property
    def actor(self) -> str:
        """Who is recorded as having done something."""
        return self.caller.actor


class Authority:
    """Tells whose token a request carries."""

    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._remembered: dict[str, tuple[float, TokenRecord | None]] = {}
        self._noted: dict[str, float] = {}
        self._notes: set[asyncio.Task[None]] = set()

    def check(self, scope: MutableMapping[str, Any]) -> None:
        """Refuse what must not even be looked at; a token is all that counts here."""

    def remembers(self, authorization: str | None) -> bool:
        """Can it be told without asking the store?"""
        parsed = _parsed(authorization)
        return parsed is None or self._remembered.get(parsed[0], (0.0, None))[0] > self._clock()

    async def caller(self, authorization: str | None) -> Caller:
        """The holder of the token in this header; a Problem in the same words whatever is wrong with it."""
        parsed = _parsed(authorization)
        if parsed is None:
            raise unauthorized()
        token = await self._find(parsed[0])
        if token is None or not token.matches(parsed[1]) or token.state != "live":
            raise unauthorized()
        self._note_use(token)
        return Caller(token.id, token.name, token.role, token.namespaces)

    async def _find(self, token_id: str) -> TokenRecord | None:
        now = self._clock()
        until, token = self._remembered.get(token_id, (0.0, None))
        if until > now:
            return token
        token = await self._client.find_token(token_id)
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        # Counted from before the look-up, so that a slow one does not count for longer.
        self._remembered[token_id] = (now + REMEMBERED, token)
        return token

    def _note_use(self, token: TokenRecord) -> None:
        now = self._clock()
        if self._noted.get(token.id, 0.0) > now:
            return
        if len(self._noted) >= _MOST_REMEMBERED:
            self._noted.clear()
        self._noted[token.id] = now + USE_NOTED_EVERY
        # Beside the request, which does not wait for a write.
        task = asyncio.get_running_loop().create_task(self._write_use(token.id))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _write_use(self, token_id: str) -> None:
        with suppress(TickbirdError):
            await self._client.note_token_use(token_id)

    async def live(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these tokens that open anything."""
        return await self._client.source.live_tokens(ids)

    def forget(self, token_id: str) -> None:
        """Look a token up anew the next time."""
        self._remembered.pop(token_id, None)

    async def settle(self) -> None:
        """Wait for what is still being written."""
        await asyncio.gather(*self._notes)


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


def _check_role(caller: Caller, role: Role) -> None:
    if not allows(caller.role, role):
        raise Problem(
            403,
            "forbidden",
            f"This needs the role {role}, and the token {caller.name!r} has {caller.role};",
            hint="use another token.",
        )


def _check_whole(caller: Caller) -> None:
    if caller.namespaces is not None:
        raise Problem(
            403,
            "forbidden",
            f"This is about the whole store, and the token {caller.name!r} opens {', '.join(caller.namespaces[:20])};",
            hint="use a token that was made with --all-namespaces.",
        )


def _namespaced(role: Role, *, whole: bool = False) -> Callable[..., Any]:
    async def admit(
        request: Request,
        _: Annotated[Any, Depends(_SCHEME)],
        namespace: Annotated[
            str | None,
            Query(
                description="The namespace; may be left out by a token that opens only one.",
                json_schema_extra={"pattern": NAME["pattern"]},
            ),
        ] = None,
    ) -> Access:
        caller: Caller = request.scope["state"]["caller"]
        _check_role(caller, role)
        await check_asked(request)
        chosen = choose(caller.namespaces, namespace)
        if whole:
            _check_whole(caller)
        return Access(caller, chosen, request.app.state.clients(chosen))

    _ROLES[admit] = role
    return admit


def _anywhere(role: Role) -> Callable[..., Any]:
    async def admit(request: Request, _: Annotated[Any, Depends(_SCHEME)]) -> Caller:
        caller: Caller = request.scope["state"]["caller"]
        _check_role(caller, role)
        await check_asked(request)
        return caller

    _ROLES[admit] = role
    return admit


# What a route states as the type of its first parameter: the role that it needs.
Viewer = Annotated[Access, Depends(_namespaced("viewer"))]
Operator = Annotated[Access, Depends(_namespaced("operator"))]
Editor = Annotated[Access, Depends(_namespaced("editor"))]
# Of the whole store, whatever the namespace: only with a token that opens all of them.
Keeper = Annotated[Access, Depends(_namespaced("admin", whole=True))]
Admin = Annotated[Access, Depends(_namespaced("admin"))]
# Of no namespace in particular.
AnyViewer = Annotated[Caller, Depends(_anywhere("viewer"))]
AnyAdmin = Annotated[Caller, Depends(_anywhere("admin"))]


def role_of(route: Any) -> Role | None:
    """The role that a route asks for; None where it asks for none."""
    found = [_ROLES[each.call] for each in route.dependant.dependencies if each.call in _ROLES]
    return found[0] if found else None
