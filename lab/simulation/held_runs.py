"""Checks of held runs: only an operator releases them, oldest first, at the requested rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.simulation.history import HELD, RunRow
from tickbird.domain.runs.held import Release

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call

_MINUTE = 60_000_000


class HeldRuns:
    """Compares the operator's decisions with the held runs after them."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self._before: list[RunRow] = []

    def of_schedule(self, schedule_id: int) -> list[RunRow]:
        """The held runs of a schedule, oldest first."""
        active = self._checker.lifecycle.active[schedule_id]
        return [active[run_id] for run_id in sorted(active) if is_held(active[run_id])]

    def before(self, call: Call) -> None:
        """Record the held runs before a decision."""
        for schedule in self._checker.schedules.values():
            if schedule.name == call.args[1]:
                self._before = self.of_schedule(schedule.id)

    def after(self, call: Call) -> None:
        """Exactly the oldest ones are decided, in the requested number."""
        decision, now = call.args[2], self._checker.now
        count = len(self._before) if decision.count is None else min(decision.count, len(self._before))
        if call.result != count:
            self._broken(f"{call.result} runs were decided, not {count}")
        for index, old in enumerate(self._before):
            new = self._checker.lifecycle.runs[old.id]
            if index >= count:
                if not is_held(new):
                    self._broken(f"run {old.id} is not held any more, although {count} older ones were requested")
            elif not isinstance(decision, Release):
                if (new.status, new.reason) != ("cancelled", "dropped"):
                    self._broken(f"run {old.id} was dropped and is {new.status}: {new.reason}")
            else:
                turn = now if decision.per_minute is None else now + index * _MINUTE // decision.per_minute
                if is_held(new) or abs(new.available_at - max(turn, old.available_at)) > 1:
                    self._broken(f"run {old.id} is {new.status} in lane {new.lane} from {new.available_at}, not {turn}")

    def _broken(self, text: str) -> None:
        self._checker.broken("held", text)


def is_held(run: RunRow) -> bool:
    """True if it waits for an operator."""
    return run.status == "waiting" and run.lane == HELD
