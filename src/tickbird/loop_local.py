"""One resource per event loop: opened once, however many ask for it at the same time, and closed with its loop."""

from __future__ import annotations

import os
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

# Loaded on first use, since every module that declares tasks imports this one.
if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class Closeable(Protocol):
    """Holds connections."""

    async def close(self) -> None:
        """Close them."""


# The generator closes the connections of its key. It lives as long as the key, not as long as the app that opened it.
_GUARDS: Final[weakref.WeakKeyDictionary[Any, AsyncGenerator[None, None]]] = weakref.WeakKeyDictionary()


class PerLoop(Generic[T]):
    """Opens a value with its connections for each event loop that asks for one."""

    def __init__(self, connect: Callable[[], Awaitable[tuple[Closeable, T]]]) -> None:
        self._connect = connect
        self._opened: dict[asyncio.AbstractEventLoop, asyncio.Task[T]] = {}
        _ALL.add(self)

    def __len__(self) -> int:
        """The number of event loops that it is open or being opened for."""
        return len(self._opened)

    async def get(self) -> T:
        """The value of the running event loop."""
        import asyncio

        loop = asyncio.get_running_loop()
        for other in list(self._opened):
            if other.is_closed():
                self._opened.pop(other, None)
        opening = self._opened.get(loop)
        if opening is None:
            opening = self._opened[loop] = loop.create_task(self._open(), name="tickbird connect")
            opening.add_done_callback(self._drop_failed)
        # One caller that is cancelled does not cancel the others.
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
        """Forget in a forked child what belongs to its parent."""
        # Kept for good: closing the parent's connections here would end them there.
        _INHERITED.append(self._opened)
        self._opened = {}

    async def _open(self) -> T:
        connections, value = await self._connect()
        guard = _close_with_loop(connections)
        await anext(guard)
        _GUARDS[value] = guard
        return value

    def _drop_failed(self, opening: asyncio.Task[T]) -> None:
        """The next call tries again; the callers that waited for this one have its error."""
        if opening.cancelled() or opening.exception() is not None:
            for loop, task in list(self._opened.items()):
                if task is opening:
                    self._opened.pop(loop, None)


async def _close_with_loop(connections: Closeable) -> AsyncGenerator[None, None]:
    """An event loop that ends closes the asynchronous generators that were begun in it, and with this one these."""
    try:
        yield
    finally:
        await connections.close()


_ALL: Final[weakref.WeakSet[PerLoop[Any]]] = weakref.WeakSet()
_INHERITED: Final[list[Any]] = []


def _reset_all() -> None:
    for each in list(_ALL):
        each.reset_after_fork()
    _INHERITED.append(dict(_GUARDS))
    _GUARDS.clear()


os.register_at_fork(after_in_child=_reset_all)
