"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime


class ManualClock:
    """Satisfies the engine's Clock; only ever moves by being told to."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError("a manual clock needs a datetime with a zone, such as datetime(2026, 1, 1, tzinfo=UTC)")
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """The instant that every store verb is given."""
        return self._now

    def monotonic(self) -> float:
        """Moves with the same hand."""
        return self._now.timestamp()

    def move_to(self, now: datetime) -> None:
        """Set the clock, forwards or backwards."""
        self._now = now.astimezone(UTC)
