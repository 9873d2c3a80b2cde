"""What many documents have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from tickbird.domain.time.instants import to_seconds

Document = Mapping[str, Any]
T = TypeVar("T")


def instant(text: str) -> datetime:
    """An instant, in UTC."""
    return datetime.fromisoformat(text)


def second(text: str) -> int:
    """An instant in whole seconds since the epoch."""
    return to_seconds(instant(text))


def maybe(read: Callable[[Any], T], value: Any) -> T | None:
    """What is read of a value, if there is one."""
    return None if value is None else read(value)
