"""Wake-ups by NOTIFY: sent rarely, and heard through a connection that comes back by itself."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import psycopg

from tickbird.domain.errors import StoreError
from tickbird.store.postgres.database.connection import Connections, Session

# Sending costs every committer of the database a lock, so a busy process sends at most so often.
_REST: Final = 0.05
_FIRST_PAUSE: Final = 0.1
_MAX_PAUSE: Final = 5.0


class Notifier:
    """Tells other processes that there is work: at once, then at most every so often, and once more at the end."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._wanted = False
        self._ringing: asyncio.Task[None] | None = None

    def notify(self) -> None:
        """Ask for a wake-up to be sent; it may get lost, as every wake-up may."""
        self._wanted = True
        if self._ringing is None or self._ringing.done():
            self._ringing = asyncio.create_task(self._send(), name="tickbird wake-up")

    def may_notify_with_commit(self) -> bool:
        """May a transaction send one with its commit, which is quicker? If not, ask for one once it has committed."""
        if self._ringing is not None and not self._ringing.done():
            return False
        self._ringing = asyncio.create_task(self._rest(), name="tickbird wake-up")
        return True

    async def close(self) -> None:
        """Send nothing more."""
        if self._ringing is not None:
            self._ringing.cancel()
            with suppress(asyncio.CancelledError):
                await self._ringing

    async def _send(self) -> None:
        while self._wanted:
            self._wanted = False
            with suppress(StoreError, psycopg.Error):
                await self._connections.statement(lambda db: db.execute("wake"))
            await asyncio.sleep(_REST)

    async def _rest(self) -> None:
        await asyncio.sleep(_REST)
        await self._send()


class _Notifications:
    """What was heard and not yet told."""

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
    """Wake-ups heard on a connection of their own; one also follows each new connection, since some may be lost."""
    heard = _Notifications()
    connected = asyncio.Event()
    listening = asyncio.create_task(_listen(connections, schema, heard, connected), name="tickbird listener")

    async def wakeups() -> AsyncIterator[bool]:
        while True:
            yield await heard.next()

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


async def _listen(connections: Connections, schema: str, heard: _Notifications, connected: asyncio.Event) -> None:
    pause = _FIRST_PAUSE
    while True:
        with suppress(StoreError, psycopg.Error):
            async with connections.dedicated() as connection:
                await connection.execute(Session(connection, schema).statements["listen"])
                pause = _FIRST_PAUSE
                if connected.is_set():
                    # A server that was away may have been migrated meanwhile.
                    heard.hear(schema=True)
                connected.set()
                async for message in connection.notifies():
                    heard.hear(schema=message.payload == "schema")
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that not all come back at once
        pause = min(2 * pause, _MAX_PAUSE)
