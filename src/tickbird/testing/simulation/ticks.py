"""What must become of every due tick of one schedule, decided tick by tick from the rules in the design."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from tickbird.testing.simulation.grids import Grid, Once, Several
from tickbird.testing.simulation.specs import Spec

MICROS = 1_000_000


@dataclass(frozen=True)
class Decision:
    """A tick's fate: a run (with its place among the new ones), or a skip behind an old or a new run."""

    tick: int
    # "run", or why not.
    fate: str
    origin: str = ""
    status: str = ""
    due_at: int = 0
    covers: tuple[int, int, int] | None = None
    # The id of an old run, or minus the place of a new one, counted from 1.
    behind: int | None = None


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
    runs_planned: int = 0
    moved: tuple[int, int] | None = None
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
        if self.state == "active" and self.moved is None and self.skip_until is None:
            tick = self.grid.next(self.decided)
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
        return self.room <= 0 or (self.moved is None and self.is_over(self.decided))

    def is_over(self, after: int) -> bool:
        """Does its grid have no tick after this? One without an end always has, if only beyond the simulation."""
        members = self.spec.form.members if isinstance(self.spec.form, Several) else (self.spec.form,)
        endless = self.spec.end_at is None and not all(isinstance(member, Once) for member in members)
        return not endless and self.grid.next(after) is None

    def pass_over(self, reason: str, until: int) -> list[Decision]:
        """All undecided ticks up to an instant share a reason; a tick that was moved beyond it is kept."""
        if self.moved is not None:
            kept = self.moved[1] - self.offset > until
            until = min(until, self.moved[0] - 1) if kept else max(until, self.moved[0])
        decisions = [Decision(tick, reason) for tick in self.grid.between(self.decided, until)]
        self.reach(until)
        return decisions

    def leave_grid(self, reason: str, now: int) -> list[Decision]:
        """Its grid goes away: what is past and has no record yet gets one now."""
        known = self.state == "paused" or (self.state == "active" and not self.ended)
        reason = "paused" if self.state == "paused" else reason
        ticks = self.grid.between(self.decided, now) if known else []
        self.moved = self.skip_until = None
        self.decided = max(self.decided, now)
        return [Decision(tick, reason) for tick in ticks]

    def reach(self, tick: int) -> None:
        """All up to here is decided."""
        self.decided = max(self.decided, tick)
        if self.moved is not None and self.moved[0] <= tick:
            self.moved = None
        if self.skip_until is not None and self.skip_until <= tick:
            self.skip_until = None


