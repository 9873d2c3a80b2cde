"""The lifespan of an ASGI app: opens and closes the store, and may run a worker in the app's process."""

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
    """The part of an app that a lifespan needs."""

    async def client(self) -> Client: ...


def lifespan(bird: LifespanApp, worker: bool, within: Lifespan | None, options: Mapping[str, Any]) -> Lifespan:
    # Report wrong options when the app is created, not when it starts.
    if options and not worker:
        raise TypeError(f"{', '.join(options)}: only for a worker. Pass worker=True too.")

    @asynccontextmanager
    async def lifespan_of(app: Any) -> AsyncIterator[Any]:
        if within is None:
            async with _store_and_worker(bird, worker, options):
                yield None
        else:
            # Tasks may use resources of the app's lifespan, so it starts before and ends after the worker.
            async with within(app) as state, _store_and_worker(bird, worker, options):
                yield state

    return lifespan_of


@asynccontextmanager
async def _store_and_worker(bird: LifespanApp, worker: bool, options: Mapping[str, Any]) -> AsyncIterator[None]:
    # Connect now, so that an unusable store is reported at startup.
    await bird.client()
    try:
        if not worker:
            yield
            return
        async with _running_worker(WorkerProcess(bird, **options)):
            yield
    finally:
        await bird.aclose()


@asynccontextmanager
async def _running_worker(process: WorkerProcess) -> AsyncIterator[None]:
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    def notify() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = notify
    worker_task = asyncio.create_task(process.run(), name="tickbird worker")
    start_task = asyncio.create_task(started.wait())
    await asyncio.wait({worker_task, start_task}, return_when=asyncio.FIRST_COMPLETED)
    start_task.cancel()
    if worker_task.done():
        await worker_task
    worker_task.add_done_callback(_log_failure)
    log.info("worker %s runs in this process", process.worker.id)
    try:
        yield
    finally:
        process.drain()
        await worker_task
        log.info("worker %s ended", process.worker.id)


def _log_failure(worker_task: asyncio.Task[None]) -> None:
    if not worker_task.cancelled() and (error := worker_task.exception()) is not None:
        log.critical("the worker in this process failed: %s", error)
