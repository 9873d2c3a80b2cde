"""A worker of the fault lab with mistakes in it, which a proof must find: `python -m … SETUP`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.grid import Ticks
from tickbird.engine.dispatcher import Execution
from tickbird.testing.faults.app import Setup, work


def fires_twice() -> None:
    """Whatever it claims, it starts two times."""
    take = Execution.take

    def twice(self: Execution, runs: Sequence[ClaimedRun], reserved: int, began: float) -> bool:
        return take(self, [*runs, *runs], reserved, began)

    Execution.take = twice  # type: ignore[method-assign]


def drops_ticks() -> None:
    """Every fifth second is on no grid."""
    following = Ticks.next

    def leaping(self: Ticks, after: int) -> int | None:
        tick = following(self, after)
        return following(self, tick) if tick is not None and tick % 5 == 0 else tick

    Ticks.next = leaping  # type: ignore[method-assign]


if __name__ == "__main__":
    fires_twice()
    drops_ticks()
    work(Setup(**json.loads(sys.argv[1])))
