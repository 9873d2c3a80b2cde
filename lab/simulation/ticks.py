"""The expected decision about every due tick of a schedule, made tick by tick from the rules of the design."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

from lab.simulation.grids import Grid, Instant, Several
from lab.simulation.specs import Spec

MICROS = 1_000_000
# Where a run waits for another schedule, and where it waits for a person.
AWAITING, HELD = -1, 2
# How many ticks that were decided early are kept one by one.
MAX_EARLY = 1_000


@dataclass(frozen=True)
class Decision:
    """The decision about a tick: a run, or a skip, perhaps because of an old or a new run."""

    tick: int
    # "run", or why not.
    fate: str
    origin: str = ""
    status: str = ""
    due_at: int = 0
    covers: tuple[int, int, int] | None = None
    # The id of an old run, or minus the number of a new one, counted from 1.
    blocker: int | None = None
    # Where a run waits: for another schedule, among the others, or held.
    lane: int = 0


@dataclass(frozen=True)
class Need:
    """What a tick needs of another schedule, in seconds, and when that last succeeded."""

    within: int
    wait: int
    last: int | None

    def is_met(self, due_at: int) -> bool:
        """Has it succeeded recently enough?"""
        return self.last is not None and self.last >= due_at - self.within

    def may_come(self, due_at: int, now: int) -> bool:
        """Is there time left to wait for it?"""
        return bool(self.wait) and (due_at + self.wait) * MICROS >= now


@dataclass(frozen=True)
class TickOverride:
    """An operator's decision about one tick: it is skipped, due at another instant, or has its own payload."""

    created_at: int
    skip: bool = False
    due_at: int | None = None
    payload: bool = False


