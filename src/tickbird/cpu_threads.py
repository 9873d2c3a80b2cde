"""CPU-bound work in threads, so that the event loop is not blocked."""

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

    Threads and the event loop share the interpreter lock: one thread delays the loop by milliseconds, many threads
    starve it. If the caller is cancelled, the work ends at its next checkpoint.
    """
    return await _run(_single_thread(os.getpid()), partial(work, *args, **kwargs))


async def compute_now(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `compute`, without the queue: for short work, and for callers that hold locks."""
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
def _single_thread(pid: int) -> ThreadPoolExecutor:
    """The thread of this process; a forked child has none of its parent's threads."""
    return ThreadPoolExecutor(1, thread_name_prefix="tickbird computing")
