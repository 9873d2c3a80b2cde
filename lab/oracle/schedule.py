"""A schedule in the oracle: decided and pending ticks, and the effect of each command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import floor, inf
from typing import Any

from lab.oracle.spec import Spec

# Maximum of early ticks that an edit stores one by one.
MAX_EARLY = 1_000


class CommandRefused(Exception):
    """The product must refuse this command too, and change nothing."""


@dataclass(frozen=True, slots=True)
class TickOverride:
    """An operator's decision about one tick: skip it, move it to another instant, or give its run another payload."""

    created_at: int
    skip: bool = False
    due_at: int | None = None
    payload: bool = False


@dataclass(frozen=True, slots=True)
class TickDecision:
    """A run, or a skip with its reason, of one tick."""

    tick: int
    # "run", or the reason of the skip.
    outcome: str
    # Of a skip: the id of an older run, or minus the number of a new one, counted from 1 within the pass.
    blocker: int | None = None
    origin: str = ""
    status: str = ""
    due_at: int = 0
    start_by: int | None = None
    covers: tuple[int, int, int] | None = None
    held: bool = False
    # Schedules that must succeed before it runs: name, since and until.
    awaits: tuple[tuple[str, int, int], ...] = ()
    override: TickOverride | None = None


@dataclass
class Schedule:
    """A name without a schedule is a deleted schedule. Its collections are replaced, never changed."""

    name: str
    spec: Spec
    state: str = "deleted"
    revision: int = 0
    # Every tick up to here has its record.
    planned_until: int = 0
    # Ticks that were decided early, on any grid: none of them is decided again.
    done: frozenset[int] = frozenset()
    runs_planned: int = 0
    tick_overrides: Mapping[int, TickOverride] = field(default_factory=dict)
    skip_until: int | None = None
    paused_until: int | None = None
    by_code: bool = False
    # Of a schedule from code: the fields that an operator has set.
    field_overrides: Mapping[str, Any] = field(default_factory=dict)
    specs: Mapping[int, Spec] = field(default_factory=dict)
    next_wakeup: int | None = None

    @property
    def offset(self) -> int:
        """Seconds from a tick to its `due_at`."""
        return self.spec.offset(self.name)

    @property
    def room(self) -> float:
        """Runs that are left of `max_runs`."""
        return inf if self.spec.max_runs is None else self.spec.max_runs - self.runs_planned

    # Ticks

    def due_at(self, tick: int) -> int:
        override = self.tick_overrides.get(tick)
        return tick + self.offset if override is None or override.due_at is None else override.due_at

    def is_pending(self, tick: int) -> bool:
        undecided = tick > self.planned_until and tick not in self.done
        return self.state in ("active", "paused") and undecided and self.spec.has_tick(tick)

    def is_skipped(self, tick: int) -> bool:
        """Whether an operator skipped the tick. An override of the tick wins over a skipped range."""
        override = self.tick_overrides.get(tick)
        return override.skip if override is not None else self.skip_until is not None and tick <= self.skip_until

    def next_undecided(self, after: int) -> int | None:
        """The first undecided tick after an instant."""
        tick = self.spec.next(after)
        while tick is not None and tick in self.done:
            tick = self.spec.next(tick)
        return tick

    def next_to_run(self) -> int | None:
        """The first undecided tick that is not skipped."""
        tick = self.next_undecided(self.planned_until)
        while tick is not None and self.is_skipped(tick):
            tick = self.next_undecided(tick)
        return tick

    def pending(self, horizon: int) -> list[tuple[int, str]]:
        """The ticks that can be decided if ticks up to `horizon` are due, in order, with the reason of a skip.

        A tick that is to be skipped can be decided early, with a later tick that was moved to an earlier instant.
        """
        ticks: list[tuple[int, str]] = []
        early: list[tuple[int, str]] = []
        passed = 0
        for tick in self.spec.ticks(self.planned_until + 1, max([horizon, *self.tick_overrides])):
            move = self._move(tick)
            if tick in self.done or (move is None and self.is_skipped(tick) and tick > passed):
                reason = "done" if tick in self.done else "operator"
                (ticks if tick <= horizon else early).append((tick, reason))
            elif tick <= passed:
                ticks.append((tick, "rescheduled"))
            elif move is not None:
                if move > horizon:
                    break
                ticks += [*early, (tick, "")]
                early, passed = [], move
            elif tick > horizon:
                break
            else:
                ticks.append((tick, ""))
        return ticks

    def _move(self, tick: int) -> int | None:
        """The grid instant to which a tick was moved."""
        override = self.tick_overrides.get(tick)
        return None if override is None or override.due_at is None else override.due_at - self.offset

    def passed_over_by(self, tick: int) -> int | None:
        """The tick whose move skips another one."""
        passing = (other for other in self.tick_overrides if other < tick <= (self._move(other) or other))
        return next(passing, None)

    # The cursor

    def reach(self, tick: int) -> None:
        """All ticks up to here are decided."""
        self.planned_until = max(self.planned_until, tick)
        self.tick_overrides = {other: override for other, override in self.tick_overrides.items() if other > tick}
        if self.skip_until is not None and self.skip_until <= tick:
            self.skip_until = None

    def settle(self) -> None:
        """Find the next wake-up; an active schedule without one has ended."""
        self.next_wakeup = self._wakeup()
        if self.state == "active" and self.next_wakeup is None:
            self.state = "ended"

    def _wakeup(self) -> int | None:
        if self.state == "paused":
            return self.paused_until
        if self.state != "active" or self.room <= 0:
            return None
        first, following = self.next_undecided(self.planned_until), self.next_to_run()
        dues = [] if first is None or first == following else [first + self.offset]
        return min(dues if following is None else [*dues, self.due_at(following)], default=None)

    def pass_over(self, reason: str, until: int) -> list[TickDecision]:
        """Skip all undecided ticks up to an instant, except those that were moved beyond it."""
        ticks = [tick for tick, _ in self.pending(until)]
        reached = max([until, *ticks])
        moved = [tick for tick in self.tick_overrides if (self._move(tick) or 0) > until and tick not in ticks]
        self.reach(min([reached, *(tick - 1 for tick in moved)]))
        return [TickDecision(tick, reason) for tick in ticks if tick not in self.done]

    def _leave_grid(self, reason: str, now: int) -> list[TickDecision]:
        """Skip the ticks that are past and not due yet."""
        self.tick_overrides, self.skip_until = {}, None
        decisions: list[TickDecision] = []
        if self.state in ("active", "paused"):
            decisions = self.pass_over("paused" if self.state == "paused" else reason, now)
        self._restart_grid(now)
        return decisions

    def _restart_grid(self, now: int) -> None:
        """The next grid begins now, or after the ticks that were decided early, if they are too many."""
        early = self.spec.ticks(now + 1, self.planned_until)
        if len(early) > MAX_EARLY:
            now = self.planned_until
        self.done |= {tick for tick in (*early, self.planned_until) if tick > now}
        self.planned_until = now

    # Commands: due ticks are planned first. They return the skips that they record.

    def create(self, spec: Spec, now: float, *, by_code: bool) -> list[TickDecision]:
        start = floor(now)
        over = spec.next(start) is None
        if self.state != "deleted" or (over and not by_code):
            raise CommandRefused
        reached, done = self.planned_until, self.done
        # The clock may have gone back since it was deleted.
        self._restart_grid(start)
        self.spec, self.state, self.by_code = spec, "active", by_code
        self._revise()
        missed = spec.last(start) if over else None
        return [] if missed is None or missed <= reached or missed in done else [TickDecision(missed, "misfire")]

    def update(self, values: Mapping[str, Any], now: float) -> list[TickDecision]:
        """Set fields by an operator's command; there is no new revision without a change."""
        spec = replace(self.spec, **values)
        if self.state == "deleted" or (spec.start_at or 0) > (inf if spec.end_at is None else spec.end_at):
            raise CommandRefused
        overrides = {**self.field_overrides, **values} if self.by_code else {}
        if (spec, overrides) == (self.spec, self.field_overrides):
            return []
        self.field_overrides = overrides
        return self._edit(spec, now)

    def sync(self, spec: Spec, now: float) -> list[TickDecision]:
        """Another spec from code."""
        return self._edit(replace(spec, **self.field_overrides), now)

    def _edit(self, spec: Spec, now: float) -> list[TickDecision]:
        decisions: list[TickDecision] = []
        # A payload belongs to the task for which it was given.
        kept = {
            tick: override
            for tick, override in self.tick_overrides.items()
            if not override.payload or spec.task == self.spec.task
        }
        restarts = self.state == "ended" and replace(self, spec=spec, state="active")._wakeup() is not None
        if restarts or spec.grid != self.spec.grid:
            passed = {tick: self._passed(tick, override) for tick, override in kept.items()}
            decisions = self._leave_grid("edited", floor(now))
            self.state = "paused" if self.state == "paused" else "active"
            self.spec = spec
            kept = self._carry_over(kept, passed)
        self.spec, self.tick_overrides = spec, kept
        self._revise()
        return decisions

    def _passed(self, tick: int, override: TickOverride) -> int:
        """The number of ticks that a move skips."""
        return 0 if override.due_at is None else len(self.spec.ticks(tick + 1, override.due_at - self.offset))

    def _carry_over(self, overrides: dict[int, TickOverride], passed: dict[int, int]) -> dict[int, TickOverride]:
        """The overrides of ticks on both grids; the newest moves are dropped first if they conflict."""
        kept = {
            tick: override
            for tick, override in sorted(overrides.items())
            if self.is_pending(tick) and self._passed(tick, override) == passed[tick]
        }
        while not self._is_consistent(kept):
            moves = [tick for tick, override in kept.items() if override.due_at is not None]
            del kept[max(moves, key=lambda tick: kept[tick].created_at)]
        return kept

    def _is_consistent(self, overrides: Mapping[int, TickOverride]) -> bool:
        """Whether no overridden tick is skipped by a move, and no tick is moved before an earlier one."""
        trial = replace(self, tick_overrides=overrides)
        for tick, override in overrides.items():
            if trial.passed_over_by(tick) is not None:
                return False
            earlier = trial.spec.ticks(self.planned_until + 1, tick - 1)
            before = [other for other in earlier if not (other in self.done or trial.is_skipped(other))]
            if override.due_at is not None and before:
                passing = trial.passed_over_by(before[-1])
                if trial.due_at(before[-1] if passing is None else passing) > override.due_at:
                    return False
        return True

    def delete(self, now: float) -> list[TickDecision]:
        if self.state == "deleted":
            raise CommandRefused
        decisions = self._leave_grid("deleted", floor(now))
        self.state, self.runs_planned, self.paused_until, self.field_overrides = "deleted", 0, None, {}
        self._revise()
        return decisions

    def pause(self, until: int | None, now: float) -> list[TickDecision]:
        if self.state not in ("active", "paused") or (until is not None and until <= now):
            raise CommandRefused
        self.state, self.paused_until = "paused", until
        self._revise()
        return []

    def resume(self, now: float) -> list[TickDecision]:
        if self.state != "paused":
            raise CommandRefused
        self.state, self.paused_until = "active", None
        decisions = self.pass_over("paused", floor(now) - self.offset)
        self._revise()
        return decisions

    def reschedule(self, to: int, now: float) -> list[TickDecision]:
        tick = self._next_tick()
        old = self.tick_overrides.get(tick)
        override = TickOverride(floor(now), due_at=to, payload=old is not None and old.payload)
        return self.override(tick, override, now)

    def skip(self, count: int) -> list[TickDecision]:
        first = last = self._next_tick()
        for _ in range(count - 1):
            last = self.next_undecided(last) or last
        self.tick_overrides = {
            tick: override for tick, override in self.tick_overrides.items() if not first <= tick <= last
        }
        self.skip_until = max(last, self.skip_until or 0)
        self._revise()
        return []

    def override(self, tick: int, override: TickOverride, now: float) -> list[TickDecision]:
        is_past = override.due_at is not None and override.due_at <= now
        is_void = override.payload and override.due_at is None and self.spec.excludes(tick)
        if not self.is_pending(tick) or is_past or is_void:
            raise CommandRefused
        return self._set_overrides({**self.tick_overrides, tick: override})

    def clear_override(self, tick: int) -> list[TickDecision]:
        if not self.is_pending(tick) or tick not in self.tick_overrides:
            raise CommandRefused
        return self._set_overrides({other: one for other, one in self.tick_overrides.items() if other != tick})

    def _set_overrides(self, overrides: dict[int, TickOverride]) -> list[TickDecision]:
        if not self._is_consistent(overrides):
            raise CommandRefused
        self.tick_overrides = dict(sorted(overrides.items()))
        self._revise()
        return []

    def _next_tick(self) -> int:
        tick = self.next_to_run() if self.state in ("active", "paused") else None
        if tick is None:
            raise CommandRefused
        return tick

    def _revise(self) -> None:
        self.revision += 1
        self.specs = {**self.specs, self.revision: self.spec}
        self.settle()
