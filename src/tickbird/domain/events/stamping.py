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
    # The driver's mark of the last complete pass; the next pass begins there.
    since: str | None = None
    # Seconds for which another process polls; None if none does.
    other_polls_for: float | None = None
