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

GOING = ("queued", "running")
# The limit of a key without a limit of its own.
_ONE = 1


class Waiters:
    """Follows the active runs of every key, and reports runs that wait although a slot is free."""

    def __init__(self, lifecycle: Lifecycle, backfills: Backfills) -> None:
        self._lifecycle = lifecycle
        self._backfills = backfills
        self._limits: dict[str, int] = {}
        self._keyed: dict[str, dict[int, RunRow]] = defaultdict(dict)
        self._schedules: set[int] = set()
        self._keys: set[str] = set()
        self._came: list[RunRow] = []
        self._released: list[RunRow] = []

    def see(self, old: RunRow | None, new: RunRow, *, active: bool) -> None:
        """A run was made or changed, and is active or not any more."""
        if new.schedule_id is not None:
            self._schedules.add(new.schedule_id)
        if new.concurrency_key is not None:
            self._keys.add(new.concurrency_key)
            if active:
                self._keyed[new.concurrency_key][new.id] = new
            else:
                self._keyed[new.concurrency_key].pop(new.id, None)
        if active and new.status in GOING and (old is None or old.status not in GOING):
            self._came.append(new)
            if old is not None:
                self._released.append(old)

    def check(self, call: Call) -> None:
        """After a call no run waits while a slot is free, and no more are active than slots exist."""
        if call.verb == "limits.set":
            _, key, limit, _ = call.args
            self._limits[key] = _ONE if limit is None else limit
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
        self._came.clear()
        self._released.clear()

    def _check_schedule(self, schedule_id: int) -> None:
        active = self._lifecycle.active[schedule_id]
        busy = _busy(active)
        for run in self._ready(schedule_id):
            if run.concurrency_key is None:
                self._broken("I10", f"run {run.id} waits though only {busy} are queued or running")
        max_concurrent = max((self._max_concurrent(run) for run in active.values() if run.status in GOING), default=inf)
        if busy > max_concurrent > 0:
            self._broken("I10", f"{busy} runs of schedule {schedule_id} at a time, {max_concurrent:.0f} are allowed")

    def _check_key(self, key: str) -> None:
        runs = self._keyed[key]
        busy, limit = _busy(runs), self._limits.get(key, _ONE)
        if busy > limit and any(run.concurrency_key == key for run in self._came):
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
                self._broken("limits", f"run {run.id} waits though only {busy} of {limit} slots of {key!r} are taken")
            for other in released:
                if _before(run, other) and not self._was_blocked(run):
                    self._broken("limits", f"run {other.id} got a slot of {key!r} before run {run.id}")

    def _was_blocked(self, run: RunRow) -> bool:
        """Was an older one of its schedule let go in this call, so that its turn came only then?"""
        return run.schedule_id is not None and any(
            other.schedule_id == run.schedule_id and other.id < run.id for other in self._released
        )

    def _check_backfill(self, run: RunRow) -> None:
        """A run of a backfill was let go: no other of its schedule waits for room, and not too many of it go on."""
        assert run.schedule_id is not None and run.backfill_id is not None
        active = self._lifecycle.active[run.schedule_id].values()
        passed = [one.id for one in active if one.status == "waiting" and one.lane == USUAL]
        if passed:
            self._broken("backfills", f"run {run.id} of a backfill went before run {passed[0]}")
        going, max_concurrent = self._going(run), self._backfills.concurrency[run.backfill_id]
        if going > max_concurrent:
            self._broken(
                "backfills", f"{going} runs of backfill {run.backfill_id} at a time, {max_concurrent} are allowed"
            )

    def _going(self, run: RunRow) -> int:
        """How many runs of the same backfill go on."""
        active = self._lifecycle.active[run.schedule_id or 0].values()
        return sum(one.backfill_id == run.backfill_id and one.status in GOING for one in active)

    def _ready(self, schedule_id: int) -> list[RunRow]:
        """Those of a schedule's waiters that could go if their key has room: where its runs count, only the oldest.

        It also stands behind those that came before it, under a definition by which they wait for their key alone.
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
        return self._going(run) < self._backfills.concurrency[run.backfill_id or 0]

    def _max_concurrent(self, run: RunRow) -> float:
        """How many of its schedule may go on at once; none, where nothing is known of it."""
        spec = self._lifecycle.spec(run)
        if spec is None:
            return 0
        return inf if spec.overlap == "allow" else spec.max_concurrent

    def _broken(self, promise: str, text: str) -> None:
        self._lifecycle.broken(promise, text)


def _busy(runs: dict[int, RunRow]) -> int:
    return sum(run.status in GOING for run in runs.values())


def _before(one: RunRow, other: RunRow) -> bool:
    """Does a waiter of a key come before another one? Runs of backfills come last, in an order of their own."""
    if BACKFILL in (one.lane, other.lane):
        return one.lane < other.lane
    return (one.priority, -one.id) > (other.priority, -other.id)
