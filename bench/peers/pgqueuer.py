"""PgQueuer, on asyncpg, with its own defaults except for the batch."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

from bench.contenders import Seen, ask, chunks


@dataclass(frozen=True, slots=True)
class PgQueuerWorker:
    """One entrypoint that does nothing."""

    batch: int = 100
    name: str = "PgQueuer"

    async def prepare(self, url: str) -> None:
        """Install its tables."""
        connection = await asyncpg.connect(url)
        await Queries(AsyncpgDriver(connection)).install()
        await connection.close()

    async def fill(self, url: str, count: int) -> float:
        """Many jobs per statement."""
        connection = await asyncpg.connect(url)
        queries = Queries(AsyncpgDriver(connection))
        await connection.execute("TRUNCATE pgqueuer, pgqueuer_log")
        began = time.perf_counter()
        for size in chunks(count):
            await queries.enqueue(["noop"] * size, [None] * size, [0] * size)
        seconds = time.perf_counter() - began
        await connection.close()
        return seconds

    async def work(self, url: str, seen: Seen) -> None:
        """Run a worker until it is stopped."""
        async with asyncpg.create_pool(url, min_size=2, max_size=10) as pool:
            queue = PgQueuer.from_asyncpg_pool(pool)

            @queue.entrypoint("noop")
            async def noop(job: Any) -> None:
                seen.started()

            await _run(queue, self.batch, seen)

    async def left(self, url: str) -> bool:
        return bool(await ask(url, b"SELECT EXISTS (SELECT FROM pgqueuer)"))

    async def fire(self, url: str, count: int) -> float:
        """Make this number of schedules due; returns the seconds until each has been called and recorded."""
        async with asyncpg.create_pool(url, min_size=2, max_size=10) as pool:
            queue = PgQueuer.from_asyncpg_pool(pool)
            done = 0

            async def fire(schedule: Any) -> None:
                nonlocal done
                done += 1

            for number in range(count):
                queue.schedule(f"fire{number}", "0 0 1 1 *")(fire)
            registry = queue.sm.registry
            await queue.sm.queries.insert_schedule({key: entry.next_in() for key, entry in registry.items()})
            await pool.execute("UPDATE pgqueuer_schedules SET next_run = now() - interval '1 s', status = 'queued'")
            began = time.perf_counter()
            working = asyncio.create_task(queue.sm.run())
            while done < count or await pool.fetchval(
                "SELECT count(*) FROM pgqueuer_schedules WHERE status = 'picked'"
            ):
                await asyncio.sleep(0.01)
            seconds = time.perf_counter() - began
            queue.sm.shutdown.set()
            await asyncio.wait({working}, timeout=5)
            await pool.execute("TRUNCATE pgqueuer_schedules")
        return seconds

    async def tick(self, url: str, count: int, seen: Seen) -> None:
        """Run this number of schedules that tick every second."""
        async with asyncpg.create_pool(url, min_size=2, max_size=10) as pool:
            queue = PgQueuer.from_asyncpg_pool(pool)
            upcoming: dict[int, float] = {}
            starts: list[tuple[int, int, float]] = []

            def register(number: int) -> None:
                # The row names the next tick, not the current one.
                @queue.schedule(f"tick{number}", "* * * * * *")
                async def tick(schedule: Any) -> None:
                    now = time.time()
                    due = upcoming.get(number)
                    upcoming[number] = schedule.next_run.timestamp()
                    seen.started()
                    if due is not None:
                        starts.append((number, int(due), now - due))

            for number in range(count):
                register(number)
            await _run(queue, self.batch, seen)
        seen.starts.put(starts)


async def _run(queue: PgQueuer, batch: int, seen: Seen) -> None:
    working = asyncio.create_task(queue.run(batch_size=batch, dequeue_timeout=timedelta(seconds=1)))
    waiting = asyncio.create_task(seen.until_stopped())
    await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    queue.shutdown.set()
    await asyncio.wait({working}, timeout=5)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
