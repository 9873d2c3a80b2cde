"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Satisfies the engine's Clock; only ever moves by being told to."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError("a manual clock needs a datetime with a zone, such as datetime(2026, 1, 1, tzinfo=UTC)")
        self._now = now.astimezone(UTC)
        self._jumped = timedelta()

    def now(self) -> datetime:
        """The instant that every store verb is given."""
        return self._now

    def monotonic(self) -> float:
        """Moves with the same hand, but does not jump."""
        return (self._now - self._jumped).timestamp()

    def move_to(self, now: datetime) -> None:
        """Let time pass up to an instant, or go back to one."""
        self._now = now.astimezone(UTC)

    def jump(self, **duration: float) -> None:
        """Somebody sets the store's clock, ahead or back, while no time passes: jump(hours=-2)."""
        self._now += timedelta(**duration)
        self._jumped += timedelta(**duration)
