"""Limits of database connections, for each role and each named connection."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tickbird.targets.protocol import Run

# Seconds: a longer wait for a connection is shown in the log of the run.
_SHORT_WAIT: Final = 0.5


class RoleSlots:
    """Limits the connections of each owner: a role, or a named connection. A run shows that it waits for one."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._used: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[asyncio.Future[None]]] = defaultdict(deque)

    @asynccontextmanager
    async def take(self, owner: str, run: Run) -> AsyncIterator[None]:
        """Wait for a free connection of the owner, first come, first served."""
        if self._used[owner] < self._maximum:
            self._used[owner] += 1
        else:
            await self._wait(owner, run)
        try:
            yield
        finally:
            self._release(owner)

    async def _wait(self, owner: str, run: Run) -> None:
        loop = asyncio.get_running_loop()
        slot: asyncio.Future[None] = loop.create_future()
        waiting = self._waiting[owner]
        waiting.append(slot)
        timer = loop.call_later(_SHORT_WAIT, self._report, owner, run)
        try:
            await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self._release(owner)
            elif slot in waiting:
                waiting.remove(slot)
            raise
        finally:
            timer.cancel()
        if loop.time() >= timer.when():
            run.heartbeat("has a database connection")

    def _report(self, owner: str, run: Run) -> None:
        text = f"waits for a database connection: {self._used[owner]} of {self._maximum} of {owner} are in use"
        run.log.info(text)
        run.heartbeat(text)

    def _release(self, owner: str) -> None:
        """Hand the connection to the first that waits."""
        waiting = self._waiting[owner]
        while waiting:
            slot = waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                return
        self._used[owner] -= 1
