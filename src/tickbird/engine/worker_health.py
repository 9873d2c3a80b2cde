"""Health that a worker publishes with each heartbeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.runs.unreadable_runs import Unreadable, publish
from tickbird.domain.time.zone_data import zone_source


class WorkerHealth:
    """The difference of its clock to the store's, its time zone data, stuck slots and unreadable runs."""

    def __init__(
        self,
        stuck: Callable[[], int] = lambda: 0,
        wall: Callable[[], float] | None = None,
        unreadable: Callable[[], Sequence[Unreadable]] = lambda: (),
    ) -> None:
        self._stuck = stuck
        self._unreadable = unreadable
        # The machine's clock, which decides nothing; None disables the comparison.
        self._wall = wall
        self._clock_difference: float | None = None

    def wall(self) -> float:
        """The machine's clock, in seconds since the epoch."""
        return 0.0 if self._wall is None else self._wall()

    def observe(self, now: datetime, requested_at: float) -> None:
        """Compare the store's clock, which was read at some moment between the request and now."""
        if self._wall is not None:
            shown, responded_at = now.timestamp(), self._wall()
            # An instant between request and response counts as no difference.
            self._clock_difference = round(max(requested_at - shown, 0.0) - max(shown - responded_at, 0.0), 3)

    def snapshot(self) -> dict[str, Any]:
        """The published form; `clock` is missing until the clock was compared."""
        health: dict[str, Any] = {
            "zones": str(zone_source().data),
            "stuck": self._stuck(),
            **publish(self._unreadable()),
        }
        return health if self._clock_difference is None else {**health, "clock": self._clock_difference}
