"""The checker: follows the store call by call, and reports every broken promise."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

from lab.simulation.backfills import Backfills
from lab.simulation.clocks import HOLD_TIME, POLL_TIME, Clocks
from lab.simulation.dependencies import Dependencies
from lab.simulation.deploys import Deploys
from lab.simulation.grids import HOUR
from lab.simulation.held_runs import HeldRuns
from lab.simulation.history import CursorRow, Event, RunRow, SkipRow
from lab.simulation.lifecycle import Lifecycle
from lab.simulation.rates import Rates
from lab.simulation.ticks import MICROS, Decision, Planner, TickOverride, Watched
from lab.simulation.world import Call, Record
from tickbird.domain.planning.commands import (
    ClearOverride,
    Create,
    Delete,
    Override,
    Pause,
    Reschedule,
    Resume,
    Skip,
    SyncFromCode,
    Trigger,
    Update,
)

TICKING = ("schedule", "catch_up")


@dataclass(frozen=True)
class Violation:
    """A promise that was broken, and where."""

    promise: str
    call: int
    text: str


class Checker:
    """Follows runs, skips and cursors through their history beside its own idea of what must happen."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.violations: list[Violation] = []
        self.call = record.calls[0] if record.calls else None
        # The store's clock in the call that is looked at, in microseconds.
        self.now = 0
        self.schedules: dict[int, Watched] = {}
        self.skips: dict[int, SkipRow] = {}
        self.cursors: dict[int, CursorRow] = {}
        # The newest tick of each schedule of which a run or skip was pruned, in microseconds.
        self.pruned: dict[int, int] = defaultdict(int)
        self.backfills = Backfills(self)
        self.held = HeldRuns(self)
        self.rates = Rates(self)
        self.dependencies = Dependencies(self)
        self.lifecycle = Lifecycle(self)
        self.deploys = Deploys(self)
        self.clocks = Clocks(self)
        heartbeat, begin = record.scenario.heartbeat, int(record.scenario.begin.timestamp())
        margin = 20 * heartbeat
        last = max((call.now for call in record.calls), default=record.scenario.begin) + timedelta(seconds=margin)
        # Who was frozen or cut off learns of a jump only when faults end.
        held = HOLD_TIME + POLL_TIME if record.jumps else 0.0
        self.undisturbed_from = record.calm_from + max(2 * heartbeat, held + heartbeat)
        self.reach = begin - 80 * max(heartbeat, HOUR), int(last.timestamp())

    def broken(self, promise: str, text: str) -> None:
        """Note a violation in the call that is looked at."""
        self.violations.append(Violation(promise, self.call.number if self.call else 0, text))

    def check(self) -> list[Violation]:
        """All violations."""
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
                    self.broken("I4", f"{call.verb} was refused and yet changed rows")
                continue
            self.deploys.see(call)
            self._see(call, by_call.get(call.number, []))
            self.clocks.see(call, changed=call.number in by_call)
        self.lifecycle.at_end()
        self.deploys.at_end()
        if not self.record.settled:
            self.broken("I6", "runs do not come to an end though nothing disturbs them")
        for error in self.record.errors:
            self.broken("engine", error)
        return self.violations

    def _see(self, call: Call, events: list[Event]) -> None:
        new_runs: dict[int, list[RunRow]] = defaultdict(list)
        skipped: dict[int, list[tuple[SkipRow, int]]] = defaultdict(list)
        for event in events:
            row = event.row
            if isinstance(row, RunRow):
                if event.change == "insert" and row.schedule_id is not None:
                    new_runs[row.schedule_id].append(row)
            elif isinstance(row, SkipRow):
                self._see_skip(event, row, skipped)
            else:
                self._see_cursor(call, row)
        if call.verb == "schedules.change":
            self._see_change(call, new_runs, skipped)
        elif call.verb == "backfills.create":
            self._see_backfill(call, new_runs, skipped)
        elif call.verb == "planning.plan_due" and call.believed:
            for schedule in self.schedules.values():
                is_due = schedule.may_be_due(self.now) and schedule.id not in call.refused
                if schedule.id in new_runs or schedule.id in skipped or is_due:
                    self._plan(schedule, new_runs, skipped)
            if call.refused and call.at > self.undisturbed_from:
                self.broken("I5", f"schedules {sorted(call.refused)} are left out though nothing refuses them")
        elif new_runs or skipped:
            self.broken("I4", f"{call.verb} decided ticks")
        for schedule_id in {**new_runs, **skipped}:
            if any(run.scheduled_for is not None for run in new_runs[schedule_id]) or skipped[schedule_id]:
                self.broken("I3", f"decisions about an unknown schedule {schedule_id}")
        if call.verb == "held.resolve":
            self.held.before(call)
        self.lifecycle.see(call, events)
        if call.verb == "held.resolve":
            self.held.after(call)
        elif call.verb == "backfills.cancel":
            self.backfills.cancelled(call)
        elif call.verb == "schedules.change" and getattr(call.args[2], "cancel_runs", False):
            for run in self.lifecycle.active[call.result.schedule.id].values():
                if run.status != "running":
                    self.broken("states", f"run {run.id} is {run.status} though it was cancelled with its schedule")

    def _see_cursor(self, call: Call, row: CursorRow) -> None:
        """It goes back only where a grid ends, to that instant and not before it."""
        old = self.cursors.get(row.schedule_id)
        self.cursors[row.schedule_id] = row
        ends = call.verb == "schedules.change" and isinstance(call.args[2], Create | Update | SyncFromCode | Delete)
        restarts = ends and row.planned_until == self.now // MICROS * MICROS
        if old is not None and (row.planned_until or 0) < (old.planned_until or 0) and not restarts:
            self.broken("I1", f"the cursor of schedule {row.schedule_id} went back")

    def _see_skip(self, event: Event, row: SkipRow, skipped: dict[int, list[tuple[SkipRow, int]]]) -> None:
        if event.change == "insert":
            skipped[row.schedule_id].append((row, row.first_at // MICROS - 1))
            self.skips[row.id] = row
        elif event.change == "update":
            old = self.skips[row.id]
            if _without_end(old) != _without_end(row):
                self.broken("I3", f"skip {row.id} became another one")
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

    def _expected(self, schedule: Watched) -> list[Decision]:
        """What becomes of its due ticks, with the runs that are active before this call."""
        active = self.lifecycle.active_runs(schedule.id)
        ticking = [(run.id, run.status, run.lane) for run in active if run.origin in TICKING]
        held = schedule.spec.hold_above is not None and bool(self.held.of_schedule(schedule.id))
        needs = self.dependencies.needs(schedule)
        return Planner(schedule, self.now, ticking, len(active) - len(ticking), held, needs).decide()

    def _compare(
        self, schedule: Watched, expected: list[Decision], runs: list[RunRow], skips: list[tuple[SkipRow, int]]
    ) -> None:
        """What was decided in one look, against what had to be."""
        if not (expected or runs or skips):
            return
        numbers = {run.id: -number for number, run in enumerate(runs, 1)}
        actual: dict[int, Decision] = {}
        for run in runs:
            assert run.scheduled_for is not None
            tick = run.scheduled_for // MICROS
            if run.revision != schedule.revision:
                self.broken("I15", f"run {run.id} uses revision {run.revision}, not {schedule.revision}")
            covers = None
            if run.covers_first is not None and run.covers_last is not None and run.covers_count is not None:
                covers = run.covers_first // MICROS, run.covers_last // MICROS, run.covers_count
            # One that was leased as it was made is as good as queued; the lease is looked at elsewhere.
            status = "queued" if run.status == "running" else run.status
            decision = Decision(tick, "run", run.origin, status, run.due_at // MICROS, covers, lane=run.lane)
            if tick in actual:
                self.broken("I1", f"{schedule.name}: two runs of {tick}")
            actual[tick] = decision
            self._check_lateness(schedule, run, schedule.turn_of(tick, run.due_at // MICROS, expected))
            self.dependencies.planned(schedule, run)
            limit = schedule.spec.start_limit
            if run.start_by != (None if limit is None else run.due_at + limit * MICROS):
                self.broken("I11", f"{schedule.name}: run {run.id} must start by another instant")
        for skip, after in skips:
            for tick in self._skipped_ticks(schedule, skip, after):
                if tick in actual:
                    self.broken("I3", f"{schedule.name}: {tick} has two decisions")
                blocker = None if skip.run_id is None else numbers.get(skip.run_id, skip.run_id)
                actual[tick] = Decision(tick, skip.reason, blocker=blocker)
        by_tick = {decision.tick: decision for decision in expected}
        for tick in sorted(by_tick.keys() | actual.keys()):
            self._compare_tick(schedule, tick, by_tick.get(tick), actual.get(tick))

    def _check_lateness(self, schedule: Watched, run: RunRow, turn: int) -> None:
        """A while after the last fault every tick is planned when it is due, not at some later look."""
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
        ticks = spec.grid(self.reach).between(after, skip.last_at // MICROS)
        if len(ticks) != skip.ticks or not ticks or ticks[-1] != skip.last_at // MICROS:
            self.broken("I3", f"{schedule.name}: skip {skip.id} counts {skip.ticks} ticks, the grid has {len(ticks)}")
        return ticks

    def _compare_tick(self, schedule: Watched, tick: int, expected: Decision | None, actual: Decision | None) -> None:
        name = f"{schedule.name}: tick {tick}"
        if expected is None and actual is not None:
            self.broken("I2" if actual.fate == "run" else "I3", f"{name} must not be decided yet, but: {actual}")
        elif actual is None and expected is not None:
            if schedule.spec.overlap == "replace" and schedule.room <= 0:
                return  # which ticks the last runs went to is open, and what comes after them is never decided
            self.broken("I3", f"{name} has no decision; it should be {expected}")
        elif expected is None or actual is None or self._fits(schedule, expected, actual):
            if (
                actual is not None
                and actual.fate == "run"
                and expected is not None
                and expected.fate in ("open", "newest")
            ):
                schedule.runs_planned += 1
        else:
            fates = {expected.fate, actual.fate}
            waits = expected.fate == actual.fate and expected.status != actual.status
            promise = "I10" if "overlap" in fates or waits else "I11"
            self.broken(promise, f"{name} is {actual}, not {expected}")

    def _fits(self, schedule: Watched, expected: Decision, actual: Decision) -> bool:
        if expected.fate == "open":
            return actual.fate in ("run", "overlap", "coalesced", "limit")
        if expected.fate == "newest":
            return actual.fate == "run" and actual.origin == "schedule"
        if expected.fate == "rescheduled":
            return actual.fate == "rescheduled"
        if schedule.spec.concurrency_key is not None and expected.status == "queued":
            # Whether its key had room is looked at where all runs of the key are.
            expected = replace(expected, status=actual.status)
        return expected == actual

    # Changes

    def _see_backfill(self, call: Call, new_runs: Any, skipped: Any) -> None:
        """What is due is planned first; then runs are made of what was decided."""
        schedule = next(one for one in self.schedules.values() if one.name == call.args[1])
        runs = new_runs.pop(schedule.id, [])
        planned = [run for run in runs if run.origin != "backfill"]
        self._compare(schedule, self._expected(schedule), planned, skipped.pop(schedule.id, []))
        self.backfills.check_runs(call, schedule, planned, [run for run in runs if run.origin == "backfill"])

    def _see_change(self, call: Call, new_runs: Any, skipped: Any) -> None:
        stored = call.result.schedule
        command = call.args[2]
        schedule = self.schedules.get(stored.id)
        mine_runs, mine_skips = new_runs.pop(stored.id, []), skipped.pop(stored.id, [])
        expected: list[Decision] = []
        if schedule is not None:
            expected = self._expected(schedule)
        planned = [run for run in mine_runs if run.scheduled_for is not None]
        specs = schedule.specs if schedule is not None else {}
        old_revision = schedule.revision if schedule is not None else 0
        first = [pair for pair in mine_skips if pair[0].revision in specs and pair[0].reason not in _OF_CHANGES]
        rest = [pair for pair in mine_skips if pair not in first]
        if schedule is not None and isinstance(command, Resume) is False and rest:
            # A pause that ran out is planned, not commanded.
            over = [pair for pair in rest if pair[0].reason == "paused" and any(d.fate == "paused" for d in expected)]
            first, rest = over + first, [pair for pair in rest if pair not in over]
        if schedule is not None:
            self._compare(schedule, expected, planned, first)
        elif planned:
            self.broken("I2", f"a new schedule ran at once: {planned}")
        passed_over: list[Decision] = []
        revised = not isinstance(command, Trigger)
        if schedule is not None and isinstance(command, Update) and self._is_so(schedule, call):
            revised = False
        else:
            schedule, passed_over = self._apply(call, schedule, command)
        schedule.quiet_until = 0
        manual = [run for run in mine_runs if run.scheduled_for is None]
        if any(run.revision != stored.revision for run in manual if run.retry_of is None):
            self.broken("I15", f"{schedule.name}: a manual run uses an old revision: {manual}")
        if len(manual) > isinstance(command, Trigger | Create):
            self.broken("I2", f"{type(command).__name__} made runs: {manual}")
        self.schedules[stored.id] = schedule
        if revised:
            schedule.revision = old_revision + 1
            schedule.specs[schedule.revision] = schedule.spec
        if schedule.revision != stored.revision:
            self.broken("I15", f"{schedule.name} is at revision {stored.revision}, not {schedule.revision}")
        self._compare(schedule, passed_over, [], rest)
        if isinstance(command, Delete):
            self.dependencies.deleted(schedule)
        elif schedule.spec.depends_on:
            self.dependencies.defined(schedule)
        state = "ended" if schedule.ended else schedule.state
        if stored.state != state:
            self.broken("states", f"{schedule.name} is {stored.state}, not {state}")

    def _is_so(self, schedule: Watched, call: Call) -> bool:
        """Does an update ask for what the schedule already is, by the same person's word?"""
        assert call.intent is not None
        values = call.intent.values
        kept = not schedule.by_code or schedule.overrides == {**schedule.overrides, **values}
        return kept and replace(schedule.spec, **values) == schedule.spec

    def _apply(self, call: Call, schedule: Watched | None, command: Any) -> tuple[Watched, list[Decision]]:
        """What a command does to a schedule, and the ticks that it passes over."""
        now = self.now // MICROS
        if isinstance(command, Create):
            return self._create(call, schedule, command)
        assert schedule is not None
        if isinstance(command, SyncFromCode):
            code = self.record.scenario.specs[command.definition.payload["spec"]]
            return schedule, schedule.edit(replace(code, **cast(Any, schedule.overrides)), self.reach, now)
        if isinstance(command, Update):
            assert call.intent is not None
            if schedule.by_code:
                schedule.overrides.update(call.intent.values)
            return schedule, schedule.edit(replace(schedule.spec, **call.intent.values), self.reach, now)
        if isinstance(command, Pause):
            schedule.state, schedule.paused_by, schedule.pause_note = "paused", command.actor, command.note
            schedule.paused_until = command.until
        elif isinstance(command, Resume):
            schedule.state, schedule.paused_by, schedule.paused_until = "active", None, None
            return schedule, schedule.pass_over("paused", now - schedule.offset)
        elif isinstance(command, Delete):
            decisions = schedule.leave_grid("deleted", now)
            schedule.state, schedule.runs_planned, schedule.paused_by = "deleted", 0, None
            schedule.overrides = {}
            return schedule, decisions
        elif isinstance(command, Reschedule | Skip):
            self._move_or_skip(schedule, command)
        elif isinstance(command, Override | ClearOverride):
            self._override(schedule, command)
        return schedule, []

    def _move_or_skip(self, schedule: Watched, command: Reschedule | Skip) -> None:
        first = last = schedule.next_to_run()
        if first is None or last is None:
            self.broken("states", f"{schedule.name} has no next tick to move or skip")
        elif isinstance(command, Reschedule):
            old = schedule.tick_overrides.get(first)
            moved = TickOverride(self.now // MICROS, due_at=command.to, payload=old is not None and old.payload)
            self._set_tick_overrides(schedule, {**schedule.tick_overrides, first: moved})
        else:
            for _ in range(command.count - 1):
                last = schedule.following(last) or last
            schedule.tick_overrides = {
                tick: override for tick, override in schedule.tick_overrides.items() if not first <= tick <= last
            }
            schedule.skip_until = max(last, schedule.skip_until or 0)

    def _override(self, schedule: Watched, command: Override | ClearOverride) -> None:
        tick = command.tick
        if tick <= schedule.decided or tick in schedule.done or schedule.grid.next(tick - 1) != tick:
            self.broken("I2", f"{schedule.name}: {tick} is no tick to come, and was overridden")
        if isinstance(command, ClearOverride):
            self._set_tick_overrides(
                schedule, {other: override for other, override in schedule.tick_overrides.items() if other != tick}
            )
        else:
            override = TickOverride(self.now // MICROS, command.skip, command.move_to, command.payload is not None)
            self._set_tick_overrides(schedule, {**schedule.tick_overrides, tick: override})

    def _set_tick_overrides(self, schedule: Watched, overrides: dict[int, TickOverride]) -> None:
        schedule.tick_overrides = dict(sorted(overrides.items()))
        if not schedule.in_order():
            self.broken("I3", f"{schedule.name}: overrides contradict each other: {schedule.tick_overrides}")

    def _create(self, call: Call, old: Watched | None, command: Create) -> tuple[Watched, list[Decision]]:
        now = self.now // MICROS
        spec = self.record.scenario.specs[command.definition.payload["spec"]]
        stored = call.result.schedule
        if old is not None and old.state != "deleted":
            self.broken("states", f"{stored.name} was created twice")
        schedule = Watched(stored.id, stored.name, spec, spec.grid(self.reach), by_code=command.app is not None)
        reached, done = (old.decided, old.done) if old is not None else (self.reach[0], set())
        missed = schedule.grid.last(now) if schedule.is_over(now) else None
        is_recorded = missed is not None and missed > reached and missed not in done
        schedule.decided = now
        if old is not None:
            # The clock may have gone back since it was deleted.
            old.restart_grid(now)
            schedule.specs, schedule.done, schedule.decided = old.specs, old.done, old.decided
        return schedule, [Decision(missed, "misfire")] if is_recorded and missed is not None else []


# Seconds that planning may take when nothing is in its way.
_PROMPT = 0.5
# Skips that a command writes itself, beside what was due before it.
_OF_CHANGES = ("paused", "edited", "deleted")


def _without_end(skip: SkipRow) -> SkipRow:
    """A skip without what may change when it grows."""
    return skip._replace(last_at=0, ticks=0)
