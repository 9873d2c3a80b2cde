"""What becomes of due ticks: catch-up for the late ones, overlap for those on time."""

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

# More due ticks than this in one schedule wait for the next planning step, so that a plan stays small.
MAX_RUNS = 1_000


def starts_waiting(definition: Definition, active: Iterable[ActiveRun], others: int = 0) -> bool:
    """Must a new run wait, with these and so many other runs of its schedule active?"""
    if definition.overlap == "allow":
        return False
    return sum(not run.awaits for run in active) + others >= definition.max_concurrent


class _Full(Exception):
    """No further run may be made by this plan."""


class DuePass:
    """One look at an active schedule: ticks are decided oldest first, in ranges where they share a fate."""

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
        # Active runs as this plan leaves them: those of ticks, and how many others. A run of this plan
        # has no id yet and stands here as minus its place, counted from 1.
        self.ticking = [run for run in facts.active if run.origin in TICK_ORIGINS]
        self.others = len(facts.active) - len(self.ticking)
        self.held = facts.held
        # A shadow never runs, so nothing that others did or did not keeps it from that.
        needed = () if schedule.definition.shadow else schedule.definition.depends_on
        self.needs = DependencyCheck(needed, facts.successes, now) if needed else None
        self.ahead = PendingTicks(schedule)
        self.late: list[TickRange] = []
        self.on_time: list[TickRange] = []
        self.late_blocker: int | None = None
        # Late ticks with a payload of their own, which are not caught up with others; and the place of the run that
        # catches up the others.
        self.alone: frozenset[int] = frozenset()
        self.labelled = 0
        self.hold = False
        # How many of the newest ticks on time are left when they replace one another; None: none is replaced.
        self.last: int | None = None

    def plan(self) -> Plan:
        """Late ticks go by the catch-up policy, the others by the overlap policy alone."""
        ranges = DueTicks(self.schedule, self.ahead, self.needs, self.now).ranges()
        self.late_blocker = self._blocker()
        self.alone = self._alone(ranges)
        self.late = [
            each.segment
            for each in ranges
            if each.fate == "late" and not each.segment.excluded and each.segment.first not in self.alone
        ]
        self.on_time = [each.segment for each in ranges if each.fate == "on_time" and not each.segment.excluded]
        self.hold = self._holds()
        self.last = self._left_over()
        with suppress(_Full):
            for each in ranges:
                self._decide(each)
        cursor = self.schedule.cursor
        following = replace(cursor, planned_until=self.decided, runs_planned=cursor.runs_planned + len(self.runs))
        finished = finish_pass(self.schedule, following, floor(self.now), self.runs, self.skips)
        return replace(finished, cancel=tuple(self.cancel), stop=tuple(self.stop))

    def _alone(self, ranges: Sequence[DueRange]) -> frozenset[int]:
        """Late ticks that get a run each, for its payload is theirs, where others are caught up by one run.

        Not where newer runs replace older ones, nor where `max_runs` leaves too little room.
        """
        policy = self.policy
        if policy.catch_up not in ("one", "latest") or policy.overlap == "replace" or self.late_blocker is not None:
            return frozenset()
        late = [each for each in ranges if each.fate == "late" and not each.segment.excluded]
        alone = [each for each in late if each.override is not None and each.override.payload is not None]
        left = None if policy.max_runs is None else policy.max_runs - self.schedule.cursor.runs_planned
        if left is not None and len(alone) + (len(alone) < len(late)) > left:
            return frozenset()
        return frozenset(each.segment.first for each in alone)

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
            # Behind what would have kept it from running anyway; how late it is told does not matter.
            self._skip("shadow", segment)
        elif fate == "misfire":
            self._skip("misfire", segment)
        elif fate == "dependency":
            assert self.needs is not None
            self._skip("dependency", segment, note=self.needs.unmet(self.ahead.due_at(segment.first)))
        elif fate == "late":
            self._catch_up(segment)
        elif self.last is not None:
            self._run_last(segment, self.last)
        else:
            self._run_every_tick(segment)

    def _run_of_override(self, override: TickOverride | None) -> int | None:
        """The run of an overridden tick, if this plan has made it."""
        made = (place for place, run in enumerate(self.runs, 1) if override and run.scheduled_for == override.tick)
        place = next(made, None)
        return None if place is None else -place

    def _catch_up(self, segment: TickRange) -> None:
        if self.policy.catch_up == "skip":
            self._skip("misfire", segment)
        elif self.hold:
            self._run_all(segment)
        elif self.last is not None:
            # A tick on time would replace the late run before it began.
            self._check_room()
            self._skip("overlap", segment, -(len(self.runs) + 1))
        elif self.policy.catch_up == "all":
            self._run_all(segment)
        elif self.late_blocker is not None:
            self._skip("overlap", segment, self.late_blocker)
        elif segment.first in self.alone:
            self._run(segment.first, "catch_up")
        else:
            label = self.late[0].first if self.policy.catch_up == "one" else self.late[-1].last
            self._run_only(label, segment)

    def _run_only(self, label: int, segment: TickRange) -> None:
        """One run for all late ticks, labelled with one of them; the others stand behind it."""
        if before := self._before(segment, label):
            self._check_room()
            first = sum(self.decided < tick < label for tick in self.alone)
            self._skip("coalesced", before, -(len(self.runs) + first + 1))
        if segment.first <= label <= segment.last:
            count = sum(late.count for late in self.late)
            covers = (self.late[0].first, self.late[-1].last, count) if count > 1 else None
            self._run(label, "catch_up", covers)
            self.labelled = len(self.runs)
        if after := self._after(segment, label):
            self._skip("coalesced", after, -self.labelled)

    def _run_all(self, segment: TickRange) -> None:
        """A run each for the newest late ticks, oldest first; none is skipped for overlap, they wait in order."""
        older, newest = self._split(segment, self.late, self.policy.catch_up_limit)
        self._skip("limit", older)
        for tick in newest:
            self._run(tick, "catch_up")

    def _run_last(self, segment: TickRange, count: int) -> None:
        """A run each for the last ticks on time; those before would be replaced, as is all that has not started."""
        older, newest = self._split(segment, self.on_time, count)
        if older:
            self._check_room()
            self._skip("overlap", older, -(len(self.runs) + 1))
        for tick in newest:
            if all(run.held for run in self.runs):
                self._check_room()
                self._make_room(tick)
            self._run(tick, "schedule")

    def _run_every_tick(self, segment: TickRange) -> None:
        """A run for each tick until the overlap policy says no; then it says so for all the rest."""
        tick: int | None = segment.first
        for done in range(segment.count):
            if tick is None:
                return
            if (blocker := self._blocker()) is not None:
                self._skip("overlap", TickRange(tick, segment.last, segment.count - done), blocker)
                return
            self._run(tick, "schedule")
            tick = self.schedule.grid.next(tick)

    def _before(self, segment: TickRange, tick: int) -> TickRange | None:
        """The ticks of a segment before this one."""
        return segment if tick > segment.last else self.schedule.grid.range(segment.first - 1, tick - 1)

    def _after(self, segment: TickRange, tick: int) -> TickRange | None:
        """The ticks of a segment after this one."""
        return segment if tick < segment.first else self.schedule.grid.range(tick, segment.last)

    def _split(self, segment: TickRange, segments: list[TickRange], count: int) -> tuple[TickRange | None, list[int]]:
        """Those ticks of a segment that are among the newest `count` of all segments, and the older ones before."""
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

    def _left_over(self) -> int | None:
        """With `replace`: how many of the newest ticks on time are not themselves replaced by a later one."""
        due, maximum = sum(segment.count for segment in self.on_time), self.policy.max_concurrent
        if self.policy.overlap != "replace" or not due:
            return None
        running = sum(run.status == "running" for run in self.ticking)
        active = len(self.ticking)
        late = sum(segment.count for segment in self.late)
        if self.policy.catch_up == "all":
            active += 0 if self.hold else min(late, self.policy.catch_up_limit)
        elif late and self.policy.catch_up != "skip":
            active = running + 1 if active >= maximum else active + 1
        if active + due <= maximum:
            return None
        return (due - max(0, maximum - active) - 1) % max(1, maximum - running) + 1

    def _holds(self) -> bool:
        """Are the late runs held? After a long outage, and while older ones still are, so that they stay in order."""
        maximum = self.policy.hold_above
        return maximum is not None and (self.held or sum(segment.count for segment in self.late) > maximum)

    def _blocker(self) -> int | None:
        """The active run for which the overlap policy says no to another one."""
        overlap = self.policy.overlap
        if overlap in ("allow", "replace") or len(self.ticking) < self.policy.max_concurrent:
            return None
        if overlap == "skip":
            return self.ticking[0].id
        return next((run.id for run in self.ticking if run.status == "waiting"), None)

    def _run(self, tick: int, origin: Origin, covers: tuple[int, int, int] | None = None) -> None:
        self._check_room()
        if self.hold and origin == "catch_up":
            self._hold(tick)
            return
        waits_in_order = origin == "catch_up" and self.policy.catch_up == "all"
        if self.policy.overlap == "replace" and not waits_in_order and len(self.ticking) >= self.policy.max_concurrent:
            self._make_room(tick)
        awaits = self._awaits(tick)
        waits = awaits or starts_waiting(self.policy, self.ticking, self.others)
        status: Status = "waiting" if waits else "queued"
        self.runs.append(replace(self._planned(tick, origin, status, covers), awaits=awaits))
        self.ticking.append(ActiveRun(-len(self.runs), status, origin, awaits=bool(awaits)))
        self.decided = tick

    def _awaits(self, tick: int) -> tuple[DependencyWait, ...]:
        return () if self.needs is None else self.needs.awaits(self.ahead.due_at(tick))

    def _hold(self, tick: int) -> None:
        """A run aside: it is not active, so that ticks on time go on as if it were not there.

        It waits for no other schedule: whoever releases it knows how they stand.
        """
        self.runs.append(replace(self._planned(tick, "catch_up", "waiting"), held=True))
        self.decided = tick

    def _planned(
        self, tick: int, origin: Origin, status: Status, covers: tuple[int, int, int] | None = None
    ) -> PlannedRun:
        due_at, limit, override = self.ahead.due_at(tick), self.policy.start_limit, self.ahead.override(tick)
        start_by = None if limit is None else due_at + limit
        payload = None if override is None else override.payload
        if payload is not None:
            # Raises where the key needs a field that it has not: then this schedule is parked, and no other later.
            self.policy.key(payload)
        return PlannedRun(tick, due_at, origin, status, start_by, covers, payload, override=override)

    def _check_room(self) -> None:
        maximum = self.policy.max_runs
        used_up = maximum is not None and self.schedule.cursor.runs_planned + len(self.runs) >= maximum
        if used_up or len(self.runs) >= MAX_RUNS:
            raise _Full

    def _make_room(self, tick: int) -> None:
        """Replace: what has not started never will, and the oldest running ones are asked to stop.

        Not for a tick that must wait for another schedule, and may never run.
        """
        self.cancel += [run.id for run in self.ticking if run.status != "running"]
        self.ticking = [run for run in self.ticking if run.status == "running"]
        if self._awaits(tick):
            return
        surplus = len(self.ticking) + 1 - self.policy.max_concurrent
        self.stop = [run.id for run in self.ticking[: max(0, surplus)]]

    def _skip(
        self,
        reason: SkipReason,
        segment: TickRange | None,
        behind: int | None = None,
        actor: str | None = None,
        note: str = "",
    ) -> None:
        if segment is None:
            return
        run_id = behind if behind is not None and behind > 0 else None
        under = -behind - 1 if behind is not None and behind < 0 else None
        now = floor(self.now)
        for part in recorded_ranges(self.schedule, segment, now):
            alone = part.last > now
            skip = PlannedSkip(reason, part.first, part.last, part.count, run_id, under, actor, note, alone=alone)
            self._add(skip)

    def _add(self, skip: PlannedSkip) -> None:
        last = self.skips[-1] if self.skips else None
        joins = last and last.last == self.decided and not skip.alone
        if last and joins and replace(skip, first=last.first, last=last.last, count=last.count) == last:
            # Late ticks and those on time behind one run are one range.
            self.skips[-1] = replace(last, last=skip.last, count=last.count + skip.count)
        else:
            self.skips.append(skip)
        self.decided = skip.last