@dataclass
class Watched:
    """A schedule as the checker follows it through acknowledged and unacknowledged changes."""

    id: int
    name: str
    spec: Spec
    grid: Grid
    revision: int = 0
    state: str = "active"
    paused_by: str | None = None
    pause_note: str = ""
    paused_until: int | None = None
    # Every tick up to here has its record.
    decided: int = 0
    # Ticks to come that were decided ahead of their time, on whatever grid: none of them is ever decided again.
    done: set[int] = field(default_factory=set)
    runs_planned: int = 0
    tick_overrides: dict[int, TickOverride] = field(default_factory=dict)
    skip_until: int | None = None
    by_code: bool = False
    overrides: dict[str, object] = field(default_factory=dict)
    specs: dict[int, Spec] = field(default_factory=dict)
    # Before this instant (in microseconds) nothing of it is due; it saves looking.
    quiet_until: int = 0

    def may_be_due(self, now: int) -> bool:
        """Could a tick be due, or a pause be over?"""
        if now < self.quiet_until:
            return False
        if self.state == "active" and not self.tick_overrides and self.skip_until is None:
            tick = self.following(self.decided)
            self.quiet_until = 2**62 if tick is None else (tick + self.offset) * MICROS
        return now >= self.quiet_until

    @property
    def offset(self) -> int:
        """Seconds from a tick to when it is due."""
        return self.spec.offset(self.name)

    @property
    def room(self) -> float:
        """How many more runs `max_runs` lets it plan."""
        return inf if self.spec.max_runs is None else self.spec.max_runs - self.runs_planned

    @property
    def ended(self) -> bool:
        """Is it active with nothing left to come?"""
        if self.state != "active":
            return False
        return self.room <= 0 or self.is_over(self.decided)

    def due_at(self, tick: int) -> int:
        """When a tick is due."""
        override = self.tick_overrides.get(tick)
        return tick + self.offset if override is None or override.due_at is None else override.due_at

    def is_skipped(self, tick: int) -> bool:
        """Did a person say that it is not to run? What was said of it alone counts first."""
        if tick in self.done:
            return True
        override = self.tick_overrides.get(tick)
        return override.skip if override is not None else self.skip_until is not None and tick <= self.skip_until

    def next_to_run(self) -> int | None:
        """The first tick to come that is not to be skipped."""
        tick = self.grid.next(self.decided)
        while tick is not None and self.is_skipped(tick):
            tick = self.grid.next(tick)
        return tick

    def pending_ticks(self, horizon: int) -> list[tuple[int, str]]:
        """The ticks that can be decided when those up to `horizon` are due, in order, and why they do not run."""
        ticks: list[tuple[int, str]] = []
        early: list[tuple[int, str]] = []
        passed = self.decided
        for tick in self._between(self.decided, max([horizon, *self.tick_overrides])):
            override = self.tick_overrides.get(tick)
            if tick <= passed:
                ticks.append((tick, "rescheduled"))
            elif override is not None and override.due_at is not None:
                if override.due_at - self.offset > horizon:
                    break
                ticks += [*early, (tick, "")]
                early, passed = [], override.due_at - self.offset
            elif self.is_skipped(tick):
                (ticks if tick <= horizon else early).append((tick, "operator"))
            elif tick > horizon:
                break
            else:
                ticks.append((tick, ""))
        return ticks

    def is_over(self, after: int) -> bool:
        """Does its grid have no tick after this? One without an end always has, if only beyond the simulation."""
        members = self.spec.form.members if isinstance(self.spec.form, Several) else (self.spec.form,)
        endless = self.spec.end_at is None and not all(isinstance(member, Instant) for member in members)
        return not endless and self.following(after) is None

    def following(self, after: int) -> int | None:
        """The first tick after an instant that is still to be decided."""
        tick = self.grid.next(after)
        while tick is not None and tick in self.done:
            tick = self.grid.next(tick)
        return tick

    def turn_of(self, tick: int, due_at: int, decided: list[Decision]) -> int:
        """When a tick can be decided, in one look with others: in the order of the grid, so not before those before it.

        Moves keep to that order, but for an edit of `spread` behind them.
        """
        before = (decision for decision in decided if decision.tick < tick and decision.fate != "operator")
        return max([due_at, *(decision.due_at or decision.tick + self.offset for decision in before)])

    def _between(self, after: int, until: int) -> list[int]:
        return [tick for tick in self.grid.between(after, until) if tick not in self.done]

    def pass_over(self, reason: str, until: int) -> list[Decision]:
        """All undecided ticks up to an instant share a reason; a tick that was moved beyond it is kept."""
        ticks = [tick for tick, _ in self.pending_ticks(until)]
        self.reach(max([self.decided, *ticks]))
        # Where nothing is left to come before the instant, it is reached; else the tick that was moved beyond it waits.
        if not any(tick <= until for tick in self.tick_overrides):
            self.reach(until)
        return [Decision(tick, reason) for tick in ticks]

    def leave_grid(self, reason: str, now: int) -> list[Decision]:
        """Its grid goes away: what is past and has no record yet gets one now."""
        is_planned = self.state == "paused" or (self.state == "active" and not self.ended)
        reason = "paused" if self.state == "paused" else reason
        ticks = self._between(self.decided, now) if is_planned else []
        self.tick_overrides, self.skip_until = {}, None
        self.restart_grid(now)
        return [Decision(tick, reason) for tick in ticks]

    def restart_grid(self, now: int) -> None:
        """Its grid goes away: the next one begins now, and what was decided of later ticks is remembered."""
        early = self.grid.between(now, self.decided)
        # After a clock that was far ahead there are more of them: the next grid begins behind them.
        if len(early) > MAX_EARLY:
            now = self.decided
        self.done = {tick for tick in (*self.done, *early, self.decided) if tick > now}
        self.decided = now

    def passed(self, tick: int, override: TickOverride) -> int:
        """How many ticks the move of one passes over."""
        return 0 if override.due_at is None else len(self.grid.between(tick, override.due_at - self.offset))

    def edit(self, spec: Spec, reach: tuple[int, int], now: int) -> list[Decision]:
        """Another definition: what it makes of what is past and undecided, and what stays of what people decided."""
        decisions: list[Decision] = []
        grid = spec.grid(reach)
        # A payload of its own is for the task that it was given for; without it nothing of that decision is left.
        kept = {
            tick: override
            for tick, override in self.tick_overrides.items()
            if not override.payload or spec.task == self.spec.task
        }
        again = self.ended and not replace(self, spec=spec, grid=grid).ended
        if again or spec.same_ticks != self.spec.same_ticks:
            passed = {tick: self.passed(tick, override) for tick, override in kept.items()}
            decisions = self.leave_grid("edited", now)
            self.spec, self.grid = spec, grid
            self._carry_over(kept, passed)
        else:
            self.tick_overrides = kept
        self.spec, self.grid = spec, grid
        return decisions

    def _carry_over(self, old: dict[int, TickOverride], passed: dict[int, int]) -> None:
        """On a new grid: what was decided for ticks that it has too; where moves do not fit, the newest go first."""
        for tick, override in sorted(old.items()):
            there = tick > self.decided and self.grid.next(tick - 1) == tick
            if there and self.passed(tick, override) == passed[tick]:
                self.tick_overrides[tick] = override
        while not self.in_order():
            moves = [tick for tick, override in self.tick_overrides.items() if override.due_at is not None]
            del self.tick_overrides[max(moves, key=lambda tick: self.tick_overrides[tick].created_at)]

    def in_order(self) -> bool:
        """Is no tick overridden that a move passes over, and no tick moved before the one before it?"""
        for tick, override in self.tick_overrides.items():
            if self._passing(tick):
                return False
            before = [t for t in self.grid.between(self.decided, tick - 1) if not self.is_skipped(t)]
            decided_at = [min(self._passing(t), default=self.due_at(t)) for t in before[-1:]]
            if override.due_at is not None and decided_at and decided_at[0] > override.due_at:
                return False
        return True

    def _passing(self, tick: int) -> list[int]:
        dues = ((other, override.due_at) for other, override in self.tick_overrides.items())
        return [due for other, due in dues if due is not None and other < tick <= due - self.offset]

    def reach(self, tick: int) -> None:
        """All up to here is decided."""
        self.decided = max(self.decided, tick)
        self.tick_overrides = {other: override for other, override in self.tick_overrides.items() if other > tick}
        if self.skip_until is not None and self.skip_until <= tick:
            self.skip_until = None


