"""Whose time counts: the store's, unless a test brings its own."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """What a step must know of time."""

    def now(self) -> datetime | None:
        """The instant to pass to the store; None: the store's own clock."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow, for sleeps and leases."""
        ...


class StoreClock:
    """The store decides what time it is."""

    def now(self) -> datetime | None:
        """None: every decision is made by the store's clock."""
        return None

    def monotonic(self) -> float:
        """The process's own steady clock."""
        return time.monotonic()
