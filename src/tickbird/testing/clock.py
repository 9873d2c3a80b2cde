"""A clock that only a test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Implements the engine's Clock; moves only by its methods."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError(
                "a manual clock needs a datetime with a time zone, such as datetime(2026, 1, 1, tzinfo=UTC)"
            )
        self._now = now.astimezone(UTC)
        self._jumped = timedelta()

    def now(self) -> datetime:
        """The instant that every store verb receives."""
        return self._now

    def monotonic(self) -> float:
        """Moves with `move_to`, but not with `jump`."""
        return (self._now - self._jumped).timestamp()

    def move_to(self, now: datetime) -> None:
        """Move time forward or back to an instant."""
        self._now = now.astimezone(UTC)

    def jump(self, **duration: float) -> None:
        """Set the store's clock forward or back without time passing: jump(hours=-2)."""
        self._now += timedelta(**duration)
        self._jumped += timedelta(**duration)
