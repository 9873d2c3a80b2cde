"""Wake-ups by NOTIFY: sent rarely, and received on a connection that reconnects."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import psycopg

from tickbird.domain.errors import StoreError
from tickbird.store.postgres.database.connection import Connections, Session

# Seconds between two notifications: each costs every committer of the database a lock.
_INTERVAL: Final = 0.05
_FIRST_PAUSE: Final = 0.1
_MAX_PAUSE: Final = 5.0


class Notifier:
    """Notifies other processes of work: at once, then at most once per interval, and once more at the end."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._is_requested = False
        self._sending: asyncio.Task[None] | None = None

    def notify(self) -> None:
        """Request a wake-up; like every wake-up, it may get lost."""
        self._is_requested = True
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send(), name="tickbird wake-up")

    def may_notify_with_commit(self) -> bool:
        """True if a transaction may send one with its commit, which is faster; otherwise call `notify` afterwards."""
        if self._sending is not None and not self._sending.done():
            return False
        self._sending = asyncio.create_task(self._wait_interval(), name="tickbird wake-up")
        return True

    async def close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            with suppress(asyncio.CancelledError):
                await self._sending

    async def _send(self) -> None:
        while self._is_requested:
            self._is_requested = False
            with suppress(StoreError, psycopg.Error):
                await self._connections.statement(lambda db: db.execute("wake"))
            await asyncio.sleep(_INTERVAL)

    async def _wait_interval(self) -> None:
        await asyncio.sleep(_INTERVAL)
        await self._send()


class _Notifications:
    """Notifications that were received and not yet yielded."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.schema = False

    def hear(self, *, schema: bool) -> None:
        self.schema = self.schema or schema
        self.event.set()

    async def next(self) -> bool:
        await self.event.wait()
        self.event.clear()
        schema, self.schema = self.schema, False
        return schema


@asynccontextmanager
async def listen(connections: Connections, schema: str) -> AsyncIterator[AsyncIterator[bool]]:
    """Wake-ups from a dedicated connection. One also follows each reconnection, because others may be lost."""
    received = _Notifications()
    connected = asyncio.Event()
    listening = asyncio.create_task(_listen(connections, schema, received, connected), name="tickbird listener")

    async def wakeups() -> AsyncIterator[bool]:
        while True:
            yield await received.next()

    try:
        with suppress(TimeoutError):
            # Not wait_for: in Python 3.11 it can drop a cancellation.
            async with asyncio.timeout(_MAX_PAUSE):
                await connected.wait()
        yield wakeups()
    finally:
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening


async def _listen(connections: Connections, schema: str, received: _Notifications, connected: asyncio.Event) -> None:
    pause = _FIRST_PAUSE
    while True:
        with suppress(StoreError, psycopg.Error):
            async with connections.dedicated() as connection:
                await connection.execute(Session(connection, schema).statements["listen"])
                pause = _FIRST_PAUSE
                if connected.is_set():
                    # The server may have been migrated while it was unreachable.
                    received.hear(schema=True)
                connected.set()
                async for message in connection.notifies():
                    received.hear(schema=message.payload == "schema")
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that not all come back at once
        pause = min(2 * pause, _MAX_PAUSE)
