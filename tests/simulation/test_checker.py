"""Expectations of the checker that were wrong once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from lab.oracle.schedule import TickDecision, TickOverride
from lab.oracle.spec import Spec
from lab.oracle.triggers import Interval
from lab.simulation.history import RunRow
from lab.simulation.waiters import Waiters
from lab.simulation.watched import Watched

SPECS = ((1, "allow"), (2, "queue"))


def watched(overrides: dict[int, TickOverride]) -> Watched:
    """A schedule that ticks every minute and is decided up to 100."""
    spec = Spec(Interval("seconds", 60))
    return Watched("work", spec, "active", planned_until=100, tick_overrides=overrides)


def left_of(overrides: dict[int, TickOverride], **edit: Any) -> list[int]:
    """For which ticks there is still a decision after an edit."""
    schedule = watched(dict(overrides))
    schedule.sync(replace(schedule.spec, **edit), 100)
    return list(schedule.tick_overrides)


def test_a_decision_with_a_payload_ends_with_its_task() -> None:
    overrides = {
        180: TickOverride(100, due_at=200, payload=True),
        300: TickOverride(100, due_at=310),
        360: TickOverride(100, payload=True),
    }
    assert left_of(overrides, task="block") == left_of(overrides, task="block", start_at=50) == [300]
    assert left_of(overrides, retries=2) == left_of(overrides, start_at=50) == [180, 300, 360]


def test_a_tick_is_decided_after_the_previous_one() -> None:
    schedule = watched({})
    # Moved to 310; afterwards earlier ticks got a spread.
    assert (
        schedule.turn_of(300, 310, [TickDecision(240, "run", due_at=320), TickDecision(300, "run", due_at=310)]) == 320
    )
    assert schedule.turn_of(300, 170, [TickDecision(240, "operator"), TickDecision(300, "run", due_at=170)]) == 170
    assert schedule.turn_of(300, 300, [TickDecision(240, "overlap"), TickDecision(300, "run", due_at=300)]) == 300


def row(run_id: int, revision: int, status: str = "waiting") -> RunRow:
    """A manual run of schedule 1."""
    known = {"id": run_id, "schedule_id": 1, "revision": revision, "status": status, "origin": "manual", "lane": 0}
    return RunRow(**{**dict.fromkeys(RunRow._fields, None), **known})  # type: ignore[arg-type]


def ready_of(*runs: RunRow) -> list[int]:
    """Which of them could go, by revisions 1 (`allow`) and 2 (`queue`, two at a time)."""
    specs = {
        revision: Spec(Interval("seconds", 60, "UTC"), overlap=overlap, max_concurrent=2) for revision, overlap in SPECS
    }
    lifecycle = SimpleNamespace(active={1: {run.id: run for run in runs}}, spec=lambda run: specs[run.revision])
    return [run.id for run in Waiters(cast(Any, lifecycle), cast(Any, None))._ready(1)]


def test_a_waiting_run_comes_after_earlier_ones() -> None:
    assert ready_of(row(1, 2), row(2, 2)) == [1]
    assert ready_of(row(1, 2, "running"), row(2, 2, "queued"), row(3, 2)) == []
    # Runs of revision 1 wait only for their key.
    assert ready_of(row(1, 1), row(2, 2)) == [1, 2]
    assert ready_of(row(1, 1), row(2, 1), row(3, 2)) == [1, 2]
    assert ready_of(row(1, 1), row(2, 2, "running"), row(3, 2)) == [1]
    assert ready_of(row(1, 2), row(2, 1), row(3, 1)) == [2, 3, 1]
