"""Limits of database connections, for each role and each named connection."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tickbird.targets.protocol import PostponedRun, Run

# Seconds: a longer wait for a connection is visible, and if many runs wait, the later ones are queued again. They would
# occupy the slots of the worker, in which runs of other roles can start.
_SHORT_WAIT: Final = 0.8
# Seconds until such a run is tried again: more for each attempt, because each one is recorded.
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
        """Wait for a free connection of the owner, first come, first served.

        As many runs wait as there are connections; another one raises PostponedRun.
        """
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
        run.pause_timeout()
        is_reported = False
        try:
            while not (await asyncio.wait({slot}, timeout=_SHORT_WAIT))[0]:
                text = f"waits for a database connection: {self._used[owner]} of {self._maximum} of {owner} are in use"
                if waiting.index(slot) >= self._maximum:
                    raise PostponedRun(text, min(_DELAY * run.attempt, _MAX_DELAY))
                if not is_reported:
                    run.log.info(text)
                    run.heartbeat(text)
                    is_reported = True
        except BaseException:
            if slot.done():
                self._release(owner)
            else:
                waiting.remove(slot)
            raise
        run.restart_timeout()
        if is_reported:
            run.heartbeat("has a database connection")

    def _release(self, owner: str) -> None:
        """Hand the connection to the first that waits."""
        waiting = self._waiting[owner]
        while waiting:
            slot = waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                return
        self._used[owner] -= 1
