"""A server on a store, in a thread of this process and behind a port of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from tickbird.api.app import create_api
from tickbird.client import StoreClient
from tickbird.domain.access.tokens import Role
from tickbird.stores import open_store


@contextmanager
def serving(url: str) -> Iterator[str]:
    """The address of a server on this store."""
    listening = socket.create_server(("127.0.0.1", 0))
    ready, ends = threading.Event(), threading.Event()
    made: list[uvicorn.Server] = []

    async def serve() -> None:
        store = open_store(url)
        await store.open()
        try:
            api = create_api(lambda namespace: StoreClient(store, namespace))
            made.append(uvicorn.Server(uvicorn.Config(api, log_config=None, lifespan="off", ws="none")))
            ready.set()
            await made[0].serve([listening])
            await api.state.authority.settle()
        finally:
            await store.close()

    def run() -> None:
        try:
            asyncio.run(serve())
        finally:
            ready.set()
            ends.set()

    threading.Thread(target=run, name="server", daemon=True).start()
    assert ready.wait(60)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        if made:
            made[0].should_exit = True
        assert ends.wait(60)
        listening.close()


async def make_token(url: str, role: Role = "admin", *namespaces: str, name: str = "ana") -> str:
    """The text of a new token on a store: of all namespaces, unless some are named."""
    store = open_store(url)
    await store.open()
    try:
        return (
            await StoreClient(store).tokens.create(
                name, role, actor="ada", namespaces=namespaces or None, all_namespaces=not namespaces
            )
        )[1]
    finally:
        await store.close()
