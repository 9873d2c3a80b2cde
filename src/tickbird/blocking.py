"""The same client for code without an event loop: calls wait for the answer. A thin façade, never a twin."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


_END = object()


class Portal:
    """An event loop in a thread of its own, for calls from code that has none."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine over there and wait for its result."""
        import asyncio

        return asyncio.run_coroutine_threadsafe(coroutine, self._running()).result()

    def _running(self) -> asyncio.AbstractEventLoop:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="tickbird blocking", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """End the thread."""
        with self._lock:
            if self._loop is not None and self._thread is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join()
                self._loop.close()
                self._loop = None


class Blocking:
    """Every coroutine method of the wrapped object, as a method that blocks; what yields, as a plain iterator."""

    def __init__(self, wrapped: Any, portal: Portal) -> None:
        self._wrapped = wrapped
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._wrapped, name)
        if inspect.isasyncgenfunction(attribute):
            return self._iterate(attribute)
        return self._block(attribute) if inspect.iscoroutinefunction(attribute) else attribute

    def _block(self, method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._portal.call(method(*args, **kwargs))

        return call

    def _iterate(self, method: Callable[..., AsyncGenerator[Any, None]]) -> Callable[..., Iterator[Any]]:
        @functools.wraps(method)
        def iterate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            steps = method(*args, **kwargs)

            async def step() -> Any:
                return await anext(steps, _END)

            try:
                while (found := self._portal.call(step())) is not _END:
                    yield found
            finally:
                self._portal.call(steps.aclose())

        return iterate
