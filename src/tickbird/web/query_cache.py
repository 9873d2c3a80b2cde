"""Readings that all open pages share: who asks while one is fresh, or on its way, gets the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar, cast

from tickbird.domain.sized_cache import SizedCache, size_of

T = TypeVar("T")
# A namespace, and what is asked of it.
Key = tuple[Hashable, ...]
# Bytes of all readings that are fresh, and of the older ones that may be shown meanwhile.
MAX_BYTES: Final = 32_000_000
# What a reading takes besides its result.
_OVERHEAD: Final = 2_000
# With each reading, how slow others were counts for less.
_FORGET: Final = 0.9


class _Result(NamedTuple):
    value: Any
    size: int


class _Reading(NamedTuple):
    """When it was begun, until when it is fresh, and its result."""

    begun: float
    until: float
    task: asyncio.Task[_Result]


class QueryCache:
    """What was read lately, by what was asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: SizedCache[Key, _Reading] = SizedCache(MAX_BYTES)
        self._changed: dict[Hashable, float] = {}
        # What may be shown until it is known anew.
        self._before: SizedCache[Key, _Result] = SizedCache(MAX_BYTES)
        # How long readings take lately, in seconds: nobody does well to ask for them more often than that.
        self.slow = 0.0

    @property
    def size(self) -> int:
        """Bytes of all results that are kept."""
        return self._kept.size + self._before.size

    async def share(self, key: Key, read: Callable[[], Awaitable[T]], fresh: float = 1.0, factor: float = 0.0) -> T:
        """What was read for this key within the last `fresh` seconds, or is being read; else read it now.

        What took long stays fresh for `factor` times as long as it took.
        """
        # Whoever leaves does not take it away from the others.
        return cast("T", (await asyncio.shield(self._task(key, read, fresh, factor))).value)

    async def latest(
        self, key: Key, read: Callable[[], Awaitable[T]], fresh: float, factor: float, patience: float
    ) -> T | None:
        """The same; who would wait for longer than `patience` gets what was read before, None where nothing was."""
        task = self._task(key, read, fresh, factor)
        await asyncio.wait({task}, timeout=patience)
        if not task.done():
            before = self._before.get(key)
            return None if before is None else cast("T", before.value)
        result = task.result()
        self._before.put(key, result, result.size)
        return cast("T", result.value)

    def _task(self, key: Key, read: Callable[[], Awaitable[Any]], fresh: float, factor: float) -> asyncio.Task[_Result]:
        kept = self._kept.get(key)
        if kept is not None and self._counts(key, kept):
            return kept.task
        now = self._clock()
        task = asyncio.ensure_future(_call(read))
        # A mistake is told to whoever asked; if they have left, to nobody.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._kept.put(key, _Reading(now, now + fresh, task), _OVERHEAD)
        task.add_done_callback(lambda _: self._keep(key, task, fresh, factor))
        return task

    def expire(self, namespace: str) -> None:
        """Something has happened there: what was begun before this is not fresh any more."""
        self._changed[namespace] = self._clock()

    def _keep(self, key: Key, task: asyncio.Task[_Result], fresh: float, factor: float) -> None:
        """Keep the result of a reading that has ended for as long as it is fresh."""
        reading = self._kept.get(key)
        if reading is None or reading.task is not task:
            return
        if task.cancelled() or task.exception() is not None:
            self._kept.drop(key)
            return
        now = self._clock()
        took = now - reading.begun
        # What took longer than it would be fresh is of use to somebody all the same.
        late = now + fresh if took > fresh else reading.until
        until = max(reading.until, late, reading.begun + factor * took)
        self._kept.put(key, _Reading(reading.begun, until, task), task.result().size)
        # Also if nobody asks for it any more.
        asyncio.get_running_loop().call_later(max(0.0, until - now), self._drop, key, task)
        if not factor:
            self.slow = max(took, self.slow * _FORGET)

    def _drop(self, key: Key, task: asyncio.Task[_Result]) -> None:
        reading = self._kept.get(key)
        if reading is not None and reading.task is task and reading.until <= self._clock():
            self._kept.drop(key)

    def _counts(self, key: Key, reading: _Reading) -> bool:
        begun, until, task = reading
        if task.done() and (task.cancelled() or task.exception() is not None):
            return False
        # What takes longer than it would be fresh is not begun a second time meanwhile.
        return (until > self._clock() or not task.done()) and begun >= self._changed.get(key[0], begun)


async def _call(read: Callable[[], Awaitable[Any]]) -> _Result:
    value = await read()
    # In a thread, because a result may have a million values.
    return _Result(value, _OVERHEAD + await asyncio.to_thread(size_of, value, MAX_BYTES))
