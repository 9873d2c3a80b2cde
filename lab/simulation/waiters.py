"""Checks of waiting runs: slots of schedules, backfills and keys are assigned in order, and without delay."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING

from lab.simulation.history import BACKFILL, USUAL, RunRow

if TYPE_CHECKING:
    from lab.simulation.backfills import Backfills
    from lab.simulation.lifecycle import Lifecycle
    from lab.simulation.world import Call

ACTIVE = ("queued", "running")
# The default limit of a key.
_DEFAULT_LIMIT = 1


class Waiters:
    """Follows the active runs of every key, and reports runs that wait although a slot is free."""

    def __init__(self, lifecycle: Lifecycle, backfills: Backfills) -> None:
        self._lifecycle = lifecycle
        self._backfills = backfills
        self._limits: dict[str, int] = {}
        self._keyed: dict[str, dict[int, RunRow]] = defaultdict(dict)
        self._schedules: set[int] = set()
        self._keys: set[str] = set()
        self._activated: list[RunRow] = []
        self._released: list[RunRow] = []

    def see(self, old: RunRow | None, new: RunRow, *, active: bool) -> None:
        """Process a created or changed run."""
        if new.schedule_id is not None:
            self._schedules.add(new.schedule_id)
        if new.concurrency_key is not None:
            self._keys.add(new.concurrency_key)
            if active:
                self._keyed[new.concurrency_key][new.id] = new
            else:
                self._keyed[new.concurrency_key].pop(new.id, None)
        if active and new.status in ACTIVE and (old is None or old.status not in ACTIVE):
            self._activated.append(new)
            if old is not None:
                self._released.append(old)

    def check(self, call: Call) -> None:
        """After a call no run waits while a slot is free, and no more runs are active than there are slots."""
        if call.verb == "limits.set":
            _, key, limit, _ = call.args
            self._limits[key] = _DEFAULT_LIMIT if limit is None else limit
            self._keys.add(key)
        for schedule_id in self._schedules:
            self._check_schedule(schedule_id)
        for run in self._released:
            if run.lane == BACKFILL:
                self._check_backfill(run)
        for key in self._keys:
            self._check_key(key)
        self._schedules.clear()
        self._keys.clear()
        self._activated.clear()
        self._released.clear()

    def _check_schedule(self, schedule_id: int) -> None:
        active = self._lifecycle.active[schedule_id]
        busy = _busy(active)
        for run in self._ready(schedule_id):
            if run.concurrency_key is None:
                self._broken("I10", f"run {run.id} waits although only {busy} are queued or running")
        max_concurrent = max(
            (self._max_concurrent(run) for run in active.values() if run.status in ACTIVE), default=inf
        )
        if busy > max_concurrent > 0:
            self._broken("I10", f"{busy} runs of schedule {schedule_id} at a time, {max_concurrent:.0f} are allowed")

    def _check_key(self, key: str) -> None:
        runs = self._keyed[key]
        busy, limit = _busy(runs), self._limits.get(key, _DEFAULT_LIMIT)
        if busy > limit and any(run.concurrency_key == key for run in self._activated):
            self._broken("limits", f"{busy} runs of {key!r} at a time, {limit} are allowed")
        released = [run for run in self._released if run.concurrency_key == key]
        if busy >= limit and not released:
            return
        loose = [run for run in runs.values() if run.schedule_id is None and run.status == "waiting"]
        schedules = {run.schedule_id for run in runs.values() if run.status == "waiting"} - {None}
        ready = loose + [
            run for schedule_id in schedules for run in self._ready(schedule_id or 0) if run.concurrency_key == key
        ]
        for run in ready:
            if busy < limit:
                self._broken(
                    "limits", f"run {run.id} waits although only {busy} of {limit} slots of {key!r} are occupied"
                )
            for other in released:
                if _before(run, other) and not self._was_blocked(run):
                    self._broken("limits", f"run {other.id} got a slot of {key!r} before run {run.id}")

    def _was_blocked(self, run: RunRow) -> bool:
        """True if an older run of its schedule was released in this call, so that its turn came only then."""
        return run.schedule_id is not None and any(
            other.schedule_id == run.schedule_id and other.id < run.id for other in self._released
        )

    def _check_backfill(self, run: RunRow) -> None:
        """A run of a backfill was released: no other run of its schedule waits for a slot, and its limit holds."""
        assert run.schedule_id is not None and run.backfill_id is not None
        active = self._lifecycle.active[run.schedule_id].values()
        passed = [other.id for other in active if other.status == "waiting" and other.lane == USUAL]
        if passed:
            self._broken("backfills", f"run {run.id} of a backfill was released before run {passed[0]}")
        count, max_concurrent = self._count_active(run), self._backfills.concurrency[run.backfill_id]
        if count > max_concurrent:
            self._broken(
                "backfills", f"{count} runs of backfill {run.backfill_id} at a time, {max_concurrent} are allowed"
            )

    def _count_active(self, run: RunRow) -> int:
        """The number of active runs of the same backfill."""
        active = self._lifecycle.active[run.schedule_id or 0].values()
        return sum(other.backfill_id == run.backfill_id and other.status in ACTIVE for other in active)

    def _ready(self, schedule_id: int) -> list[RunRow]:
        """The waiting runs of a schedule that could start if their key has a slot; if its runs count, only the oldest.

        It also waits for earlier runs of a definition under which they wait only for their key.
        """
        active = self._lifecycle.active[schedule_id]
        waiting = [run for run in active.values() if run.status == "waiting" and run.lane == USUAL]
        ready = [run for run in waiting if self._max_concurrent(run) == inf]
        counted = [run for run in waiting if self._max_concurrent(run) != inf]
        if counted:
            first = min(counted, key=lambda run: run.id)
            if _busy(active) + sum(run.id < first.id for run in ready) < self._max_concurrent(first):
                ready.append(first)
        if not waiting:
            of_backfills = [run for run in active.values() if run.status == "waiting" and run.lane == BACKFILL]
            ready += [run for run in of_backfills if self._max_concurrent(run) > _busy(active) and self._has_turn(run)]
        return ready

    def _has_turn(self, run: RunRow) -> bool:
        return self._count_active(run) < self._backfills.concurrency[run.backfill_id or 0]

    def _max_concurrent(self, run: RunRow) -> float:
        """The maximum of active runs of its schedule; infinite if it is unknown."""
        spec = self._lifecycle.spec(run)
        if spec is None:
            return 0
        return inf if spec.overlap == "allow" else spec.max_concurrent

    def _broken(self, promise: str, text: str) -> None:
        self._lifecycle.broken(promise, text)


def _busy(runs: dict[int, RunRow]) -> int:
    return sum(run.status in ACTIVE for run in runs.values())


def _before(earlier: RunRow, other: RunRow) -> bool:
    """True if a run of a key comes before another one. Runs of backfills come last, in their own order."""
    if BACKFILL in (earlier.lane, other.lane):
        return earlier.lane < other.lane
    return (earlier.priority, -earlier.id) > (other.priority, -other.id)