@dataclass
class Planner:
    """One look at one schedule at an instant (in microseconds), with its active runs as (id, status)."""

    schedule: Watched
    now: int
    ticking: list[tuple[int, str]]
    others: int
    made: list[Decision] = field(default_factory=list)
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
            self.made += schedule.pass_over("paused", until - 1 - schedule.offset)
        if schedule.state != "active" or schedule.ended:
            return self.made
        late, on_time = self._sort()
        if schedule.spec.overlap == "replace":
            self._replace(late, on_time)
        elif self._catch_up(late):
            self._run_on_time(on_time)
        self.made.sort(key=lambda decision: decision.tick)
        # What `max_runs` has no room for is not decided, nor is what comes after it.
        full = [decision.tick for decision in self.made if decision.fate == "full"]
        if full:
            self.made = [decision for decision in self.made if decision.tick < min(full)]
        schedule.runs_planned += sum(decision.fate == "run" for decision in self.made)
        if self.made:
            schedule.reach(self.made[-1].tick)
        return self.made

    def _sort(self) -> tuple[list[int], list[int]]:
        """Settle what does not run whatever else there is; the others, late and on time."""
        schedule, spec = self.schedule, self.schedule.spec
        late: list[int] = []
        on_time: list[int] = []
        horizon = self.now // MICROS - schedule.offset
        moved = schedule.moved
        moved_is_due = moved is not None and moved[1] * MICROS <= self.now
        after = schedule.decided
        if schedule.skip_until is not None and schedule.skip_until > after:
            told = schedule.skip_until if moved_is_due else min(schedule.skip_until, horizon)
            self.made += [Decision(tick, "operator") for tick in schedule.grid.between(after, told)]
            after = max(after, told)
        if moved is not None and not moved_is_due:
            return late, on_time
        dues = [] if moved is None else [(moved[0], moved[1])]
        if moved is not None:
            passed = schedule.grid.between(moved[0], moved[1] - schedule.offset)
            self.made += [Decision(tick, "rescheduled") for tick in passed]
            after = max(moved[0], moved[1] - schedule.offset)
        dues += [(tick, tick + schedule.offset) for tick in schedule.grid.between(after, horizon)]
        for tick, due_at in dues:
            lateness = self.now - due_at * MICROS
            if schedule.grid.excludes(tick) and (moved is None or tick != moved[0]):
                self.made.append(Decision(tick, "calendar"))
            elif spec.start_limit is not None and lateness > spec.start_limit * MICROS:
                self.made.append(Decision(tick, "misfire"))
            elif lateness > spec.grace * MICROS:
                late.append(tick)
            else:
                on_time.append(tick)
        return late, on_time

    def _catch_up(self, late: list[int]) -> bool:
        """Late ticks; False when `max_runs` is used up by them."""
        spec = self.schedule.spec
        if not late:
            return True
        if spec.catch_up == "skip":
            self.made += [Decision(tick, "misfire") for tick in late]
        elif spec.catch_up == "all":
            older = late[: -spec.catch_up_limit]
            self.made += [Decision(tick, "limit") for tick in older]
            return all(self._run(tick, "catch_up") for tick in late[len(older) :])
        elif (blocker := self._blocker()) is not None:
            self.made += [Decision(tick, "overlap", behind=blocker) for tick in late]
        else:
            label = late[0] if spec.catch_up == "one" else late[-1]
            covers = (late[0], late[-1], len(late)) if len(late) > 1 else None
            if not self._run(label, "catch_up", covers):
                self.made += [Decision(tick, "full") for tick in late]
                return False
            self.made += [Decision(tick, "coalesced", behind=-self.new) for tick in late if tick != label]
        return True

    def _run_on_time(self, ticks: list[int]) -> None:
        for tick in ticks:
            if (blocker := self._blocker()) is not None:
                self.made.append(Decision(tick, "overlap", behind=blocker))
            elif not self._run(tick, "schedule"):
                return

    def _blocker(self) -> int | None:
        spec = self.schedule.spec
        if spec.overlap == "allow" or len(self.ticking) < spec.max_concurrent:
            return None
        if spec.overlap == "skip":
            return self.ticking[0][0]
        return next((run_id for run_id, status in self.ticking if status == "waiting"), None)

    def _run(self, tick: int, origin: str, covers: tuple[int, int, int] | None = None) -> bool:
        schedule, spec = self.schedule, self.schedule.spec
        if schedule.room - self.new <= 0:
            self.made.append(Decision(tick, "full"))
            return False
        waits = spec.overlap != "allow" and len(self.ticking) + self.others >= spec.max_concurrent
        status = "waiting" if waits else "queued"
        moved = schedule.moved
        due_at = moved[1] if moved is not None and moved[0] == tick else tick + schedule.offset
        self.new += 1
        self.ticking.append((-self.new, status))
        self.made.append(Decision(tick, "run", origin, status, due_at, covers))
        return True

    def _replace(self, late: list[int], on_time: list[int]) -> None:
        """Which of several due ticks survive is left open; that the newest does, and that each has a fate, is not."""
        spec = self.schedule.spec
        if spec.catch_up == "skip":
            self.made += [Decision(tick, "misfire") for tick in late]
            late = []
        self.made += [Decision(tick, "open") for tick in late + on_time[:-1]]
        if on_time:
            self.made.append(Decision(on_time[-1], "newest"))
