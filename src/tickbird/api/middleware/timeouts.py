"""How long an answer may take: what waits for something by design takes longer than other requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from fastapi import Request

P = ParamSpec("P")
T = TypeVar("T")
# Work on more bytes than these is done beside the loop.
_LARGE: Final = 50_000
# An answer may begin so many seconds after the end of waiting.
_RESPONSE_SECONDS: Final = 10


def extend_timeout(request: Request, seconds: float) -> None:
    """Let the answer to this request take so many seconds, and then as long as any other."""
    patience: asyncio.Timeout = request.scope["state"]["patience"]
    patience.reschedule(asyncio.get_running_loop().time() + seconds + _RESPONSE_SECONDS)


async def run_if_large(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What work on so many bytes gives; on many, in a thread, so that nobody else has to wait for it."""
    if size <= _LARGE:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)
