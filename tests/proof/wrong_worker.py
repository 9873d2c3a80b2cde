"""A worker of the proof with bugs that a proof must find."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.grid import TickGrid
from tickbird.engine.dispatcher import Dispatcher
from tickbird.proof import worker


def run_worker(setup: worker.Setup) -> None:
    """Be a worker that starts every run twice and drops ticks."""
    start_twice()
    drop_ticks()
    worker.run_worker(setup)


def start_twice() -> None:
    """Start every claimed run twice."""
    take = Dispatcher.start_leased

    def take_twice(self: Dispatcher, runs: Sequence[ClaimedRun], reserved: int, began: float) -> bool:
        return take(self, [*runs, *runs], reserved, began)

    Dispatcher.start_leased = take_twice  # type: ignore[method-assign]


def drop_ticks() -> None:
    """Remove every fifth second from all grids."""
    following = TickGrid.next

    def leap(self: TickGrid, after: int) -> int | None:
        tick = following(self, after)
        return following(self, tick) if tick is not None and tick % 5 == 0 else tick

    TickGrid.next = leap  # type: ignore[method-assign]
