"""Event schedules in files: rows become schedules, errors have their locations, and `active` pauses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tickbird.client import Client, StoreClient
from tickbird.domain.schedules.event_schedule import read_event_schedule
from tickbird.domain.triggers.every import every
from tickbird.files.diagnostics import DocumentError
from tickbird.files.document import read_bytes, read_document
from tickbird.files.loader import Format
from tickbird.files.writer import write
from tickbird.store.sqlite import SqliteStore

ROW: dict[str, Any] = {
    "schedule_name": "sync",
    "frequency_unit": "MINUTES",
    "frequency_time": 5,
    "start_ts": "2026-01-01T00:00:00Z",
    "event_topic": "portal-event",
    "event_type": "SyncDue",
    "event_data": '{"full": null}',
    "host_id": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
}
TOML = """
app = "portal"

[[event_schedules]]
schedule_name = "sync"
frequency_unit = "Minutes"
frequency_time = 5
start_ts = 2026-01-01T00:00:00Z
event_topic = "portal-event"
event_type = "SyncDue"
event_data = '{"full": null}'
host_id = "01964b05-552a-7c4b-9184-6857e7f3dc5f"
active = false

[schedules.other]
every = "5m"
task = "work"
"""
YAML = """
app: portal
event_schedules:
  - schedule_name: sync
    frequency_unit: minutes
    frequency_time: 5
    start_ts: 2026-01-01T00:00:00Z
    event_topic: portal-event
    event_type: SyncDue
    event_data: {full: null}
    host_id: 01964b05-552a-7c4b-9184-6857e7f3dc5f
    active: false
"""


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    store = SqliteStore(":memory:")
    await store.open()
    yield StoreClient(store)
    await store.close()


def document(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"app": "portal", "event_schedules": list(rows)}


@pytest.mark.parametrize("text, spelling", [(TOML, "toml"), (YAML, "yaml")])
def test_rows_become_schedules(text: str, spelling: Format) -> None:
    read = read_bytes(text.encode(), f"a.{spelling}", spelling)
    assert read.schedules["sync"] == read_event_schedule(ROW).definition
    assert read.active == {"sync": False}
    if spelling == "toml":
        assert read.schedules["other"].trigger == every(minutes=5)


def test_document_is_written_in_the_form_of_all_schedules() -> None:
    read = read_document(document(ROW))
    again = read_bytes(write(read, "yaml").encode(), "a.yaml", "yaml")
    assert again.schedules == read.schedules
    assert again.active == {}


def test_all_errors_are_reported_with_their_locations() -> None:
    text = TOML.replace('"Minutes"', '"FORTNIGHTS"').replace("2026-01-01T00:00:00Z", "2026-01-01T00:00:00")
    text = text.replace('event_type = "SyncDue"\n', "event_typ = 1\n")
    with pytest.raises(DocumentError) as caught:
        read_bytes(text.encode(), "a.toml", "toml")
    lines = [str(diagnostic) for diagnostic in caught.value.diagnostics]
    assert [line.split(": ", 1)[0] for line in lines] == ["a.toml:4:3", "a.toml:6:18", "a.toml:8:12", "a.toml:10:1"]
    assert "event_type is missing. The type of the events." in lines[0]
    assert "frequency_unit: 'FORTNIGHTS' is not a unit. Use SECONDS, MINUTES" in lines[1]
    assert "start_ts: 2026-01-01T00:00:00 has no offset from UTC. Write 2026-01-01T00:00:00Z." in lines[2]
    assert "'event_typ' is not a field of an event schedule. Did you mean event_type?" in lines[3]


@pytest.mark.parametrize(
    "rows, words",
    [
        ({"sync": ROW}, "event_schedules must be a list of objects, not an object."),
        ([7], "event schedule must be an object with schedule_name, frequency_unit and more, not a whole number."),
        ([ROW, ROW], "'sync' is defined twice"),
        ([ROW | {"frequency_time": 10**9, "frequency_unit": "days"}], "are longer than 1,000 years"),
        ([ROW | {"event_data": {"n": float("nan")}}], "event_data is not JSON"),
    ],
)
def test_wrong_parts_are_refused(rows: Any, words: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_document({"event_schedules": rows})
    assert words in str(caught.value.diagnostics[0])


def test_a_name_is_unique_among_both_forms() -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(document(ROW) | {"schedules": {"sync": {"every": "1h", "task": "work"}}})
    assert "'sync' is defined twice" in str(caught.value.diagnostics[0])


async def state(client: Client) -> tuple[str, str]:
    schedule = await client.schedules.get("sync")
    return schedule.state, schedule.pause.note if schedule.pause else ""


async def test_active_is_applied_each_time(client: Client) -> None:
    on, off = document(ROW | {"active": True}), document(ROW | {"active": False})
    for content, expected in ((off, "paused"), (off, "paused"), (on, "active"), (on, "active"), (off, "paused")):
        before = await state(client) if await client.schedules.list() else ("", "")
        plan = await client.files.apply(content, actor="deploy")
        assert (await state(client))[0] == expected
        assert plan.is_empty == (before[0] == expected)
    # A row that does not state it is active.
    plan = await client.files.apply(document(ROW | {"frequency_time": 6}), actor="deploy")
    assert [change.kind for change in plan.schedules] == ["change", "resume"]
    assert await state(client) == ("active", "")
    await client.files.apply(document(ROW | {"active": False}), actor="deploy")
    assert await state(client) == ("paused", "active is false")
    schedule = await client.schedules.get("sync")
    assert schedule.definition_json["trigger"]["every"] == {"minutes": 5}


async def test_the_pause_of_an_operator_stays(client: Client) -> None:
    await client.files.apply(document(ROW), actor="deploy")
    await client.schedules.pause("sync", note="until the fix is out", actor="ana")
    for active in (True, False, True):
        plan = await client.files.apply(document(ROW | {"active": active}), actor="deploy")
        assert plan.is_empty
        assert await state(client) == ("paused", "until the fix is out")
