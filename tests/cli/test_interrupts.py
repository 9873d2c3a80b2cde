"""Ctrl-C, whatever the work makes of it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from tickbird.cli.connection import run_async
from tickbird.cli.options import GlobalOptions


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Python's own handler of Ctrl-C, whatever a server that ran in this process has left."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def _interrupted(error: BaseException | None) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        if error is None:
            raise
        raise error from None


@pytest.mark.parametrize("error", [None, OSError("lost"), AssertionError(), BaseException()])
def test_an_error_after_it_is_an_interrupt(error: BaseException | None) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_async(_interrupted(error), GlobalOptions())


def test_before_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> None:
        raise AssertionError

    def run(main: Coroutine[Any, Any, None]) -> None:
        main.close()
        raise asyncio.CancelledError

    # As asyncio.run does if the interrupt comes between the handler's installation and the loop's start.
    monkeypatch.setattr(asyncio, "run", run)
    with pytest.raises(KeyboardInterrupt):
        run_async(never(), GlobalOptions())


def test_another_error_stays_itself() -> None:
    async def fail() -> None:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        run_async(fail(), GlobalOptions())
