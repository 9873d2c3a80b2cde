"""Procrastinate, with its asynchronous connector and ten tasks at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass
from typing import Any

import procrastinate
from procrastinate.periodic import PeriodicDeferrer

from bench.contenders import Seen, ask, chunks


@dataclass(frozen=True, slots=True)
class ProcrastinateWorker:
    """One task that does nothing."""

    concurrency: int = 10
    name: str = "Procrastinate"

    async def prepare(self, url: str) -> None:
        """Apply its schema."""
        async with _app(url).open_async() as app:
            await app.schema_manager.apply_schema_async()

    async def fill(self, url: str, count: int) -> float:
        """Many jobs per statement."""
        await ask(url, b"TRUNCATE procrastinate_jobs CASCADE; SELECT 1")
        app, task = _noop(url, lambda: None)
        async with app.open_async():
            began = time.perf_counter()
            for size in chunks(count):
                await task.batch_defer_async(*[{} for _ in range(size)])
            return time.perf_counter() - began

    async def work(self, url: str, seen: Seen) -> None:
        """Run a worker until it is stopped."""
        app, _ = _noop(url, seen.started)
        await _run(app, self.concurrency, seen)

    async def left(self, url: str) -> bool:
        return bool(await ask(url, b"SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing'))"))

    async def fire(self, url: str, count: int) -> float:
        """Make this number of schedules due; returns the seconds until each has a job; nothing is executed."""
        app = _app(url)

        async def fire(timestamp: int) -> None:
            """Never called."""

        for number in range(count):
            app.periodic(cron="0 * * * *", periodic_id=str(number))(app.task(name=f"fire{number}")(fire))
        deferrer = PeriodicDeferrer(app.periodic_registry, max_delay=3_600)
        async with app.open_async():
            began = time.perf_counter()
            await deferrer.defer_jobs(deferrer.get_previous_tasks(at=time.time()))
            seconds = time.perf_counter() - began
        jobs = await ask(url, b"SELECT count(*) FROM procrastinate_jobs")
        assert jobs == count, f"{jobs} of {count} deferred"
        await ask(url, b"TRUNCATE procrastinate_jobs, procrastinate_periodic_defers CASCADE; SELECT 1")
        return seconds

    async def tick(self, url: str, count: int, seen: Seen) -> None:
        """Run this number of schedules that tick every second; its cron has seconds as a sixth field."""
        app = _app(url)
        starts: list[tuple[int, int, float]] = []

        def register(number: int) -> None:
            @app.periodic(cron="* * * * * *", periodic_id=str(number))
            @app.task(name=f"tick{number}")
            async def tick(timestamp: int) -> None:
                starts.append((number, timestamp, time.time() - timestamp))
                seen.started()

        for number in range(count):
            register(number)
        await _run(app, 100, seen)
        seen.starts.put(starts)


def _app(url: str) -> procrastinate.App:
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, max_size=10))


def _noop(url: str, started: Any) -> tuple[procrastinate.App, Any]:
    app = _app(url)

    @app.task(name="noop")
    async def noop() -> None:
        started()

    return app, noop


async def _run(app: procrastinate.App, concurrency: int, seen: Seen) -> None:
    async with app.open_async():
        working = asyncio.create_task(
            app.run_worker_async(concurrency=concurrency, install_signal_handlers=False, shutdown_graceful_timeout=2)
        )
        waiting = asyncio.create_task(seen.until_stopped())
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait({working}, timeout=5)
        await asyncio.gather(working, return_exceptions=True)
