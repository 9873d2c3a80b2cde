"""Checks of backfills: one run for each decided tick of the range that never had one, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.simulation.history import MICROS, RunRow
from lab.simulation.watched import Watched

if TYPE_CHECKING:
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call


class Backfills:
    """Follows created and cancelled backfills."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        # The maximum of active runs of each.
        self.concurrency: dict[int, int] = {}

    def check_runs(self, call: Call, schedule: Watched, planned: list[RunRow], runs: list[RunRow]) -> None:
        """Check the new runs of a backfill, created in the same call as runs of due ticks."""
        new: Any = call.args[2]
        planned_ticks = {run.scheduled_for for run in planned}
        decided = (self._checker.cursors[schedule.id].planned_until or 0) // MICROS
        # A tick whose run may have been pruned must not run again.
        after = max(new.first - 1, self._checker.pruned[schedule.id] // MICROS)
        expected = [
            tick
            for tick in schedule.spec.ticks(after + 1, min(new.last, decided))
            if not schedule.spec.excludes(tick)
            and tick * MICROS not in planned_ticks
            and not self._checker.lifecycle.has_run(schedule.id, tick * MICROS)
        ]
        if new.order == "newest":
            expected.reverse()
        runs.sort(key=lambda run: run.id)
        ticks = [(run.scheduled_for or 0) // MICROS for run in runs]
        if ticks != expected:
            self._broken(f"{schedule.name}: runs of {ticks} were created, not of {expected}")
        self.concurrency[call.result.backfill_id] = new.concurrency
        for run in runs:
            if run.backfill_id != call.result.backfill_id or run.revision != schedule.revision:
                self._broken(f"run {run.id} is of backfill {run.backfill_id} and revision {run.revision}")
            if run.start_by is not None or run.due_at != (run.scheduled_for or 0) + schedule.offset * MICROS:
                self._broken(f"run {run.id} is due at {run.due_at} and must start by {run.start_by}")

    def cancelled(self, call: Call) -> None:
        """None of its runs may start any more."""
        for run in self._checker.lifecycle.runs.values():
            if run.backfill_id == call.args[1] and run.status in ("waiting", "queued"):
                self._broken(f"run {run.id} is {run.status} though its backfill was cancelled")

    def _broken(self, text: str) -> None:
        self._checker.broken("backfills", text)
