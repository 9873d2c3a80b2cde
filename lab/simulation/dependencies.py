"""Checks of dependencies: which ticks run, which wait and for how long, and which success releases them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.oracle.schedule import TickDecision
from lab.simulation.history import AWAITING, MICROS, RunRow
from lab.simulation.watched import Watched

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call


@dataclass(frozen=True)
class Awaited:
    """A schedule that must succeed between two instants (in microseconds) before a run may start."""

    schedule_id: int
    since: int
    until: int


class Dependencies:
    """Follows the successes of schedules, and the dependencies of each run."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._last: dict[int, int] = {}
        self._awaits: dict[int, list[Awaited]] = {}
        self._succeeded: set[int] = set()

    def successes(self, schedule: Watched) -> dict[str, int | None]:
        """The last successes of its existing dependencies, in seconds."""
        others = [self._named(name) for name, _, _ in schedule.spec.depends_on]
        lasts = {other.name: self._last.get(other.id) for other in others if other is not None}
        return {name: None if last is None else last // MICROS for name, last in lasts.items()}

    def planned(self, run: RunRow, decision: TickDecision) -> None:
        """Record a new run of a tick, and its dependencies."""
        awaits = []
        for name, since, until in decision.awaits:
            if (other := self._named(name)) is not None:
                awaits.append(Awaited(other.id, since * MICROS, until * MICROS))
        if awaits:
            self._awaits[run.id] = awaits

    def see(self, old: RunRow | None, new: RunRow) -> None:
        if new.status == "succeeded" and (old is None or old.status != "succeeded") and new.schedule_id is not None:
            self._last[new.schedule_id] = max(self._last.get(new.schedule_id, 0), new.finished_at or 0)
            self._succeeded.add(new.schedule_id)

    def check(self, call: Call) -> None:
        """After a call, a run waits if and only if a dependency is open."""
        now = self._checker.now
        for run_id in list(self._awaits):
            awaits = self._awaits[run_id]
            if self._succeeded:
                awaits = [
                    awaited
                    for awaited in awaits
                    if awaited.schedule_id not in self._succeeded or not _comes(awaited, now)
                ]
                self._awaits[run_id] = awaits
            run = self._checker.lifecycle.runs.get(run_id)
            waits = run is not None and run.status == "waiting" and run.lane == AWAITING
            if waits and not awaits:
                self._broken(f"run {run_id} waits for another schedule although all have succeeded")
            if waits and call.verb == "leases.rescue" and call.believed and self.is_too_late(run_id):
                self._broken(f"run {run_id} still waits for another schedule although it is too late")
            if not waits:
                if awaits and run is not None and run.status != "cancelled":
                    self._broken(f"run {run_id} does not wait for {awaits}")
                del self._awaits[run_id]
        self._succeeded.clear()

    def is_too_late(self, run_id: int) -> bool:
        """True if the time for a dependency of a run has passed."""
        return any(awaited.until < self._checker.now for awaited in self._awaits.get(run_id, ()))

    def defined(self, schedule: Watched) -> None:
        """A definition was accepted: its dependencies exist, and there is no cycle."""
        ways = [name for name, _, _ in schedule.spec.depends_on]
        visited: set[str] = set()
        while ways:
            name = ways.pop()
            other = self._named(name)
            if other is None:
                self._broken(f"{schedule.name} depends on {name}, which does not exist")
            elif name == schedule.name:
                self._broken(f"{schedule.name} depends on itself")
            elif name not in visited:
                visited.add(name)
                ways += [following for following, _, _ in other.spec.depends_on]

    def deleted(self, gone: Watched) -> None:
        """A schedule was deleted: no other depends on it."""
        for schedule in self._checker.schedules.values():
            if schedule.state != "deleted" and any(name == gone.name for name, _, _ in schedule.spec.depends_on):
                self._broken(f"{gone.name} was deleted although {schedule.name} depends on it")

    def _named(self, name: str) -> Watched | None:
        matches = (
            schedule
            for schedule in self._checker.schedules.values()
            if schedule.name == name and schedule.state != "deleted"
        )
        return next(matches, None)

    def _broken(self, text: str) -> None:
        self._checker.broken("dependencies", text)


def _comes(awaited: Awaited, now: int) -> bool:
    """True if a success at this instant meets the dependency."""
    return awaited.since <= now <= awaited.until
