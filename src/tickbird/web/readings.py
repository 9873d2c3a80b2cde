"""Readings that all open pages share: who asks while one is fresh, or on its way, gets the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")
_MOST: Final = 1_000


class Readings:
    """What was read lately, by what was asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, asyncio.Task[Any]]] = {}

    async def share(self, key: Hashable, read: Callable[[], Awaitable[T]], fresh: float = 1.0) -> T:
        """What was read for this key within the last `fresh` seconds, or is being read; else read it now."""
        now = self._clock()
        until, task = self._kept.get(key, (0.0, None))
        if task is None or until <= now or (task.done() and (task.cancelled() or task.exception() is not None)):
            if len(self._kept) >= _MOST:
                self._kept = {key: kept for key, kept in self._kept.items() if kept[0] > now}
            task = asyncio.ensure_future(_call(read))
            # A mistake is told to whoever asked; if they have left, to nobody.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._kept[key] = (now + fresh, task)
        # Whoever leaves does not take it away from the others.
        return cast("T", await asyncio.shield(task))


async def _call(read: Callable[[], Awaitable[T]]) -> T:
    return await read()
