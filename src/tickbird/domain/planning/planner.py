"""The heart: one pure function that decides what becomes of every tick that is due."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import Any, Literal, NamedTuple

from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.planning.pending_ticks import (
    PendingTicks,
    drop_invalid_overrides,
    migrate_overrides,
    prune_overrides,
    restart_grid,
)
from tickbird.domain.runs.run import TICK_ORIGINS, Origin, RunRecord, SkipReason, Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import DependencyCheck, DependencyWait, LastSuccess
from tickbird.domain.schedules.grid import TickRange
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, SqlEdit, State
from tickbird.domain.schedules.tick_overrides import MAX_EARLY_TICKS, TickOverride, Void
from tickbird.domain.time.zones import REPAIR_LIMIT

# More due ticks than this in one schedule wait for the next planning step, so that a plan stays small.
MAX_RUNS = 1_000
# So many ticks behind the last decided one are looked at for one that changed zone rules repeat.
_MAX_REPEATED = 64


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A run of the schedule that is not final yet."""

    id: int
    status: Status
    origin: Origin
    key: str | None = None
    # It waits for another schedule to succeed, and stands in nobody's way until then.
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class Repeated:
    """A run that is to be retried, and the definition that it was created with; None if that cannot be read."""

    run: RunRecord
    definition: Definition | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What the planner must know of other rows: the schedule's active runs, oldest first.

    For commands that name calendars, also those of the namespace: what the named ones say, and None for the others.
    """

    active: tuple[ActiveRun, ...] = ()
    calendars: Mapping[str, Calendar | None] = field(default_factory=dict)
    # Is any run held? Only told where the schedule has `hold_above`.
    held: bool = False
    # Of the schedules that it depends on, those that exist.
    successes: Mapping[str, LastSuccess] = field(default_factory=dict)
    # For commands that tie schedules together or part them: what the schedules that exist need, as far as they can be
    # reached from it; and those that need it.
    needs: Mapping[str, Collection[str]] | None = None
    dependents: tuple[str, ...] = ()
    # For a retry: the run that it repeats, if that is a run of the schedule.
    repeated: Repeated | None = None


NO_FACTS = Facts()

# A tick that becomes a queued run: tick, `due_at`, `start_by`, and when to look again.
OnTime = tuple[int, int, int | None, int]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run to insert: of a tick, or a manual one; `covers` is (first, last, count) of the ticks it stands for."""

    scheduled_for: int | None
    due_at: int | None
    origin: Origin
    status: Status
    start_by: int | None = None
    covers: tuple[int, int, int] | None = None
    payload: Mapping[str, Any] | None = None
    retry_of: int | None = None
    # Waits until a person releases it.
    held: bool = False
    # Waits until these have come, or until it is too late for one of them.
    awaits: tuple[DependencyWait, ...] = ()
    # What was decided for its tick beforehand.
    override: TickOverride | None = None


