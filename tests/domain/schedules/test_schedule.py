"""Properties of a schedule that other schedulers have too."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.fields import Overlap
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger, any_of


def a_schedule(trigger: Trigger, *, state: State = "active", **policies: Any) -> Schedule:
    """A stored schedule."""
    definition = Definition(**{"trigger": trigger, "target": Target("report"), **policies})
    stored = encode_definition(definition)
    return Schedule(1, "default", "digest", 1, state, definition, definition_json=stored)


@pytest.mark.parametrize("state", get_args(State))
def test_only_paused_and_deleted_schedules_are_disabled(state: State) -> None:
    assert a_schedule(every(hours=1), state=state).enabled == (state not in ("paused", "deleted"))


def test_the_kind_is_that_of_the_target() -> None:
    assert a_schedule(every(hours=1)).kind == "task"
    assert a_schedule(every(hours=1), target=target_of(CommandSpec(program="/bin/true"))).kind == "command"


@pytest.mark.parametrize(
    "trigger, spec",
    [
        (cron("0 9 * * MON-FRI", tz="Europe/Berlin"), "0 9 * * MON-FRI"),
        (cron("@hourly"), "@hourly"),
        (every(hours=1), None),
        (any_of(cron("0 9 * * *"), cron("0 18 * * *")), None),
    ],
)
def test_the_cron_expression_is_that_of_a_cron_trigger(trigger: Trigger, spec: str | None) -> None:
    assert a_schedule(trigger).cron_spec == spec


@pytest.mark.parametrize(
    "stored, spec",
    [({"trigger": {"cron": "61 * * * *"}}, "61 * * * *"), ({"trigger": {"cron": 5}}, None), ({"trigger": 5}, None)],
)
def test_a_definition_that_cannot_be_read_still_shows_its_cron_expression(stored: Any, spec: str | None) -> None:
    schedule = Schedule(1, "default", "digest", 1, "parked", None, definition_json=stored)
    assert (schedule.cron_spec, schedule.kind, schedule.burst_allowed) == (spec, None, False)


@pytest.mark.parametrize("overlap", get_args(Overlap))
def test_a_burst_is_allowed_if_runs_may_overlap(overlap: Overlap) -> None:
    assert a_schedule(every(hours=1), overlap=overlap).burst_allowed == (overlap == "allow")
