"""Inside an ASGI app: the store is open while the app is, and a worker may work in its process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from tickbird.client import Client
from tickbird.worker import WorkerApp, WorkerProcess

log = logging.getLogger("tickbird.worker")
Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]


class LifespanApp(WorkerApp, Protocol):
    """An app, as far as it is needed here."""

    async def client(self) -> Client:
        """The client of this event loop, connected."""
        ...


def lifespan(bird: LifespanApp, worker: bool, within: Lifespan | None, options: Mapping[str, Any]) -> Lifespan:
    """What `Tickbird.lifespan` gives."""
    # What is wrong with them is told where the app is made.
    if options and not worker:
        raise TypeError(f"{', '.join(options)}: options of a worker; give worker=True too.")

    @asynccontextmanager
    async def lifespan_of(app: Any) -> AsyncIterator[Any]:
        if within is None:
            async with _inner(bird, worker, options):
                yield None
        else:
            # Tasks may use what the app opens, so it is there before the first of them and after the last.
            async with within(app) as state, _inner(bird, worker, options):
                yield state

    return lifespan_of


@asynccontextmanager
async def _inner(bird: LifespanApp, worker: bool, options: Mapping[str, Any]) -> AsyncIterator[None]:
    # Also tells at once that the store cannot be used.
    await bird.client()
    try:
        if not worker:
            yield
            return
        async with _working(WorkerProcess(bird, **options)):
            yield
    finally:
        await bird.aclose()


@asynccontextmanager
async def _working(process: WorkerProcess) -> AsyncIterator[None]:
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def notify() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = notify
    working = asyncio.create_task(process.run(), name="tickbird worker")
    starting = asyncio.create_task(started.wait())
    await asyncio.wait({working, starting}, return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()
    if working.done():
        await working
    working.add_done_callback(_log_failure)
    log.info("worker %s works inside this process", process.worker.id)
    try:
        yield
    finally:
        process.drain()
        await working
        log.info("worker %s has ended", process.worker.id)


def _log_failure(working: asyncio.Task[None]) -> None:
    if not working.cancelled() and (error := working.exception()) is not None:
        log.critical("the worker inside this process has ended: %s", error)
