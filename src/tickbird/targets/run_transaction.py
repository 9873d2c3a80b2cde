"""The block of `run.transaction(connection)`: one transaction with the effect of a run and its success."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from tickbird.domain.errors import InvalidError


class RunTransaction:
    """Commits at the end of its block, together with the success of the run; an error rolls back both."""

    def __init__(self, begin: Callable[[], Any], finish: Callable[[Any], Any]) -> None:
        self._begin, self._finish = begin, finish
        self._block: Any = None
        # The result of the run, as JSON.
        self.result: Any = None

    def __enter__(self) -> RunTransaction:
        self._block = self._begin()
        if not hasattr(self._block, "__enter__"):
            raise InvalidError("this connection is async.", field="connection", hint="Use `async with`.")
        self._block.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Any:
        if error is None:
            try:
                self._finish(self.result)
            except BaseException as failure:
                self._block.__exit__(type(failure), failure, failure.__traceback__)
                raise
        return self._block.__exit__(kind, error, traceback)

    async def __aenter__(self) -> RunTransaction:
        self._block = self._begin()
        if not hasattr(self._block, "__aenter__"):
            raise InvalidError("this connection is not async.", field="connection", hint="Use `with`.")
        await self._block.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Any:
        if error is None:
            try:
                await self._finish(self.result)
            except BaseException as failure:
                await self._block.__aexit__(type(failure), failure, failure.__traceback__)
                raise
        return await self._block.__aexit__(kind, error, traceback)
