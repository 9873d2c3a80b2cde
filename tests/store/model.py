"""What a store must hold after each step of a history, decided tick by tick and run by run in the plainest way."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any

from tests.store.grids import Shape

ACTIVE = ("waiting", "queued", "running")
TICK_ORIGINS = ("schedule", "catch_up")


class Refused(Exception):
    """The store must refuse this too, and change nothing."""


@dataclass(eq=False)
class ModelRun:
    """A run as it must stand."""

    schedule: str
    tick: int | None
    origin: str
    status: str
    due_at: float
    available_at: float
    shape: Shape
    revision: int
    start_by: float | None = None
    covers: tuple[int, int, int] | None = None
    # Known once the store has told it.
    id: int = 0
    attempt: int = 0
    failures: int = 0
    crashes: int = 0
    drains: int = 0
    worker: str | None = None
    lease_until: float | None = None
    started_at: float | None = None
    finished_at: float | None = None
    asked_to_stop: bool = False
    reason: str | None = None

    @property
    def active(self) -> bool:
        """Not final yet."""
        return self.status in ACTIVE


@dataclass
class Range:
    """Consecutive ticks that share a skip."""

    reason: str
    revision: int
    behind: ModelRun | int | None
    first: int
    last: int
    count: int

    @property
    def kind(self) -> tuple[object, ...]:
        """What makes two ranges one when nothing lies between them."""
        behind = self.behind.id if isinstance(self.behind, ModelRun) else self.behind
        return self.reason, self.revision, behind

    @property
    def row(self) -> tuple[object, ...]:
        """All of it, for comparison."""
        return *self.kind, self.first, self.last, self.count


@dataclass
class ModelSchedule:
    """A schedule as it must stand."""

    name: str
    shape: Shape
    state: str = "active"
    revision: int = 0
    planned_until: int = 0
    runs_planned: int = 0
    moved: tuple[int, int] | None = None
    skip_until: int | None = None
    pause_until: int | None = None
    by_code: bool = False
    # Of one from code: the fields that a person has set.
    overrides: set[str] = field(default_factory=set)
    shapes: dict[int, Shape] = field(default_factory=dict)
    skips: list[Range] = field(default_factory=list)
    # Every tick that ever had a run, also one that was pruned.
    ever: set[int] = field(default_factory=set)


@dataclass
class Decision:
    """What becomes of one tick: a run, or a skip behind one or none."""

    tick: int
    run: ModelRun | None = None
    reason: str = ""
    behind: ModelRun | None = None


class Model:
    """The whole store. Verbs mirror the store's; `now` is seconds since the epoch."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.schedules: dict[str, ModelSchedule] = {}
        self.runs: list[ModelRun] = []

    def copy(self) -> Model:
        """One that can be changed without this one."""
        other = Model(self.namespace)
        twins = {run: copy.copy(run) for run in self.runs}
        other.runs = list(twins.values())
        for name, schedule in self.schedules.items():
            skips = [
                replace(
                    skip,
                    behind=twins.get(skip.behind, skip.behind) if isinstance(skip.behind, ModelRun) else skip.behind,
                )
                for skip in schedule.skips
            ]
            shapes, ever = dict(schedule.shapes), set(schedule.ever)
            other.schedules[name] = replace(schedule, skips=skips, shapes=shapes, ever=ever)
        return other

    # Schedules

    def find(self, name: str) -> ModelSchedule:
        """A schedule that exists."""
        schedule = self.schedules.get(name)
        if schedule is None or schedule.state == "deleted":
            raise Refused
        return schedule

    def active_runs(self, name: str) -> list[ModelRun]:
        """Its runs that are not final, oldest first."""
        return [run for run in self.runs if run.schedule == name and run.active]

    def offset(self, schedule: ModelSchedule) -> int:
        """Seconds from its ticks to their due_at."""
        return schedule.shape.offset(self.namespace, schedule.name)

    def next_look(self, schedule: ModelSchedule) -> int | None:
        """When something is to be decided about it next."""
        if schedule.state == "paused":
            return schedule.pause_until
        most = schedule.shape.max_runs
        if schedule.state != "active" or (most is not None and schedule.runs_planned >= most):
            return None
        tick = schedule.shape.next(schedule.planned_until)
        dues = [] if tick is None else [tick + self.offset(schedule)]
        if schedule.moved is not None:
            dues = [] if tick == schedule.moved[0] else dues
            dues.append(schedule.moved[1])
        return min(dues, default=None)

    def is_due(self, schedule: ModelSchedule, now: float) -> bool:
        """Would a planner look at it?"""
        look = self.next_look(schedule)
        return look is not None and look <= now

    def plan_due(self, now: float) -> None:
        """Plan all that is due."""
        for schedule in self.schedules.values():
            self.plan(schedule, now)

    def plan(self, schedule: ModelSchedule, now: float) -> None:
        """Decide every due tick of one schedule, one after the other."""
        if not self.is_due(schedule, now):
            return
        if schedule.state == "paused":
            assert schedule.pause_until is not None
            until, schedule.pause_until = schedule.pause_until, None
            schedule.state = "active"
            self._pass_over(schedule, "paused", until - 1 - self.offset(schedule))
            self._settle(schedule)
            if schedule.state != "active":
                return
        look = Look(self, schedule, now)
        most = schedule.shape.max_runs
        made: list[ModelRun] = []
        for decision in look.decide():
            if decision.run is None:
                self._record(schedule, schedule.revision, decision.reason, decision.behind, [decision.tick])
            elif most is not None and schedule.runs_planned >= most:
                break
            else:
                assert decision.tick not in schedule.ever, "the model itself decided a tick twice"
                schedule.ever.add(decision.tick)
                schedule.runs_planned += 1
                made.append(decision.run)
            schedule.planned_until = decision.tick
        self.runs += made
        for run in look.cancelled:
            self._cancel(run, "replaced", now)
        for run in look.stopped:
            run.asked_to_stop = True
        if look.cancelled:
            self.release([schedule.name], now)
        self._forget_passed(schedule, schedule.planned_until)
        self._settle(schedule)

    def _record(
        self, schedule: ModelSchedule, revision: int, reason: str, behind: ModelRun | None, ticks: list[int]
    ) -> None:
        if not ticks:
            return
        new = Range(reason, revision, behind, ticks[0], ticks[-1], len(ticks))
        last = schedule.skips[-1] if schedule.skips else None
        joins = last and not any(last.last < tick < new.first for tick in schedule.ever)
        if last and joins and (last.reason, last.revision, last.behind) == (reason, revision, behind):
            last.last, last.count = new.last, last.count + new.count
        else:
            schedule.skips.append(new)

    def _pass_over(self, schedule: ModelSchedule, reason: str, until: int, shape: Shape | None = None) -> None:
        if schedule.moved is not None:
            still_runs = schedule.moved[1] - self.offset(schedule) > until
            until = min(until, schedule.moved[0] - 1) if still_runs else max(until, schedule.moved[0])
        ticks = (shape or schedule.shape).ticks(schedule.planned_until, until)
        self._record(schedule, schedule.revision, reason, None, ticks)
        schedule.planned_until = max(schedule.planned_until, until)
        self._forget_passed(schedule, until)

    def _leave_grid(self, schedule: ModelSchedule, reason: str, now: float) -> None:
        """What is past and not due yet lies on the grid that is being left."""
        schedule.moved = schedule.skip_until = None
        if schedule.state in ("active", "paused"):
            self._pass_over(schedule, "paused" if schedule.state == "paused" else reason, floor(now))
        schedule.planned_until = max(schedule.planned_until, floor(now))

    def _forget_passed(self, schedule: ModelSchedule, until: int) -> None:
        if schedule.moved is not None and schedule.moved[0] <= until:
            schedule.moved = None
        if schedule.skip_until is not None and schedule.skip_until <= until:
            schedule.skip_until = None

    def _settle(self, schedule: ModelSchedule) -> None:
        if schedule.state == "active" and self.next_look(schedule) is None:
            schedule.state = "ended"

    def _revise(self, schedule: ModelSchedule) -> None:
        schedule.revision += 1
        schedule.shapes[schedule.revision] = schedule.shape

    def create(self, name: str, shape: Shape, now: float, *, by_code: bool) -> None:
        """New, or going on where a deleted one of that name ended."""
        old = self.schedules.get(name)
        if old is not None and old.state != "deleted":
            raise Refused
        start = floor(now)
        over = shape.next(start) is None
        if over and not by_code:
            raise Refused
        schedule = old or ModelSchedule(name, shape)
        reached = schedule.planned_until
        schedule.shape, schedule.state, schedule.by_code, schedule.overrides = shape, "active", by_code, set()
        schedule.planned_until, schedule.runs_planned = max(start, reached), 0
        schedule.moved = schedule.skip_until = schedule.pause_until = None
        self._revise(schedule)
        self.schedules[name] = schedule
        missed = shape.last(start) if over else None
        if missed is not None and missed > reached:
            self._record(schedule, schedule.revision, "misfire", None, [missed])
        self._settle(schedule)

    def update(self, name: str, fields: dict[str, Any], now: float) -> None:
        """Other fields; another grid begins behind now."""
        schedule = self.find(name)
        self.plan(schedule, now)
        before, after = schedule.shape, replace(schedule.shape, **fields)
        if after.start_at is not None and after.end_at is not None and after.start_at > after.end_at:
            raise Refused
        if after == before and (not schedule.by_code or schedule.overrides >= fields.keys()):
            return
        schedule.overrides |= fields.keys()
        if schedule.state == "ended" or before.grid != after.grid:
            self._leave_grid(schedule, "edited", now)
            schedule.state = "paused" if schedule.state == "paused" else "active"
        schedule.shape = after
        self._revise(schedule)
        self._settle(schedule)

    def delete(self, name: str, now: float, *, cancel_runs: bool) -> None:
        """Leave a tombstone."""
        schedule = self.find(name)
        self.plan(schedule, now)
        self._leave_grid(schedule, "deleted", now)
        schedule.state = "deleted"
        schedule.runs_planned = 0
        schedule.pause_until = None
        self._revise(schedule)
        if cancel_runs:
            self._cancel_all(name, now)

    def pause(self, name: str, until: int | None, now: float, *, cancel_runs: bool) -> None:
        """Plan nothing until resumed, or until an instant."""
        schedule = self.find(name)
        self.plan(schedule, now)
        if schedule.state == "ended" or (until is not None and until <= now):
            raise Refused
        schedule.state, schedule.pause_until = "paused", until
        self._revise(schedule)
        if cancel_runs:
            self._cancel_all(name, now)

    def resume(self, name: str, now: float) -> None:
        """Ticks since are one skip."""
        schedule = self.find(name)
        self.plan(schedule, now)
        if schedule.state != "paused":
            raise Refused
        schedule.state, schedule.pause_until = "active", None
        # They passed under the revision that paused them.
        self._pass_over(schedule, "paused", floor(now) - self.offset(schedule))
        self._revise(schedule)
        self._settle(schedule)

    def _next_tick(self, schedule: ModelSchedule) -> int:
        if schedule.state not in ("active", "paused"):
            raise Refused
        after = max(schedule.planned_until, schedule.skip_until or 0)
        tick = schedule.shape.next(after)
        if tick is None:
            raise Refused
        return tick

    def reschedule(self, name: str, to: int, now: float) -> None:
        """Another due_at for the next tick."""
        schedule = self.find(name)
        self.plan(schedule, now)
        tick = self._next_tick(schedule)
        if to <= now:
            raise Refused
        schedule.moved = tick, to
        self._revise(schedule)
        self._settle(schedule)

    def skip(self, name: str, count: int, now: float) -> None:
        """The next ticks are not to run."""
        schedule = self.find(name)
        self.plan(schedule, now)
        last = self._next_tick(schedule)
        for _ in range(count - 1):
            last = schedule.shape.next(last) or last
        schedule.moved, schedule.skip_until = None, last
        self._revise(schedule)
        self._settle(schedule)

    def trigger(self, name: str, now: float) -> ModelRun:
        """A manual run now, which leaves everything else as it is."""
        schedule = self.find(name)
        self.plan(schedule, now)
        shape = schedule.shape
        waits = shape.overlap != "allow" and len(self.active_runs(name)) >= shape.max_concurrent
        status = "waiting" if waits else "queued"
        run = ModelRun(name, None, "manual", status, now, now, shape, schedule.revision)
        self.runs.append(run)
        return run

    # Runs

    def release(self, names: Iterable[str], now: float) -> None:
        """The oldest waiter is queued while there is room."""
        for name in names:
            active = self.active_runs(name)
            busy = sum(run.status != "waiting" for run in active)
            for run in active:
                if run.status != "waiting":
                    continue
                if run.shape.overlap != "allow" and busy >= run.shape.max_concurrent:
                    break
                run.status, run.available_at = "queued", max(run.available_at, now)
                busy += 1

    def _cancel(self, run: ModelRun, reason: str | None, now: float) -> None:
        run.status, run.finished_at, run.reason = "cancelled", now, reason

    def _cancel_all(self, name: str, now: float) -> None:
        for run in self.active_runs(name):
            if run.status == "running":
                run.asked_to_stop = True
            else:
                self._cancel(run, None, now)

    def available(self, now: float) -> list[ModelRun]:
        """What a claim gives out, in order."""
        found = [
            run
            for run in self.runs
            if run.status == "queued" and run.available_at <= now and (run.start_by is None or run.start_by >= now)
        ]
        return sorted(found, key=lambda run: (-run.shape.priority, run.available_at, run.id))

    def claim(self, run: ModelRun, worker: str, lease: float, now: float) -> None:
        """One more attempt begins."""
        run.status, run.worker, run.attempt = "running", worker, run.attempt + 1
        run.started_at, run.lease_until = now, now + lease

    def finish(self, run: ModelRun, how: str, now: float, delay: float) -> None:
        """The current attempt ended: `retry` and `drain` queue it again, unless it was asked to stop."""
        run.failures += how in ("retry", "fail")
        again = how in ("retry", "drain")
        run.lease_until = None
        if again and not run.asked_to_stop:
            run.drains += how == "drain"
            run.status, run.available_at, run.start_by = "queued", now + delay, None
            return
        run.status = "cancelled" if again else {"fail": "failed", "cancel": "cancelled"}.get(how, "succeeded")
        run.finished_at = now
        self.release([run.schedule], now)

    def cancel(self, run: ModelRun, now: float) -> None:
        """By a person."""
        if not run.active:
            raise Refused
        if run.status == "running":
            run.asked_to_stop = True
            return
        self._cancel(run, None, now)
        self.release([run.schedule], now)

    def rescue(self, now: float) -> None:
        """Expired leases, runs that did not start in time, and waiters with room."""
        for run in self.runs:
            if run.status == "running" and run.lease_until is not None and run.lease_until < now:
                run.crashes += 1
                run.lease_until = None
                if not run.asked_to_stop and run.crashes <= run.shape.crash_limit:
                    run.status, run.available_at, run.start_by = "queued", now, None
                else:
                    run.status, run.finished_at = "cancelled" if run.asked_to_stop else "failed", now
            elif run.status in ("waiting", "queued") and run.start_by is not None and run.start_by < now:
                self._cancel(run, "misfire", now)
        self.release(list(self.schedules), now)

    def prune(self, older_than: float, keep: int, now: float) -> int:
        """Final runs of that age, but not the newest of each schedule."""
        gone = []
        for name in self.schedules:
            newest = [run for run in self.runs if run.schedule == name][::-1]
            gone += [
                run
                for run in newest[keep:]
                if not run.active and run.finished_at is not None and run.finished_at < now - older_than
            ]
        for run in gone:
            self.runs.remove(run)
        return len(gone)


