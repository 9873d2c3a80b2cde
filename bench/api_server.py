"""The servers of the benchmark: `python -m bench.api_server ours|site|bare STORE` serves one, and prints its port."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from psycopg_pool import AsyncConnectionPool

from tickbird.api.app import create_api
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.middleware.slow_clients import HeaderTimeoutProtocol
from tickbird.client import StoreClient
from tickbird.server import STATEMENT_WITHIN
from tickbird.stores import open_store
from tickbird.web.app import create_site

# The rate limit of a token must not be measured.
_NO_LIMITS: Final = RequestLimits(per_second=1e6, burst=10**6, lookups_per_second=1e6, lookups_burst=10**6)
LOOK_UP: Final = b"SELECT id, name, revision FROM tickbird.schedules WHERE namespace = %s AND name = %s"


async def ours(url: str) -> Any:
    """The API, and a token for it."""
    store = open_store(url)
    await store.open()
    _, token = await StoreClient(store).tokens.create("bench", "admin", actor="bench")
    return create_api(lambda namespace: StoreClient(store, namespace), limits=_NO_LIMITS), token


async def site(url: str) -> Any:
    """The API and the dashboard, as `tickbird server` serves them, and a token for both."""
    store = open_store(url, within=STATEMENT_WITHIN)
    await store.open()
    _, token = await StoreClient(store).tokens.create("bench", "admin", actor="bench")
    return create_site(lambda namespace: StoreClient(store, namespace), limits=_NO_LIMITS), token


async def bare(url: str) -> Any:
    """One route that reads one row by its key: no tokens, no checks, no response model."""
    pool = AsyncConnectionPool(url, min_size=4, max_size=10, open=False, kwargs={"autocommit": True})
    await pool.open(wait=True)
    app = FastAPI()

    async def get(name: str) -> dict[str, Any]:
        async with pool.connection() as connection:
            cursor = await connection.execute(LOOK_UP, ("default", name), prepare=True)
            [(number, stored_name, revision)] = await cursor.fetchall()
        return {"id": number, "name": stored_name, "revision": revision}

    app.add_api_route("/schedules/{name}", get)
    return app, "-"


async def main(which: str, url: str) -> None:
    app, token = await {"ours": ours, "site": site, "bare": bare}[which](url)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], token, flush=True)
    settings: dict[str, Any] = {"lifespan": "off", "access_log": False, "log_level": "warning"}
    await uvicorn.Server(uvicorn.Config(app, http=HeaderTimeoutProtocol, **settings)).serve([listening])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
