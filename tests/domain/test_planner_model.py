"""The planner against the oracle, in random histories of one schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.definitions import to_definition
from lab.oracle import planner as oracle
from lab.oracle.schedule import CommandRefused, TickDecision, TickOverride
from lab.oracle.schedule import Schedule as ExpectedSchedule
from lab.oracle.spec import NAMESPACE, ClosedDays, Spec
from lab.oracle.triggers import Interval, utc
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.ticks import ClearOverride, Override, Reschedule, Skip
from tickbird.domain.planning.plan import ActiveRun, Facts, Plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.schedules import tick_overrides
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.schedule import Schedule

# Half an hour before a Saturday, so that calendars matter for small steps too.
START = int(datetime(2026, 1, 2, 23, 30, tzinfo=UTC).timestamp())
# Schedules that exist; there is no third one.
OTHERS = ("load", "clean")
NAME = "model"


@dataclass
class ModelRun(oracle.Run):
    """A run with the dependencies that it waits for, and their periods."""

    waits_for: dict[str, tuple[int, int]] = field(default_factory=dict)
    held: bool = False


class History:
    """One schedule of the product, the same schedule of the oracle, and its runs."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.now = float(START)
        self.schedule = Schedule(1, NAMESPACE, NAME, 1, "active", to_definition(spec))
        self.expected = ExpectedSchedule(NAME, spec)
        self.runs: list[ModelRun] = []
        self.last_id = 0
        self.successes: dict[str, int | None] = dict.fromkeys(OTHERS)
        # A schedule that is new gets its first pass and does not fire; one that is already over is a misfire.
        self._follow(plan(self.schedule, Facts(), self.now), self.expected.create(spec, self.now, by_code=True))

    @property
    def active(self) -> list[ModelRun]:
        return [run for run in self.runs if run.status in ("waiting", "queued", "running") and not run.held]

    def act(self, action: str, number: int) -> None:
        self._expire()
        startable = [run for run in self.active if not run.waits_for]
        if action == "success":
            self._succeed(OTHERS[number % 2])
        elif action == "manual":
            self.last_id += 1
            self.runs.append(ModelRun(self.last_id, "queued", of_tick=False))
        elif action == "start":
            for run in [run for run in startable if run.status != "running"][:number]:
                run.status = "running"
        elif action == "finish":
            for run in startable[:number]:
                run.status = "succeeded"
        elif action == "release":
            for run in [run for run in self.runs if run.held][:number]:
                run.held = False
        else:
            # As in a store: first the due ticks, then the command.
            self._pass()
            if action != "pass":
                self._command(action, number)

    def _expire(self) -> None:
        for run in self.active:
            if any(until < self.now for _, until in run.waits_for.values()):
                run.status = "cancelled"

    def _succeed(self, name: str) -> None:
        self.successes[name] = int(self.now)
        for run in self.active:
            since, until = run.waits_for.get(name, (0, -1))
            if since <= self.now <= until:
                del run.waits_for[name]

    def _facts(self) -> Facts:
        active = [
            ActiveRun(run.id, run.status, "schedule" if run.of_tick else "manual", awaits=bool(run.waits_for))  # type: ignore[arg-type]
            for run in self.active
        ]
        successes = {name: LastSuccess(OTHERS.index(name), at) for name, at in self.successes.items()}
        return Facts(tuple(active), held=any(run.held for run in self.runs), successes=successes)

    def _pass(self) -> None:
        facts, active = self._facts(), self.active
        planned = plan(self.schedule, facts, self.now)
        runs = [oracle.Run(run.id, run.status, run.of_tick, bool(run.waits_for)) for run in active]
        expected = oracle.plan(self.expected, self.now, runs, held=facts.held, successes=self.successes)
        self._follow(planned, list(expected.decisions))
        assert list(planned.cancel) == list(expected.cancelled)
        assert sorted(planned.stop) == sorted(expected.stopped)
        for run in active:
            run.status = "cancelled" if run.id in expected.cancelled else run.status
        for decision in expected.decisions:
            if decision.outcome == "run":
                self.last_id += 1
                waits_for = {name: (since, until) for name, since, until in decision.awaits}
                self.runs.append(ModelRun(self.last_id, decision.status, waits_for=waits_for, held=decision.held))
        # A second pass at the same instant decides nothing.
        again = plan(self.schedule, self._facts(), self.now)
        assert (again.runs, again.skips, again.cursor) == ((), (), self.schedule.cursor)

    def _command(self, action: str, number: int) -> None:
        """Both refuse it, or neither does."""
        command, change = self._commands(action, number)
        try:
            changed = command.change(self.schedule, Facts(), self.now).plan
        except (ConflictError, InvalidError):
            with pytest.raises(CommandRefused):
                change()
        else:
            self._follow(changed, change())

    def _commands(self, action: str, number: int) -> tuple[Command, Callable[[], list[TickDecision]]]:
        now, expected, step = self.now, self.expected, step_of(self.spec)
        until = int(now) + 1 + number * step
        if action == "skip":
            return Skip(actor="ada", count=number + 1), lambda: expected.skip(number + 1)
        if action == "reschedule":
            return Reschedule(actor="ada", to=until), lambda: expected.reschedule(until, now)
        if action == "pause":
            end = until if number else None
            return Pause(actor="ada", until=end), lambda: expected.pause(end, now)
        if action == "resume":
            return Resume(actor="ada"), lambda: expected.resume(now)
        ticks = self.spec.ticks(expected.planned_until + 1, expected.planned_until + 8 * step)
        ticks = (list(expected.tick_overrides) if action == "undo" else ticks) or [START]
        tick = ticks[(number * 3 + int(now)) % len(ticks)]
        if action == "undo":
            return ClearOverride(actor="ada", tick=tick), lambda: expected.clear_override(tick)
        what = (int(now) // 7) % 4
        move = tick + expected.offset + (-2 * step, -1, 0, 1, 3 * step, 4 * step)[number] if what in (1, 3) else None
        override = TickOverride(int(now), what == 0, move, payload=what in (2, 3))
        payload = {"own": 1} if override.payload else None
        command = Override(actor="ada", tick=tick, skip=override.skip, move_to=move, payload=payload)
        return command, lambda: expected.override(tick, override, now)

    def _follow(self, planned: Plan, expected: list[TickDecision]) -> None:
        """The product decided as expected, and has the expected state."""
        assert decisions_of(planned, self.spec) == expected
        self.schedule = replace(
            self.schedule, cursor=planned.cursor, state=planned.state, pause=planned.pause, error=planned.error
        )
        cursor, schedule = planned.cursor, self.expected
        assert planned.state == schedule.state
        assert (cursor.planned_until, cursor.next_run_at) == (schedule.planned_until, schedule.next_wakeup)
        assert (cursor.runs_planned, cursor.skip_until) == (schedule.runs_planned, schedule.skip_until)
        assert {one.tick: as_override(one) for one in cursor.tick_overrides} == schedule.tick_overrides


def as_override(override: tick_overrides.TickOverride) -> TickOverride:
    return TickOverride(override.created_at, override.skip, override.due_at, override.payload is not None)


def decisions_of(planned: Plan, spec: Spec) -> list[TickDecision]:
    """The decision about each tick; a duplicate tick or a wrong count is an error."""
    decisions = []
    for run in planned.runs:
        assert run.scheduled_for is not None
        assert run.due_at is not None
        assert spec.has_tick(run.scheduled_for)
        assert run.payload == (None if run.override is None else run.override.payload)
        decisions.append(
            TickDecision(
                run.scheduled_for,
                "run",
                origin=run.origin,
                status=run.status,
                due_at=run.due_at,
                start_by=run.start_by,
                covers=run.covers,
                held=run.held,
                awaits=tuple((OTHERS[wait.schedule_id], wait.earliest_at, wait.deadline_at) for wait in run.awaits),
                override=None if run.override is None else as_override(run.override),
            )
        )
    for skip in planned.skips:
        ticks = spec.ticks(skip.first, skip.last)
        assert (skip.first, skip.last, skip.count) == (ticks[0], ticks[-1], len(ticks))
        assert skip.blocked_by_new is None or skip.blocked_by_new < len(planned.runs)
        blocker = skip.blocked_by if skip.blocked_by_new is None else -1 - skip.blocked_by_new
        decisions += [TickDecision(tick, skip.reason, blocker) for tick in ticks]
    assert len({decision.tick for decision in decisions}) == len(decisions)
    return sorted(decisions, key=lambda decision: decision.tick)


def step_of(spec: Spec) -> int:
    assert isinstance(spec.form, Interval)
    return spec.form.step


LENGTHS = st.sampled_from([0, 0, 1, 2, 3, 8, 40])
WEEKEND = ClosedDays((5, 6), (date(2026, 1, 5),))


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    step = draw(st.sampled_from([1, 2, 7, 30, 60, 3600, 43_200]))
    anchor = utc(START + draw(st.integers(0, step - 1))).replace(tzinfo=None)
    policies: dict[str, Any] = {
        "catch_up": draw(st.sampled_from(["one", "latest", "all", "skip"])),
        "catch_up_limit": draw(st.sampled_from([1, 3, 100])),
        "grace": draw(st.sampled_from([0, 1, 10, 3 * step])),
        "start_within": draw(st.sampled_from([None, None, 0, 5, 2 * step, 20 * step])),
        "overlap": draw(st.sampled_from(["skip", "queue", "replace", "allow"])),
        "max_concurrent": draw(st.sampled_from([1, 1, 2, 3])),
        "max_runs": draw(st.sampled_from([None, None, 1, 4])),
        "spread": draw(st.sampled_from([0, 0, 2, step, 5 * step])),
        "shadow": draw(st.sampled_from([False] * 7 + [True])),
        "exclude": draw(st.sampled_from([ClosedDays(), ClosedDays(), ClosedDays((5,)), WEEKEND])),
    }
    if policies["catch_up"] == "all":
        policies["hold_above"] = draw(st.sampled_from([None, None, 0, 2]))
    if draw(st.booleans()):
        maximum = policies["start_within"] if policies["start_within"] is not None else 10**9
        maximum = min(maximum, policies["grace"]) if policies["catch_up"] == "skip" else maximum
        names = draw(st.lists(st.sampled_from((*OTHERS, *OTHERS, "none")), max_size=3, unique=True))
        policies["depends_on"] = tuple(
            (name, draw(LENGTHS) * step // 2, min(maximum, draw(LENGTHS) * step // 2)) for name in names
        )
    if draw(st.booleans()):
        policies["start_at"] = START + draw(st.integers(-1, 20)) * step + draw(st.integers(0, 1))
    if draw(st.booleans()):
        policies["end_at"] = max(START + draw(st.integers(0, 60)) * step, policies.get("start_at", 0))
    return Spec(Interval("seconds", step, anchor=anchor), **policies)


ACTIONS = ["pass"] * 8 + ["start", "finish", "success"] * 3 + ["manual", "skip", "reschedule", "pause", "resume"]
ACTIONS += ["override"] * 6 + ["undo", "release"]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(ACTIONS),
        # How far time advances: in steps of the grid, and in microseconds.
        st.sampled_from([0, 0, 1, 1, 1, 2, 3, 10, 30]),
        st.sampled_from([0.0, 0.0, 0.001, 0.5, 1.0, 9.999, 10.0, 11.0]),
        st.integers(0, 5),
    ),
    max_size=16,
)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(specs(), STEPS)
def test_planner_agrees_with_the_oracle(spec: Spec, steps: list[tuple[str, int, float, int]]) -> None:
    history = History(spec)
    for action, count, part, number in steps:
        history.now += count * step_of(spec) + part
        history.act(action, number)
