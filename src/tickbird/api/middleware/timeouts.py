"""Timeouts of requests, and work that would block the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from fastapi import Request

P = ParamSpec("P")
T = TypeVar("T")
# Work on more bytes than this is done in a thread.
_LARGE: Final = 50_000
# Seconds for the response after the operation.
_RESPONSE_SECONDS: Final = 10


def extend_timeout(request: Request, seconds: float) -> None:
    timeout: asyncio.Timeout = request.scope["state"]["timeout"]
    timeout.reschedule(asyncio.get_running_loop().time() + seconds + _RESPONSE_SECONDS)


async def run_if_large(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do work on `size` bytes; in a thread if they are many, so that other requests are served meanwhile."""
    if size <= _LARGE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
