"""Whose turn it is: the lines of queued runs that a process served last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tickbird.domain.targets.target import TargetKey

_MAX_COUNT: Final = 100


class Turns:
    """Lines in the order in which they were last served; for one thread or loop.

    A line has the runs of one target: those of its schedules, or those that belong to none.
    """

    def __init__(self) -> None:
        self._served: dict[str, None] = {}

    @property
    def served(self) -> list[str]:
        """The names of these lines; the last was served last."""
        return list(self._served)

    def of(self, line: str) -> int:
        """A line with a smaller number is served before others; 0 was not served lately."""
        return next((place for place, name in enumerate(self._served, 1) if name == line), 0)

    def serve(self, runs: Iterable[tuple[int | None, TargetKey]]) -> None:
        """Runs were claimed, each with its schedule and its target."""
        for line in dict.fromkeys(line_name(target, ad_hoc=schedule_id is None) for schedule_id, target in runs):
            self._served.pop(line, None)
            self._served[line] = None
        for line in list(self._served)[:-_MAX_COUNT]:
            del self._served[line]


def line_name(target: TargetKey, *, ad_hoc: bool) -> str:
    """The name of a target's line, for runs without a schedule if `ad_hoc`. PostgreSQL's claim_runs builds the same."""
    kind, name = target
    return f"{int(ad_hoc)}{kind}:{name}"
