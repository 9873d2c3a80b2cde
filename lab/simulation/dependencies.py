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
    """A schedule that must succeed between two instants (in microseconds), so that a run may go."""

    schedule_id: int
    since: int
    until: int


class Dependencies:
    """Follows when schedules succeeded, and what each run waits for."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._last: dict[int, int] = {}
        self._awaits: dict[int, list[Awaited]] = {}
        self._succeeded: set[int] = set()

    def successes(self, schedule: Watched) -> dict[str, int | None]:
        """When the schedules that it depends on last succeeded, as far as they exist; in seconds."""
        others = [self._named(name) for name, _, _ in schedule.spec.depends_on]
        lasts = {other.name: self._last.get(other.id) for other in others if other is not None}
        return {name: None if last is None else last // MICROS for name, last in lasts.items()}

    def planned(self, run: RunRow, decision: TickDecision) -> None:
        """A new run of a tick, and what it has to wait for."""
        awaits = []
        for name, since, until in decision.awaits:
            if (other := self._named(name)) is not None:
                awaits.append(Awaited(other.id, since * MICROS, until * MICROS))
        if awaits:
            self._awaits[run.id] = awaits

    def see(self, old: RunRow | None, new: RunRow) -> None:
        """A run was changed."""
        if new.status == "succeeded" and (old is None or old.status != "succeeded") and new.schedule_id is not None:
            self._last[new.schedule_id] = max(self._last.get(new.schedule_id, 0), new.finished_at or 0)
            self._succeeded.add(new.schedule_id)

    def check(self, call: Call) -> None:
        """After a call, a run waits if and only if it has something to wait for."""
        now = self._checker.now
        for run_id in list(self._awaits):
            awaits = self._awaits[run_id]
            if self._succeeded:
                awaits = [one for one in awaits if one.schedule_id not in self._succeeded or not _comes(one, now)]
                self._awaits[run_id] = awaits
            run = self._checker.lifecycle.runs.get(run_id)
            waits = run is not None and run.status == "waiting" and run.lane == AWAITING
            if waits and not awaits:
                self._broken(f"run {run_id} waits for another schedule though all have succeeded")
            if waits and call.verb == "leases.rescue" and call.believed and self.is_too_late(run_id):
                self._broken(f"run {run_id} still waits for another schedule though it is too late")
            if not waits:
                if awaits and run is not None and run.status != "cancelled":
                    self._broken(f"run {run_id} does not wait for {awaits}")
                del self._awaits[run_id]
        self._succeeded.clear()

    def is_too_late(self, run_id: int) -> bool:
        """Has the time passed in which what a run waits for had to come?"""
        return any(one.until < self._checker.now for one in self._awaits.get(run_id, ()))

    def defined(self, schedule: Watched) -> None:
        """A definition was accepted: what it names exists, and nothing waits for itself."""
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
                self._broken(f"{gone.name} was deleted though {schedule.name} depends on it")

    def _named(self, name: str) -> Watched | None:
        matches = (one for one in self._checker.schedules.values() if one.name == name and one.state != "deleted")
        return next(matches, None)

    def _broken(self, text: str) -> None:
        self._checker.broken("dependencies", text)


def _comes(one: Awaited, now: int) -> bool:
    """Is a success at this instant the one that is waited for?"""
    return one.since <= now <= one.until
