"""How this worker is: what it tells of itself with each heartbeat, for `doctor`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.runs.unreadable_runs import Unreadable, publish
from tickbird.domain.time.zone_data import zone_source


class WorkerHealth:
    """Its clock beside the store's, its zone rules, slots of functions that did not stop, runs that it cannot read."""

    def __init__(
        self,
        stuck: Callable[[], int] = lambda: 0,
        wall: Callable[[], float] | None = None,
        unreadable: Callable[[], Sequence[Unreadable]] = lambda: (),
    ) -> None:
        self._stuck = stuck
        self._unreadable = unreadable
        # The machine's clock, which nothing is decided by; None: there is none to compare.
        self._wall = wall
        self._apart: float | None = None

    def wall(self) -> float:
        """What the machine's clock shows."""
        return 0.0 if self._wall is None else self._wall()

    def see(self, now: datetime, asked_at: float) -> None:
        """Compare what the store's clock showed at some moment between the question and now."""
        if self._wall is not None:
            shown, answered_at = now.timestamp(), self._wall()
            # Whatever fits between question and answer is no difference.
            self._apart = round(max(asked_at - shown, 0.0) - max(shown - answered_at, 0.0), 3)

    def snapshot(self) -> dict[str, Any]:
        """As it is published; the clock once it has been compared."""
        told: dict[str, Any] = {"zones": str(zone_source().data), "stuck": self._stuck(), **publish(self._unreadable())}
        return told if self._apart is None else {**told, "clock": self._apart}
