"""Every way in which a task can end becomes an outcome of its attempt."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import Tickbird, at
from tickbird.domain.runs.run import RunRecord
from tickbird.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)


async def outcome(function: Callable[..., Any]) -> RunRecord:
    """The run of a function that was started once."""
    bird = Tickbird()
    bird.task(name="work", schedule=at(START + timedelta(seconds=5)))(function)
    async with Harness(bird, START) as harness:
        await harness.advance(minutes=1)
        [run] = await harness.runs("work")
    return run


def exits() -> None:
    sys.exit(3)


async def exits_async() -> None:
    sys.exit(3)


def interrupted() -> None:
    raise KeyboardInterrupt


def stops() -> None:
    raise StopIteration(1)


async def cancels_itself() -> None:
    raise asyncio.CancelledError


def recurses() -> None:
    recurses()


@pytest.mark.parametrize("function", [exits, exits_async, interrupted, stops, cancels_itself, recurses])
async def test_any_exception_of_a_task_fails_its_run(function: Callable[..., Any]) -> None:
    run = await outcome(function)
    assert (run.status, run.failure_kind) == ("failed", "raised")
    assert run.error


class Unreadable:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def loop() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "function, expected",
    [
        (lambda: {"a": (1, 2)}, {"a": [1, 2]}),
        (lambda: datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z"),
        (lambda: float("nan"), "NaN"),
        (lambda: b"\xff\x00", None),
        (lambda: {"text": "a\0b"}, {"text": "ab"}),
        (lambda: "\\u0000", "\\u0000"),
        (Unreadable, None),
        (loop, None),
        (lambda: object, None),
        (lambda: None, None),
    ],
)
async def test_any_result_is_a_success(function: Callable[..., Any], expected: Any) -> None:
    def work() -> Any:
        return function()

    run = await outcome(work)
    assert run.status == "succeeded", run.error
    if expected is not None:
        assert run.result == expected


async def test_a_huge_result_is_truncated_and_marked() -> None:
    def work() -> str:
        return "x" * 1_000_000

    run = await outcome(work)
    assert run.status == "succeeded"
    assert run.result["characters"] == 1_000_002
    assert len(run.result["cut"]) == 100_000


async def test_a_task_that_returns_a_coroutine_has_not_run() -> None:
    async def inner() -> None: ...

    def wrapped() -> Any:
        return inner()

    run = await outcome(wrapped)
    assert (run.status, run.failure_kind) == ("failed", "raised")
    assert run.error is not None
    assert "returned a coroutine" in run.error
