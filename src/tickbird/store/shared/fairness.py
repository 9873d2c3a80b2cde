"""Fairness within a queue: a process serves its lines of runs in turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tickbird.domain.targets.target import TargetKey

_MAX_COUNT: Final = 100


class Turns:
    """Lines in the order in which they were last served; for one thread or loop.

    A line has the runs of one target: either runs of its schedules, or runs without a schedule.
    """

    def __init__(self) -> None:
        self._served: dict[str, None] = {}

    @property
    def served(self) -> list[str]:
        """The names of recently served lines; the last one was served last."""
        return list(self._served)

    def of(self, line: str) -> int:
        """Return the rank of a line: the smallest is served first; 0 means not served recently."""
        return next((position for position, name in enumerate(self._served, 1) if name == line), 0)

    def serve(self, runs: Iterable[tuple[int | None, TargetKey]]) -> None:
        """Record claimed runs, each with its schedule and its target."""
        for line in dict.fromkeys(line_name(target, ad_hoc=schedule_id is None) for schedule_id, target in runs):
            self._served.pop(line, None)
            self._served[line] = None
        for line in list(self._served)[:-_MAX_COUNT]:
            del self._served[line]


def line_name(target: TargetKey, *, ad_hoc: bool) -> str:
    """The name of a target's line, for runs without a schedule if `ad_hoc`. PostgreSQL's claim_runs builds the same."""
    kind, name = target
    return f"{int(ad_hoc)}{kind}:{name}"
