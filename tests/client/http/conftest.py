"""One store, seen by a client on it and by a client of a server in front of it, without a network in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tickbird.api.app import create_api
from tickbird.client import StoreClient
from tickbird.client.http import HttpClient, Transport
from tickbird.domain.access.tokens import Role
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

URL = "http://127.0.0.1:8420"


class Both:
    """The two clients, and the store behind them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.api = create_api(lambda namespace: StoreClient(store, namespace))
        self.local = StoreClient(store)
        self.wire = httpx.ASGITransport(self.api, raise_app_exceptions=False)
        self.remote: HttpClient

    async def token(self, role: Role = "admin", *namespaces: str) -> str:
        """The text of a new token: of all namespaces, unless some are named."""
        return (
            await self.local.tokens.create(
                role, role, actor="ada", namespaces=namespaces or None, all_namespaces=not namespaces
            )
        )[1]

    async def client(self, role: Role = "admin", *namespaces: str, namespace: str | None = None) -> HttpClient:
        """A client with a token of its own."""
        return HttpClient(Transport(URL, await self.token(role, *namespaces), wire=self.wire), namespace)

    async def create(self, name: str, **options: Any) -> None:
        """A schedule that a person made: hourly, of a task that nobody serves."""
        given = {"actor": "ana", "unknown_task_ok": True, **options}
        await self.local.schedules.create(name, given.pop("trigger", every(hours=1)), "report", **given)


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    """On a store in memory: how a store does what it is asked for is looked at elsewhere."""
    store = open_store("sqlite://:memory:")
    await store.open()
    made = Both(store)
    made.remote = await made.client(namespace="default")
    yield made
    await made.api.state.authority.settle()
    await store.close()
