"""Interruption of long computations whose caller is gone."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final


class InterruptedComputation(Exception):
    """The caller was cancelled."""


# Raises InterruptedComputation. None: the computation cannot be interrupted, as in planning.
CHECK: Final[ContextVar[Callable[[], None] | None]] = ContextVar("tickbird_check", default=None)


def checkpoint() -> None:
    """Raise InterruptedComputation if the caller was cancelled. Every step along a grid calls this."""
    if (check := CHECK.get()) is not None:
        check()
