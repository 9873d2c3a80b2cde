"""What the checker itself expects, where that was wrong once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tickbird.testing.simulation.grids import Interval
from tickbird.testing.simulation.specs import Spec
from tickbird.testing.simulation.ticks import Told, Watched

REACH = (0, 10_000)


def watched(told: dict[int, Told]) -> Watched:
    """A schedule that ticks every minute and is decided up to 100."""
    spec = Spec(form=Interval("seconds", 60, "UTC"))
    return Watched(1, "work", spec, spec.grid(REACH), decided=100, told=told)


def left_of(told: dict[int, Told], **edit: Any) -> list[int]:
    """For which ticks there is still a decision after an edit."""
    schedule = watched(dict(told))
    schedule.edit(replace(schedule.spec, **edit), REACH, 100)
    return list(schedule.told)


def test_a_decision_with_a_payload_ends_with_its_task() -> None:
    told = {180: Told(100, due_at=200, payload=True), 300: Told(100, due_at=310), 360: Told(100, payload=True)}
    assert left_of(told, task="block") == left_of(told, task="block", start_at=50) == [300]
    assert left_of(told, retries=2) == left_of(told, start_at=50) == [180, 300, 360]
