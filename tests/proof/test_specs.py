"""The checker's reading of definitions agrees with the product's triggers, and refuses unsupported ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import cron, every
from tickbird.domain.triggers.trigger import Trigger
from tickbird.proof.schedules import SCHEDULES
from tickbird.proof.specs import UnsupportedDefinition, read_spec

BEGIN = datetime(2026, 10, 25, 0, 58, 59, tzinfo=UTC)


def read(trigger: Trigger, **policies: Any) -> Any:
    """The spec of a definition with this trigger."""
    return read_spec({"v": 1, "trigger": trigger.to_json(), "target": {"task": "sleep"}, **policies})


@pytest.mark.parametrize("seconds", [1, 2, 5, 7, 3_600])
def test_intervals(seconds: int) -> None:
    _agrees(every(seconds=seconds))


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe"])
def test_cron_every_minute(zone: str) -> None:
    _agrees(cron("* * * * *", zone))


def _agrees(trigger: Trigger) -> None:
    end = BEGIN + timedelta(hours=2)
    ticks = []
    tick = trigger.next_after(BEGIN)
    while tick is not None and tick <= end:
        ticks.append(int(tick.timestamp()))
        tick = trigger.next_after(tick)
    spec = read(trigger)
    assert list(spec.ticks(int(BEGIN.timestamp()) + 1, int(end.timestamp()))) == ticks
    assert len(spec.ticks(ticks[0], ticks[0])) == 1


def test_the_schedules_of_a_proof() -> None:
    for schedule in SCHEDULES.values():
        policies = {name: value for name, value in schedule.items() if name not in ("trigger", "task")}
        spec = read(schedule["trigger"], **policies)
        assert {name: getattr(spec, name) for name in policies if name != "payload"} == {
            name: value for name, value in policies.items() if name != "payload"
        }


def test_offsets_of_a_spread() -> None:
    offsets = {read(every(seconds=5), spread=3).offset(name) for name in "abcdefgh"}
    assert offsets == {0, 1, 2}
    assert read(every(seconds=5)).offset("a") == 0


@pytest.mark.parametrize(
    "definition",
    [
        {"trigger": {"every": {"minutes": 1}}},
        {"trigger": {"every": {"seconds": 1}, "anchor": "2026-01-01T00:00:00"}},
        {"trigger": {"cron": "*/5 * * * *"}},
        {"trigger": {"every": {"seconds": 1}}, "calendars": ["holidays"]},
        {"trigger": {"every": {"seconds": 1}}, "start_at": "2026-01-01T00:00:00Z"},
        {},
    ],
)
def test_unsupported_definitions(definition: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedDefinition):
        read_spec(definition)
