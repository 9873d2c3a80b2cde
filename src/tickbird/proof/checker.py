"""The checker: compares the store's records, the workers' journals and an independent grid, promise by promise.

It uses nothing of the planner. The promises (I1 to I17) are those of docs/guarantees.md.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from tickbird.domain.runs.run import FINAL, RunRecord
from tickbird.proof.executions import Execution, read_executions
from tickbird.proof.journal import Entry
from tickbird.proof.records import ScheduleRecords, StoreRecords
from tickbird.proof.terms import find_wrong_terms

# Origins of which a tick has at most one run.
UNIQUE: Final = ("schedule", "catch_up", "backfill")
# Seconds by which two processes may read the same clock in another order than events happened.
CLOCK_TOLERANCE: Final = 0.05
# The maximum duration of a transaction: the end of a run counts when it commits.
_MAX_TRANSACTION: Final = timedelta(seconds=5)
# Seconds that a tick may stay undecided while there is no fault.
_MAX_DELAY: Final = 5.0


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken promise, with its evidence."""

    promise: str
    text: str


@dataclass
class Verdict:
    """The violations, and counts of ticks and runs."""

    violations: list[Violation] = field(default_factory=list)
    expected: int = 0
    run: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    # Ticks with two runs, which is a violation; runs executed again after a fault, which is not.
    doubled: int = 0
    repeated: int = 0
    # Attempts that began while another one was executing, because their process was frozen after its last lease check.
    late_starts: int = 0
    # Names of schedules whose definition the checker cannot read.
    unsupported: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.violations


