"""Schedules in files over HTTP: who may apply what, and what is told of it."""

from __future__ import annotations

import json
from typing import Any

from tests.api.conftest import Api, keys, refused
from tickbird.files.plan import FilePlan, ScheduleChange

DOCUMENT: dict[str, Any] = {"app": "shop", "schedules": {"report": {"cron": "0 9 * * *", "task": "report"}}}


async def apply(api: Api, role: Any = "editor", document: Any = None, **options: Any) -> Any:
    """The answer to applying a document."""
    body = {"document": DOCUMENT if document is None else document, **options}
    return await api.ask("POST", "/api/v1/apply", role, json=body)


async def test_a_document_is_applied_once(memory: Api) -> None:
    planned = (await apply(memory, dry_run=True)).json()
    assert {*planned} == keys(FilePlan)
    [change] = planned["schedules"]
    assert {*change} == keys(ScheduleChange)
    assert (planned["applied"], change["kind"], change["schedule"]["name"]) == (False, "create", "report")
    assert await memory.client().schedules.list() == []
    assert (await apply(memory)).json()["changes"]["create"] == 1
    again = (await apply(memory)).json()
    assert (again["same"], again["schedules"]) == (1, [])
    [audited] = [each for each in await memory.client().audit.list() if each.schedule == "report"]
    assert audited.actor.startswith("editor (token ")
    exported = await memory.get("/export", "viewer")
    assert exported == {"document": DOCUMENT, "operator_notes": {}}


async def test_who_may_apply_what(memory: Api) -> None:
    assert "needs the role editor" in refused(await apply(memory, "operator"), 403, "forbidden")
    command = {"app": "shop", "schedules": {"backup": {"cron": "@daily", "command": {"program": "/bin/true"}}}}
    assert "a command needs the role admin" in refused(await apply(memory, document=command), 403, "forbidden")
    assert (await apply(memory, "admin", command)).status_code == 200
    # What is there may be sent back.
    assert (await apply(memory, document=command)).json()["same"] == 1
    # To see what would be done, one needs only to see; and what is not done may be a command.
    other = {"app": "shop", "schedules": {"backup": {"cron": "@daily", "command": {"program": "/bin/false"}}}}
    planned = (await memory.ask("POST", "/api/v1/diff", "viewer", json={"document": other})).json()
    assert (planned["applied"], planned["changes"]["change"]) == (False, 1)
    kept = (await memory.client().schedules.get("backup")).definition
    assert kept is not None
    assert kept.target.name == "/bin/true"
    elsewhere = {**DOCUMENT, "namespace": "shop"}
    assert "the document is for 'shop'" in refused(await apply(memory, document=elsewhere), 422, "invalid")


async def test_what_is_wrong_is_told(memory: Api) -> None:
    wrong = {"app": "shop", "schedules": {"a": {"cron": "0 99 * * *", "task": "x"}, "b": {"crn": "x", "task": "x"}}}
    said = refused(await apply(memory, document=wrong), 422, "invalid")
    assert "errors: document" in said
    others: list[Any] = [{"schedules": []}, {"schedules": {"a": None}}, {"nothing": {}}]
    for document in others:
        refused(await apply(memory, document=document), 422, "invalid")
    await memory.create("report")
    assert (await apply(memory, dry_run=True)).json()["conflicts"]
    refused(await apply(memory), 409, "conflict")
    several = await memory.ask("GET", "/api/v1/export?everything=true", "viewer")
    assert [*several.json()["document"]["schedules"]] == ["report"]


async def test_a_file_of_ten_thousand_schedules_goes_through(memory: Api) -> None:
    task = {"every": "1h", "task": "work", "tags": ["a", "b"], "description": "x" * 150}
    one = {**task, "payload": {"numbers": [*range(8)]}}
    # Read by a server, but not planned: the name that is none is found before.
    names = [*(f"s{number:05}" for number in range(10_000)), "no name"]
    body = {"document": {"app": "big", "schedules": dict.fromkeys(names, one)}, "dry_run": True}
    assert len(json.dumps(body)) > 2_000_000
    answer = await memory.ask("POST", "/api/v1/apply", "editor", json=body)
    assert "no name" in refused(answer, 422, "invalid")
    # Nobody else may send as much, and nothing else may be as large.
    refused(await memory.ask("POST", "/api/v1/apply", "viewer", json=body), 413, "too-large")
    refused(await memory.ask("POST", "/api/v1/diff", "viewer", json=body), 413, "too-large")
    refused(await memory.ask("POST", "/api/v1/preview", "editor", json=body), 413, "too-large")
    for path in ("diff", "simulate"):
        answer = await memory.ask("POST", f"/api/v1/{path}", "editor", json={"document": body["document"]})
        assert "no name" in refused(answer, 422, "invalid")
    large = {"document": {"app": "x" * 32_000_000}}
    refused(await memory.ask("POST", "/api/v1/apply", "editor", json=large), 413, "too-large")
