"""Schedules for the planner, and its plans as plain tuples; seconds count from T0."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tickbird.domain.planning.plan import NO_FACTS, ActiveRun, Facts, Plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.runs.run import Origin, Status
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import TickOverride
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger

T0 = datetime(2026, 1, 1, tzinfo=UTC)
BASE = to_seconds(T0)
MINUTE = every(seconds=60)
DAY = 86_400


def later(seconds: int) -> datetime:
    return T0 + timedelta(seconds=seconds)


def schedule(
    trigger: Trigger = MINUTE, *, until: int | None = 0, cursor: Cursor | None = None, **policies: Any
) -> Schedule:
    """An active schedule that is decided up to T0."""
    definition = Definition(trigger=trigger, target=Target("work"), **policies)
    reached = None if until is None else BASE + until
    return Schedule(1, "default", "clock", 3, "active", definition, cursor or Cursor(planned_until=reached))


def paused(until: int | None, **options: Any) -> Schedule:
    pause = PauseState("ada", until=None if until is None else BASE + until)
    return replace(schedule(**options), state="paused", pause=pause)


def move(tick: int, due: int) -> TickOverride:
    return TickOverride(BASE + tick, "ada", BASE, due_at=BASE + due)


def moved(tick: int, due: int, **options: Any) -> Schedule:
    return schedule(cursor=Cursor(planned_until=BASE, tick_overrides=(move(tick, due),)), **options)


def done(*ticks: int) -> tuple[TickOverride, ...]:
    return tuple(TickOverride(BASE + tick, decided_early=True) for tick in ticks)


def facts(*active: tuple[int, Status] | tuple[int, Status, Origin]) -> Facts:
    return Facts(tuple(ActiveRun(run[0], run[1], run[2] if len(run) > 2 else "schedule") for run in active))


def look(made: Schedule, seconds: float, known: Facts = NO_FACTS) -> Plan:
    return plan(made, known, BASE + seconds)


def runs(made: Plan) -> list[tuple[int | None, str, str]]:
    return [(since(run.scheduled_for), run.origin, run.status) for run in made.runs]


def skips(made: Plan) -> list[tuple[Any, ...]]:
    """Reason, first, last, count, and the blocker: the id of a run, or "#0" for the plan's first."""
    return [
        (skip.reason, skip.first - BASE, skip.last - BASE, skip.count, *_behind(skip.blocked_by, skip.blocked_by_new))
        for skip in made.skips
    ]


def _behind(run_id: int | None, under: int | None) -> list[Any]:
    return [run_id] if run_id is not None else [] if under is None else [f"#{under}"]


def since(instant: int | None) -> int | None:
    return None if instant is None else instant - BASE
