"""The checker: follows the store call by call, and reports every broken promise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from lab.oracle.planner import Run, plan
from lab.oracle.schedule import CommandRefused, TickDecision, TickOverride
from lab.simulation.backfills import Backfills
from lab.simulation.clocks import HOLD_TIME, POLL_TIME, Clocks
from lab.simulation.dependencies import Dependencies
from lab.simulation.deploys import Deploys
from lab.simulation.held_runs import HeldRuns
from lab.simulation.history import AWAITING, HELD, MICROS, CursorRow, Event, RunRow, SkipRow
from lab.simulation.leadership import LeaderTerms
from lab.simulation.lifecycle import Lifecycle
from lab.simulation.rates import Rates
from lab.simulation.watched import Watched
from lab.simulation.world import Call, Record
from tickbird.domain.planning.commands.define import Create, Delete, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip

TICKING = ("schedule", "catch_up")


@dataclass(frozen=True)
class Violation:
    """A broken promise, and its call."""

    promise: str
    call: int
    text: str


class Checker:
    """Follows runs, skips and cursors through their history, and compares them with its own model."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.violations: list[Violation] = []
        self.call = record.calls[0] if record.calls else None
        # The store's clock in the current call, in microseconds.
        self.now = 0
        self.schedules: dict[int, Watched] = {}
        self.skips: dict[int, SkipRow] = {}
        self.cursors: dict[int, CursorRow] = {}
        # In one call: the runs that new ones replace, and those that get a stop request.
        self._replaced: set[int] = set()
        self._stopped: set[int] = set()
        # The newest tick of each schedule whose run or skip was pruned, in microseconds.
        self.pruned: dict[int, int] = defaultdict(int)
        self.backfills = Backfills(self)
        self.held = HeldRuns(self)
        self.rates = Rates(self)
        self.dependencies = Dependencies(self)
        self.lifecycle = Lifecycle(self)
        self.deploys = Deploys(self)
        self.clocks = Clocks(self)
        self.leader_terms = LeaderTerms(self)
        heartbeat = record.scenario.heartbeat
        # A worker that was frozen or disconnected learns of a jump only when faults end.
        standby_time = HOLD_TIME + POLL_TIME if record.jumps else 0.0
        self.undisturbed_from = record.calm_from + max(2 * heartbeat, standby_time + heartbeat)

    def broken(self, promise: str, text: str) -> None:
        """Record a violation in the current call."""
        self.violations.append(Violation(promise, self.call.number if self.call else 0, text))

    def check(self) -> list[Violation]:
        by_call: dict[int, list[Event]] = defaultdict(list)
        for event in self.record.events:
            by_call[event.call].append(event)
        begin = self.record.scenario.begin
        start = int(begin.timestamp()) * MICROS + begin.microsecond
        for call in self.record.calls:
            self.call = call
            self.now = start + (call.now - begin) // timedelta(microseconds=1)
            if call.error:
                if by_call.get(call.number):
                    self.broken("I4", f"{call.verb} was refused but changed rows")
                continue
            self.deploys.see(call)
            self.leader_terms.see(call)
            self._see(call, by_call.get(call.number, []))
            self.clocks.see(call, changed=call.number in by_call)
        self.lifecycle.at_end()
        self.deploys.at_end()
        if not self.record.finished:
            self.broken("I6", "runs do not end although there are no faults")
        for error in self.record.errors:
            self.broken("engine", error)
        return self.violations

    def _see(self, call: Call, events: list[Event]) -> None:
        self._replaced, self._stopped = set(), set()
        new_runs: dict[int, list[RunRow]] = defaultdict(list)
        skipped: dict[int, list[tuple[SkipRow, int]]] = defaultdict(list)
        moved: set[int] = set()
        for event in events:
            row = event.row
            if isinstance(row, RunRow):
                if event.change == "insert" and row.schedule_id is not None:
                    new_runs[row.schedule_id].append(row)
            elif isinstance(row, SkipRow):
                self._see_skip(event, row, skipped)
            else:
                self._see_cursor(call, row)
                moved.add(row.schedule_id)
        if call.verb == "schedules.change":
            self._see_change(call, new_runs, skipped)
        elif call.verb == "backfills.create":
            self._see_backfill(call, new_runs, skipped)
        elif call.verb == "planning.plan_due" and call.believed:
            # After timeouts, batches are small: schedules beyond the limit are left to the next call.
            is_limited = call.result is not None and call.result.schedules >= call.args[0]
            for schedule in self.schedules.values():
                wakeup = schedule.next_wakeup
                is_due = wakeup is not None and wakeup * MICROS <= self.now and schedule.id not in call.refused
                if is_limited and schedule.id not in moved:
                    is_due = False
                if schedule.id in new_runs or schedule.id in skipped or is_due:
                    self._plan(schedule, new_runs, skipped)
            if call.refused and call.at > self.undisturbed_from:
                self.broken(
                    "I5", f"schedules {sorted(call.refused)} are left out although the database does not refuse them"
                )
        elif new_runs or skipped:
            self.broken("I4", f"{call.verb} decided ticks")
        for schedule_id in {**new_runs, **skipped}:
            if any(run.scheduled_for is not None for run in new_runs[schedule_id]) or skipped[schedule_id]:
                self.broken("I3", f"decisions about an unknown schedule {schedule_id}")
        if call.verb == "held.resolve":
            self.held.before(call)
        self.lifecycle.see(call, events)
        self._check_replaced()
        if call.verb == "held.resolve":
            self.held.after(call)
        elif call.verb == "backfills.cancel":
            self.backfills.cancelled(call)
        elif call.verb == "schedules.change" and getattr(call.args[2], "cancel_runs", False):
            for run in self.lifecycle.active[call.result.schedule.id].values():
                if run.status != "running":
                    self.broken("states", f"run {run.id} is {run.status} although it was cancelled with its schedule")

    def _see_cursor(self, call: Call, row: CursorRow) -> None:
        """It moves back only if a grid ends, exactly to that instant."""
        old = self.cursors.get(row.schedule_id)
        self.cursors[row.schedule_id] = row
        ends = call.verb == "schedules.change" and isinstance(call.args[2], Create | Update | SyncFromCode | Delete)
        restarts = ends and row.planned_until == self.now // MICROS * MICROS
        if old is not None and (row.planned_until or 0) < (old.planned_until or 0) and not restarts:
            self.broken("I1", f"the cursor of schedule {row.schedule_id} moved back")

    def _see_skip(self, event: Event, row: SkipRow, skipped: dict[int, list[tuple[SkipRow, int]]]) -> None:
        if event.change == "insert":
            skipped[row.schedule_id].append((row, row.first_at // MICROS - 1))
            self.skips[row.id] = row
        elif event.change == "update":
            old = self.skips[row.id]
            if _without_end(old) != _without_end(row):
                self.broken("I3", f"skip {row.id} changed its identity")
            added = row._replace(ticks=row.ticks - old.ticks)
            skipped[row.schedule_id].append((added, old.last_at // MICROS))
            self.skips[row.id] = row
        else:
            del self.skips[row.id]
            self.pruned[row.schedule_id] = max(self.pruned[row.schedule_id], row.last_at)

    # Planning

    def _plan(self, schedule: Watched, new_runs: Any, skipped: Any) -> None:
        expected = self._expected(schedule)
        runs = [run for run in new_runs.pop(schedule.id, []) if run.scheduled_for is not None]
        self._compare(schedule, expected, runs, skipped.pop(schedule.id, []))

    def _expected(self, schedule: Watched) -> list[TickDecision]:
        """The expected decisions about its due ticks, given the runs that are active before this call."""
        active = [
            Run(run.id, run.status, run.origin in TICKING, awaits=run.lane == AWAITING)
            for run in self.lifecycle.active_runs(schedule.id)
        ]
        held = schedule.spec.hold_above is not None and bool(self.held.of_schedule(schedule.id))
        successes = self.dependencies.successes(schedule)
        planned = plan(schedule, self.now / MICROS, active, held=held, successes=successes)
        self._replaced.update(planned.cancelled)
        self._stopped.update(planned.stopped)
        return list(planned.decisions)

    def _check_replaced(self) -> None:
        """Exactly the runs that had to be replaced were cancelled, or got a stop request."""
        replaced = self.lifecycle.replaced
        if replaced != self._replaced:
            self.broken("I10", f"runs {sorted(replaced)} were replaced, not {sorted(self._replaced)}")
        for run_id in self._stopped:
            if self.lifecycle.runs[run_id].cancel_requested_at is None:
                self.broken("I10", f"run {run_id} continues although another one replaces it")

    def _compare(
        self, schedule: Watched, expected: list[TickDecision], runs: list[RunRow], skips: list[tuple[SkipRow, int]]
    ) -> None:
        """Compare the decisions of one call with the expected ones."""
        if not (expected or runs or skips):
            return
        numbers = {run.id: -number for number, run in enumerate(runs, 1)}
        actual: dict[int, TickDecision] = {}
        by_tick = {decision.tick: decision for decision in expected}
        for run in runs:
            if run.revision != schedule.revision:
                self.broken("I15", f"run {run.id} uses revision {run.revision}, not {schedule.revision}")
            decision = _decision(run)
            if decision.tick in actual:
                self.broken("I1", f"{schedule.name}: two runs of {decision.tick}")
            actual[decision.tick] = decision
            self._check_lateness(schedule, run, schedule.turn_of(decision.tick, decision.due_at, expected))
            if decision.tick in by_tick:
                self.dependencies.planned(run, by_tick[decision.tick])
        for skip, after in skips:
            for tick in self._skipped_ticks(schedule, skip, after):
                if tick in actual:
                    self.broken("I3", f"{schedule.name}: {tick} has two decisions")
                blocker = None if skip.run_id is None else numbers.get(skip.run_id, skip.run_id)
                actual[tick] = TickDecision(tick, skip.reason, blocker=blocker)
        for tick in sorted(by_tick.keys() | actual.keys()):
            self._compare_tick(schedule, tick, by_tick.get(tick), actual.get(tick))

    def _check_lateness(self, schedule: Watched, run: RunRow, turn: int) -> None:
        """Some time after the last fault, every tick is planned when it is due, not later."""
        assert self.call is not None
        heartbeat = self.record.scenario.heartbeat
        undisturbed = self.call.at > self.undisturbed_from and self.call.verb == "planning.plan_due"
        due_for = self.now / MICROS - turn
        if undisturbed and run.origin == "schedule" and _PROMPT < due_for < heartbeat:
            self.broken("on time", f"{schedule.name}: run {run.id} was planned {due_for:.3f} s after it was due")

    def _skipped_ticks(self, schedule: Watched, skip: SkipRow, after: int) -> list[int]:
        spec = schedule.specs.get(skip.revision)
        if spec is None:
            self.broken("I3", f"{schedule.name}: skip {skip.id} names an unknown revision {skip.revision}")
            return []
        ticks = list(spec.ticks(after + 1, skip.last_at // MICROS))
        if len(ticks) != skip.ticks or not ticks or ticks[-1] != skip.last_at // MICROS:
            self.broken("I3", f"{schedule.name}: skip {skip.id} counts {skip.ticks} ticks, the grid has {len(ticks)}")
        return ticks

    def _compare_tick(
        self, schedule: Watched, tick: int, expected: TickDecision | None, actual: TickDecision | None
    ) -> None:
        name = f"{schedule.name}: tick {tick}"
        if expected is None and actual is not None:
            self.broken("I2" if actual.outcome == "run" else "I3", f"{name} must not be decided yet, but: {actual}")
        elif actual is None:
            self.broken("I3", f"{name} has no decision; it should be {expected}")
        elif expected is not None and not self._fits(schedule, expected, actual):
            fates = {expected.outcome, actual.outcome}
            waits = expected.outcome == actual.outcome and expected.status != actual.status
            promise = "I10" if "overlap" in fates or waits else "I11"
            self.broken(promise, f"{name} is {actual}, not {expected}")

    def _fits(self, schedule: Watched, expected: TickDecision, actual: TickDecision) -> bool:
        expected = replace(expected, awaits=_AWAITS if expected.awaits else (), override=None)
        if schedule.spec.concurrency_key is not None and expected.status == "queued":
            # Another check, with all runs of the key, decides whether the key had a free slot.
            expected = replace(expected, status=actual.status)
        return expected == actual

    # Changes

    def _see_backfill(self, call: Call, new_runs: Any, skipped: Any) -> None:
        """Due ticks are planned first; then runs are created for decided ticks."""
        schedule = next(schedule for schedule in self.schedules.values() if schedule.name == call.args[1])
        runs = new_runs.pop(schedule.id, [])
        planned = [run for run in runs if run.origin != "backfill"]
        self._compare(schedule, self._expected(schedule), planned, skipped.pop(schedule.id, []))
        self.backfills.check_runs(call, schedule, planned, [run for run in runs if run.origin == "backfill"])

    def _see_change(self, call: Call, new_runs: Any, skipped: Any) -> None:
        stored = call.result.schedule
        command = call.args[2]
        schedule = self.schedules.get(stored.id)
        mine_runs, mine_skips = new_runs.pop(stored.id, []), skipped.pop(stored.id, [])
        expected: list[TickDecision] = []
        if schedule is not None:
            expected = self._expected(schedule)
        planned = [run for run in mine_runs if run.scheduled_for is not None]
        specs = schedule.specs if schedule is not None else {}
        first = [pair for pair in mine_skips if pair[0].revision in specs and pair[0].reason not in _OF_CHANGES]
        rest = [pair for pair in mine_skips if pair not in first]
        if not isinstance(command, Resume) and rest:
            # The planner, not a command, ends a pause that has expired.
            over = [
                pair for pair in rest if pair[0].reason == "paused" and any(d.outcome == "paused" for d in expected)
            ]
            first, rest = over + first, [pair for pair in rest if pair not in over]
        if schedule is not None:
            self._compare(schedule, expected, planned, first)
        elif planned:
            self.broken("I2", f"a new schedule was run at once: {planned}")
        if schedule is None:
            spec = self.record.scenario.specs[command.definition.payload["spec"]]
            schedule = self.schedules[stored.id] = Watched(stored.name, spec, id=stored.id)
        passed_over: list[TickDecision] = []
        try:
            passed_over = self._apply(call, schedule, command)
        except CommandRefused:
            self.broken("states", f"{schedule.name}: {command} should have been refused")
        manual = [run for run in mine_runs if run.scheduled_for is None]
        if any(run.revision != stored.revision for run in manual if run.retry_of is None):
            self.broken("I15", f"{schedule.name}: a manual run uses an old revision: {manual}")
        if len(manual) > isinstance(command, Trigger | Create):
            self.broken("I2", f"{type(command).__name__} created runs: {manual}")
        if schedule.revision != stored.revision:
            self.broken("I15", f"{schedule.name} is at revision {stored.revision}, not {schedule.revision}")
        self._compare(schedule, passed_over, [], rest)
        if isinstance(command, Delete):
            self.dependencies.deleted(schedule)
        elif schedule.spec.depends_on:
            self.dependencies.defined(schedule)
        if stored.state != schedule.state:
            self.broken("states", f"{schedule.name} is {stored.state}, not {schedule.state}")

    def _apply(self, call: Call, schedule: Watched, command: Any) -> list[TickDecision]:
        """Apply a command to the model; returns the skips that it records. CommandRefused."""
        now = self.now / MICROS
        match command:
            case Create() | SyncFromCode():
                spec = self.record.scenario.specs[command.definition.payload["spec"]]
                if isinstance(command, SyncFromCode):
                    return schedule.sync(spec, now)
                return schedule.create(spec, now, by_code=command.app is not None)
            case Update():
                assert call.intent is not None
                return schedule.update(call.intent.values, now)
            case Pause():
                schedule.paused_by = command.actor
                return schedule.pause(command.until, now)
            case Resume():
                return schedule.resume(now)
            case Delete():
                return schedule.delete(now)
            case Reschedule():
                return schedule.reschedule(command.to, now)
            case Skip():
                return schedule.skip(command.count)
            case ClearOverride():
                return schedule.clear_override(command.tick)
            case Override():
                override = TickOverride(int(now), command.skip, command.move_to, command.payload is not None)
                return schedule.override(command.tick, override, now)
        return []


# Seconds that planning may take without faults.
_PROMPT = 0.5
# Skips that a command writes, in addition to those of due ticks.
_OF_CHANGES = ("paused", "edited", "deleted")


def _without_end(skip: SkipRow) -> SkipRow:
    """A skip without the fields that change when it is extended."""
    return skip._replace(last_at=0, ticks=0)


# Rows show that a run waits for another schedule, but not the schedule.
_AWAITS = (("", 0, 0),)


def _decision(run: RunRow) -> TickDecision:
    """The decision that a new row shows."""
    assert run.scheduled_for is not None
    covers = None
    if run.covers_first is not None and run.covers_last is not None and run.covers_count is not None:
        covers = run.covers_first // MICROS, run.covers_last // MICROS, run.covers_count
    return TickDecision(
        run.scheduled_for // MICROS,
        "run",
        origin=run.origin,
        # A run that is leased when it is created counts as queued; the lease is checked elsewhere.
        status="queued" if run.status == "running" else run.status,
        due_at=run.due_at // MICROS,
        start_by=None if run.start_by is None else run.start_by // MICROS,
        covers=covers,
        held=run.lane == HELD,
        awaits=_AWAITS if run.lane == AWAITING else (),
    )
