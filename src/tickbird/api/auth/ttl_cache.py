"""What was looked up a moment ago, so that not every request asks the store who calls."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

# A look-up counts for so many seconds: what is revoked or closed opens nothing any more after that.
TTL_SECONDS: Final = 1.0
MAX_CACHED: Final = 10_000

T = TypeVar("T")


class TtlCache(Generic[T]):
    """What has an id, or that nothing has, for as long as that counts."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, T | None]] = {}
        # Look-ups that are on their way, and when each was begun.
        self._asked: dict[str, tuple[float, asyncio.Future[T | None]]] = {}

    def has(self, key: str) -> bool:
        """Can it be told without asking the store once more?"""
        now = self._clock()
        return self._known.get(key, (0.0, None))[0] > now or self._on_its_way(key, now) is not None

    async def find(self, key: str, look_up: Callable[[str], Awaitable[T | None]]) -> T | None:
        """What has this id. Those who ask at the same time share one look-up: many open pages come at once."""
        now = self._clock()
        until, found = self._known.get(key, (0.0, None))
        if until > now:
            return found
        coming = self._on_its_way(key, now)
        if coming is None:
            coming = asyncio.ensure_future(_call(look_up, key))
            self._asked[key] = (now, coming)
            coming.add_done_callback(lambda done: self._keep(key, now, done))
        # Whoever leaves does not take it away from the others.
        return await asyncio.shield(coming)

    def renew(self, key: str, until: float) -> None:
        """The store has just said of it that it still counts."""
        if (known := self._known.get(key)) is not None and known[1] is not None:
            self._known[key] = (max(known[0], until), known[1])

    def forget(self, which: Callable[[T], bool]) -> None:
        """Look these up anew the next time."""
        for key in [key for key, (_, found) in self._known.items() if found is not None and which(found)]:
            del self._known[key]
        # What is on its way may have been read before: it is told to those who wait for it, and not kept.
        self._asked.clear()

    def _on_its_way(self, key: str, now: float) -> asyncio.Future[T | None] | None:
        begun, coming = self._asked.get(key, (0.0, None))
        return coming if coming is not None and not coming.done() and now < begun + TTL_SECONDS else None

    def _keep(self, key: str, begun: float, done: asyncio.Future[T | None]) -> None:
        # A mistake is told to whoever asked; if they have left, to nobody.
        failed = done.cancelled() or done.exception() is not None
        if self._asked.get(key, (0.0, None))[1] is not done:
            return
        del self._asked[key]
        if failed:
            return
        if len(self._known) >= MAX_CACHED:
            self._known.clear()
        # Counted from before the look-up, so that a slow one does not count for longer.
        self._known[key] = (begun + TTL_SECONDS, done.result())


async def _call(look_up: Callable[[str], Awaitable[T | None]], key: str) -> T | None:
    return await look_up(key)
