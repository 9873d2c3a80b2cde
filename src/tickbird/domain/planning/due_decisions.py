"""Decisions about due ticks: the catch-up policy for late ticks, the overlap policy for ticks on time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import floor

from tickbird.domain.planning.due_ticks import DueRange, DueTicks
from tickbird.domain.planning.next_pass import finish_pass
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.planning.plan import ActiveRun, Facts, Plan, PlannedRun, PlannedSkip
from tickbird.domain.planning.skip_ranges import recorded_ranges
from tickbird.domain.runs.run import TICK_ORIGINS, Origin, SkipReason, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import DependencyCheck, DependencyWait
from tickbird.domain.schedules.grid import TickRange
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride

# A plan has at most this many runs; further ticks wait for the next pass.
MAX_RUNS = 1_000


def must_wait(definition: Definition, active: Iterable[ActiveRun], other_active_count: int = 0) -> bool:
    """Return whether a new run must wait for active runs of its schedule."""
    if definition.overlap == "allow":
        return False
    return sum(not run.awaits for run in active) + other_active_count >= definition.max_concurrent


class PlanFull(Exception):
    """The plan has reached its maximum of runs."""


class DuePass:
    """One pass over an active schedule: due ticks are decided oldest first, in ranges with the same fate."""

    def __init__(self, schedule: Schedule, facts: Facts, now: float) -> None:
        assert schedule.definition is not None and schedule.cursor.planned_until is not None
        self.schedule = schedule
        self.policy = schedule.definition
        self.now = now
        self.decided: int = schedule.cursor.planned_until
        self.runs: list[PlannedRun] = []
        self.skips: list[PlannedSkip] = []
        self.cancel: list[int] = []
        self.stop: list[int] = []
        # The active runs after this plan: runs of ticks, and the number of others. A run of this plan has no id yet;
        # its id here is its negative position, counted from 1.
        self.active_tick_runs = [run for run in facts.active if run.origin in TICK_ORIGINS]
        self.other_active_count = len(facts.active) - len(self.active_tick_runs)
        self.held = facts.held
        # A shadow never runs, so its dependencies do not matter.
        needed = () if schedule.definition.shadow else schedule.definition.depends_on
        self.needs = DependencyCheck(needed, facts.successes, now) if needed else None
        self.pending = PendingTicks(schedule)
        self.late: list[TickRange] = []
        self.on_time: list[TickRange] = []
        self.late_blocker: int | None = None
        # Late ticks with their own payload, which get their own run; and the position, counted from 1, of the run that
        # catches up the others.
        self.own_run_ticks: frozenset[int] = frozenset()
        self.catch_up_index = 0
        self.holds_late_runs = False
        # How many of the newest ticks on time are not replaced by a newer one; None: no run is replaced.
        self.surviving_count: int | None = None

    def plan(self) -> Plan:
        """Decide all due ticks."""
        ranges = DueTicks(self.schedule, self.pending, self.needs, self.now).ranges()
        self.late_blocker = self._blocker()
        self.own_run_ticks = self._ticks_with_own_run(ranges)
        self.late = [
            due.segment
            for due in ranges
            if due.fate == "late" and not due.segment.excluded and due.segment.first not in self.own_run_ticks
        ]
        self.on_time = [due.segment for due in ranges if due.fate == "on_time" and not due.segment.excluded]
        self.holds_late_runs = self._must_hold()
        self.surviving_count = self._surviving_count()
        with suppress(PlanFull):
            for due in ranges:
                self._decide(due)
        cursor = self.schedule.cursor
        cursor = replace(cursor, planned_until=self.decided, runs_planned=cursor.runs_planned + len(self.runs))
        plan = finish_pass(self.schedule, cursor, floor(self.now), self.runs, self.skips)
        return replace(plan, cancel=tuple(self.cancel), stop=tuple(self.stop))

    def _ticks_with_own_run(self, ranges: Sequence[DueRange]) -> frozenset[int]:
        """Late ticks that get their own run because an override gives them a payload; one run catches up the others.

        There are none if newer runs replace older ones, or if `max_runs` allows too few runs.
        """
        policy = self.policy
        if policy.catch_up not in ("one", "latest") or policy.overlap == "replace" or self.late_blocker is not None:
            return frozenset()
        late = [due for due in ranges if due.fate == "late" and not due.segment.excluded]
        own = [due for due in late if due.override is not None and due.override.payload is not None]
        left = None if policy.max_runs is None else policy.max_runs - self.schedule.cursor.runs_planned
        if left is not None and len(own) + (len(own) < len(late)) > left:
            return frozenset()
        return frozenset(due.segment.first for due in own)

    def _decide(self, due: DueRange) -> None:
        fate, segment, override = due
        if fate == "done":
            self.decided = segment.last
        elif fate == "operator":
            cursor = self.schedule.cursor
            by, note = (cursor.skip_by, cursor.skip_note) if override is None else (override.actor, override.note)
            self._skip("operator", segment, actor=by, note=note)
        elif fate == "rescheduled":
            self._skip("rescheduled", segment, self._run_of_override(override))
        elif segment.excluded:
            self._skip("calendar", segment)
        elif self.policy.shadow:
            # After the reasons that would also skip the tick of a real schedule; lateness does not matter.
            self._skip("shadow", segment)
        elif fate == "misfire":
            self._skip("misfire", segment)
        elif fate == "dependency":
            assert self.needs is not None
            self._skip("dependency", segment, note=self.needs.unmet(self.pending.due_at(segment.first)))
        elif fate == "late":
            self._catch_up(segment)
        elif self.surviving_count is not None:
            self._run_last(segment, self.surviving_count)
        else:
            self._run_every_tick(segment)

    def _run_of_override(self, override: TickOverride | None) -> int | None:
        """Return the run of an overridden tick as its negative position; None if this plan does not run it."""
        positions = (index for index, run in enumerate(self.runs, 1) if override and run.scheduled_for == override.tick)
        position = next(positions, None)
        return None if position is None else -position

    def _catch_up(self, segment: TickRange) -> None:
        if self.policy.catch_up == "skip":
            self._skip("misfire", segment)
        elif self.holds_late_runs:
            self._run_all(segment)
        elif self.surviving_count is not None:
            # A tick on time would replace the late run before it starts.
            self._check_room()
            self._skip("overlap", segment, -(len(self.runs) + 1))
        elif self.policy.catch_up == "all":
            self._run_all(segment)
        elif self.late_blocker is not None:
            self._skip("overlap", segment, self.late_blocker)
        elif segment.first in self.own_run_ticks:
            self._run(segment.first, "catch_up")
        else:
            label = self.late[0].first if self.policy.catch_up == "one" else self.late[-1].last
            self._run_only(label, segment)

    def _run_only(self, label: int, segment: TickRange) -> None:
        """Create one run for all late ticks, labelled with one of them; the others are coalesced."""
        if before := self._before(segment, label):
            self._check_room()
            earlier_runs = sum(self.decided < tick < label for tick in self.own_run_ticks)
            self._skip("coalesced", before, -(len(self.runs) + earlier_runs + 1))
        if segment.first <= label <= segment.last:
            count = sum(late.count for late in self.late)
            covers = (self.late[0].first, self.late[-1].last, count) if count > 1 else None
            self._run(label, "catch_up", covers)
            self.catch_up_index = len(self.runs)
        if after := self._after(segment, label):
            self._skip("coalesced", after, -self.catch_up_index)

    def _run_all(self, segment: TickRange) -> None:
        """Create one run per tick for the newest late ticks, oldest first; they wait in order; overlap skips none."""
        older, newest = self._split(segment, self.late, self.policy.catch_up_limit)
        self._skip("limit", older)
        for tick in newest:
            self._run(tick, "catch_up")

    def _run_last(self, segment: TickRange, count: int) -> None:
        """Create one run per tick for the newest `count` punctual ticks, which would replace the older ones."""
        older, newest = self._split(segment, self.on_time, count)
        if older:
            self._check_room()
            self._skip("overlap", older, -(len(self.runs) + 1))
        for tick in newest:
            if all(run.held for run in self.runs):
                self._check_room()
                self._replace_active(tick)
            self._run(tick, "schedule")

    def _run_every_tick(self, segment: TickRange) -> None:
        """Create one run per tick until the overlap policy skips one; then skip all later ticks too."""
        tick: int | None = segment.first
        for index in range(segment.count):
            if tick is None:
                return
            if (blocker := self._blocker()) is not None:
                self._skip("overlap", TickRange(tick, segment.last, segment.count - index), blocker)
                return
            self._run(tick, "schedule")
            tick = self.schedule.grid.next(tick)

    def _before(self, segment: TickRange, tick: int) -> TickRange | None:
        """Return the ticks of a segment before this one."""
        return segment if tick > segment.last else self.schedule.grid.range(segment.first - 1, tick - 1)

    def _after(self, segment: TickRange, tick: int) -> TickRange | None:
        """Return the ticks of a segment after this one."""
        return segment if tick < segment.first else self.schedule.grid.range(tick, segment.last)

    def _split(self, segment: TickRange, segments: list[TickRange], count: int) -> tuple[TickRange | None, list[int]]:
        """Split a segment into its older ticks and those among the newest `count` ticks of all segments."""
        newer = sum(other.count for other in segments if other.first > segment.last)
        kept = min(segment.count, max(0, count - newer))
        newest: list[int] = []
        tick = self.schedule.grid.previous(segment.last + 1)
        while len(newest) < kept and tick is not None:
            newest.append(tick)
            tick = self.schedule.grid.previous(tick)
        if not newest:
            return segment, []
        return self._before(segment, newest[-1]), newest[::-1]

    def _surviving_count(self) -> int | None:
        """Return how many of the newest punctual ticks are not replaced by a later one; None: no replacement."""
        due, maximum = sum(segment.count for segment in self.on_time), self.policy.max_concurrent
        if self.policy.overlap != "replace" or not due:
            return None
        running = sum(run.status == "running" for run in self.active_tick_runs)
        active = len(self.active_tick_runs)
        late = sum(segment.count for segment in self.late)
        if self.policy.catch_up == "all":
            active += 0 if self.holds_late_runs else min(late, self.policy.catch_up_limit)
        elif late and self.policy.catch_up != "skip":
            active = running + 1 if active >= maximum else active + 1
        if active + due <= maximum:
            return None
        return (due - max(0, maximum - active) - 1) % max(1, maximum - running) + 1

    def _must_hold(self) -> bool:
        """Return whether late runs are held: after a long outage, and while older ones are, to keep their order."""
        maximum = self.policy.hold_above
        return maximum is not None and (self.held or sum(segment.count for segment in self.late) > maximum)

    def _blocker(self) -> int | None:
        """Return the active run that makes the overlap policy skip a tick; None if the tick runs."""
        overlap = self.policy.overlap
        if overlap in ("allow", "replace") or len(self.active_tick_runs) < self.policy.max_concurrent:
            return None
        if overlap == "skip":
            return self.active_tick_runs[0].id
        return next((run.id for run in self.active_tick_runs if run.status == "waiting"), None)

    def _run(self, tick: int, origin: Origin, covers: tuple[int, int, int] | None = None) -> None:
        self._check_room()
        if self.holds_late_runs and origin == "catch_up":
            self._hold(tick)
            return
        waits_in_order = origin == "catch_up" and self.policy.catch_up == "all"
        if (
            self.policy.overlap == "replace"
            and not waits_in_order
            and len(self.active_tick_runs) >= self.policy.max_concurrent
        ):
            self._replace_active(tick)
        awaits = self._awaits(tick)
        waits = awaits or must_wait(self.policy, self.active_tick_runs, self.other_active_count)
        status: Status = "waiting" if waits else "queued"
        self.runs.append(replace(self._planned(tick, origin, status, covers), awaits=awaits))
        self.active_tick_runs.append(ActiveRun(-len(self.runs), status, origin, awaits=bool(awaits)))
        self.decided = tick

    def _awaits(self, tick: int) -> tuple[DependencyWait, ...]:
        return () if self.needs is None else self.needs.awaits(self.pending.due_at(tick))

    def _hold(self, tick: int) -> None:
        """Add a held run. It is not active, so it does not affect the ticks on time.

        It does not wait for dependencies: the operator who releases it decides.
        """
        self.runs.append(replace(self._planned(tick, "catch_up", "waiting"), held=True))
        self.decided = tick

    def _planned(
        self, tick: int, origin: Origin, status: Status, covers: tuple[int, int, int] | None = None
    ) -> PlannedRun:
        due_at, limit, override = self.pending.due_at(tick), self.policy.start_limit, self.pending.override(tick)
        start_by = None if limit is None else due_at + limit
        payload = None if override is None else override.payload
        if payload is not None:
            # Raises if the payload lacks a field of the key; then only this schedule is parked.
            self.policy.key(payload)
        return PlannedRun(tick, due_at, origin, status, start_by, covers, payload, override=override)

    def _check_room(self) -> None:
        maximum = self.policy.max_runs
        used_up = maximum is not None and self.schedule.cursor.runs_planned + len(self.runs) >= maximum
        if used_up or len(self.runs) >= MAX_RUNS:
            raise PlanFull

    def _replace_active(self, tick: int) -> None:
        """Cancel the active runs that have not started, and stop the oldest running ones.

        A tick that waits for a dependency stops none, because it may never run.
        """
        self.cancel += [run.id for run in self.active_tick_runs if run.status != "running"]
        self.active_tick_runs = [run for run in self.active_tick_runs if run.status == "running"]
        if self._awaits(tick):
            return
        surplus = len(self.active_tick_runs) + 1 - self.policy.max_concurrent
        self.stop = [run.id for run in self.active_tick_runs[: max(0, surplus)]]

    def _skip(
        self,
        reason: SkipReason,
        segment: TickRange | None,
        blocker: int | None = None,
        actor: str | None = None,
        note: str = "",
    ) -> None:
        """Record a skip; `blocker` is the id of a run, or the negative position of a run of this plan."""
        if segment is None:
            return
        now = floor(self.now)
        for part in recorded_ranges(self.schedule, segment, now):
            skip = PlannedSkip(
                reason,
                part.first,
                part.last,
                part.count,
                blocked_by=blocker if blocker is not None and blocker > 0 else None,
                blocked_by_new=-blocker - 1 if blocker is not None and blocker < 0 else None,
                actor=actor,
                note=note,
                separate=part.last > now,
            )
            self._add(skip)

    def _add(self, skip: PlannedSkip) -> None:
        last = self.skips[-1] if self.skips else None
        is_next = last and last.last == self.decided and not skip.separate
        if last and is_next and replace(skip, first=last.first, last=last.last, count=last.count) == last:
            # Late ticks and ticks on time with the same blocker are one range.
            self.skips[-1] = replace(last, last=skip.last, count=last.count + skip.count)
        else:
            self.skips.append(skip)
        self.decided = skip.last
