"""Checks of runs: their claims, renewals and finishes, their number of attempts, and the calls of their tasks."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lab.simulation.held_runs import is_held
from lab.simulation.history import MICROS, USUAL, Event, RunRow
from lab.simulation.tasks import TaskCall
from lab.simulation.waiters import Waiters
from tickbird.domain.time.clock_bounds import believed_now
from tickbird.domain.time.instants import to_micros

if TYPE_CHECKING:
    from lab.oracle.spec import Spec
    from lab.simulation.checker import Checker
    from lab.simulation.world import Call

ACTIVE = ("waiting", "queued", "running")
_CANCELLERS = (
    "backfills.cancel",
    "backfills.create",
    "held.resolve",
    "leases.rescue",
    "planning.plan_due",
    "runs.cancel",
    "schedules.change",
)


class Lifecycle:
    """All runs in the state after the processed part of the history."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.runs: dict[int, RunRow] = {}
        self.active: dict[int, dict[int, RunRow]] = defaultdict(dict)
        # The runs that the last call cancelled because new ones replaced them.
        self.replaced: set[int] = set()
        self._ticks: dict[tuple[int, int], int] = {}
        self._claims: dict[tuple[int, int], tuple[str, float]] = {}
        self._task_calls: dict[tuple[int, int], TaskCall] = {}
        self._double: list[TaskCall] = []
        self._waiters = Waiters(self, checker.backfills)
        for task_call in checker.record.journal.calls:
            key = task_call.run_id, task_call.attempt
            if key in self._task_calls:
                self._double.append(task_call)
            self._task_calls[key] = task_call

    def active_runs(self, schedule_id: int) -> list[RunRow]:
        """The active runs of a schedule, oldest first; without backfills and held runs."""
        runs = self.active[schedule_id]
        return [
            runs[run_id] for run_id in sorted(runs) if runs[run_id].status != "waiting" or runs[run_id].lane <= USUAL
        ]

    def has_run(self, schedule_id: int, tick: int) -> bool:
        """True if a tick has a run that is not pruned."""
        return self._ticks.get((schedule_id, tick)) in self.runs

    def see(self, call: Call, events: list[Event]) -> None:
        """Process the changes of one call, in order."""
        self.replaced = set()
        for event in events:
            row = event.row
            if not isinstance(row, RunRow):
                continue
            old = self.runs.get(row.id)
            if event.change == "insert":
                self._inserted(call, row)
            elif event.change == "update" and old is not None:
                self._changed(call, old, row)
            elif event.change == "delete" and old is not None:
                self._deleted(call, old)
            if event.change == "delete":
                self.runs.pop(row.id, None)
            else:
                self.runs[row.id] = row
            active = row.status in ACTIVE and event.change != "delete"
            if row.schedule_id is not None and active:
                self.active[row.schedule_id][row.id] = row
            elif row.schedule_id is not None:
                self.active[row.schedule_id].pop(row.id, None)
            self._waiters.see(old, row, active=active)
            self._checker.dependencies.see(old, row)
            if row.queue != "default":
                began = row.status == "running" and (old is None or old.status != "running")
                self._checker.rates.see(row, began=began, active=active)
        self._waiters.check(call)
        self._checker.dependencies.check(call)
        self._checker.rates.check(call)

    def broken(self, promise: str, text: str) -> None:
        self._checker.broken(promise, text)

    def spec(self, run: RunRow) -> Spec | None:
        """The spec that a run was planned with, if it is known."""
        schedule = self._checker.schedules.get(run.schedule_id or 0)
        return None if schedule is None or run.revision is None else schedule.specs.get(run.revision)

    def _inserted(self, call: Call, run: RunRow) -> None:
        if run.status == "running" and call.verb == "planning.plan_due" and run.origin == "schedule":
            self._leased(call, run._replace(status="queued", attempt=0, worker=None, lease_until=None), run)
        elif run.status not in ("waiting", "queued") or run.attempt:
            self.broken("I6", f"run {run.id} began as {run.status}")
        if run.scheduled_for is not None and run.schedule_id is not None:
            first = self._ticks.setdefault((run.schedule_id, run.scheduled_for), run.id)
            if first != run.id:
                self.broken("I1", f"runs {first} and {run.id} are of the same tick")
        if run.schedule_id is not None and run.due_at > self._checker.now and run.origin != "backfill":
            self.broken("I2", f"run {run.id} was planned before it was due")
        original = None if run.retry_of is None else self.runs.get(run.retry_of)
        if original is not None and _created_with(run) != _created_with(original):
            self.broken("I17", f"run {run.id} retries run {original.id} as {_created_with(run)}")

    def _changed(self, call: Call, old: RunRow, new: RunRow) -> None:
        now = self._checker.now
        if old.status not in ACTIVE:
            if old != new:
                self.broken("I6", f"run {old.id} was {old.status} and changed: {new}")
            return
        step = (old.status, new.status)
        if is_held(old) and not is_held(new) and new.status != "cancelled" and call.verb != "held.resolve":
            self.broken("held", f"run {old.id} was released by {call.verb}")
        if step == ("queued", "running"):
            if call.verb != "leases.claim":
                self.broken("I8", f"run {old.id} was started by {call.verb}")
            self._leased(call, old, new)
        elif old.attempt != new.attempt:
            self.broken("I7", f"run {old.id} got attempt {new.attempt} without being claimed")
        elif step == ("running", "running"):
            if old.lease_until != new.lease_until:
                self._renewed(call, old, new)
        elif old.status == "running":
            self._ended(call, old, new, now)
        elif new.status == "cancelled":
            if new.reason == "replaced":
                self.replaced.add(old.id)
            if call.verb not in _CANCELLERS:
                self.broken("I6", f"{call.verb} cancelled run {old.id}")
            elif new.reason == "dependency":
                if not self._checker.dependencies.is_too_late(old.id):
                    self.broken("dependencies", f"run {old.id} was cancelled while it could still wait")
            elif call.verb == "leases.rescue" and (old.start_by is None or old.start_by >= now):
                self.broken("I11", f"run {old.id} was cancelled as too late too early")
        elif step not in (("waiting", "queued"), ("queued", "queued"), ("waiting", "waiting")):
            self.broken("I6", f"run {old.id} went from {old.status} to {new.status} by {call.verb}")
        if old.schedule_id != new.schedule_id or old.scheduled_for != new.scheduled_for or old.due_at != new.due_at:
            self.broken("I1", f"run {old.id} changed its tick")

    def _leased(self, call: Call, old: RunRow, new: RunRow) -> None:
        now = self._checker.now
        if new.worker != call.host or new.attempt != old.attempt + 1:
            self.broken("I8", f"run {old.id} was started by {call.verb} of {call.host} for {new.worker}")
        # If the clock was set back, another attempt may start before the run was due.
        early = old.available_at if old.attempt else max(old.due_at, old.available_at)
        if now < early:
            self.broken("I2", f"run {old.id} started {early - now} µs too early")
        # With a clock that is ahead of the worker's expectation, a run that waited for the clock must not start.
        trusted_now = now if call.expected is None else to_micros(believed_now(call.now, call.expected))
        waited_for = old.available_at if old.attempt else old.due_at
        if trusted_now < waited_for and (old.attempt or old.created_at < old.due_at):
            self.broken("I14", f"run {old.id} started {waited_for - trusted_now} µs early by a clock that had jumped")
        if old.start_by is not None and old.start_by < trusted_now:
            self.broken("I11", f"run {old.id} started after its start_by")
        if new.lease_until is None or new.lease_until > now + self._checker.record.scenario.lease * MICROS + 1:
            self.broken("I8", f"run {old.id} has a lease until {new.lease_until}")
        self._claims[old.id, new.attempt] = call.host, call.at

    def _renewed(self, call: Call, old: RunRow, new: RunRow) -> None:
        renewed = {(ref.run_id, ref.attempt) for ref in call.args[1]} if call.verb == "leases.renew" else set()
        if old.worker != call.host or new.worker != call.host or (old.id, old.attempt) not in renewed:
            self.broken(
                "I7", f"the lease of run {old.id}, held by {old.worker}, was moved by {call.verb} of {call.host}"
            )

    def _ended(self, call: Call, old: RunRow, new: RunRow, now: int) -> None:
        if call.verb == "leases.rescue":
            if old.lease_until is None or old.lease_until >= now:
                self.broken("I8", f"run {old.id} was taken from {old.worker} while its lease was valid")
            self._lost(old, new)
        elif call.verb == "leases.finish":
            outcome = next((end for end in call.args[0] if end.run_id == old.id and end.attempt == old.attempt), None)
            if outcome is None or old.worker != call.host:
                self.broken("I7", f"run {old.id}, attempt {old.attempt} of {old.worker}, was ended by {call.host}")
            else:
                self._finished(old, new, outcome)
        else:
            self.broken("I7", f"{call.verb} ended the running run {old.id}")

    def _lost(self, old: RunRow, new: RunRow) -> None:
        if new.failures != old.failures or new.crashes != old.crashes + 1:
            self.broken("I9", f"run {old.id} lost its worker: failures {new.failures}, crashes {new.crashes}")
        if old.cancel_requested_at is not None:
            expected = "cancelled"
        else:
            expected = "queued" if new.crashes <= old.crash_limit else "failed"
        if new.status != expected:
            self.broken("I9", f"run {old.id} lost its worker {new.crashes} times and is {new.status}, not {expected}")

    def _finished(self, old: RunRow, new: RunRow, outcome: Any) -> None:
        task_call, spec = self._task_calls.get((old.id, old.attempt)), self.spec(old)
        retries = spec.retries if spec is not None else 0
        if new.crashes != old.crashes or new.failures - old.failures not in (0, 1):
            self.broken("I9", f"run {old.id} counts {new.failures} failures and {new.crashes} crashes")
        if new.status == "succeeded" and (task_call is None or task_call.ending != "done"):
            self.broken("I7", f"run {old.id} succeeded, but its attempt {old.attempt} {task_call}")
        if new.failures > old.failures:
            if task_call is not None and task_call.ending == "done" and outcome.failure_kind != "timeout":
                self.broken("I9", f"run {old.id} failed, but its attempt succeeded")
            if new.status == "queued" and new.failures > retries:
                self.broken(
                    "I9", f"run {old.id} is retried after {new.failures} failures; {retries} retries are allowed"
                )
            if new.status == "failed" and new.failures <= retries:
                self.broken("I9", f"run {old.id} failed for good after {new.failures} of {retries} retries")
        elif new.status == "failed" and old.crash_limit:
            self.broken("I9", f"run {old.id} failed without a recorded failure")
        elif new.status == "queued" and not old.crash_limit and spec is not None and task_call is not None:
            self.broken("I9", f"run {old.id} must never start twice, but was requeued")

    def _deleted(self, call: Call, old: RunRow) -> None:
        scenario = self._checker.record.scenario
        if call.verb != "runs.prune" or old.finished_at is None:
            self.broken("I6", f"run {old.id} was {old.status} and deleted by {call.verb}")
        elif old.finished_at >= self._checker.now - scenario.retention * MICROS:
            self.broken("retention", f"run {old.id} was pruned too early")
        if old.schedule_id is not None and old.scheduled_for is not None:
            pruned = self._checker.pruned
            pruned[old.schedule_id] = max(pruned[old.schedule_id], old.scheduled_for)

    def at_end(self) -> None:
        """Checks that need the complete journal."""
        for run in self.runs.values():
            if run.status in ACTIVE:
                self.broken("I6", f"run {run.id} is still {run.status}")
        for task_call in self._double:
            self.broken("I8", f"attempt {task_call.attempt} of run {task_call.run_id} was executed twice")
        by_run: dict[int, list[TaskCall]] = defaultdict(list)
        for task_call in self._task_calls.values():
            claim = self._claims.get((task_call.run_id, task_call.attempt))
            if claim is None or claim[0] != task_call.host or task_call.began < claim[1]:
                self.broken("I8", f"{task_call.host} executed run {task_call.run_id} without a claim")
            by_run[task_call.run_id].append(task_call)
        for task_calls in by_run.values():
            task_calls.sort(key=lambda task_call: task_call.attempt)
            for earlier, later in pairwise(task_calls):
                if earlier.ended is None or later.began < earlier.ended:
                    self._overlapping(earlier, later)

    def _overlapping(self, earlier: TaskCall, later: TaskCall) -> None:
        """Two calls at a time: only a thread, a frozen process or a clock jump excuses it."""
        record = self._checker.record
        soon = record.scenario.lease / 5
        froze = any(
            end >= earlier.began and earlier.ended is not None and begin <= earlier.ended <= end + soon
            for begin, end in record.hosts[earlier.host].freezes
        )
        _, claimed_at = self._claims.get((earlier.run_id, earlier.attempt), ("", earlier.began))
        jumped = any(claimed_at <= at <= later.began for at, _ in record.jumps)
        if not (earlier.thread or froze or jumped):
            self.broken(
                "I8",
                f"run {earlier.run_id}: attempt {earlier.attempt} continued at {earlier.host} until {earlier.ended} "
                f"while attempt {later.attempt} began at {later.host} at {later.began}",
            )


def _created_with(run: RunRow) -> tuple[object, ...]:
    """The columns that a retry shares with its original run."""
    return run.schedule_id, run.revision, run.queue, run.priority, run.crash_limit, run.concurrency_key
