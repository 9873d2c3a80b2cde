"""Stamping: the step that gives committed events their positions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StampResult:
    """The result of one pass."""

    # The number of events that got their position.
    stamped: int = 0
    # Queued runs whose events were published.
    published: int = 0
    # More events can be stamped at once.
    more: bool = False
    # A text of the driver: where the next pass begins. None: it reads all events without a position.
    since: str | None = None
    # Seconds for which another process polls; None if no other process polls.
    other_polls_for: float | None = None
