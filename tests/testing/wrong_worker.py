"""A worker of the fault lab with mistakes in it, which a proof must find: `python -m … SETUP`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.grid import TickGrid
from tickbird.engine.dispatcher import Dispatcher
from tickbird.testing.faults.app import Setup, work


def fires_twice() -> None:
    """Whatever it claims, it starts two times."""
    take = Dispatcher.take

    def twice(self: Dispatcher, runs: Sequence[ClaimedRun], reserved: int, began: float) -> bool:
        return take(self, [*runs, *runs], reserved, began)

    Dispatcher.take = twice  # type: ignore[method-assign]


def drops_ticks() -> None:
    """Every fifth second is on no grid."""
    following = TickGrid.next

    def leaping(self: TickGrid, after: int) -> int | None:
        tick = following(self, after)
        return following(self, tick) if tick is not None and tick % 5 == 0 else tick

    TickGrid.next = leaping  # type: ignore[method-assign]


if __name__ == "__main__":
    fires_twice()
    drops_ticks()
    work(Setup(**json.loads(sys.argv[1])))