class Look:
    """One look at an active schedule: every due tick gets its fate, then its decision, one at a time."""

    def __init__(self, model: Model, schedule: ModelSchedule, now: float) -> None:
        self.schedule = schedule
        self.shape = schedule.shape
        self.offset = model.offset(schedule)
        self.now = now
        active = model.active_runs(schedule.name)
        self.ticking = [run for run in active if run.origin in TICK_ORIGINS]
        self.others = len(active) - len(self.ticking)
        self.existing = set(self.ticking)
        self.cancelled: list[ModelRun] = []
        self.stopped: list[ModelRun] = []

    def decide(self) -> list[Decision]:
        """All decisions in the order of their ticks."""
        fates = self._fates()
        late = [tick for tick, fate in fates if fate == "late"]
        decisions = {tick: Decision(tick, reason=fate) for tick, fate in fates}
        for decision in [*self._catch_up(late), *self._on_time([t for t, fate in fates if fate == "on_time"])]:
            decisions[decision.tick] = decision
        ordered = [decisions[tick] for tick, _ in fates]
        self._replace_unborn(ordered, late)
        if self.schedule.moved is not None:
            moved_run = decisions[self.schedule.moved[0]].run if self.schedule.moved[0] in decisions else None
            for decision in ordered:
                if decision.reason == "rescheduled":
                    decision.behind = moved_run
        self.cancelled = [run for run in self.cancelled if run in self.existing]
        return ordered

    def _fates(self) -> list[tuple[int, str]]:
        schedule, shape, offset = self.schedule, self.shape, self.offset
        horizon = floor(self.now) - offset
        after = schedule.planned_until
        moved = schedule.moved
        moved_is_due = moved is not None and moved[1] <= self.now
        fates: list[tuple[int, str]] = []
        if schedule.skip_until is not None:
            # A moved tick behind the skipped ones may be due before they have come: it ends their wait.
            told = schedule.skip_until if moved_is_due else min(schedule.skip_until, horizon)
            fates += [(tick, "operator") for tick in shape.ticks(after, told)]
            after = max(after, told)
        if moved is not None:
            if not moved_is_due:
                return fates
            tick, due_at = moved
            fates.append((tick, self._lateness(due_at)))
            fates += [(passed, "rescheduled") for passed in shape.ticks(tick, due_at - offset)]
            after = max(tick, due_at - offset)
        for tick in shape.ticks(after, horizon):
            fates.append((tick, "calendar" if shape.excludes(tick) else self._lateness(tick + offset)))
        return fates

    def _lateness(self, due_at: int) -> str:
        late = self.now - due_at
        if self.shape.start_limit is not None and late > self.shape.start_limit:
            return "misfire"
        return "late" if late > self.shape.grace else "on_time"

    def _catch_up(self, late: list[int]) -> list[Decision]:
        policy = self.shape.catch_up
        if not late:
            return []
        if policy == "skip":
            return [Decision(tick, reason="misfire") for tick in late]
        if policy == "all":
            kept = late[-self.shape.catch_up_limit :]
            older = [Decision(tick, reason="limit") for tick in late[: -self.shape.catch_up_limit]]
            return older + [Decision(tick, self._start(tick, "catch_up")) for tick in kept]
        if (blocker := self._blocker()) is not None:
            return [Decision(tick, reason="overlap", behind=blocker) for tick in late]
        label = late[0] if policy == "one" else late[-1]
        covers = (late[0], late[-1], len(late)) if len(late) > 1 else None
        run = self._start(label, "catch_up", covers)
        return [
            Decision(tick, run) if tick == label else Decision(tick, reason="coalesced", behind=run) for tick in late
        ]

    def _on_time(self, ticks: list[int]) -> list[Decision]:
        decisions = []
        for tick in ticks:
            if (blocker := self._blocker()) is not None:
                decisions.append(Decision(tick, reason="overlap", behind=blocker))
            else:
                decisions.append(Decision(tick, self._start(tick, "schedule")))
        return decisions

    def _blocker(self) -> ModelRun | None:
        """The run on whose account the policy says no to one more."""
        if len(self.ticking) < self.shape.max_concurrent:
            return None
        if self.shape.overlap == "skip":
            return self.ticking[0]
        if self.shape.overlap == "queue":
            return next((run for run in self.ticking if run.status == "waiting"), None)
        return None

    def _start(self, tick: int, origin: str, covers: tuple[int, int, int] | None = None) -> ModelRun:
        shape, most = self.shape, self.shape.max_concurrent
        in_order = origin == "catch_up" and shape.catch_up == "all"
        if shape.overlap == "replace" and not in_order and len(self.ticking) >= most:
            self.cancelled += [run for run in self.ticking if run.status != "running"]
            self.ticking = [run for run in self.ticking if run.status == "running"]
            surplus = max(0, len(self.ticking) + 1 - most)
            self.stopped = self.ticking[:surplus]
        waits = shape.overlap != "allow" and len(self.ticking) + self.others >= most
        moved = self.schedule.moved
        due_at = moved[1] if moved is not None and moved[0] == tick else tick + self.offset
        limit = shape.start_limit
        run = ModelRun(
            self.schedule.name,
            tick,
            origin,
            "waiting" if waits else "queued",
            due_at,
            due_at,
            shape,
            self.schedule.revision,
            start_by=None if limit is None else due_at + limit,
            covers=covers,
        )
        self.ticking.append(run)
        return run

    def _replace_unborn(self, decisions: list[Decision], late: list[int]) -> None:
        """A run that a later tick of the same look replaces is never made: its ticks stand behind what is."""
        unborn = [run for run in self.cancelled if run not in self.existing]
        if not unborn:
            return
        first = next(d.run for d in decisions if d.run is not None and d.run not in unborn)
        lates = set(late) if self.shape.catch_up != "skip" else set()
        for decision in decisions:
            if decision.run in unborn or (decision.tick in lates and decision.run is None):
                decision.run, decision.reason, decision.behind = None, "overlap", first
