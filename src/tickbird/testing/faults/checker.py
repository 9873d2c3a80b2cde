"""The checker: holds the store, the ledgers and the oracle's grid against each other, and names each broken promise."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from tickbird.domain.runs.run import FINAL, RunRecord
from tickbird.testing.faults.evidence import Evidence, History, read_evidence, within
from tickbird.testing.faults.executions import Execution, read_executions
from tickbird.testing.faults.ledger import Note, read_notes

UNIQUE = ("schedule", "catch_up", "backfill")
# Seconds by which a clock that two processes share may be read in another order than things happened.
_CLOSE = 0.05
_OPEN = timedelta(seconds=5)
# How long a tick may stay undecided once nothing is in the way.
_LAG = 5.0


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken, and how it shows."""

    promise: str
    text: str


@dataclass
class Verdict:
    """What became of all ticks, and what should not have."""

    violations: list[Violation] = field(default_factory=list)
    expected: int = 0
    run: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    # Ticks with two runs, which never may be; and runs executed again after a fault, which may.
    doubled: int = 0
    repeated: int = 0
    # Attempts that began although another one had, since their process was frozen after its last look at the lease.
    late_starts: int = 0
    worst_lateness: float = 0.0
    unread: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Were all promises kept?"""
        return not self.violations


def check(url: str, ledgers: Path, since: float, until: float, **told: Any) -> list[Violation]:
    """Every broken promise among the ticks of (since, until], by a store at rest and the ledgers of a folder."""
    return asyncio.run(judge(url, ledgers, since, until, **told)).violations


async def judge(
    url: str,
    ledgers: Path,
    since: float,
    until: float,
    *,
    honest_clock: bool = True,
    calm: tuple[float, float] | None = None,
) -> Verdict:
    """The same with the counts.

    `honest_clock`: the store's clock is this machine's and was never set. `calm`: from when to when nothing was in the
    way of any worker, so that every tick was to be planned when it was due.
    """
    checker = Checker(await read_evidence(url), read_notes(ledgers), since, until, honest_clock=honest_clock)
    checker.calm = calm
    return checker.check()


class Checker:
    """One look at everything; nothing of the planner is asked."""

    def __init__(
        self, evidence: Evidence, notes: Sequence[Note], since: float, until: float, *, honest_clock: bool = True
    ) -> None:
        self._evidence = evidence
        self._notes = notes
        self._since, self._until = int(since), int(until)
        self._honest = honest_clock
        self._executions = read_executions(notes)
        self._of_runs = self._executions.of_runs()
        # What to add to the steady clock to get the time, whatever a process took for it.
        self._offset = time.time() - time.monotonic()
        self.calm: tuple[float, float] | None = None
        self.verdict = Verdict()

    def check(self) -> Verdict:
        """All of it."""
        for history in self._evidence.histories.values():
            if history.unread or not history.revisions:
                self.verdict.unread.append(history.name)
                continue
            self._ticks(history)
            self._policies(history)
            self._edits(history)
            self._at_a_time(history)
        for run in self._evidence.runs.values():
            self._run(run)
        self._ledgers()
        return self.verdict

    def _broken(self, promise: str, text: str) -> None:
        self.verdict.violations.append(Violation(promise, text))

    # Ticks: each has one decision

    def _ticks(self, history: History) -> None:
        planned_until = history.schedule.cursor.planned_until or 0
        expected = history.ticks(self._since, max(self._until, planned_until))
        ticks = [tick for tick, _ in expected]
        in_force = dict(expected)
        runs = self._tick_runs(history, in_force, planned_until)
        decided = Counter(runs)
        for skip in sorted(history.skips, key=lambda skip: skip.count):
            covered = [tick for tick in within(ticks, skip.first, skip.last) if tick not in decided]
            if int(skip.last.timestamp()) <= self._since:
                continue
            if len(covered) != skip.count and int(skip.first.timestamp()) > self._since:
                self._broken(
                    "I3",
                    f"{history.name}: {skip.reason} of {skip.first:%H:%M:%S} to {skip.last:%H:%M:%S} counts "
                    f"{skip.count} ticks, the grid has {len(covered)} without a run",
                )
            decided.update(covered)
            self.verdict.skipped[skip.reason] += len(covered)
            if int(skip.last.timestamp()) > planned_until:
                self._broken("I4", f"{history.name}: a skip lies behind the cursor, which did not move with it")
        self.verdict.expected += sum(tick <= planned_until for tick in ticks)
        for tick in ticks:
            if tick <= planned_until and tick not in decided:
                self.verdict.lost += 1
                self._broken("I3", f"{history.name}: nothing was decided about {_clock(tick)}")
        self._reached(history, ticks, planned_until)

    def _tick_runs(self, history: History, in_force: dict[int, int], planned_until: int) -> list[int]:
        """The ticks that have a run."""
        first: dict[int, RunRecord] = {}
        # An edit of the grid takes the cursor back to its own instant; what was decided ahead of time is remembered.
        done = {each.tick for each in history.schedule.cursor.tick_overrides if each.done}
        for run in history.runs:
            if run.scheduled_for is None or run.origin not in UNIQUE:
                continue
            tick = int(run.scheduled_for.timestamp())
            spec = history.specs.get(run.revision or 0)
            if spec is None or run.scheduled_for.microsecond or not spec.form.ticks(tick, tick):
                self._broken("I2", f"{history.name}: run {run.id} of {_clock(tick)} is not on the grid of its revision")
            if tick in first:
                self.verdict.doubled += 1
                self._broken("I1", f"{history.name}: runs {first[tick].id} and {run.id} are of the same tick")
            first.setdefault(tick, run)
            if tick <= self._since or run.origin == "backfill":
                continue
            if tick > planned_until and tick not in done:
                self._broken("I4", f"{history.name}: run {run.id} lies behind the cursor, which did not move with it")
            if tick not in in_force:
                self._broken("I2", f"{history.name}: run {run.id} of {_clock(tick)} is on no grid that was in force")
        # A backfilled tick stands beside its skip.
        found = [tick for tick, run in first.items() if tick > self._since and run.origin != "backfill"]
        self.verdict.run += len(found)
        return found

    def _reached(self, history: History, ticks: Sequence[int], planned_until: int) -> None:
        """An active schedule has been planned up to now."""
        spec = history.specs[history.revisions[-1].revision]
        late = self._until - _LAG - spec.offset(history.name)
        left = [tick for tick in ticks if planned_until < tick <= late]
        if history.schedule.state == "active" and left and spec.max_runs is None:
            self.verdict.lost += len(left)
            self._broken("I3", f"{history.name}: {len(left)} ticks from {_clock(left[0])} on have no decision yet")

    # Policies

    def _policies(self, history: History) -> None:
        for run in history.runs:
            spec = history.specs.get(run.revision or 0)
            if spec is None or run.origin not in ("schedule", "catch_up"):
                continue
            late = (run.created_at - run.due_at).total_seconds()
            if run.origin == "schedule" and late > spec.grace + _CLOSE:
                self._broken("I11", f"{history.name}: run {run.id} was planned {late:.1f} s late as if it were on time")
            if run.origin == "catch_up" and late <= spec.grace:
                self._broken("I11", f"{history.name}: run {run.id} was caught up {late:.1f} s after it was due")
            if run.origin == "catch_up" and spec.catch_up == "skip":
                self._broken("I11", f"{history.name}: run {run.id} was caught up, and nothing may be")
            if self.calm is not None and self.calm[0] <= run.due_at.timestamp() <= self.calm[1] and late > _LAG:
                self._broken("on time", f"{history.name}: run {run.id} was planned {late:.1f} s late without any fault")
            if run.covers is not None and spec.catch_up not in ("one", "latest"):
                self._broken("I11", f"{history.name}: run {run.id} stands for others, but catch-up is {spec.catch_up}")
        for skip in history.skips:
            behind = None if skip.run_id is None else self._evidence.runs.get(skip.run_id)
            if skip.reason == "coalesced" and behind is not None:
                covers = behind.covers
                if covers is None or not covers.first <= skip.first <= skip.last <= covers.last:
                    self._broken("I11", f"{history.name}: run {behind.id} does not stand for all that it is said to")
            if skip.reason == "overlap" and behind is not None:
                # An end counts when it commits, which may take as long as a transaction may stay open.
                over = behind.finished_at is not None and behind.finished_at < skip.last - _OPEN
                if over or behind.created_at > skip.decided_at + _OPEN:
                    self._broken(
                        "I10", f"{history.name}: {skip.last:%H:%M:%S} was skipped behind a run not active then"
                    )

    def _at_a_time(self, history: History) -> None:
        """No more are executed at a time than may be, by what the processes say."""
        if any(spec.overlap == "allow" for spec in history.specs.values()):
            return
        most = max(spec.max_concurrent for spec in history.specs.values())
        calls = [call for run in history.runs for call in self._of_runs.get(run.id, ())]
        calls = sorted((call for call in calls if not self._executions.stood_still(call)), key=lambda call: call.began)
        for place, call in enumerate(calls):
            beside = {other.run for other in calls[:place] if other.ended > call.began and other.run != call.run}
            if len(beside) >= most:
                self._broken("I10", f"{history.name}: run {call.run} began while {sorted(beside)} were executing")

    # Edits

    def _edits(self, history: History) -> None:
        """Nothing is planned by a revision once a later one was acknowledged; none runs with another's payload."""
        revisions = {each.revision: each for each in history.revisions}
        for note in self._notes:
            if note.event == "acknowledged" and note.schedule == history.name and self._honest:
                told, at = note.detail["revision"], note.at + self._offset
                for run in history.runs:
                    if run.origin in UNIQUE and (run.revision or 0) < told and run.created_at.timestamp() > at + _CLOSE:
                        self._broken(
                            "I15", f"{history.name}: run {run.id} uses revision {run.revision} after {told} was told"
                        )
            if note.event == "stale edit accepted" and note.schedule == history.name:
                self._broken("I15", f"{history.name}: an edit of revision {note.detail['revision']} was taken")
        for run in history.runs:
            stored = revisions.get(run.revision or 0)
            edition = (stored.definition.get("payload") or {}).get("edition") if stored is not None else None
            for call in self._of_runs.get(run.id, ()):
                if edition is not None and run.origin in UNIQUE and call.detail.get("edition") != edition:
                    self._broken(
                        "I17",
                        f"{history.name}: run {run.id} ran with edition {call.detail.get('edition')}, not {edition}",
                    )

    # Runs

    def _run(self, run: RunRecord) -> None:
        calls = self._of_runs.get(run.id, [])
        if run.status not in FINAL:
            self._broken("I6", f"run {run.id} of {run.schedule} is still {run.status}")
        if run.started_at is not None and run.started_at < run.due_at:
            self._broken("I2", f"run {run.id} started before it was due")
        done = [call for call in calls if call.ending == "done"]
        self.verdict.repeated += len(done) > 1
        last = next((call for call in calls if call.attempt == run.attempt), None)
        if run.status == "succeeded" and calls:
            if last is None or last.ending != "done":
                self._broken("I7", f"run {run.id} succeeded, but its attempt {run.attempt} {last and last.ending}")
            elif isinstance(run.result, int) and run.result != last.pid:
                self._broken("I7", f"run {run.id}: process {run.result} was believed, but {last.pid} did it")
        if any(call.attempt > run.attempt for call in calls):
            self._broken("I7", f"run {run.id} was executed by an attempt that the store does not know")
        self._attempts(run, calls)
        if self._honest:
            self._times(run, calls, last)

    def _attempts(self, run: RunRecord, calls: Sequence[Execution]) -> None:
        history = self._evidence.histories.get(run.schedule or "")
        spec = history.specs.get(run.revision or 0) if history is not None else None
        if spec is None:
            return
        raised = sum(call.ending == "raised" for call in calls)
        # One that raised and whose worker was lost before it could tell counts as lost.
        if raised > spec.retries + 1 + run.crashes or run.failures > spec.retries + 1:
            self._broken("I9", f"run {run.id} failed {run.failures} times ({raised} noted); retries are {spec.retries}")
        if run.crashes > spec.crash_limit + 1:
            self._broken("I9", f"run {run.id} lost {run.crashes} workers; {spec.crash_limit} are survived")
        if spec.on_crash == "fail" and len(calls) > 1 + raised:
            self._broken("I9", f"run {run.id} must not start twice after a lost worker, but began {len(calls)} times")

    def _times(self, run: RunRecord, calls: Sequence[Execution], last: Execution | None) -> None:
        """The store's times are true, whatever clocks its workers have."""
        for call in calls:
            if call.began + self._offset < run.due_at.timestamp() - _CLOSE:
                self._broken("I2", f"run {run.id} began before it was due")
        if last is None or run.started_at is None:
            return
        if run.origin == "schedule" and run.attempt == 1:
            late = (run.started_at - run.due_at).total_seconds()
            self.verdict.worst_lateness = max(self.verdict.worst_lateness, late)
        if run.started_at.timestamp() > last.began + self._offset + _CLOSE:
            self._broken("I14", f"run {run.id} began before the store's start of it")
        ended = last.ended + self._offset
        if run.status == "succeeded" and run.finished_at is not None and run.finished_at.timestamp() < ended - _CLOSE:
            self._broken("I14", f"run {run.id} ended after the store's end of it")

    # Ledgers

    def _ledgers(self) -> None:
        for note in self._executions.twice:
            self._broken("I8", f"attempt {note.attempt} of run {note.run} was executed twice")
        for run_id, calls in self._of_runs.items():
            if run_id not in self._evidence.runs:
                self._broken("I1", f"run {run_id} was executed, but the store has no such run")
            calls.sort(key=lambda call: call.attempt)
            for one, other in pairwise(calls):
                if other.began >= one.ended:
                    continue
                if not self._executions.stood_still(one):
                    self._broken(
                        "I8",
                        f"run {run_id}: attempt {one.attempt} went on in {one.pid} for {one.ended - other.began:.2f} s "
                        f"while attempt {other.attempt} had begun in {other.pid}",
                    )
                elif self._executions.started_late(one):
                    self.verdict.late_starts += 1
        ticks: dict[tuple[str, int], set[int]] = defaultdict(set)
        for call in self._executions.all:
            origin = self._evidence.runs[call.run].origin if call.run in self._evidence.runs else ""
            if call.schedule is not None and call.tick is not None and origin in UNIQUE:
                ticks[call.schedule, call.tick].add(call.run)
        for (schedule, tick), runs in ticks.items():
            if len(runs) > 1:
                self._broken("I1", f"{schedule}: {_clock(tick)} was executed as runs {sorted(runs)}")
        for note in self._notes:
            run = self._evidence.runs.get(note.detail.get("run_id") or 0)
            if note.event == "seen final" and run is not None and note.detail["end"] != final_state(run):
                self._broken("I6", f"run {run.id} was final as {note.detail['end']} and is {final_state(run)}")


def final_state(run: RunRecord) -> list[object]:
    """What must not change once a run is final."""
    return [
        run.status,
        run.attempt,
        run.failures,
        run.crashes,
        None if not run.finished_at else run.finished_at.timestamp(),
    ]


def _clock(tick: int) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(tick))
