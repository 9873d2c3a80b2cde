"""Work told as statements, one after the other, so that it can be done on any connection, blocking or not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Rows = Sequence[Sequence[Any]]
# Yields a statement's name and its values, is sent the rows that came of it, and returns what came of all.
StatementScript = Generator[tuple[str, Mapping[str, Any]], Rows, T]


def run_sync(steps: StatementScript[T], execute: Callable[[str, Mapping[str, Any]], Rows]) -> T:
    """Take the steps, each with a call that blocks."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(execute(*asked))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def run_async(steps: StatementScript[T], execute: Callable[[str, Mapping[str, Any]], Awaitable[Rows]]) -> T:
    """Take the steps, each with a call that is awaited."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(await execute(*asked))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