@dataclass
class Planner:
    """One look at one schedule at an instant (in microseconds), with its active runs as (id, status, lane)."""

    schedule: Watched
    now: int
    ticking: list[tuple[int, str, int]]
    others: int
    # Is any run of it held?
    held: bool = False
    needs: list[Need] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    new: int = 0

    def decide(self) -> list[Decision]:
        """Every tick that is due, in order; for overlap `replace` see `loose`."""
        schedule = self.schedule
        schedule.quiet_until = 0
        if schedule.state == "paused":
            until = schedule.paused_until
            if until is None or until * MICROS > self.now:
                return []
            schedule.state, schedule.paused_by, schedule.paused_until = "active", None, None
            self.decisions += schedule.pass_over("paused", until - 1 - schedule.offset)
        if schedule.state != "active" or schedule.ended:
            return self.decisions
        late, on_time = self._sort()
        if schedule.spec.overlap == "replace":
            self._replace(late, on_time)
        elif self._catch_up(late):
            self._run_on_time(on_time)
        self.decisions.sort(key=lambda decision: decision.tick)
        # What `max_runs` has no room for is not decided, nor is what comes after it.
        full = [decision.tick for decision in self.decisions if decision.fate == "full"]
        if full:
            self.decisions = [decision for decision in self.decisions if decision.tick < min(full)]
        schedule.runs_planned += sum(decision.fate == "run" for decision in self.decisions)
        if self.decisions:
            schedule.reach(self.decisions[-1].tick)
        return self.decisions

    def _sort(self) -> tuple[list[int], list[int]]:
        """Settle what does not run whatever else there is; the others, late and on time."""
        schedule, spec = self.schedule, self.schedule.spec
        late: list[int] = []
        on_time: list[int] = []
        for tick, why_not in schedule.pending_ticks(self.now // MICROS - schedule.offset):
            override = schedule.tick_overrides.get(tick)
            lateness = self.now - schedule.due_at(tick) * MICROS
            misfired = spec.start_limit is not None and lateness > spec.start_limit * MICROS
            # Nothing is later than what is decided before it.
            if why_not:
                self.decisions.append(Decision(tick, why_not))
            elif schedule.grid.excludes(tick) and (override is None or override.due_at is None):
                self.decisions.append(Decision(tick, "calendar"))
            elif spec.shadow:
                self.decisions.append(Decision(tick, "shadow"))
            elif misfired and not late and not on_time:
                self.decisions.append(Decision(tick, "misfire"))
            elif lateness > spec.grace * MICROS and not on_time:
                late.append(tick)
            else:
                on_time.append(tick)
        if spec.catch_up != "skip":
            late = self._in_need(late)
        return late, self._in_need(on_time)

    def _in_need(self, ticks: list[int]) -> list[int]:
        """Those that run or wait; the others come too late for what they need."""
        if not self.needs:
            return ticks
        dues = [(tick, self.schedule.due_at(tick)) for tick in ticks]
        left = [
            tick for tick, due in dues if all(need.is_met(due) or need.may_come(due, self.now) for need in self.needs)
        ]
        self.decisions += [Decision(tick, "dependency") for tick in ticks if tick not in left]
        return left

    def _catch_up(self, late: list[int]) -> bool:
        """Late ticks; False when `max_runs` is used up by them."""
        spec = self.schedule.spec
        if not late:
            return True
        if spec.catch_up == "skip":
            self.decisions += [Decision(tick, "misfire") for tick in late]
        elif spec.catch_up == "all":
            return self._catch_up_all(late)
        elif (blocker := self._blocker()) is not None:
            self.decisions += [Decision(tick, "overlap", blocker=blocker) for tick in late]
        else:
            return self._catch_up_by_one(late)
        return True

    def _catch_up_by_one(self, late: list[int]) -> bool:
        """One run for all, beside those of ticks with a payload of their own, if there is room for all of them."""
        overrides = self.schedule.tick_overrides
        alone = [tick for tick in late if tick in overrides and overrides[tick].payload]
        if len(alone) + (len(alone) < len(late)) > self.schedule.room - self.new:
            alone = []
        others = [tick for tick in late if tick not in alone]
        label = None if not others else others[0] if self.schedule.spec.catch_up == "one" else others[-1]
        covers = (others[0], others[-1], len(others)) if len(others) > 1 else None
        index = 0
        for tick in late:
            if (tick == label or tick in alone) and not self._run(tick, "catch_up", covers if tick == label else None):
                self.decisions += [Decision(tick, "full") for tick in late]
                return False
            index = self.new if tick == label else index
        self.decisions += [Decision(tick, "coalesced", blocker=-index) for tick in others if tick != label]
        return True

    def _catch_up_all(self, late: list[int]) -> bool:
        """Each of the newest; after a long outage, and while older ones are, they are held."""
        spec = self.schedule.spec
        older = late[: -spec.catch_up_limit]
        self.decisions += [Decision(tick, "limit") for tick in older]
        limit = spec.hold_above
        run = self._hold if limit is not None and (self.held or len(late) > limit) else self._run
        return all(run(tick, "catch_up") for tick in late[len(older) :])

    def _run_on_time(self, ticks: list[int]) -> None:
        for tick in ticks:
            if (blocker := self._blocker()) is not None:
                self.decisions.append(Decision(tick, "overlap", blocker=blocker))
            elif not self._run(tick, "schedule"):
                return

    def _blocker(self) -> int | None:
        spec = self.schedule.spec
        if spec.overlap == "allow" or len(self.ticking) < spec.max_concurrent:
            return None
        if spec.overlap == "skip":
            return self.ticking[0][0]
        return next((run_id for run_id, status, _ in self.ticking if status == "waiting"), None)

    def _run(self, tick: int, origin: str, covers: tuple[int, int, int] | None = None) -> bool:
        schedule, spec = self.schedule, self.schedule.spec
        if schedule.room - self.new <= 0:
            self.decisions.append(Decision(tick, "full"))
            return False
        due_at = schedule.due_at(tick)
        lane = 0 if all(need.is_met(due_at) for need in self.needs) else AWAITING
        active = self.others + sum(run_lane != AWAITING for _, _, run_lane in self.ticking)
        waits = lane == AWAITING or (spec.overlap != "allow" and active >= spec.max_concurrent)
        status = "waiting" if waits else "queued"
        self.new += 1
        self.ticking.append((-self.new, status, lane))
        self.decisions.append(Decision(tick, "run", origin, status, due_at, covers, lane=lane))
        return True

    def _hold(self, tick: int, origin: str) -> bool:
        """As `_run`, but held: it does not count for other runs."""
        if self.schedule.room - self.new <= 0:
            self.decisions.append(Decision(tick, "full"))
            return False
        self.new += 1
        self.decisions.append(Decision(tick, "run", origin, "waiting", self.schedule.due_at(tick), lane=HELD))
        return True

    def _replace(self, late: list[int], on_time: list[int]) -> None:
        """Which of several due ticks survive is left open; that the newest does, and that each has a fate, is not."""
        spec = self.schedule.spec
        if spec.catch_up == "skip":
            self.decisions += [Decision(tick, "misfire") for tick in late]
            late = []
        elif spec.hold_above is not None and (self.held or len(late) > spec.hold_above):
            if not self._catch_up_all(late):
                return
            late = []
        self.decisions += [Decision(tick, "open") for tick in late + on_time[:-1]]
        if on_time:
            self.decisions.append(Decision(on_time[-1], "newest"))
