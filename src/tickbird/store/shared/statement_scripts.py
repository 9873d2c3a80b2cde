"""Work as a sequence of statements, so that it can run on any connection, blocking or async."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Rows = Sequence[Sequence[Any]]
# Yields a statement's name and values, receives its rows, and returns the final result.
StatementScript = Generator[tuple[str, Mapping[str, Any]], Rows, T]


def run_sync(steps: StatementScript[T], execute: Callable[[str, Mapping[str, Any]], Rows]) -> T:
    """Run the steps with a blocking call."""
    try:
        statement = next(steps)
        while True:
            statement = steps.send(execute(*statement))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def run_async(steps: StatementScript[T], execute: Callable[[str, Mapping[str, Any]], Awaitable[Rows]]) -> T:
    """Run the steps with an awaited call."""
    try:
        statement = next(steps)
        while True:
            statement = steps.send(await execute(*statement))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
