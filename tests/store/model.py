"""The runs and skips that a store must hold after each step of a history; the oracle decides about the ticks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import floor

from lab.oracle.planner import Run, plan
from lab.oracle.schedule import CommandRefused, Schedule, TickDecision, TickOverride
from lab.oracle.spec import Spec

ACTIVE = ("waiting", "queued", "running")
TICK_ORIGINS = ("schedule", "catch_up")


@dataclass(eq=False)
class ModelRun:
    """A run as the store must hold it."""

    schedule: str
    tick: int | None
    origin: str
    status: str
    due_at: float
    available_at: float
    spec: Spec
    revision: int
    start_by: float | None = None
    covers: tuple[int, int, int] | None = None
    override: TickOverride | None = None
    # 0 until the store assigns it.
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
    # The minute up to which runs of other schedules go first.
    burst_until: int = 0

    @property
    def active(self) -> bool:
        return self.status in ACTIVE


@dataclass(frozen=True)
class Range:
    """Consecutive ticks that share a skip."""

    reason: str
    revision: int
    blocker: ModelRun | int | None
    first: int
    last: int
    count: int = 1

    @property
    def kind(self) -> tuple[object, ...]:
        blocker = self.blocker
        return self.reason, self.revision, (blocker.id or blocker) if isinstance(blocker, ModelRun) else blocker


@dataclass
class ModelSchedule(Schedule):
    """A schedule with its part of the ledger."""

    skips: list[Range] = field(default_factory=list)
    # Every tick that ever had a run, including pruned ones.
    ran: frozenset[int] = frozenset()
    # The minute until which its newest run is deferred.
    burst_until: int = 0

    def record(self, ranges: Iterable[Range]) -> None:
        self.skips = [*self.skips[:-1], *self.merge([*self.skips[-1:], *ranges])]

    def merge(self, ranges: Iterable[Range]) -> list[Range]:
        """Ranges of the same kind as a single one, if no tick with another decision is between them."""
        merged: list[Range] = []
        for new in ranges:
            last = merged[-1] if merged else None
            if last is not None and last.kind == new.kind and not self._is_between(new.revision, last.last, new.first):
                merged[-1] = replace(last, last=new.last, count=last.count + new.count)
            else:
                merged.append(new)
        return merged

    def _is_between(self, revision: int, last: int, first: int) -> bool:
        between = self.specs.get(revision, self.spec).ticks(last + 1, first - 1)
        return any(tick in self.ran or tick in self.done for tick in between)


class Model:
    """A model of a store with the same verbs; `now` is seconds since the epoch."""

    def __init__(self) -> None:
        self.schedules: dict[str, ModelSchedule] = {}
        self.runs: list[ModelRun] = []

    def copy(self) -> Model:
        other = Model()
        twins = {run: copy.copy(run) for run in self.runs}
        other.runs = list(twins.values())
        for name, schedule in self.schedules.items():
            skips = [
                replace(skip, blocker=twins.get(skip.blocker, skip.blocker))
                if isinstance(skip.blocker, ModelRun)
                else skip
                for skip in schedule.skips
            ]
            other.schedules[name] = replace(schedule, skips=skips)
        return other

    # Schedules

    def active_runs(self, name: str) -> list[ModelRun]:
        """Its runs that are not final, oldest first."""
        return [run for run in self.runs if run.schedule == name and run.active]

    def plan_due(self, now: float) -> None:
        for schedule in self.schedules.values():
            self._plan(schedule, now)

    def _plan(self, schedule: ModelSchedule, now: float) -> None:
        active = self.active_runs(schedule.name)
        planned = plan(schedule, now, [Run(run.id, run.status, run.origin in TICK_ORIGINS) for run in active])
        new = [self._run(schedule, decision) for decision in planned.decisions if decision.outcome == "run"]
        assert schedule.ran.isdisjoint(run.tick for run in new), "the oracle decided a tick twice"
        schedule.ran |= {run.tick for run in new if run.tick is not None}
        self._record(schedule, schedule.revision, planned.decisions, new)
        self.runs += new
        self._limit_burst(schedule, new, now)
        for run in active:
            if run.id in planned.cancelled:
                self._cancel(run, "replaced", now)
            run.asked_to_stop |= run.id in planned.stopped
        if planned.cancelled:
            self.release([schedule.name], now)

    def _run(self, schedule: ModelSchedule, decision: TickDecision) -> ModelRun:
        due_at = decision.due_at
        return ModelRun(
            schedule.name,
            decision.tick,
            decision.origin,
            decision.status,
            due_at,
            due_at,
            schedule.spec,
            schedule.revision,
            decision.start_by,
            decision.covers,
            decision.override,
        )

    def _record(
        self, schedule: ModelSchedule, revision: int, decisions: Iterable[TickDecision], new: list[ModelRun]
    ) -> None:
        by_id = {run.id: run for run in self.runs} | {-number: run for number, run in enumerate(new, 1)}
        skips = [decision for decision in decisions if decision.outcome != "run"]
        schedule.record(
            Range(skip.outcome, revision, skip.blocker and by_id[skip.blocker], skip.tick, skip.tick) for skip in skips
        )

    def create(self, name: str, spec: Spec, now: float, *, by_code: bool) -> None:
        schedule = self.schedules.setdefault(name, ModelSchedule(name, spec))
        decisions = schedule.create(spec, now, by_code=by_code)
        self._record(schedule, schedule.revision, decisions, [])

    def change(
        self,
        name: str,
        now: float,
        command: Callable[[ModelSchedule], list[TickDecision]],
        *,
        cancel_runs: bool = False,
    ) -> None:
        """Plan due ticks, then change the schedule; the skips of a command have the previous revision."""
        schedule = self.schedules.get(name)
        if schedule is None or schedule.state == "deleted":
            raise CommandRefused
        self._plan(schedule, now)
        revision = schedule.revision
        self._record(schedule, revision, command(schedule), [])
        for run in self.active_runs(name) if cancel_runs else ():
            if run.status == "running":
                run.asked_to_stop = True
            else:
                self._cancel(run, None, now)

    def trigger(self, name: str, now: float) -> ModelRun:
        self.change(name, now, lambda _: [])
        schedule = self.schedules[name]
        spec = schedule.spec
        waits = spec.overlap != "allow" and len(self.active_runs(name)) >= spec.max_concurrent
        status = "waiting" if waits else "queued"
        run = ModelRun(name, None, "manual", status, now, now, spec, schedule.revision)
        self.runs.append(run)
        self._limit_burst(schedule, [run], now)
        return run

    def _limit_burst(self, schedule: ModelSchedule, new: list[ModelRun], now: float) -> None:
        """Of overlapping runs, all but one per minute are deferred, except ticks on time."""
        minute = floor(now / 60)
        for run in new:
            if run.spec.overlap == "allow":
                if run.origin != "schedule":
                    schedule.burst_until = max(minute, schedule.burst_until + 1)
                run.burst_until = schedule.burst_until if schedule.burst_until > minute else 0

    # Runs

    def release(self, names: Iterable[str], now: float) -> None:
        """Queue the oldest waiting runs while slots are free."""
        for name in names:
            active = self.active_runs(name)
            busy = sum(run.status != "waiting" for run in active)
            for run in active:
                if run.status != "waiting":
                    continue
                if run.spec.overlap != "allow" and busy >= run.spec.max_concurrent:
                    break
                run.status, run.available_at, run.burst_until = "queued", max(run.available_at, now), 0
                busy += 1

    def _cancel(self, run: ModelRun, reason: str | None, now: float) -> None:
        run.status, run.finished_at, run.reason = "cancelled", now, reason

    def available(self, now: float) -> list[ModelRun]:
        """The runs of a claim, in order."""
        available = [
            run
            for run in self.runs
            if run.status == "queued" and run.available_at <= now and (run.start_by is None or run.start_by >= now)
        ]
        return sorted(available, key=lambda run: (-run.spec.priority, run.burst_until, run.available_at, run.id))

    def claim(self, run: ModelRun, worker: str, lease: float, now: float) -> None:
        run.status, run.worker, run.attempt = "running", worker, run.attempt + 1
        run.started_at, run.lease_until = now, now + lease

    def finish(self, run: ModelRun, how: str, now: float, delay: float) -> None:
        """End the current attempt: `retry` and `drain` requeue it, unless a stop was requested."""
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
        if not run.active:
            raise CommandRefused
        if run.status == "running":
            run.asked_to_stop = True
            return
        self._cancel(run, None, now)
        self.release([run.schedule], now)

    def rescue(self, now: float) -> None:
        """Expired leases, runs that did not start in time, and waiting runs with a free slot."""
        for run in self.runs:
            if run.status == "running" and run.lease_until is not None and run.lease_until < now:
                run.crashes += 1
                run.lease_until = None
                if not run.asked_to_stop and run.crashes <= run.spec.crash_limit:
                    run.status, run.available_at, run.start_by = "queued", now, None
                else:
                    run.status, run.finished_at = "cancelled" if run.asked_to_stop else "failed", now
            elif run.status in ("waiting", "queued") and run.start_by is not None and run.start_by < now:
                self._cancel(run, "misfire", now)
        for run in self.runs:
            if run.status == "queued" and 60 * run.burst_until < now:
                run.burst_until = 0
        self.release(list(self.schedules), now)

    def prune(self, older_than: float, keep: int, now: float) -> int:
        """Final runs of that age, but not the newest of each schedule."""
        pruned = []
        for name in self.schedules:
            newest = [run for run in self.runs if run.schedule == name][::-1]
            pruned += [
                run
                for run in newest[keep:]
                if not run.active and run.finished_at is not None and run.finished_at < now - older_than
            ]
        self.runs = [run for run in self.runs if run not in pruned]
        return len(pruned)