@dataclass(frozen=True, slots=True)
class PlannedSkip:
    """A skip to record; it stands behind an existing run (`run_id`) or one of this plan (`under`, an index)."""

    reason: SkipReason
    first: int
    last: int
    count: int
    run_id: int | None = None
    under: int | None = None
    actor: str | None = None
    note: str = ""
    # On whose grid its ticks lie, when that is not the plan's.
    revision: int | None = None
    # A tick to come, recorded ahead of its time: never part of a range, for those of another grid may come between.
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one look at a schedule decides; it commits whole or not at all."""

    cursor: Cursor
    state: State
    # Runs and skips were decided under this revision.
    revision: int
    pause: PauseState | None = None
    error: str | None = None
    runs: tuple[PlannedRun, ...] = ()
    skips: tuple[PlannedSkip, ...] = ()
    # Active runs that are not to start, and running ones that are asked to stop.
    cancel: tuple[int, ...] = ()
    stop: tuple[int, ...] = ()
    # Are the runs that wait aside, of backfills, and those that are held not to start either?
    clear: bool = False
    # Overrides that were not carried out, and why.
    void: tuple[Void, ...] = ()

    @property
    def relies_on_runs(self) -> bool:
        """Must the active runs be locked, because a waiter or a cancellation depends on how they stand?"""
        return bool(self.cancel or self.stop) or any(run.status == "waiting" and not run.held for run in self.runs)

    @property
    def relies_on_successes(self) -> bool:
        """Must no schedule that it depends on succeed unseen, because a run is to wait for that?"""
        return any(run.awaits for run in self.runs)


def plan(schedule: Schedule, facts: Facts, now: float, edited: SqlEdit | None = None) -> Plan:
    """Decide every tick of the schedule that is due by `now` (seconds since the epoch)."""
    if edited is not None:
        return _after_edit(schedule, facts, now, edited)
    if schedule.state in ("parked", "ended", "deleted"):
        return _resting(schedule)
    if schedule.cursor.planned_until is None:
        return begin(schedule, now)
    if schedule.state == "paused":
        until = schedule.pause.until if schedule.pause else None
        if until is None or until > now:
            return settle(schedule, schedule.cursor)
        paused = end_pause(schedule, until)
        return after_plan(paused, plan(at_plan(schedule, paused), facts, now))
    schedule, strays = drop_invalid_overrides(schedule)
    made = DuePass(schedule, facts, now).plan()
    return replace(made, void=strays + made.void) if strays else made


def at_plan(schedule: Schedule, decided: Plan) -> Schedule:
    """The schedule as this plan leaves it."""
    return replace(schedule, cursor=decided.cursor, state=decided.state, pause=decided.pause, error=decided.error)


def after_plan(first: Plan, then: Plan) -> Plan:
    """Two plans as one, where the second begins where the first ends, which makes no runs."""
    return replace(then, skips=first.skips + then.skips, void=first.void + then.void)


def begin(schedule: Schedule, now: float) -> Plan:
    """A schedule never planned before: nothing fires for the past, and one with no tick to come has misfired."""
    start = floor(now)
    skips: tuple[PlannedSkip, ...] = ()
    if schedule.grid.next(start) is None and (last := schedule.grid.previous(start + 1)) is not None:
        skips = (PlannedSkip("misfire", last, last, 1, note="already past when the schedule was created"),)
    return settle(schedule, replace(schedule.cursor, planned_until=start), skips=skips)


def pass_over(schedule: Schedule, reason: SkipReason, until: int, *, actor: str | None = None, note: str = "") -> Plan:
    """Record every undecided tick up to `until` as one skip, and go on behind them."""
    cursor, due = schedule.cursor, until
    skips: tuple[PlannedSkip, ...] = ()
    if cursor.planned_until is not None:
        # What counts is when a tick is due: moved to a later instant, it still runs then.
        ahead = PendingTicks(schedule)
        until = ahead.reach(until)
        ticks = [
            part for each in ahead.segments(cursor.planned_until, until) for part in _one_by_one(schedule, each, due)
        ]
        skips = tuple(
            PlannedSkip(reason, each.first, each.last, each.count, actor=actor, note=note, alone=each.last > due)
            for each in ticks
        )
    if cursor.skip_until is not None and cursor.skip_until <= until:
        cursor = replace(cursor, skip_until=None, skip_by=None, skip_note="")
    reached = until if cursor.planned_until is None else max(cursor.planned_until, until)
    cursor = prune_overrides(cursor, replace(cursor, planned_until=reached), due)
    void = _not_carried_out(schedule.cursor, cursor, skips=skips)
    return replace(settle(schedule, cursor, skips=skips), void=void)


def _not_carried_out(
    before: Cursor, after: Cursor, runs: Sequence[PlannedRun] = (), skips: Sequence[PlannedSkip] = ()
) -> tuple[Void, ...]:
    """The overrides that are gone from a cursor though their tick neither ran nor was skipped on their account."""
    if not before.tick_overrides:
        return ()
    left, ran = {each.tick for each in after.tick_overrides}, {run.scheduled_for for run in runs}
    void: list[Void] = []
    for each in before.tick_overrides:
        if each.tick not in left and each.tick not in ran and not each.done:
            reason = next((skip.reason for skip in skips if skip.first <= each.tick <= skip.last), "invalid")
            if not each.skip or reason != "operator":
                void.append((each, reason))
    return tuple(void)


def end_pause(schedule: Schedule, until: int) -> Plan:
    """A pause that has run out: what came due before that instant is one skip; what is due at it runs again."""
    return pass_over(replace(schedule, state="active", pause=None), "paused", until - 1 - schedule.offset)


def leave_grid(schedule: Schedule, now: float, reason: SkipReason) -> tuple[PlannedSkip, ...]:
    """Record the ticks that are past and neither due nor decided, while the grid they lie on is still known."""
    reached = schedule.cursor.planned_until
    if schedule.definition is None or schedule.state not in ("active", "paused") or reached is None:
        return ()
    if schedule.state == "paused":
        reason = "paused"
    ticks = PendingTicks(schedule).segments(reached, floor(now))
    return tuple(PlannedSkip(reason, each.first, each.last, each.count, revision=schedule.revision) for each in ticks)


def retime(before: Schedule, schedule: Schedule, now: float) -> Plan:
    """The grid changed: no instant up to `now` is on the new one, and what was to be skipped on the old is void."""
    cursor = replace(restart_grid(before, floor(now)), runs_planned=schedule.cursor.runs_planned)
    cursor, void = migrate_overrides(before, schedule, cursor, same_grid=False)
    return replace(settle(schedule, cursor), void=void)


def redefine(before: Schedule, schedule: Schedule) -> Plan:
    """Something else than the grid changed: the schedule goes on from where it is."""
    cursor, void = migrate_overrides(before, schedule, schedule.cursor, same_grid=True)
    return replace(settle(schedule, cursor), void=void)


def repair(before: Schedule, schedule: Schedule, now: float) -> Plan:
    """A parked schedule that can be planned again: what it missed is one skip `invalid`."""
    state: State = "paused" if schedule.pause else "active"
    cursor = _back_to(before, floor(now))
    return pass_over(replace(schedule, state=state, error=None, cursor=cursor), "invalid", floor(now))


def park(schedule: Schedule, error: str, edited: SqlEdit | None = None) -> Plan:
    """Set a schedule aside that cannot be planned; its cursor stays where it is, if it is not ahead of an edit."""
    cursor = schedule.cursor if edited is None else _back_to(edited.before, edited.changed_at)
    return Plan(replace(cursor, next_run_at=None), "parked", schedule.revision, schedule.pause, error)


def _back_to(schedule: Schedule, now: int) -> Cursor:
    """The cursor of a schedule whose grid goes away, at most at `now`, with what is decided already of later ticks."""
    cursor = schedule.cursor
    if cursor.planned_until is None or cursor.planned_until <= now:
        return cursor
    anew, told = restart_grid(schedule, now), (each for each in cursor.tick_overrides if not each.done)
    overrides = sorted([*anew.tick_overrides, *told], key=lambda each: each.tick)
    return replace(cursor, planned_until=anew.planned_until, tick_overrides=tuple(overrides))


def settle(schedule: Schedule, cursor: Cursor, *, skips: tuple[PlannedSkip, ...] = ()) -> Plan:
    """Leave the schedule at this cursor: still paused, active, or ended when no tick is left."""
    if schedule.state == "paused":
        until = schedule.pause.until if schedule.pause else None
        cursor = replace(cursor, next_run_at=until)
        return Plan(cursor, "paused", schedule.revision, schedule.pause, skips=skips)
    look = next_wakeup(schedule, cursor)
    state: State = "ended" if look is None else "active"
    return Plan(replace(cursor, next_run_at=look), state, schedule.revision, skips=skips)


def next_wakeup(schedule: Schedule, cursor: Cursor) -> int | None:
    """When the planner must look at an active schedule again: the `due_at` of its next tick to run."""
    if _used_up(schedule, cursor) or cursor.planned_until is None:
        return None
    if not cursor.tick_overrides:
        tick = schedule.grid.next(cursor.planned_until)
        return None if tick is None else tick + schedule.offset
    return PendingTicks(schedule, cursor).next_wakeup()


def apply_zone_change(schedule: Schedule) -> Plan:
    """The rules of its zone have changed: look again by the new ones, for nothing that the old ones had decided.

    A tick whose time on the wall clock comes a second time, since the rules moved it behind what was decided, is a
    skip. What a person moved or skipped stays so, under the tick's new instant.
    """
    cursor, decided = schedule.cursor, schedule.cursor.planned_until
    if schedule.state not in ("active", "paused") or schedule.definition is None or decided is None:
        return Plan(cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)
    if cursor.skip_until is not None and not schedule.grid.contains(cursor.skip_until):
        again = schedule.grid.next(cursor.skip_until)
        if again is not None and again - cursor.skip_until <= REPAIR_LIMIT:
            cursor = replace(cursor, skip_until=again)
    # Where the next look is that of a moved tick, it tells nothing of the grid before.
    moves = (each for each in cursor.tick_overrides if each.due_at is not None)
    awaited = next((each for each in moves if each.due_at == cursor.next_run_at), None)
    until = None if awaited else _repeated(schedule, decided)
    reached = max(decided, until or decided, cursor.skip_until or decided)
    cursor, void = _follow_overrides(schedule, cursor, reached, awaited)
    schedule = replace(schedule, cursor=cursor)
    if until is None:
        return replace(settle(schedule, cursor), void=void)
    note = "its time on the wall clock had come already, by the zone rules before"
    repeated = pass_over(schedule, "zone_data", until, note=note)
    return replace(repeated, void=void + repeated.void)


def _follow_overrides(
    schedule: Schedule, cursor: Cursor, reached: int, awaited: TickOverride | None
) -> tuple[Cursor, tuple[Void, ...]]:
    """Overrides under the new instants of their ticks: the nearest ones within a jump of the clock."""
    if not cursor.tick_overrides:
        return cursor, ()
    # What was decided ahead of its time was decided for that instant.
    followed = {each.tick: each for each in cursor.tick_overrides if each.done}
    void: list[Void] = []
    for each in cursor.tick_overrides:
        if each.done:
            continue
        tick = each.tick if schedule.grid.contains(each.tick) else _moved_by_rules(schedule, each.tick, reached)
        if tick is None and each is awaited:
            tick = schedule.grid.next(reached)
        if tick is None or tick in followed:
            void.append((each, "zone_data"))
        else:
            followed[tick] = replace(each, tick=tick)
    ordered = tuple(followed[tick] for tick in sorted(followed))
    return replace(cursor, tick_overrides=ordered), tuple(void)


def _moved_by_rules(schedule: Schedule, tick: int, reached: int) -> int | None:
    around = (schedule.grid.previous(tick), schedule.grid.next(tick))
    near = [each for each in around if each is not None and each > reached and abs(each - tick) <= REPAIR_LIMIT]
    return min(near, key=lambda each: abs(each - tick), default=None)


def _repeated(schedule: Schedule, decided: int) -> int | None:
    """The last of the ticks that the new rules put behind `decided`, though they stand for what it stood for.

    That is so where ticks within a jump of the clock behind it come before the one that was next by the old rules, and
    that next one has moved by as much, or not at all.
    """
    grid, looked, ahead = schedule.grid, schedule.cursor.next_run_at, PendingTicks(schedule)
    if looked is None or grid.contains(decided):
        return None
    following = looked - schedule.offset
    first = tick = ahead.next(decided)
    for _ in range(_MAX_REPEATED):
        if tick is None or tick >= following or tick - decided > REPAIR_LIMIT:
            break
        if grid.contains(following + tick - decided):
            return tick
        tick = ahead.next(tick)
    if first is None or first >= following or first - decided > REPAIR_LIMIT:
        return None
    return first if grid.contains(following) else None


def _resting(schedule: Schedule) -> Plan:
    cursor = replace(schedule.cursor, next_run_at=None)
    return Plan(cursor, schedule.state, schedule.revision, schedule.pause, schedule.error)


def _after_edit(schedule: Schedule, facts: Facts, now: float, edited: SqlEdit) -> Plan:
    """After an edit by plain SQL: decide what was due until then as it stood before; the next look uses the new."""
    before = edited.before
    if before.state == "deleted":
        return _resting(schedule)
    if before.definition is None or before.state == "parked":
        return repair(before, schedule, edited.changed_at)
    old = plan(before, facts, min(now, edited.changed_at))
    state: State = "paused" if old.state == "paused" else "active"
    edited_schedule = replace(schedule, cursor=old.cursor, state=state, pause=old.pause, error=None)
    if goes_on(at_plan(before, old), schedule):
        new = redefine(at_plan(before, old), edited_schedule)
    else:
        left = leave_grid(at_plan(before, old), edited.changed_at, "edited")
        old = replace(old, skips=old.skips + left)
        new = retime(at_plan(before, old), edited_schedule, edited.changed_at)
    return replace(old, cursor=new.cursor, state=new.state, pause=new.pause, void=old.void + new.void)


def same_grid(one: Definition | None, other: Definition | None) -> bool:
    """Do two definitions have the same ticks, so that a cursor on one is good for the other?"""
    if one is None or other is None:
        return False
    if (one.trigger, one.start_at, one.end_at) != (other.trigger, other.start_at, other.end_at):
        return False
    # Where ticks are rolled, closed days are part of the grid; else they only decide what becomes of a tick.
    if one.roll == other.roll == "skip":
        return True
    return (one.roll, one.closed_days) == (other.roll, other.closed_days)


def goes_on(before: Schedule, after: Schedule) -> bool:
    """Is the cursor good for an edited schedule: the same ticks, and none to come of those since it ended?"""
    if not same_grid(before.definition, after.definition):
        return False
    return before.state != "ended" or next_wakeup(after, before.cursor) is None


def _used_up(schedule: Schedule, cursor: Cursor) -> bool:
    definition = schedule.definition
    return definition is not None and definition.max_runs is not None and cursor.runs_planned >= definition.max_runs


def starts_waiting(definition: Definition, active: Iterable[ActiveRun], others: int = 0) -> bool:
    """Must a new run wait, with these and so many other runs of its schedule active?"""
    if definition.overlap == "allow":
        return False
    return sum(not run.awaits for run in active) + others >= definition.max_concurrent


def on_time(definition: Definition, offset: int, planned_until: int, now: float) -> OnTime | None:
    """What `plan` decides for nearly every look, told without ceremony; None where it takes the long way.

    For an active schedule with nothing moved, skipped or running: one tick, on time, and another one to come.
    """
    if not definition.is_plain:
        return None
    grid = definition.grid
    tick = grid.next(planned_until)
    if tick is None:
        return None
    due_at, limit = tick + offset, definition.start_limit
    if not 0 <= now - due_at <= definition.grace or (limit is not None and now - due_at > limit):
        return None
    following = grid.next(tick)
    if following is None or following + offset <= now:
        return None
    return tick, due_at, None if limit is None else due_at + limit, following + offset


def _one_by_one(schedule: Schedule, segment: TickRange, now: int) -> Iterator[TickRange]:
    """Ticks as they are recorded: those that are still to come one by one."""
    if segment.last <= now or schedule.grid.count(max(now, segment.first - 1), segment.last) > MAX_EARLY_TICKS:
        yield segment
        return
    if (past := schedule.grid.range(segment.first - 1, now)) is not None:
        yield replace(past, excluded=segment.excluded)
    tick = schedule.grid.next(max(now, segment.first - 1))
    while tick is not None and tick <= segment.last:
        yield TickRange(tick, tick, 1, segment.excluded)
        tick = schedule.grid.next(tick)


class _Full(Exception):
    """No further run may be made by this plan."""


TickFate = Literal["operator", "rescheduled", "misfire", "dependency", "late", "on_time", "done"]
_BY_LATENESS: tuple[TickFate, ...] = ("misfire", "late", "on_time")


class _Range(NamedTuple):
    """Ticks of one fate, and the override that decides it or passes over them."""

    fate: TickFate
    segment: TickRange
    override: TickOverride | None = None


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
        ranges = self._ranges()
        if self.needs is not None:
            ranges = [part for each in ranges for part in self._depending(each, self.needs)]
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
        following = prune_overrides(cursor, following, floor(self.now))
        if cursor.skip_until is not None and cursor.skip_until <= self.decided:
            following = replace(following, skip_until=None, skip_by=None, skip_note="")
        return replace(
            settle(self.schedule, following),
            runs=tuple(self.runs),
            skips=tuple(self.skips),
            cancel=tuple(self.cancel),
            stop=tuple(self.stop),
            void=_not_carried_out(cursor, following, self.runs, self.skips),
        )

    def _ranges(self) -> list[_Range]:
        """The ticks that can be decided, in order, cut where their fate changes."""
        offset = self.schedule.offset
        reach, after = self.ahead.reach(floor(self.now) - offset), self.decided
        ranges: list[_Range] = []
        for each in self.ahead.overrides:
            if not after < each.tick <= reach:
                continue
            ranges += self._plain(after, each.tick - 1)
            lateness = (other.fate for other in reversed(ranges) if other.fate in _BY_LATENESS)
            at_least: TickFate = next(lateness, "misfire")
            ranges.append(self._overridden(each, at_least))
            after = each.tick
            if each.due_at is not None:
                ranges += self._cut("rescheduled", after, each.due_at - offset, each)
                after = max(after, each.due_at - offset)
        return [*ranges, *self._plain(after, reach)]

    def _plain(self, after: int, until: int) -> Iterator[_Range]:
        """The ticks of a stretch for which nobody has decided anything one by one."""
        told = self.schedule.cursor.skip_until
        if told is not None and told > after:
            yield from self._cut("operator", after, min(told, until))
            after = max(after, min(told, until))
        for fate, end in zip(_BY_LATENESS, self._bounds(), strict=True):
            if (end := min(end, until)) > after:
                yield from self._cut(fate, after, end)
                after = end

    def _overridden(self, override: TickOverride, at_least: TickFate) -> _Range:
        """A tick of which a person has decided something; it is not later than what is decided before it."""
        tick, due_at = override.tick, override.due_at
        if override.skip:
            return _Range("operator", TickRange(tick, tick, 1), override)
        shown = tick if due_at is None else due_at - self.schedule.offset
        fates = (fate for fate, end in zip(_BY_LATENESS, self._bounds(), strict=True) if shown <= end)
        fate: TickFate = next(fates, "on_time")
        fate = max(fate, at_least, key=_BY_LATENESS.index)
        # A person who moves a tick knows what day that is.
        excluded = due_at is None and self.schedule.grid.excludes(tick)
        return _Range(fate, TickRange(tick, tick, 1, excluded), override)

    def _bounds(self) -> tuple[int, int, int]:
        """Up to which instant ticks have misfired, are late, and are due."""
        late = self._due_before(self.policy.grace)
        return self._due_before(self.policy.start_limit), late, floor(self.now) - self.schedule.offset

    def _alone(self, ranges: Sequence[_Range]) -> frozenset[int]:
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

    def _due_before(self, seconds: int | None) -> int:
        """The last instant whose tick became due more than so many seconds ago."""
        if seconds is None:
            return -(2**62)
        return ceil(self.now - seconds) - 1 - self.schedule.offset

    def _cut(self, fate: TickFate, after: int, until: int, override: TickOverride | None = None) -> Iterator[_Range]:
        for tick in (*(each for each in self.ahead.done if after < each <= until), None):
            for segment in self.schedule.grid.segments(after, until if tick is None else tick - 1):
                yield _Range(fate, segment, override)
            if tick is not None:
                yield _Range("done", TickRange(tick, tick, 1))
                after = tick

    def _depending(self, due: _Range, needs: DependencyCheck) -> Iterator[_Range]:
        """Ticks that would run, cut where what they depend on begins or ceases to be met; the others as they are."""
        fate, segment, _ = due
        runs = fate == "on_time" or (fate == "late" and self.policy.catch_up != "skip")
        if not runs or segment.excluded:
            yield due
            return
        offset, after = self.schedule.offset, segment.first - 1
        ends = [] if segment.count == 1 else [edge - offset for edge in needs.edges if after < edge - offset]
        for end in (*ends, segment.last):
            if end > after and (part := self.schedule.grid.range(after, min(end, segment.last))) is not None:
                unmet = needs.unmet(self.ahead.due_at(part.first))
                yield due._replace(fate="dependency" if unmet else fate, segment=part)
            after = max(after, end)

    def _decide(self, due: _Range) -> None:
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
        for part in _one_by_one(self.schedule, segment, now):
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
