"""The API and the dashboard inside another ASGI app, under any path. All requests need a token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tickbird.client import Client, StoreClient
from tickbird.domain.errors import InvalidError, StoreError

if TYPE_CHECKING:
    from tickbird.api.app import Clients

log = logging.getLogger("tickbird.api")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Site = Literal["api", "dashboard"]


class ClientSource(Protocol):
    """The part of an app that is needed here: a client for each event loop."""

    async def client(self) -> Client: ...

    async def aclose(self) -> None: ...


class Mounted:
    """The result of `Tickbird.api` and `Tickbird.dashboard`: opens the app's store with the first request."""

    def __init__(self, bird: ClientSource, make: Callable[[Clients], Any], under: str, otherwise: App | None) -> None:
        self._bird = bird
        self._make = make
        self._under = under
        self._otherwise = otherwise
        # One per open store: each event loop has its own, and a new one after a close.
        self._apis: dict[int, tuple[StoreClient, Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the lifespan protocol if the server runs only this app."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        inner = self._inner(scope)
        if inner is None:
            assert self._otherwise is not None
            await self._otherwise(scope, receive, send)
            return
        api = await self._api()
        await api(inner, receive, send)

    def _inner(self, scope: Scope) -> Scope | None:
        """The request with paths relative to the API; None if it is outside of the API's path."""
        root = str(scope.get("root_path", ""))
        path = str(scope.get("path", "")).removeprefix(root)
        if not self._under:
            return scope
        if path == self._under or path.startswith(f"{self._under}/"):
            return {**scope, "root_path": root + self._under, "path": str(scope["path"])}
        return None if self._otherwise is not None else scope

    async def _api(self) -> Any:
        client = await self._bird.client()
        if not isinstance(client, StoreClient):
            raise StoreError(
                "the API and the dashboard need a direct connection to the store, but this app uses a Tickbird server.",
                hint="Configure the app with the URL of the store.",
            )
        key = id(asyncio.get_running_loop())
        entry = self._apis.get(key)
        if entry is None or entry[0] is not client:
            entry = self._apis[key] = (client, self._make(client.in_namespace))
        return entry[1]

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                entry = self._apis.pop(id(asyncio.get_running_loop()), None)
                if entry is not None:
                    entry[1].state.streams.close()
                    await entry[1].state.authority.settle()
                await self._bird.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return


def api(bird: ClientSource, under: str, otherwise: App | None) -> App:
    return _mount(bird, "api", under, otherwise)


def dashboard(bird: ClientSource, under: str, otherwise: App | None) -> App:
    return _mount(bird, "dashboard", under, otherwise)


def _mount(bird: ClientSource, site: Site, under: str, otherwise: App | None) -> App:
    if under and (not under.startswith("/") or under.endswith("/")):
        raise InvalidError(
            f"under: {under[:60]!r} is not a valid path.",
            field="under",
            hint='Use an absolute path without a trailing slash, such as "/tickbird".',
        )
    if bool(under) != (otherwise is not None):
        raise InvalidError(
            "under and otherwise: pass both or neither.",
            field="under",
            hint=f'Mount bird.{site}() in a framework, or bird.{site}(under="/tickbird", otherwise=app).',
        )
    try:
        make = _factory(site)
    except ImportError as error:
        if error.name not in ("fastapi", "starlette", "jinja2"):
            raise
        raise StoreError(
            "the HTTP API needs FastAPI, and the dashboard also needs Jinja2.",
            hint="Install them with `pip install 'tickbird[server]'`.",
        ) from None
    return Mounted(bird, make, under, otherwise)


def _factory(site: Site) -> Callable[[Clients], Any]:
    if site == "api":
        from tickbird.api.app import create_api

        return create_api
    from tickbird.web.app import create_site

    return create_site
