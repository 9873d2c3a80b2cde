"""The API and the dashboard inside another ASGI app, under any path, closed to everyone without a token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from tickbird.api.app import Clients, create_api
from tickbird.client import Client

log = logging.getLogger("tickbird.api")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


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
        self._apis: dict[int, tuple[Client, Any]] = {}

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
    return Mounted(bird, create_api, under, otherwise)


def dashboard(bird: ClientSource, under: str, otherwise: App | None) -> App:
    """What `Tickbird.dashboard` gives."""
    from tickbird.web.app import create_site

    return Mounted(bird, create_site, under, otherwise)
