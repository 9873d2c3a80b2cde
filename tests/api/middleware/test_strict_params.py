"""What a request asks for and its route does not know is refused, and nothing is taken for what it is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, refused
from tickbird import Tickbird
from tickbird.domain.errors import DefinitionError, StoreError
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.wire.parameters import read_instant

FIRST, LAST = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    "method, path, field, said",
    [
        ("GET", "runs?stauts=failed", "stauts", "stauts is not a parameter of this path. Did you mean status?"),
        ("DELETE", "schedules/digest?cancel_run=true", "cancel_run", "Did you mean cancel_runs?"),
        ("GET", "runs?namespce=b", "namespce", "Did you mean namespace?"),
        ("GET", "now?xyz=1", "xyz", "Valid parameters: namespace."),
        ("GET", "tokens?xyz=1", "xyz", "Valid parameters: after, limit, live, namespace."),
        ("GET", "activity/stream?kinds=planned", "kinds", "Did you mean kind?"),
        ("GET", "runs?limit=1&limit=2", "limit", "limit is given more than once. Give it once."),
        ("GET", "runs?namespace=default&namespace=default", "namespace", "is given more than once"),
        ("GET", "runs?limit=1_0", "limit", "limit: '1_0' is not a whole number. Write it in digits, such as 10."),
        ("GET", "runs?limit=1.0", "limit", "is not a whole number"),
        ("GET", "runs?limit=", "limit", "is not a whole number"),
        ("GET", "runs/1.0", "id", "id: '1.0' is not a whole number"),
        ("GET", "runs/1?wait=1e1", "wait", "is not a whole number"),
    ],
)
async def test_parameters_that_no_route_knows_are_refused(
    memory: Api, method: str, path: str, field: str, said: str
) -> None:
    await memory.create("digest")
    answer = await memory.ask(method, f"/api/v1/{path}")
    assert said in refused(answer, 422, "invalid")
    assert answer.json()["field"] == field
    assert (await memory.client().schedules.get("digest")).state == "active"


async def test_who_may_not_ask_is_told_that_first(memory: Api) -> None:
    refused(await memory.ask("DELETE", "/api/v1/schedules/digest?x=1", "viewer"), 403, "forbidden")


async def test_the_namespace_may_be_said_everywhere(memory: Api) -> None:
    await memory.get("/tokens", params={"namespace": "default"})
    await memory.get("/openapi.json", params={"namespace": "default"})


async def test_a_list_takes_several(memory: Api) -> None:
    async with memory.listen("/activity/stream?kind=planned&kind=skipped") as listener:
        assert (await listener.begins())["status"] == 200


@pytest.mark.parametrize(
    "path, body, field",
    [
        ("schedules/digest/backfill", {"first": FIRST, "last": LAST, "dry_run": "no"}, "dry_run"),
        ("schedules/digest/backfill", {"first": FIRST, "last": LAST, "dry_run": 0}, "dry_run"),
        ("schedules/digest/backfill", {"first": FIRST, "last": LAST, "concurrency": "2"}, "concurrency"),
        ("schedules/digest/backfill", {"first": FIRST, "last": LAST, "concurrency": True}, "concurrency"),
        ("schedules/digest/trigger", {"wait": "5"}, "wait"),
        ("schedules/digest/pause", {"cancel_runs": "yes"}, "cancel_runs"),
        ("bulk/pause", {"filter": {}, "expected": "1"}, "expected"),
        ("bulk/pause", {"filter": {"contains": 1}, "expected": 1}, "filter.contains"),
        ("runs", {"task": "report", "priority": "1"}, "priority"),
    ],
)
async def test_bodies_are_taken_as_they_are(memory: Api, path: str, body: Any, field: str) -> None:
    await memory.create("digest")
    answer = await memory.ask("POST", f"/api/v1/{path}", json=body)
    refused(answer, 422, "invalid")
    assert answer.json()["field"] == field
    assert (await memory.client().schedules.get("digest")).state == "active"
    assert await memory.client().runs.list() == []


@pytest.mark.parametrize(
    "path, body", [("trigger", {}), ("backfill", {"first": FIRST, "last": LAST}), ("backfill", {"dry_run": True})]
)
async def test_runs_are_made_only_of_the_revision_that_was_seen(api: Api, path: str, body: Any) -> None:
    await api.create("digest")
    now = (await api.client().system.now()).isoformat()
    sent = {"first": FIRST, "last": now, **body} if path == "backfill" else body
    answer = await api.ask("POST", f"/api/v1/schedules/digest/{path}", json=sent, headers={"If-Match": '"7"'})
    assert "is at revision 1, not 7: it has changed" in refused(answer, 412, "stale")
    assert await api.client().runs.list() == []
    answer = await api.ask("POST", f"/api/v1/schedules/digest/{path}", json=sent, headers={"If-Match": '"1"'})
    assert answer.status_code in (200, 201), answer.text


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize(
    "method, path, body",
    [
        ("POST", "bulk/pause", {"filter": {}, "expected": 1}),
        ("PUT", "limits/db", {"max_running": 2}),
        ("POST", "runs", {"task": "report"}),
        ("DELETE", "queues/default/rate", None),
    ],
)
async def test_a_condition_that_nobody_looks_at_is_refused(
    memory: Api, header: str, method: str, path: str, body: Any
) -> None:
    await memory.create("digest")
    answer = await memory.ask(method, f"/api/v1/{path}", json=body, headers={header: "*"})
    assert f"{header}: this request does not support preconditions. Leave it out." in refused(answer, 400, "bad-tag")
    assert answer.json()["field"] == header
    assert (await memory.client().schedules.get("digest")).state == "active"
    # Who only reads changes nothing by it.
    assert (await memory.ask("GET", "/api/v1/schedules", headers={header: "*"})).status_code == 200


@pytest.mark.parametrize(
    "body, key",
    [
        ('{"task": "report", "task": "other"}', "task"),
        ('{"task": "report", "payload": {"n": [{"a": 1, "b": 2, "a": 1}]}}', "a"),
    ],
)
async def test_a_key_that_is_there_twice_is_refused(memory: Api, body: str, key: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await memory.ask("POST", "/api/v1/runs", content=body, headers=headers)
    assert f"{key}: the body has this key twice in one object. Send it once." in refused(answer, 400, "malformed")
    assert answer.json()["field"] == key
    assert await memory.client().runs.list() == []


async def test_fields_are_unset_without_a_definition(memory: Api) -> None:
    await memory.create("digest", retries=3)
    answer = await memory.ask("PATCH", "/api/v1/schedules/digest", json={"unset": ["retries"]})
    assert answer.status_code == 200, answer.text
    schedule = await memory.client().schedules.get("digest")
    assert schedule.definition is not None
    assert schedule.definition.retries == 0


async def test_an_instant_at_the_end_of_the_calendar(memory: Api) -> None:
    await memory.create("digest")
    answer = await memory.ask("POST", "/api/v1/schedules/digest/pause", json={"until": "9999-12-31T23:59:59Z"})
    assert "Choose an instant from 0001-01-03 to 9999-12-29." in refused(answer, 422, "invalid")
    for at in ("0001-01-03T00:00:00Z", "9999-12-29T23:59:59Z"):
        read_instant(at, "until")


async def test_an_instant_without_a_zone_is_told_as_json_has_it(memory: Api) -> None:
    definition = {"trigger": {"at": "2999-01-31T09:00:00"}, "target": {"task": "report"}}
    answer = await memory.ask("POST", "/api/v1/schedules", json={"name": "once", "definition": definition})
    said = refused(answer, 422, "invalid")
    assert said == 'at has no time zone. Write it like "2026-01-31T09:00:00Z".'
    assert answer.json()["field"] == "at"


@pytest.mark.parametrize("name", [".", ".."])
async def test_names_that_no_address_can_have_are_not_given(memory: Api, name: str) -> None:
    definition = {"trigger": {"every": {"hours": 1}}, "target": {"task": "report"}}
    answer = await memory.ask("POST", "/api/v1/schedules", json={"name": name, "definition": definition})
    assert f"schedule: '{name}' cannot be part of a URL. Choose a name" in refused(answer, 422, "invalid")
    with pytest.raises(DefinitionError, match=r"calendar: .* cannot be part of a URL"):
        await memory.client().calendars.put(name, {"weekdays": ["sat"]}, actor="ana")
    with pytest.raises(DefinitionError, match=r"queue: .* cannot be part of a URL"):
        await memory.client().queues.set_rate(name, "1/s", actor="ana")
    # One that is there by other ways can be looked at.
    command = Create(
        actor="ana", namespace="default", definition=Definition(trigger=every(hours=1), target=Target("x"))
    )
    await memory.store.schedules.change("default", name, command)
    assert [each["name"] for each in (await memory.get("/schedules"))["items"]] == [name]
    assert (await memory.client().schedules.get(name)).name == name


def test_what_can_be_connected_to_is_told() -> None:
    with pytest.raises(StoreError, match=r"'ftp://x' is neither the address of a server nor .*. Use https://"):
        Tickbird.connect("ftp://x")
