"""The connection of one command to the store or to a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tickbird.cli.options import GlobalOptions
from tickbird.client import Client, StoreClient
from tickbird.stores import must_exist, open_store

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T], settings: GlobalOptions) -> T:
    # A driver that retries logs each try. The user only needs the final error.
    logging.basicConfig(level=logging.DEBUG if settings.debug else logging.CRITICAL)
    try:
        return asyncio.run(_await_work(work))
    except asyncio.CancelledError:
        # Ctrl-C came before the first step of the task: asyncio.run then raises this instead of KeyboardInterrupt.
        raise KeyboardInterrupt from None
    finally:
        # If the task never started, Python would warn that the coroutine was never awaited.
        work.close()


async def _await_work(work: Coroutine[Any, Any, T]) -> T:
    """Await the work. After Ctrl-C, raise CancelledError for any error, because a cancelled driver may raise any."""
    try:
        return await work
    except BaseException:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from None
        raise


@asynccontextmanager
async def connect(settings: GlobalOptions) -> AsyncIterator[Client]:
    """Connect to the store, which must already exist, or to the server."""
    server = settings.server_url
    if server is not None:
        from tickbird.client.http import HttpClient, Transport

        # The same default namespace as on a store, if the token gives access to several.
        transport = Transport(server, settings.server_token, otherwise="default")
        try:
            yield HttpClient(transport, settings.namespace)
        finally:
            await transport.close()
        return
    store = open_store(settings.store_url)
    must_exist(store)
    await store.open()
    try:
        yield StoreClient(store, settings.namespace or "default")
    finally:
        await store.close()
