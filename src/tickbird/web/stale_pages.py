"""The last known pages, for when the store does not answer: shown greyed, with their age."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from tickbird.single_flight_cache import SingleFlightCache, from_start

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


class _Snapshot(NamedTuple):
    body: bytes
    taken_at: float


class StalePageCache:
    """Pages by who saw them and where they are."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pages: SingleFlightCache[tuple[str, str], _Snapshot] = SingleFlightCache(
            from_start(_OLDEST),
            max_entries=_MAX_PAGES,
            max_bytes=_MAX_BYTES,
            size_of=lambda page: len(page.body),
            clock=clock,
        )

    def keep(self, who: str, where: str, body: bytes) -> None:
        """Remember a page."""
        if len(body) <= _MAX_SIZE:
            self._pages.put((who, where), _Snapshot(body, self._clock()))

    def find(self, who: str, where: str) -> StalePage | None:
        """The page as they saw it last, unless that is too long ago."""
        page = self._pages.get((who, where))
        return None if page is None else StalePage(page.body, self._clock() - page.taken_at)

    def forget(self, who: str) -> None:
        """Whoever logs out leaves nothing behind."""
        self._pages.drop_keys(lambda key: key[0] == who)
