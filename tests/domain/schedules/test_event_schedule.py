"""Rows with an interval and an event, and the schedules that they are translated to."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import decode_definition, encode_definition
from tickbird.domain.schedules.event_schedule import UNITS, read_event_schedule
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.triggers.every import every

START = datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC)
ROW: dict[str, Any] = {
    "schedule_name": "report",
    "frequency_unit": "MINUTES",
    "frequency_time": 5,
    "start_ts": "2026-01-01T00:00:07Z",
    "event_topic": "portal-event",
    "event_type": "ReportDue",
    "event_data": '{"format": "pdf"}',
    "host_id": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
}


def test_row_is_an_interval_with_an_event() -> None:
    read = read_event_schedule(ROW)
    definition = read.definition
    assert (read.name, read.is_active, definition.trigger) == ("report", None, every(minutes=5, anchor=START))
    assert definition.target.spec is not None
    assert definition.target.spec.to_json() == {
        "topic": "portal-event",
        "type": "ReportDue",
        "key": "report",
        "data": {"format": "pdf"},
        "tenant": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
    }
    assert decode_definition(encode_definition(definition)) == definition


@pytest.mark.parametrize(
    "unit, seconds", [("seconds", 3), ("Minutes", 180), ("HOURS", 10_800), ("days", 259_200), ("WEEKS", 1_814_400)]
)
def test_every_n_is_n_from_the_start(unit: str, seconds: int) -> None:
    grid = read_event_schedule({**ROW, "frequency_unit": unit, "frequency_time": 3}).definition.grid
    ticks = [grid.next(to_seconds(START) - 1_000_000)]
    while len(ticks) < 100:
        ticks.append(grid.next(ticks[-1] or 0))
    assert ticks[0] == to_seconds(START)
    assert {(later or 0) - (tick or 0) for tick, later in pairwise(ticks)} == {seconds}


@pytest.mark.parametrize(
    "text, second",
    [
        ("2026-01-01T00:00:07.001Z", 8),
        ("2026-01-01 00:00:06.5+00", 7),
        ("2026-01-01 02:00:07+02:00", 7),
        (datetime(2026, 1, 1, 0, 0, 6, 1, tzinfo=UTC), 7),
    ],
)
def test_start_is_rounded_up_to_a_second(text: object, second: int) -> None:
    assert read_event_schedule({**ROW, "start_ts": text}).definition.start_at == START.replace(second=second)


@pytest.mark.parametrize(
    "given, data", [('{"a": 1}', {"a": 1}), ("[1]", [1]), ({"a": None}, {"a": None}), (7, 7), (None, None)]
)
def test_data_is_json_or_its_text(given: object, data: object) -> None:
    spec = read_event_schedule({**ROW, "event_data": given}).definition.target.spec
    assert spec is not None
    assert spec.to_json().get("data") == data


def test_row_of_the_view_is_accepted() -> None:
    more = {"schedule_id": "x", "next_run_ts": "2026-01-01T00:00:07Z", "aggregate_version": 3, "active": False}
    assert read_event_schedule({**ROW, **more}).is_active is False


@pytest.mark.parametrize(
    "field, value, words",
    [
        ("schedule_name", "a b", "'a b' is not a valid name. Use 1 to 200 letters"),
        ("frequency_unit", "FORTNIGHTS", f"'FORTNIGHTS' is not a unit. Use {', '.join(UNITS)}."),
        ("frequency_time", 0, "must be a whole number, 1 or more, not 0. Write 5 for every 5 units."),
        ("frequency_time", "5", "must be a whole number"),
        ("frequency_time", True, "must be a whole number"),
        ("frequency_time", 10**12, "are longer than 1,000 years. Choose a shorter interval."),
        ("start_ts", "tomorrow", "'tomorrow' is not an instant. Write it like 2026-01-31T09:00:00Z."),
        ("start_ts", "2026-01-01T00:00:00", "has no offset from UTC. Write 2026-01-01T00:00:00Z."),
        ("start_ts", "0001-01-01T00:00:00+01:00", "is outside the years 1 to 9999."),
        ("event_topic", "a b", "'a b' is not a topic. Join words"),
        ("event_type", "", "must have 1 to 200 characters"),
        ("event_data", "{", "'{' is not JSON. Write an object, or a JSON text"),
        ("event_data", "NaN", "event_data is not JSON"),
        ("host_id", 7, "host_id must be a text, not 7"),
        ("active", "yes", "must be true or false. Write false to pause"),
        ("frequency", 5, "is not a field of an event schedule. Fields: schedule_name,"),
    ],
)
def test_an_error_names_the_field_and_the_next_step(field: str, value: object, words: str) -> None:
    with pytest.raises(InvalidError) as caught:
        read_event_schedule({**ROW, field: value})
    assert caught.value.field == field
    assert str(caught.value).startswith(field)
    assert words in str(caught.value)


@pytest.mark.parametrize("field", ["schedule_name", "frequency_unit", "frequency_time", "start_ts", "event_topic"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(InvalidError, match=f"^{field} is missing"):
        read_event_schedule({name: value for name, value in ROW.items() if name != field})


def test_nothing_ticks_before_the_start() -> None:
    grid = read_event_schedule(ROW).definition.grid
    assert to_datetime(grid.next(to_seconds(START) - 1) or 0) == START
    assert grid.previous(to_seconds(START)) is None
