"""CPU-bound work in threads, so that the event loop stays free."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import ParamSpec, TypeVar

from tickbird.domain.cancellation import CHECK, InterruptedComputation

P = ParamSpec("P")
T = TypeVar("T")


async def compute(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run work that may take seconds, such as walking a grid: one call at a time per process.

    Threads take turns with the event loop for the interpreter: with one of them the loop waits a few milliseconds, with
    many it hardly runs. If the caller is cancelled, the work ends at its next checkpoint.
    """
    return await _run(_one_thread(os.getpid()), partial(work, *args, **kwargs))


async def compute_now(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same without a queue: for short work, and for callers that hold locks."""
    return await _run(None, partial(work, *args, **kwargs))


async def _run(executor: ThreadPoolExecutor | None, work: Callable[[], T]) -> T:
    cancelled = False

    def check() -> None:
        if cancelled:
            raise InterruptedComputation

    context = contextvars.copy_context()
    context.run(CHECK.set, check)
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, partial(context.run, work))
    except asyncio.CancelledError:
        cancelled = True
        raise


@lru_cache(maxsize=1)
def _one_thread(pid: int) -> ThreadPoolExecutor:
    """The thread of this process: a forked child has none of its parent's threads."""
    return ThreadPoolExecutor(1, thread_name_prefix="tickbird computing")
