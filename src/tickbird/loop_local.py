"""One resource per event loop: opened once for all concurrent callers, and closed with its loop."""

from __future__ import annotations

import os
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

# Loaded on first use, because every module that declares tasks imports this one.
if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Closeable(Protocol):
    """An object with connections."""

    async def close(self) -> None: ...


# The generator closes the connections of its key. It lives as long as the key, not as long as the app that opened it.
_GUARDS: Final[weakref.WeakKeyDictionary[Any, AsyncGenerator[None, None]]] = weakref.WeakKeyDictionary()


class PerLoop(Generic[T]):
    """Opens one value with its connections per event loop."""

    def __init__(self, connect: Callable[[], Awaitable[tuple[Closeable, T]]]) -> None:
        self._connect = connect
        self._opened: dict[asyncio.AbstractEventLoop, asyncio.Task[T]] = {}
        _ALL.add(self)

    def __len__(self) -> int:
        """The number of event loops with a value that is open or opening."""
        return len(self._opened)

    async def get(self) -> T:
        import asyncio

        loop = asyncio.get_running_loop()
        for past_loop in list(self._opened):
            if past_loop.is_closed():
                self._opened.pop(past_loop, None)
        opening = self._opened.get(loop)
        if opening is None:
            opening = self._opened[loop] = loop.create_task(self._open(), name="tickbird connect")
            opening.add_done_callback(self._drop_failed)
        # Cancelling one caller must not cancel the others.
        return await asyncio.shield(opening)

    async def close(self) -> None:
        """Close the connections of the running event loop, if there are any."""
        import asyncio

        opening = self._opened.pop(asyncio.get_running_loop(), None)
        if opening is None:
            return
        if not opening.done():
            opening.cancel()
            await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            await _GUARDS.pop(opening.result()).aclose()

    def reset_after_fork(self) -> None:
        """Discard the parent's values in a forked child."""
        # Keep a reference: closing the parent's connections here would end them there.
        _INHERITED.append(self._opened)
        self._opened = {}

    async def _open(self) -> T:
        connections, value = await self._connect()
        guard = _close_with_loop(connections)
        await anext(guard)
        _GUARDS[value] = guard
        return value

    def _drop_failed(self, opening: asyncio.Task[T]) -> None:
        """Let the next call try again; the callers that waited get the error."""
        if opening.cancelled() or opening.exception() is not None:
            for loop, task in list(self._opened.items()):
                if task is opening:
                    self._opened.pop(loop, None)


async def _close_with_loop(connections: Closeable) -> AsyncGenerator[None, None]:
    """Close connections with their event loop: a loop that ends closes its asynchronous generators."""
    try:
        yield
    finally:
        await connections.close()


_ALL: Final[weakref.WeakSet[PerLoop[Any]]] = weakref.WeakSet()
_INHERITED: Final[list[Any]] = []


def _reset_all() -> None:
    for resource in list(_ALL):
        resource.reset_after_fork()
    _INHERITED.append(dict(_GUARDS))
    _GUARDS.clear()


os.register_at_fork(after_in_child=_reset_all)
