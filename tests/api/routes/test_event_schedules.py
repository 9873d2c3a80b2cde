"""Event schedules over HTTP: the row is the body."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, refused

ROW: dict[str, Any] = {
    "schedule_name": "sync",
    "frequency_unit": "MINUTES",
    "frequency_time": 5,
    "start_ts": "2026-01-01T00:00:07.5Z",
    "event_topic": "portal-event",
    "event_type": "SyncDue",
    "event_data": '{"full": true}',
    "host_id": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
    "active": True,
}


async def send(api: Api, row: dict[str, Any], role: Any = "editor", **headers: str) -> Any:
    return await api.ask("POST", "/api/v1/event-schedules", role, json=row, headers=headers)


async def test_a_row_creates_and_replaces_a_schedule(memory: Api) -> None:
    created = await send(memory, ROW)
    assert created.status_code == 201, created.text
    definition = created.json()["schedule"]["definition"]
    assert definition["trigger"] == {"every": {"minutes": 5}, "anchor": "2026-01-01T00:00:08"}
    assert definition["target"] == {
        "event": {
            "topic": "portal-event",
            "type": "SyncDue",
            "key": "sync",
            "data": {"full": True},
            "tenant": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
        }
    }
    replaced = await send(memory, ROW | {"frequency_time": 6, "active": False})
    assert replaced.status_code == 200
    stored = (await memory.ask("GET", "/api/v1/schedules/sync", "viewer")).json()
    assert stored["definition"]["trigger"]["every"] == {"minutes": 6}
    assert stored["state"] == "paused"
    assert (await send(memory, ROW)).json()["schedule"]["state"] == "active"
    assert (await send(memory, ROW, **{"If-None-Match": "*"})).status_code == 412


@pytest.mark.parametrize(
    "field, value, words",
    [
        ("frequency_unit", "FORTNIGHTS", "'FORTNIGHTS' is not a unit."),
        ("frequency_time", 0, "must be a whole number, 1 or more"),
        ("start_ts", "2026-01-01", "has no offset"),
        ("event_topic", "a b", "is not a topic"),
        ("event_data", "{", "is not JSON"),
        ("schedule_name", "a b", "is not a valid name"),
        ("active", "no", "must be true or false"),
    ],
)
async def test_an_error_names_the_field(memory: Api, field: str, value: Any, words: str) -> None:
    answer = await send(memory, ROW | {field: value})
    assert words in refused(answer, 422, "invalid")
    assert answer.json()["field"] == field
    assert await memory.client().schedules.list() == []


async def test_a_missing_field_and_a_role_without_the_right_are_refused(memory: Api) -> None:
    answer = await send(memory, {name: value for name, value in ROW.items() if name != "start_ts"})
    assert "start_ts is missing" in refused(answer, 422, "invalid")
    assert "needs the role editor" in refused(await send(memory, ROW, "operator"), 403, "forbidden")


async def test_rows_are_a_part_of_a_document_too(memory: Api) -> None:
    body = {"document": {"app": "portal", "event_schedules": [ROW]}}
    assert (await memory.ask("POST", "/api/v1/apply", "editor", json=body)).json()["changes"]["create"] == 1
    assert (await memory.client().schedules.get("sync")).app == "portal"
