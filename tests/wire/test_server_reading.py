"""A schedule that the server can read and the client cannot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from conformance.planning.custom_triggers import unknown
from tickbird import custom_trigger
from tickbird.domain.doctor.schedule_warnings import problems
from tickbird.domain.planning.upcoming import UpcomingTick, with_notes
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Schedule, trigger_description
from tickbird.wire.codec import decode, encode

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@custom_trigger("wire_tide", describe=lambda: "at high tide")
def tide(t: datetime) -> datetime:
    return t.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


@pytest.fixture
def schedule() -> Schedule:
    definition = Definition(trigger=tide(tz="Europe/Rome"), target=Target("work"), overlap="allow")
    encoded = encode_definition(definition)
    return Schedule(1, "default", "swim", 1, "active", definition, definition_json=encoded)


def test_a_client_shows_how_the_server_reads_a_schedule(schedule: Schedule) -> None:
    sent = encode(schedule)
    with unknown(tide):
        read = decode(Schedule, sent)
        assert read.definition is None
        assert trigger_description(read) == "at high tide (Europe/Rome)"
        assert (read.zone, read.kind, read.burst_allowed) == ("Europe/Rome", "task", True)
        assert encode(read) == sent
        assert not any("ignored" in problem for problem in problems(read, [], NOW))
        tick = UpcomingTick(NOW, NOW, notes=("the clock changes",))
        assert with_notes(read, [tick], NOW) == [(tick, ("the clock changes",))]


def test_a_schedule_that_the_server_ignores_is_ignored(schedule: Schedule) -> None:
    with unknown(tide):
        left = Schedule(1, "default", "swim", 1, "active", None, definition_json=schedule.definition_json)
        read = decode(Schedule, encode(left))
        assert read == left
        assert problems(read, [], NOW) == ["ignored: custom trigger 'wire_tide' is not available here"]
    assert decode(Schedule, encode(left)).definition is None
