"""The API and the dashboard inside another ASGI app, under any path, closed to everyone without a token."""

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
    """An app, as far as it is needed here: a client for each event loop."""

    async def client(self) -> Client:
        """The client of this event loop, connected."""
        ...

    async def aclose(self) -> None:
        """Close it."""
        ...


class Mounted:
    """What `Tickbird.api` and `Tickbird.dashboard` give: opens the app's store when first asked, and serves it."""

    def __init__(self, bird: ClientSource, make: Callable[[Clients], Any], under: str, otherwise: App | None) -> None:
        self._bird = bird
        self._make = make
        self._under = under
        self._otherwise = otherwise
        # One for each store that is open: an event loop has its own, and another one after it was closed.
        self._apis: dict[int, tuple[StoreClient, Any]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the life of a server that serves nothing else."""
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
        """The request as the API sees it; None where it is not for the API."""
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
                "the API and the dashboard need the store itself, and this app works through a server;",
                hint="give the app the URL of the store.",
            )
        key = id(asyncio.get_running_loop())
        kept = self._apis.get(key)
        if kept is None or kept[0] is not client:
            kept = self._apis[key] = (client, self._make(client.in_namespace))
        return kept[1]

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                kept = self._apis.pop(id(asyncio.get_running_loop()), None)
                if kept is not None:
                    kept[1].state.streams.close()
                    await kept[1].state.authority.settle()
                await self._bird.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return


def api(bird: ClientSource, under: str, otherwise: App | None) -> App:
    """What `Tickbird.api` gives."""
    return _mount(bird, "api", under, otherwise)


def dashboard(bird: ClientSource, under: str, otherwise: App | None) -> App:
    """What `Tickbird.dashboard` gives."""
    return _mount(bird, "dashboard", under, otherwise)


def _mount(bird: ClientSource, site: Site, under: str, otherwise: App | None) -> App:
    if under and (not under.startswith("/") or under.endswith("/")):
        raise InvalidError(f"under: {under[:60]!r} is no path;", field="under", hint='write it like "/tickbird".')
    if bool(under) != (otherwise is not None):
        raise InvalidError(
            "under and otherwise: give both, or none of them;",
            field="under",
            hint=f'mount bird.{site}() in a framework, or bird.{site}(under="/tickbird", otherwise=app).',
        )
    try:
        make = _factory(site)
    except ImportError as error:
        if error.name not in ("fastapi", "starlette", "jinja2"):
            raise
        raise StoreError(
            "the HTTP API needs FastAPI, and the dashboard Jinja2 too;",
            hint="install them with `pip install 'tickbird[server]'`.",
        ) from None
    return Mounted(bird, make, under, otherwise)


def _factory(site: Site) -> Callable[[Clients], Any]:
    if site == "api":
        from tickbird.api.app import create_api

        return create_api
    from tickbird.web.app import create_site

    return create_site
