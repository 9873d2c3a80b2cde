"""A server with a few schedules and runs, and tokens enough: `python -m tests.api.described.server STORE`."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any, Final

import uvicorn
from fastapi.responses import StreamingResponse

from tickbird.api.app import create_api
from tickbird.api.middleware.guard import RequestLimits
from tickbird.api.middleware.slow_clients import HeaderTimeoutProtocol
from tickbird.api.streams.sse import MEDIA_TYPE, SseConnections
from tickbird.client import StoreClient
from tickbird.client.runs import Runs
from tickbird.domain.runs.new_run import not_finished
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.time.durations import Duration
from tickbird.domain.triggers.every import every
from tickbird.stores import open_store

SCHEDULES: Final = ("nightly", "hourly", "paused")
RUNS: Final = (1, 2, 3)
# Schemathesis asks as fast as it can.
_NO_LIMITS: Final = RequestLimits(per_second=1e6, burst=10**6, lookups_per_second=1e6, lookups_burst=10**6)


class Brief(SseConnections):
    """Ends every stream as it begins: schemathesis would listen until then."""

    def open(self, *args: Any) -> Any:
        """A stream that has ended."""
        return StreamingResponse(iter((b"retry: 2000\n\n",)), media_type=MEDIA_TYPE)


async def wait_briefly(self: Runs, run_id: int, *, timeout: Duration | None = None) -> RunRecord:
    """No worker executes anything here, so nothing is waited for."""
    raise not_finished(await self.get(run_id), 0)


async def main(url: str) -> None:
    """Serve until the process is ended; the first line tells port and token."""
    store = open_store(url)
    await store.open()
    Runs.wait = wait_briefly  # type: ignore[method-assign]
    client = StoreClient(store)
    _, token = await client.tokens.create("fuzz", "admin", actor="test")
    for name in SCHEDULES:
        await client.schedules.create(name, every(hours=1), "report", actor="test", unknown_task_ok=True)
        await client.schedules.trigger(name, actor="test")
    await client.schedules.pause("paused", actor="test")
    listening = socket.create_server(("127.0.0.1", 0))
    api = create_api(lambda namespace: StoreClient(store, namespace), limits=_NO_LIMITS)
    api.state.streams = Brief(api.state.authority, _NO_LIMITS)
    config = uvicorn.Config(
        api, http=HeaderTimeoutProtocol, log_level="warning", lifespan="off", timeout_graceful_shutdown=1
    )
    print(listening.getsockname()[1], token, flush=True)
    await uvicorn.Server(config).serve([listening])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
