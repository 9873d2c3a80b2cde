"""Readings that all open pages share: who asks while one is fresh, or on its way, gets the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, TypeVar, cast

T = TypeVar("T")
# A namespace, and what is asked of it.
Key = tuple[Hashable, ...]
_MOST: Final = 1_000
# With each reading, how slow others were counts for less.
_FORGET: Final = 0.9


class Readings:
    """What was read lately, by what was asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # When each was begun, until when it is fresh, and what comes of it.
        self._kept: dict[Key, tuple[float, float, asyncio.Task[Any]]] = {}
        self._changed: dict[Hashable, float] = {}
        # What may be shown until it is known anew.
        self._before: dict[Key, Any] = {}
        # How long readings take lately, in seconds: nobody does well to ask for them more often than that.
        self.slow = 0.0

    async def share(self, key: Key, read: Callable[[], Awaitable[T]], fresh: float = 1.0, factor: float = 0.0) -> T:
        """What was read for this key within the last `fresh` seconds, or is being read; else read it now.

        What took long stays fresh for `factor` times as long as it took.
        """
        # Whoever leaves does not take it away from the others.
        return cast("T", await asyncio.shield(self._task(key, read, fresh, factor)))

    async def latest(
        self, key: Key, read: Callable[[], Awaitable[T]], fresh: float, factor: float, patience: float
    ) -> T | None:
        """The same; who would wait for longer than `patience` gets what was read before, None where nothing was."""
        task = self._task(key, read, fresh, factor)
        await asyncio.wait({task}, timeout=patience)
        if not task.done():
            return cast("T | None", self._before.get(key))
        if len(self._before) >= _MOST:
            self._before.clear()
        self._before[key] = found = task.result()
        return cast("T", found)

    def _task(self, key: Key, read: Callable[[], Awaitable[Any]], fresh: float, factor: float) -> asyncio.Task[Any]:
        kept = self._kept.get(key)
        if kept is not None and self._counts(key, *kept):
            return kept[2]
        now = self._clock()
        if len(self._kept) >= _MOST:
            self._kept = {key: each for key, each in self._kept.items() if each[1] > now}
        task = asyncio.ensure_future(_call(read))
        # A mistake is told to whoever asked; if they have left, to nobody.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._kept[key] = (now, now + fresh, task)
        task.add_done_callback(lambda _: self._extend(key, task, fresh, factor))
        return task

    def expire(self, namespace: str) -> None:
        """Something has happened there: what was begun before this is not fresh any more."""
        self._changed[namespace] = self._clock()

    def _extend(self, key: Key, task: asyncio.Task[Any], fresh: float, factor: float) -> None:
        begun, until, kept = self._kept.get(key, (0.0, 0.0, None))
        if kept is not task:
            return
        now = self._clock()
        took = now - begun
        # What took longer than it would be fresh is of use to somebody all the same.
        late = now + fresh if took > fresh else until
        self._kept[key] = (begun, max(until, late, begun + factor * took), task)
        if not factor:
            self.slow = max(took, self.slow * _FORGET)

    def _counts(self, key: Key, begun: float, until: float, task: asyncio.Task[Any]) -> bool:
        if task.done() and (task.cancelled() or task.exception() is not None):
            return False
        # What takes longer than it would be fresh is not begun a second time meanwhile.
        return (until > self._clock() or not task.done()) and begun >= self._changed.get(key[0], begun)


async def _call(read: Callable[[], Awaitable[T]]) -> T:
    return await read()
