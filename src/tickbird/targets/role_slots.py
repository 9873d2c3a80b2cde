"""Limits of database connections, for each role and each named connection."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tickbird.targets.protocol import PostponedRun, Run

# Seconds that a run waits for a connection in its slot of the worker, less than the shortest timeout. After it, the
# run is queued again, so that runs of other roles can start.
_MAX_WAIT: Final = 0.8
# Seconds until it is tried again: more for each attempt, because each one is recorded.
_DELAY: Final = 2.0
_MAX_DELAY: Final = 10.0


class RoleSlots:
    """Limits the connections of each owner: a role, or a named connection."""

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._used: Counter[str] = Counter()
        self._waiting: defaultdict[str, deque[asyncio.Future[None]]] = defaultdict(deque)

    @asynccontextmanager
    async def take(self, owner: str, run: Run) -> AsyncIterator[None]:
        """Wait for a free connection of the owner, first come, first served; raises PostponedRun after a moment."""
        if self._used[owner] < self._maximum:
            self._used[owner] += 1
        else:
            await self._wait(owner, run)
        try:
            yield
        finally:
            self._release(owner)

    async def _wait(self, owner: str, run: Run) -> None:
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting[owner]
        waiting.append(slot)
        try:
            async with asyncio.timeout(_MAX_WAIT):
                await slot
        except (asyncio.CancelledError, TimeoutError) as error:
            if slot.done() and not slot.cancelled():
                self._release(owner)
            elif slot in waiting:
                waiting.remove(slot)
            if isinstance(error, TimeoutError):
                reason = (
                    f"waits for a database connection: {self._used[owner]} of {self._maximum} of {owner} are in use"
                )
                raise PostponedRun(reason, min(_DELAY * run.attempt, _MAX_DELAY)) from None
            raise

    def _release(self, owner: str) -> None:
        """Hand the connection to the first that waits."""
        waiting = self._waiting[owner]
        while waiting:
            slot = waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                return
        self._used[owner] -= 1
