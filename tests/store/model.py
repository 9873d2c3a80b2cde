"""What a store must hold after each step of a history, decided tick by tick and run by run in the plainest way."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import floor
from typing import Any

from tests.store.grids import Shape

LATENESS = ("misfire", "late", "on_time")
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
    told: Told | None = None
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
    # The minute until which it stands behind the line of its queue; none if it stands in it.
    behind: int = 0

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


@dataclass(frozen=True)
class Told:
    """What a person decided for one tick: that it is skipped, due at another instant, or has a payload of its own."""

    made: int
    skip: bool = False
    due: int | None = None
    payload: bool = False


@dataclass
class ModelSchedule:
    """A schedule as it must stand."""

    name: str
    shape: Shape
    state: str = "active"
    revision: int = 0
    planned_until: int = 0
    # Ticks that were decided ahead of their time, on whatever grid; those that are still to come count.
    done: set[int] = field(default_factory=set)
    runs_planned: int = 0
    told: dict[int, Told] = field(default_factory=dict)
    skip_until: int | None = None
    # The minute until which the last of those runs stands behind the line that it made many of at once.
    line: int = 0
    pause_until: int | None = None
    by_code: bool = False
    # Of one from code: the fields that a person has set.
    overrides: set[str] = field(default_factory=set)
    shapes: dict[int, Shape] = field(default_factory=dict)
    skips: list[Range] = field(default_factory=list)
    # Every tick that ever had a run, also one that was pruned.
    ever: set[int] = field(default_factory=set)

    def parts(self, revision: int, last: int, first: int) -> bool:
        """Does a tick that has another decision lie between two ticks, on the grid of that revision?"""
        between = self.shapes.get(revision, self.shape).ticks(last, first - 1)
        return any(tick in self.ever or tick in self.done for tick in between)


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
            told, done = dict(schedule.told), set(schedule.done)
            other.schedules[name] = replace(schedule, skips=skips, shapes=shapes, ever=ever, told=told, done=done)
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

    def next_wakeup(self, schedule: ModelSchedule) -> int | None:
        """When something is to be decided about it next."""
        if schedule.state == "paused":
            return schedule.pause_until
        maximum = schedule.shape.max_runs
        if schedule.state != "active" or (maximum is not None and schedule.runs_planned >= maximum):
            return None
        tick = self.following(schedule, schedule.planned_until)
        dues: list[int] = []
        # Ticks to skip are recorded when they come, or with the one behind them if that is due before.
        while tick is not None and self.is_skipped(schedule, tick):
            dues.append(tick + self.offset(schedule))
            tick = self.following(schedule, tick)
        return min(dues if tick is None else [*dues, self.due_at(schedule, tick)], default=None)

    def following(self, schedule: ModelSchedule, after: int) -> int | None:
        """The first tick after an instant that is still to be decided."""
        tick = schedule.shape.next(after)
        while tick is not None and tick in schedule.done:
            tick = schedule.shape.next(tick)
        return tick

    def due_at(self, schedule: ModelSchedule, tick: int) -> int:
        """When a tick is due."""
        told = schedule.told.get(tick)
        return tick + self.offset(schedule) if told is None or told.due is None else told.due

    def is_skipped(self, schedule: ModelSchedule, tick: int) -> bool:
        """Is a tick not to run, since a person said so? What was said of it alone counts first."""
        if tick in schedule.done:
            return True
        told = schedule.told.get(tick)
        return told.skip if told is not None else schedule.skip_until is not None and tick <= schedule.skip_until

    def coming(self, schedule: ModelSchedule, horizon: int) -> list[tuple[int, str]]:
        """The ticks that can be decided when those up to `horizon` are due, in order, and why they do not run."""
        found: list[tuple[int, str]] = []
        early: list[tuple[int, str]] = []
        passed, offset = 0, self.offset(schedule)
        for tick in schedule.shape.ticks(schedule.planned_until, max([horizon, *schedule.told])):
            told = schedule.told.get(tick)
            if tick in schedule.done:
                (found if tick <= horizon else early).append((tick, "done"))
            elif tick <= passed:
                found.append((tick, "rescheduled"))
            elif told is not None and told.due is not None:
                if told.due - offset > horizon:
                    break
                found += [*early, (tick, "")]
                early, passed = [], told.due - offset
            elif self.is_skipped(schedule, tick):
                (found if tick <= horizon else early).append((tick, "operator"))
            elif tick > horizon:
                break
            else:
                found.append((tick, ""))
        return found

    def is_due(self, schedule: ModelSchedule, now: float) -> bool:
        """Would a planner look at it?"""
        look = self.next_wakeup(schedule)
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
        maximum = schedule.shape.max_runs
        made: list[ModelRun] = []
        for decision in look.decide():
            if decision.reason == "done":
                pass
            elif decision.run is None:
                self._record(schedule, schedule.revision, decision.reason, decision.behind, [decision.tick])
            elif maximum is not None and schedule.runs_planned >= maximum:
                break
            else:
                assert decision.tick not in schedule.ever, "the model itself decided a tick twice"
                schedule.ever.add(decision.tick)
                schedule.runs_planned += 1
                made.append(decision.run)
            schedule.planned_until = decision.tick
        self.runs += made
        self._line_up(schedule, made, now)
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
        joins = last and not schedule.parts(revision, last.last, new.first)
        if last and joins and (last.reason, last.revision, last.behind) == (reason, revision, behind):
            last.last, last.count = new.last, last.count + new.count
        else:
            schedule.skips.append(new)

    def _pass_over(self, schedule: ModelSchedule, reason: str, until: int) -> None:
        ticks = [tick for tick, _ in self.coming(schedule, until)]
        # One that is moved to a later instant still runs then.
        waiting = [t for t, told in schedule.told.items() if told.due is not None and t > max([0, *ticks])]
        waiting = [tick for tick in waiting if schedule.told[tick].due - self.offset(schedule) > until]  # type: ignore[operator]
        until = min([max([until, *ticks]), *(tick - 1 for tick in waiting)])
        for tick in ticks:
            if tick not in schedule.done:
                self._record(schedule, schedule.revision, reason, None, [tick])
        schedule.planned_until = max(schedule.planned_until, until)
        self._forget_passed(schedule, until)

    def _leave_grid(self, schedule: ModelSchedule, reason: str, now: float) -> None:
        """What is past and not due yet lies on the grid that is being left."""
        schedule.told, schedule.skip_until = {}, None
        if schedule.state in ("active", "paused"):
            self._pass_over(schedule, "paused" if schedule.state == "paused" else reason, floor(now))
        self._begin_anew(schedule, floor(now))

    def _begin_anew(self, schedule: ModelSchedule, now: int) -> None:
        """Another grid begins now: what is decided of later ticks is remembered one by one."""
        ahead = [*schedule.shape.ticks(now, schedule.planned_until), schedule.planned_until]
        schedule.done = schedule.done | {tick for tick in ahead if tick > now}
        schedule.planned_until = now

    def _passed(self, schedule: ModelSchedule, tick: int, told: Told) -> int:
        """How many ticks the move of one passes over."""
        if told.due is None:
            return 0
        return len(schedule.shape.ticks(tick, told.due - self.offset(schedule)))

    def _take_along(self, schedule: ModelSchedule, told: dict[int, Told], passed: dict[int, int]) -> None:
        """What was decided for ticks that the new grid has too; of moves the newest go first where they do not fit."""
        for tick, each in sorted(told.items()):
            there = schedule.shape.next(tick - 1) == tick and tick > schedule.planned_until
            if there and self._passed(schedule, tick, each) == passed[tick]:
                schedule.told[tick] = each
        while not self._in_order(schedule, schedule.told):
            moves = [tick for tick, each in schedule.told.items() if each.due is not None]
            del schedule.told[max(moves, key=lambda tick: schedule.told[tick].made)]

    def _in_order(self, schedule: ModelSchedule, told: dict[int, Told]) -> bool:
        """Is nothing told of a tick that a move passes over, and is no tick moved before the one before it?"""
        trial, offset = replace(schedule, told=told), self.offset(schedule)

        def passing(tick: int) -> list[int]:
            return [each.due for t, each in told.items() if each.due is not None and t < tick <= each.due - offset]

        for tick, each in told.items():
            if passing(tick):
                return False
            before = [
                t for t in schedule.shape.ticks(schedule.planned_until, tick - 1) if not self.is_skipped(trial, t)
            ]
            if each.due is not None and before:
                decided_at = min(passing(before[-1]), default=self.due_at(trial, before[-1]))
                if decided_at > each.due:
                    return False
        return True

    def _forget_passed(self, schedule: ModelSchedule, until: int) -> None:
        schedule.told = {tick: told for tick, told in schedule.told.items() if tick > until}
        if schedule.skip_until is not None and schedule.skip_until <= until:
            schedule.skip_until = None

    def _settle(self, schedule: ModelSchedule) -> None:
        if schedule.state == "active" and self.next_wakeup(schedule) is None:
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
        reached, done = schedule.planned_until, schedule.done
        # The clock may have gone back since it was deleted.
        self._begin_anew(schedule, start)
        schedule.shape, schedule.state, schedule.by_code, schedule.overrides = shape, "active", by_code, set()
        schedule.runs_planned = 0
        schedule.told, schedule.skip_until, schedule.pause_until = {}, None, None
        self._revise(schedule)
        self.schedules[name] = schedule
        missed = shape.last(start) if over else None
        if missed is not None and missed > reached and missed not in done:
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
        again = (
            schedule.state == "ended" and self.next_wakeup(replace(schedule, shape=after, state="active")) is not None
        )
        if again or before.grid != after.grid:
            told = schedule.told
            passed = {tick: self._passed(schedule, tick, each) for tick, each in told.items()}
            self._leave_grid(schedule, "edited", now)
            schedule.state = "paused" if schedule.state == "paused" else "active"
            schedule.shape = after
            self._take_along(schedule, told, passed)
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
        tick = self.following(schedule, schedule.planned_until)
        while tick is not None and self.is_skipped(schedule, tick):
            tick = self.following(schedule, tick)
        if tick is None:
            raise Refused
        return tick

    def _tell(self, schedule: ModelSchedule, told: dict[int, Told]) -> None:
        if not self._in_order(schedule, told):
            raise Refused
        schedule.told = dict(sorted(told.items()))
        self._revise(schedule)
        self._settle(schedule)

    def override(self, name: str, tick: int, told: Told, now: float) -> None:
        """Something else for one tick to come."""
        schedule = self.find(name)
        self.plan(schedule, now)
        if not self._is_open(schedule, tick) or (told.due is not None and told.due <= now):
            raise Refused
        if told.payload and told.due is None and schedule.shape.excludes(tick):
            raise Refused
        self._tell(schedule, {**schedule.told, tick: told})

    def undo(self, name: str, tick: int, now: float) -> None:
        """As if nothing had been decided for it."""
        schedule = self.find(name)
        self.plan(schedule, now)
        if not self._is_open(schedule, tick) or tick not in schedule.told:
            raise Refused
        self._tell(schedule, {other: told for other, told in schedule.told.items() if other != tick})

    def _is_open(self, schedule: ModelSchedule, tick: int) -> bool:
        known = schedule.state in ("active", "paused")
        there = schedule.shape.next(tick - 1) == tick and tick not in schedule.done
        return known and tick > schedule.planned_until and there

    def reschedule(self, name: str, to: int, now: float) -> None:
        """Another due_at for the next tick."""
        schedule = self.find(name)
        self.plan(schedule, now)
        tick = self._next_tick(schedule)
        if to <= now:
            raise Refused
        known = schedule.told.get(tick)
        moved = Told(floor(now), due=to, payload=known is not None and known.payload)
        self._tell(schedule, {**schedule.told, tick: moved})

    def skip(self, name: str, count: int, now: float) -> None:
        """The next ticks are not to run."""
        schedule = self.find(name)
        self.plan(schedule, now)
        first = last = self._next_tick(schedule)
        for _ in range(count - 1):
            last = self.following(schedule, last) or last
        schedule.told = {tick: told for tick, told in schedule.told.items() if not first <= tick <= last}
        schedule.skip_until = max(last, schedule.skip_until or 0)
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
        self._line_up(schedule, [run], now)
        return run

    def _line_up(self, schedule: ModelSchedule, made: list[ModelRun], now: float) -> None:
        """Of runs that are not held back by `overlap`, all but one a minute let others go first, save ticks on time."""
        minute = floor(now / 60)
        for run in made:
            if run.shape.overlap == "allow":
                if run.origin != "schedule":
                    schedule.line = max(minute, schedule.line + 1)
                run.behind = schedule.line if schedule.line > minute else 0

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
                run.status, run.available_at, run.behind = "queued", max(run.available_at, now), 0
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
        return sorted(found, key=lambda run: (-run.shape.priority, run.behind, run.available_at, run.id))

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
        for run in self.runs:
            if run.status == "queued" and 60 * run.behind < now:
                run.behind = 0
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
        self.model = model
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
        moves = {tick: told.due for tick, told in self.schedule.told.items() if told.due is not None}
        for decision in ordered:
            if decision.reason == "rescheduled":
                passing = next(t for t, due in moves.items() if t < decision.tick <= due - self.offset)
                decision.behind = decisions[passing].run
        self.cancelled = [run for run in self.cancelled if run in self.existing]
        return ordered

    def _fates(self) -> list[tuple[int, str]]:
        fates: list[tuple[int, str]] = []
        minimum = 0
        for tick, why_not in self.model.coming(self.schedule, floor(self.now) - self.offset):
            told = self.schedule.told.get(tick)
            if why_not:
                fates.append((tick, why_not))
                continue
            # Nothing is later than what is decided before it.
            minimum = max(minimum, LATENESS.index(self._lateness(self.model.due_at(self.schedule, tick))))
            closed = (told is None or told.due is None) and self.shape.excludes(tick)
            fates.append((tick, "calendar" if closed else LATENESS[minimum]))
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
        alone = self._alone(late)
        others = [tick for tick in late if tick not in alone]
        label = None if not others else others[0] if policy == "one" else others[-1]
        covers = (others[0], others[-1], len(others)) if len(others) > 1 else None
        runs = {
            tick: self._start(tick, "catch_up", covers if tick == label else None)
            for tick in late
            if tick == label or tick in alone
        }
        return [
            Decision(tick, runs[tick])
            if tick in runs
            else Decision(tick, reason="coalesced", behind=runs.get(label or 0))
            for tick in late
        ]

    def _alone(self, late: list[int]) -> list[int]:
        """Late ticks with a payload of their own get a run of their own, if there is room for all."""
        maximum = self.shape.max_runs
        room = len(late) if maximum is None else maximum - self.schedule.runs_planned
        alone = [tick for tick in late if (told := self.schedule.told.get(tick)) is not None and told.payload]
        if self.shape.overlap == "replace" or len(alone) + (len(alone) < len(late)) > room:
            return []
        return alone

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
        shape, maximum = self.shape, self.shape.max_concurrent
        in_order = origin == "catch_up" and shape.catch_up == "all"
        if shape.overlap == "replace" and not in_order and len(self.ticking) >= maximum:
            self.cancelled += [run for run in self.ticking if run.status != "running"]
            self.ticking = [run for run in self.ticking if run.status == "running"]
            surplus = max(0, len(self.ticking) + 1 - maximum)
            self.stopped = self.ticking[:surplus]
        waits = shape.overlap != "allow" and len(self.ticking) + self.others >= maximum
        due_at = self.model.due_at(self.schedule, tick)
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
            told=self.schedule.told.get(tick),
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
