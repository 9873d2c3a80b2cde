"""The same client for code without an event loop: a thin façade whose calls wait for their result."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from typing import Any, Final

from tickbird.client.base import ClientBase
from tickbird.loop_thread import Portal

_END: Final = object()


class SyncClient:
    """The nouns of a client, with blocking methods, and iterators for asynchronous generators."""

    def __init__(self, find: Callable[[], Awaitable[Any]], portal: Portal) -> None:
        """`find` returns the wrapped client for the portal's event loop; called again after a fork."""
        self._find = find
        self._portal = portal
        self._generation = -1
        self._wrapped: Any = None
        self._resolve()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._resolve(), name)
        return SyncNoun(self, name) if isinstance(attribute, ClientBase) else self.wrap(attribute)

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._resolve()) if not name.startswith("_")]

    def verb(self, noun: str, name: str) -> Any:
        """A method of a noun, looked up at each access, because a fork replaces the client."""
        return self.wrap(getattr(getattr(self._resolve(), noun), name))

    def wrap(self, attribute: Any) -> Any:
        """A blocking method for a coroutine function, an iterator for a generator, any other value unchanged."""
        if inspect.isasyncgenfunction(attribute):
            return self._iterate(attribute)
        return self._block(attribute) if inspect.iscoroutinefunction(attribute) else attribute

    def _resolve(self) -> Any:
        if self._generation != self._portal.generation:
            self._generation = self._portal.generation

            async def find() -> Any:
                return await self._find()

            self._wrapped = self._portal.call(find())
        return self._wrapped

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
                while (item := self._portal.call(step())) is not _END:
                    yield item
            finally:
                self._portal.release(steps)

        return iterate


class SyncNoun:
    """The blocking verbs of one noun."""

    def __init__(self, client: SyncClient, noun: str) -> None:
        self._client = client
        self._noun = noun

    def __getattr__(self, name: str) -> Any:
        return self._client.verb(self._noun, name)

    def __dir__(self) -> list[str]:
        return [name for name in dir(getattr(self._client._resolve(), self._noun)) if not name.startswith("_")]
