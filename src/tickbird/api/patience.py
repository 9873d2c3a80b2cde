"""How long an answer may take: what waits for something by design takes longer than other requests."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import Request

# An answer may begin so many seconds after the end of waiting.
_ANSWER: Final = 10


def longer(request: Request, seconds: float) -> None:
    """Let the answer to this request take so many seconds, and then as long as any other."""
    patience: asyncio.Timeout = request.scope["state"]["patience"]
    patience.reschedule(asyncio.get_running_loop().time() + seconds + _ANSWER)
