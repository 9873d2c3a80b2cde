"""The pool of PostgreSQL connections: a cancellation is never lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tickbird.store.postgres.database.watchdog import Pool


async def test_a_cancellation_that_meets_a_connection_is_kept(postgres_url: str) -> None:
    async with Pool(postgres_url, min_size=1, max_size=1, open=False) as pool:
        connection = await pool.getconn()
        waiting = asyncio.create_task(pool.getconn())
        while not pool.get_stats().get("requests_waiting"):  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(0)
        # The waiter has its connection, and is cancelled before it runs again.
        await pool.putconn(connection)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # It gave the connection back.
        await pool.putconn(await pool.getconn(timeout=5))


async def test_a_pool_that_is_making_a_connection_ends_when_closed(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, add = asyncio.Event(), Pool._add_to_pool

    async def slow(self: Pool, connection: Any) -> None:
        reached.set()
        try:
            await asyncio.sleep(60)
        finally:
            await add(self, connection)

    monkeypatch.setattr(Pool, "_add_to_pool", slow)
    pool = Pool(postgres_url, min_size=1, max_size=1, open=False)
    await pool.open()
    await reached.wait()
    async with asyncio.timeout(30):
        await pool.close()


async def test_cleanup_after_a_cancellation_gets_a_connection(postgres_url: str) -> None:
    async with Pool(postgres_url, min_size=1, max_size=1, open=False) as pool:

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                connection = await pool.getconn()
                await connection.execute("SELECT 1")
                await pool.putconn(connection)
                cleaned.set()

        cleaned = asyncio.Event()
        working = asyncio.create_task(work())
        await asyncio.sleep(0)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert cleaned.is_set()
