"""The last known pages, for when the store does not answer: shown greyed, with their age."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_MAX_PAGES: Final = 200
_MAX_SIZE: Final = 1_000_000
# All together, in bytes: large pages leave room for fewer.
_MAX_BYTES: Final = 32_000_000
# An older page tells nothing any more.
_OLDEST: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class StalePage:
    """A page as it was, and how many seconds ago."""

    body: bytes
    age: float


class StalePageCache:
    """Pages by who saw them and where they are; the oldest make room."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # In the order in which they were seen.
        self._pages: dict[tuple[str, str], tuple[float, bytes]] = {}
        self._bytes = 0

    def keep(self, who: str, where: str, body: bytes) -> None:
        """Remember a page."""
        if len(body) > _MAX_SIZE:
            return
        self._drop((who, where))
        self._pages[who, where] = (self._clock(), body)
        self._bytes += len(body)
        while len(self._pages) > _MAX_PAGES or self._bytes > _MAX_BYTES:
            self._drop(next(iter(self._pages)))

    def _drop(self, key: tuple[str, str]) -> None:
        _, body = self._pages.pop(key, (0.0, b""))
        self._bytes -= len(body)

    def find(self, who: str, where: str) -> StalePage | None:
        """The page as they saw it last, unless that is too long ago."""
        at, body = self._pages.get((who, where), (0.0, b""))
        age = self._clock() - at
        return StalePage(body, age) if body and age <= _OLDEST else None

    def forget(self, who: str) -> None:
        """Whoever logs out leaves nothing behind."""
        for key in [key for key in self._pages if key[0] == who]:
            self._drop(key)