class Checker:
    """Judges the ticks of (since, until], in seconds of the store's clock.

    `same_clock`: the store's clock is this machine's, and was never set. `calm`: an interval without faults, in which
    every tick must be planned when it is due.
    """

    def __init__(
        self,
        records: StoreRecords,
        entries: Sequence[Entry],
        since: float,
        until: float,
        *,
        same_clock: bool = True,
        calm: tuple[float, float] | None = None,
    ) -> None:
        self._records = records
        self._entries = entries
        self._since, self._until = int(since), int(until)
        self._same_clock = same_clock
        self._calm = calm
        self._executions = read_executions(entries)
        self._executions_of = self._executions.by_run()
        # The difference between wall time and monotonic time, independent of the workers' wall clocks.
        self._wall_offset = time.time() - time.monotonic()
        self.verdict = Verdict()

    def check(self) -> Verdict:
        for schedule in self._records.schedules.values():
            if schedule.specs:
                self._check_schedule(schedule)
            else:
                self.verdict.unsupported.append(schedule.name)
        for run in self._records.runs.values():
            self._check_run(run)
        self._check_journals()
        if self._same_clock:
            for text in find_wrong_terms(self._records):
                self._report("I12", text)
        return self.verdict

    def _report(self, promise: str, text: str) -> None:
        self.verdict.violations.append(Violation(promise, text))

    def _check_schedule(self, schedule: ScheduleRecords) -> None:
        self._check_ticks(schedule)
        self._check_policies(schedule)
        self._check_concurrency(schedule)

    # Ticks: one decision for each of them

    def _check_ticks(self, schedule: ScheduleRecords) -> None:
        planned_until = schedule.schedule.cursor.planned_until or 0
        in_force = schedule.ticks(self._since, max(self._until, planned_until))
        ticks = sorted(in_force)
        decided = set(self._check_tick_runs(schedule, in_force, planned_until))
        for skip in sorted(schedule.skips, key=lambda skip: skip.count):
            covered = [tick for tick in _between(ticks, skip.first, skip.last) if tick not in decided]
            if int(skip.last.timestamp()) <= self._since:
                continue
            if len(covered) != skip.count and int(skip.first.timestamp()) > self._since:
                self._report(
                    "I3",
                    f"{schedule.name}: {skip.reason} of {skip.first:%H:%M:%S} to {skip.last:%H:%M:%S} counts "
                    f"{skip.count} ticks, the grid has {len(covered)} without a run",
                )
            decided.update(covered)
            self.verdict.skipped[skip.reason] += len(covered)
            if int(skip.last.timestamp()) > planned_until:
                self._report("I4", f"{schedule.name}: a skip is after the cursor, which did not move with it")
        self.verdict.expected += sum(tick <= planned_until for tick in ticks)
        for tick in ticks:
            if tick <= planned_until and tick not in decided:
                self.verdict.lost += 1
                self._report("I3", f"{schedule.name}: {_clock(tick)} has no decision")
        self._check_progress(schedule, ticks, planned_until)

    def _check_tick_runs(self, schedule: ScheduleRecords, in_force: dict[int, int], planned_until: int) -> list[int]:
        """Check the runs of ticks; returns the ticks that have one."""
        first: dict[int, RunRecord] = {}
        # An edit of the trigger moves the cursor back to its own instant; ticks decided early are in their overrides.
        early = {override.tick for override in schedule.schedule.cursor.tick_overrides if override.decided_early}
        for run in schedule.runs:
            if run.scheduled_for is None or run.origin not in UNIQUE:
                continue
            tick = int(run.scheduled_for.timestamp())
            spec = schedule.specs.get(run.revision or 0)
            if spec is None or run.scheduled_for.microsecond or not spec.ticks(tick, tick):
                self._report(
                    "I2", f"{schedule.name}: run {run.id} of {_clock(tick)} is not on the grid of its revision"
                )
            if tick in first:
                self.verdict.doubled += 1
                self._report("I1", f"{schedule.name}: runs {first[tick].id} and {run.id} are of the same tick")
            first.setdefault(tick, run)
            if tick <= self._since or run.origin == "backfill":
                continue
            if tick > planned_until and tick not in early:
                self._report("I4", f"{schedule.name}: run {run.id} is after the cursor, which did not move with it")
            if tick not in in_force:
                self._report("I2", f"{schedule.name}: run {run.id} of {_clock(tick)} is on no grid that was in force")
        # A backfilled tick keeps its skip.
        ticks = [tick for tick, run in first.items() if tick > self._since and run.origin != "backfill"]
        self.verdict.run += len(ticks)
        return ticks

    def _check_progress(self, schedule: ScheduleRecords, ticks: Sequence[int], planned_until: int) -> None:
        """Check that an active schedule is planned up to now."""
        spec = schedule.specs[schedule.revisions[-1].revision]
        latest = self._until - _MAX_DELAY - spec.offset(schedule.name)
        undecided = [tick for tick in ticks if planned_until < tick <= latest]
        if schedule.schedule.state == "active" and undecided and spec.max_runs is None:
            self.verdict.lost += len(undecided)
            self._report(
                "I3", f"{schedule.name}: {len(undecided)} ticks from {_clock(undecided[0])} on have no decision yet"
            )

    # Policies

    def _check_policies(self, schedule: ScheduleRecords) -> None:
        for run in schedule.runs:
            if run.origin in ("schedule", "catch_up"):
                self._check_catch_up(schedule, run)
        for skip in schedule.skips:
            blocker = None if skip.run_id is None else self._records.runs.get(skip.run_id)
            if skip.reason == "coalesced" and blocker is not None:
                covers = blocker.covers
                if covers is None or not covers.first <= skip.first <= skip.last <= covers.last:
                    self._report("I11", f"{schedule.name}: run {blocker.id} does not cover all ticks coalesced into it")
            if skip.reason == "overlap" and blocker is not None:
                over = blocker.finished_at is not None and blocker.finished_at < skip.last - _MAX_TRANSACTION
                if over or blocker.created_at > skip.decided_at + _MAX_TRANSACTION:
                    self._report(
                        "I10", f"{schedule.name}: {skip.last:%H:%M:%S} was skipped for a run that was not active"
                    )

    def _check_catch_up(self, schedule: ScheduleRecords, run: RunRecord) -> None:
        spec = schedule.specs.get(run.revision or 0)
        if spec is None:
            return
        late = (run.created_at - run.due_at).total_seconds()
        if run.origin == "schedule" and late > spec.grace + CLOCK_TOLERANCE:
            self._report("I11", f"{schedule.name}: run {run.id} was planned {late:.1f} s late as if it were on time")
        if run.origin == "catch_up" and late <= spec.grace:
            self._report("I11", f"{schedule.name}: run {run.id} was caught up {late:.1f} s after it was due")
        if run.origin == "catch_up" and spec.catch_up == "skip":
            self._report("I11", f"{schedule.name}: run {run.id} was caught up, but catch-up is skip")
        if self._calm is not None and self._calm[0] <= run.due_at.timestamp() <= self._calm[1] and late > _MAX_DELAY:
            self._report("on time", f"{schedule.name}: run {run.id} was planned {late:.1f} s late without a fault")
        if run.covers is not None and spec.catch_up not in ("one", "latest"):
            self._report("I11", f"{schedule.name}: run {run.id} covers other ticks, but catch-up is {spec.catch_up}")

    def _check_concurrency(self, schedule: ScheduleRecords) -> None:
        """Check with the journals that at most `max_concurrent` runs are executed at a time."""
        if any(spec.overlap == "allow" for spec in schedule.specs.values()):
            return
        max_concurrent = max(spec.max_concurrent for spec in schedule.specs.values())
        calls = [call for run in schedule.runs for call in self._executions_of.get(run.id, ())]
        calls = sorted((call for call in calls if not self._executions.is_excused(call)), key=lambda call: call.began)
        for index, call in enumerate(calls):
            others = {other.run for other in calls[:index] if other.ended > call.began and other.run != call.run}
            if len(others) >= max_concurrent:
                self._report("I10", f"{schedule.name}: run {call.run} began while {sorted(others)} were executing")

    # Runs

    def _check_run(self, run: RunRecord) -> None:
        calls = self._executions_of.get(run.id, [])
        if run.status not in FINAL:
            self._report("I6", f"run {run.id} of {run.schedule} is still {run.status}")
        if run.started_at is not None and run.started_at < run.due_at:
            self._report("I2", f"run {run.id} started before it was due")
        self.verdict.repeated += sum(call.ending == "done" for call in calls) > 1
        last = next((call for call in calls if call.attempt == run.attempt), None)
        if run.status == "succeeded" and calls:
            if last is None or last.ending != "done":
                self._report("I7", f"run {run.id} succeeded, but its attempt {run.attempt} {last and last.ending}")
            elif isinstance(run.result, int) and run.result != last.pid:
                self._report("I7", f"run {run.id}: the result is of process {run.result}, but {last.pid} executed it")
        if any(call.attempt > run.attempt for call in calls):
            self._report("I7", f"run {run.id} was executed by an attempt that the store does not have")
        self._check_attempts(run, calls)
        if self._same_clock:
            self._check_times(run, calls, last)

    def _check_attempts(self, run: RunRecord, calls: Sequence[Execution]) -> None:
        schedule = self._records.schedules.get(run.schedule or "")
        spec = schedule.specs.get(run.revision or 0) if schedule is not None else None
        if spec is None:
            return
        raised = sum(call.ending == "raised" for call in calls)
        # An attempt that raised, and whose worker was lost before it reported that, counts as lost.
        if raised > spec.retries + 1 + run.crashes or run.failures > spec.retries + 1:
            self._report(
                "I9", f"run {run.id} failed {run.failures} times ({raised} in journals); retries are {spec.retries}"
            )
        if run.crashes > spec.crash_limit + 1:
            self._report("I9", f"run {run.id} lost {run.crashes} workers; the limit is {spec.crash_limit}")
        if spec.on_crash == "fail" and len(calls) > 1 + raised:
            self._report("I9", f"run {run.id} must not start twice after a lost worker, but began {len(calls)} times")

    def _check_times(self, run: RunRecord, calls: Sequence[Execution], last: Execution | None) -> None:
        """Check that the store's times enclose those of the journals, regardless of the workers' clocks."""
        for call in calls:
            if call.began + self._wall_offset < run.due_at.timestamp() - CLOCK_TOLERANCE:
                self._report("I2", f"run {run.id} began before it was due")
        if last is None or run.started_at is None:
            return
        if run.started_at.timestamp() > last.began + self._wall_offset + CLOCK_TOLERANCE:
            self._report("I14", f"run {run.id} began before its started_at")
        ended = last.ended + self._wall_offset - CLOCK_TOLERANCE
        if run.status == "succeeded" and run.finished_at is not None and run.finished_at.timestamp() < ended:
            self._report("I14", f"run {run.id} ended after its finished_at")

    # Journals

    def _check_journals(self) -> None:
        for entry in self._executions.duplicates:
            self._report("I8", f"attempt {entry.attempt} of run {entry.run} was executed twice")
        for run_id, calls in self._executions_of.items():
            if run_id not in self._records.runs:
                self._report("I1", f"run {run_id} was executed, but the store has no such run")
            self._check_leases(run_id, sorted(calls, key=lambda call: call.attempt))
        runs_of: dict[tuple[str, int], set[int]] = defaultdict(set)
        for call in self._executions.all:
            run = self._records.runs.get(call.run)
            if call.schedule is not None and call.tick is not None and run is not None and run.origin in UNIQUE:
                runs_of[call.schedule, call.tick].add(call.run)
        for (name, tick), runs in runs_of.items():
            if len(runs) > 1:
                self._report("I1", f"{name}: {_clock(tick)} was executed as runs {sorted(runs)}")

    def _check_leases(self, run_id: int, calls: Sequence[Execution]) -> None:
        """Check that no attempt continues after the next one has begun."""
        for call, following in pairwise(calls):
            if following.began >= call.ended:
                continue
            if not self._executions.is_excused(call):
                self._report(
                    "I8",
                    f"run {run_id}: attempt {call.attempt} continued in {call.pid} for "
                    f"{call.ended - following.began:.2f} s after attempt {following.attempt} began in {following.pid}",
                )
            elif self._executions.started_late(call):
                self.verdict.late_starts += 1


def _between(ticks: Sequence[int], first: datetime, last: datetime) -> Sequence[int]:
    """The ticks from first to last, both included."""
    begin, end = int(first.timestamp()), int(last.timestamp())
    return ticks[bisect_left(ticks, begin) : bisect_left(ticks, end + 1)]


def _clock(tick: int) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(tick))
