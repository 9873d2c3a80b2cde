"""A cache of values that expire; callers that need the same value at the same time share one computation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from math import inf
from typing import Generic, NamedTuple, TypeVar

from tickbird.domain.sized_cache import SizedCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
# Returns the seconds from the start of a computation until its value expires, given the duration of the computation.
Lifetime = Callable[[float], float]


def from_start(seconds: float) -> Lifetime:
    """Expire `seconds` after the computation began; one that takes longer is neither joined nor cached."""
    return lambda _: seconds


def from_end(seconds: float) -> Lifetime:
    """Expire `seconds` after the computation ended, however long it took."""
    return lambda took: took + seconds


class _Entry(NamedTuple, Generic[V]):
    value: V
    expires_at: float


class _Flight(NamedTuple, Generic[V]):
    task: asyncio.Task[V]
    started_at: float
    lifetime: Lifetime


class SingleFlightCache(Generic[K, V]):
    """Values by key, with LRU eviction. All its event loops must run in one thread.

    An expired value stays in memory until it is replaced or evicted; with `drop_expired`, a timer drops it.
    """

    def __init__(
        self,
        lifetime: Lifetime,
        *,
        max_entries: float = inf,
        max_bytes: float = inf,
        size_of: Callable[[V], int] = lambda _: 0,
        drop_expired: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lifetime = lifetime
        self._size_of = size_of
        self._drop_expired = drop_expired
        self._clock = clock
        self._entries: SizedCache[K, _Entry[V]] = SizedCache(max_bytes, max_entries)
        self._flights: dict[K, _Flight[V]] = {}

    @property
    def size(self) -> int:
        """Bytes of all cached values."""
        return self._entries.size

    def get(self, key: K) -> V | None:
        """The cached value; None if there is none or it has expired."""
        entry = self._fresh(key)
        return None if entry is None else entry.value

    def is_ready_or_loading(self, key: K) -> bool:
        """Is the value cached, or is a computation in flight that `get_or_compute` would join?"""
        return self._fresh(key) is not None or self._joinable(key) is not None

    async def get_or_compute(self, key: K, compute: Callable[[], Awaitable[V]], lifetime: Lifetime | None = None) -> V:
        """Return the cached value, or the result of the computation in flight; otherwise compute it.

        Cancelling a caller does not cancel the computation for others. If it fails, all callers get the error, and the
        next caller computes again.
        """
        entry = self._fresh(key)
        if entry is not None:
            return entry.value
        return await asyncio.shield(self._joinable(key) or self._start(key, compute, lifetime or self._lifetime))

    def put(self, key: K, value: V) -> None:
        """Cache a value; a computation in flight does not replace it."""
        self._flights.pop(key, None)
        self._store(key, value, self._clock() + self._lifetime(0.0))

    def renew(self, key: K, until: float) -> None:
        """Extend the life of a cached value, which may have expired, to `until` by the clock. None is not extended."""
        entry = self._entries.get(key)
        if entry is not None and entry.value is not None:
            self._store(key, entry.value, max(entry.expires_at, until))

    def drop(self, key: K) -> V | None:
        """Drop a value, and a computation in flight: its callers get the result, which is not cached."""
        self._flights.pop(key, None)
        entry = self._entries.drop(key)
        return None if entry is None else entry.value

    def drop_keys(self, matches: Callable[[K], bool]) -> None:
        for key in [key for key in (*self._entries, *self._flights) if matches(key)]:
            self.drop(key)

    def drop_values(self, matches: Callable[[V], bool]) -> list[V]:
        """Drop all values that match, and all computations in flight, because their results may match."""
        self._flights.clear()
        dropped = {key: entry.value for key, entry in self._entries.items() if matches(entry.value)}
        for key in dropped:
            self._entries.drop(key)
        return list(dropped.values())

    def _fresh(self, key: K) -> _Entry[V] | None:
        entry = self._entries.get(key)
        return entry if entry is not None and entry.expires_at > self._clock() else None

    def _joinable(self, key: K) -> asyncio.Task[V] | None:
        """The computation in flight, unless its result would have expired already or another event loop runs it."""
        flight = self._flights.get(key)
        if flight is None or flight.task.get_loop() is not asyncio.get_running_loop():
            return None
        took = self._clock() - flight.started_at
        return flight.task if took <= flight.lifetime(took) else None

    def _start(self, key: K, compute: Callable[[], Awaitable[V]], lifetime: Lifetime) -> asyncio.Task[V]:
        flight = _Flight(asyncio.create_task(_run(compute)), self._clock(), lifetime)
        self._flights[key] = flight
        flight.task.add_done_callback(partial(self._finish, key, flight))
        return flight.task

    def _finish(self, key: K, flight: _Flight[V], task: asyncio.Task[V]) -> None:
        # Reading the exception keeps asyncio from logging it if no caller is left.
        failed = task.cancelled() or task.exception() is not None
        if self._flights.get(key) is not flight:
            return
        del self._flights[key]
        if failed:
            return
        now = self._clock()
        expires_at = flight.started_at + flight.lifetime(now - flight.started_at)
        self._store(key, task.result(), expires_at)
        if self._drop_expired:
            task.get_loop().call_later(expires_at - now, self._expire, key)

    def _store(self, key: K, value: V, expires_at: float) -> None:
        self._entries.put(key, _Entry(value, expires_at), self._size_of(value))

    def _expire(self, key: K) -> None:
        if self._fresh(key) is None:
            self._entries.drop(key)


async def _run(compute: Callable[[], Awaitable[V]]) -> V:
    return await compute()
