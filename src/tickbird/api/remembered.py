"""What was looked up a moment ago, so that not every request asks the store who calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

# A look-up counts for so many seconds: what is revoked or closed opens nothing any more after that.
REMEMBERED: Final = 1.0
MOST_REMEMBERED: Final = 10_000

T = TypeVar("T")


class Remembered(Generic[T]):
    """What has an id, or that nothing has, for as long as that counts."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, T | None]] = {}

    def has(self, key: str) -> bool:
        """Can it be told without asking the store?"""
        return self._known.get(key, (0.0, None))[0] > self._clock()

    async def find(self, key: str, look_up: Callable[[str], Awaitable[T | None]]) -> T | None:
        """What has this id."""
        now = self._clock()
        until, found = self._known.get(key, (0.0, None))
        if until > now:
            return found
        found = await look_up(key)
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        # Counted from before the look-up, so that a slow one does not count for longer.
        self._known[key] = (now + REMEMBERED, found)
        return found

    def forget(self, which: Callable[[T], bool]) -> None:
        """Look these up anew the next time."""
        for key in [key for key, (_, found) in self._known.items() if found is not None and which(found)]:
            del self._known[key]
