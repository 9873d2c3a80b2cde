"""Reads with a default for stores that lack a capability."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from tickbird.domain.errors import UnsupportedError

T = TypeVar("T")


async def if_supported(read: Awaitable[T], otherwise: T) -> T:
    """The result of a read, or `otherwise` if the store lacks the capability that it needs."""
    try:
        return await read
    except UnsupportedError:
        return otherwise
