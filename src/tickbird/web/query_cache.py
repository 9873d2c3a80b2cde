"""Query results shared by all open pages. Concurrent requests for the same result share one query."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar, cast

from tickbird.domain.sized_cache import SizedCache, size_of
from tickbird.single_flight_cache import Lifetime, SingleFlightCache, from_end

T = TypeVar("T")
# A namespace, and a query of it.
Key = tuple[Hashable, ...]
# Bytes of the fresh results. The previous results, which are shown while a query is slow, have the same limit.
MAX_BYTES: Final = 32_000_000
# Bytes of a result besides its value.
_OVERHEAD: Final = 2_000
# With each query, the duration of earlier ones decays by this factor.
_DECAY: Final = 0.9


class _Result(NamedTuple):
    value: Any
    size: int


class QueryCache:
    """Results of recent queries."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._results: SingleFlightCache[Key, _Result] = SingleFlightCache(
            from_end(0.0), max_bytes=MAX_BYTES, size_of=lambda result: result.size, drop_expired=True, clock=clock
        )
        self._previous: SizedCache[Key, _Result] = SizedCache(MAX_BYTES)
        # The longest recent query, in seconds; it decays with each query. Refreshing more often is useless.
        self.recent_max_seconds = 0.0

    @property
    def size(self) -> int:
        """Bytes of all cached results."""
        return self._results.size + self._previous.size

    async def share(self, key: Key, read: Callable[[], Awaitable[T]], fresh: float = 1.0, factor: float = 0.0) -> T:
        """Return the result of a query that started within the last `fresh` seconds or is running. Otherwise, run it.

        The result of a slow query stays fresh for `factor` times as long as it took.
        """
        result = await self._results.get_or_compute(key, partial(self._read, read, factor), _lifetime(fresh, factor))
        return cast("T", result.value)

    async def latest(
        self, key: Key, read: Callable[[], Awaitable[T]], fresh: float, factor: float, timeout: float
    ) -> T | None:
        """Like `share`, but return the previous result (or None) after `timeout` seconds."""
        limit = asyncio.timeout(timeout)
        try:
            async with limit:
                result = await self._results.get_or_compute(
                    key, partial(self._read, read, factor), _lifetime(fresh, factor)
                )
        except TimeoutError:
            if not limit.expired():
                raise
            previous = self._previous.get(key)
            return None if previous is None else cast("T", previous.value)
        self._previous.put(key, result, result.size)
        return cast("T", result.value)

    def expire(self, namespace: str) -> None:
        """Drop the results of this namespace, and those of running queries, because something has changed."""
        self._results.drop_keys(lambda key: key[0] == namespace)

    async def _read(self, read: Callable[[], Awaitable[Any]], factor: float) -> _Result:
        started_at = self._clock()
        value = await read()
        # In a thread, because a result may have a million values.
        size = _OVERHEAD + await asyncio.to_thread(size_of, value, MAX_BYTES)
        if not factor:
            self.recent_max_seconds = max(self._clock() - started_at, self.recent_max_seconds * _DECAY)
        return _Result(value, size)


def _lifetime(fresh: float, factor: float) -> Lifetime:
    # A result that took longer than `fresh` is still cached.
    return lambda took: max(fresh if took <= fresh else took + fresh, factor * took)
