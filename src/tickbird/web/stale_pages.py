"""The last versions of pages: if the store does not answer, they are shown greyed, with their age."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from tickbird.single_flight_cache import SingleFlightCache, from_start

_MAX_PAGES: Final = 200
_MAX_SIZE: Final = 1_000_000
# Bytes of all pages.
_MAX_BYTES: Final = 32_000_000
# Seconds.
_MAX_AGE: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class StalePage:
    """The last version of a page, and its age in seconds."""

    body: bytes
    age: float


class _Snapshot(NamedTuple):
    body: bytes
    taken_at: float


class StalePageCache:
    """Pages by caller and URL."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pages: SingleFlightCache[tuple[str, str], _Snapshot] = SingleFlightCache(
            from_start(_MAX_AGE),
            max_entries=_MAX_PAGES,
            max_bytes=_MAX_BYTES,
            size_of=lambda page: len(page.body),
            clock=clock,
        )

    def put(self, caller: str, url: str, body: bytes) -> None:
        """Cache a page, unless it is too large."""
        if len(body) <= _MAX_SIZE:
            self._pages.put((caller, url), _Snapshot(body, self._clock()))

    def get(self, caller: str, url: str) -> StalePage | None:
        """The last version of the page that this caller was shown; None if there is none or it is too old."""
        page = self._pages.get((caller, url))
        return None if page is None else StalePage(page.body, self._clock() - page.taken_at)

    def drop_caller(self, caller: str) -> None:
        """Drop all pages of a caller, at logout."""
        self._pages.drop_keys(lambda key: key[0] == caller)
