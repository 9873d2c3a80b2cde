"""Revisions over HTTP: what each changed, and the way back to one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.planning.commands.define import Create, SyncFromCode
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.diff import FieldDiff
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker

PATH = "/api/v1/schedules/digest/roll-back"


async def edited(api: Api) -> None:
    """A schedule at revision 3: created, changed, changed again."""
    await api.create("digest", payload={"limit": 5})
    await api.client().schedules.update("digest", actor="bo", retries=3, tags=["mail"])
    await api.client().schedules.update("digest", actor="cy", payload={"limit": 7}, trigger=cron("0 9 * * *"))


async def test_revisions_tell_what_they_changed(api: Api) -> None:
    await edited(api)
    await api.client().schedules.pause("digest", actor="dee", note="upgrade")
    await api.ask("PATCH", "/api/v1/schedules/digest", "editor", json={"definition": {"retries": None}})
    items = (await api.get("/schedules/digest/revisions", "viewer"))["items"]
    assert set(items[0]) == keys(HistoryEntry)
    assert set(items[0]["changes"][0]) == keys(FieldDiff)
    told = {
        each["revision"]: [(c["field"], c["how"], c["before"], c["after"]) for c in each["changes"]] for each in items
    }
    hourly = {"every": {"hours": 1}}
    assert told == {
        5: [("retries", "removed", 3, None)],
        4: [],
        3: [
            ("payload.limit", "changed", 5, 7),
            ("trigger", "changed", hourly, {"cron": "0 9 * * *"}),
        ],
        2: [("retries", "added", None, 3), ("tags", "added", None, ["mail"])],
        1: [
            ("payload", "added", None, {"limit": 5}),
            ("target", "added", None, {"task": "report"}),
            ("trigger", "added", None, hourly),
        ],
    }
    assert [(each["origin"], each["action"]) for each in items] == [
        ("token", "update"),
        ("person", "pause"),
        ("person", "update"),
        ("person", "update"),
        ("person", "create"),
    ]
    first = await api.get("/schedules/digest/revisions", params={"limit": 2})
    rest = await api.get("/schedules/digest/revisions", params={"limit": 1_000, "after": first["next"]})
    assert first["items"] + rest["items"] == items


async def test_a_schedule_goes_back_to_a_revision(api: Api) -> None:
    await edited(api)
    first = (await api.get("/schedules/digest/revisions"))["items"][-1]["definition"]
    answer = await api.ask("POST", PATH, "editor", json={"to": 1, "note": "wrong"}, headers={"If-Match": '"3"'})
    assert answer.status_code == 200, answer.text
    schedule = answer.json()["schedule"]
    assert (schedule["revision"], schedule["definition"], answer.headers["etag"]) == (4, first, '"4"')
    assert (await api.get("/schedules/digest"))["definition"] == first
    newest = (await api.get("/schedules/digest/revisions", params={"limit": 1}))["items"][0]
    assert (newest["action"], newest["detail"]["to"], newest["detail"]["note"]) == ("roll_back", 1, "wrong")
    [audited, *_] = (await api.get("/audit", params={"schedule": "digest"}))["items"]
    assert audited["action"] == "roll_back"
    assert audited["actor"].startswith("editor (token ")
    assert audited["detail"]["after"]["payload"] == {"limit": 5}
    # And forth again.
    assert (await api.ask("POST", PATH, "editor", json={"to": 3})).json()["schedule"]["revision"] == 5


async def test_over_code_it_is_a_patch(api: Api) -> None:
    one = Definition(trigger=every(hours=1), target=Target("report"), retries=1, tags=("a",))
    two = Definition(trigger=every(hours=2), target=Target("report"), retries=2)
    command = Create(actor="sync", namespace="default", definition=one, app="shop", fingerprint="1")
    await api.store.schedules.change("default", "digest", command)
    deploy = SyncFromCode(actor="sync", definition=two, app="shop", fingerprint="2")
    await api.store.schedules.change("default", "digest", deploy)
    answer = (await api.ask("POST", PATH, "editor", json={"to": 1})).json()
    assert answer["schedule"]["field_overrides"] == {"retries": 1, "tags": ["a"], "trigger": {"every": {"hours": 1}}}
    assert "these fields override app shop, even after deploys" in answer["warnings"][-1]
    # A deploy does not take it away; going back to what the code says does.
    three = SyncFromCode(
        actor="sync",
        definition=Definition(trigger=every(hours=3), target=Target("report")),
        app="shop",
        fingerprint="3",
    )
    kept = (await api.store.schedules.change("default", "digest", three)).schedule
    assert kept.definition_json["retries"] == 1
    refused(await api.ask("POST", PATH, "editor", json={"to": 3}), 409, "conflict")
    items = (await api.get("/schedules/digest/revisions"))["items"]
    assert [each["origin"] for each in items] == ["code", "token", "code", "code"]
    unset = {"definition": {"retries": None, "tags": None}}
    await api.ask("PATCH", "/api/v1/schedules/digest", "editor", json=unset)
    found = await api.get("/schedules/digest")
    assert (found["field_overrides"], "retries" in found["definition"]) == ({"trigger": {"every": {"hours": 1}}}, False)


async def test_a_task_that_is_gone_is_a_warning_and_a_payload_that_no_longer_fits_is_refused(api: Api) -> None:
    await edited(api)
    answer = (await api.ask("POST", PATH, "editor", json={"to": 2})).json()
    assert answer["warnings"] == ["no live worker executes runs: its runs stay queued until one does"]
    schema = {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 6}}}
    tasks = {"report": {"queue": "default", "schema": schema}}
    worker = Worker(
        id="w", namespace="default", app="a", host="h", pid=1, version="0", queues=("default",), slots=1, tasks=tasks
    )
    await api.store.workers.heartbeat(worker, 60)
    answer = await api.ask("POST", PATH, "editor", json={"to": 3})
    assert (answer.status_code, answer.json()["warnings"]) == (200, [])
    answer = await api.ask("POST", PATH, "editor", json={"to": 1})
    assert "payload of task 'report': limit" in refused(answer, 422, "invalid")


@pytest.mark.parametrize(
    "body, status, code, field",
    [
        ({}, 422, "invalid", "to"),
        ({"to": 0}, 422, "invalid", "to"),
        ({"to": 2**31}, 422, "invalid", "to"),
        ({"to": "one"}, 422, "invalid", "to"),
        ({"to": 1, "more": 1}, 422, "invalid", "more"),
        ({"to": 1, "note": "x" * 2_001}, 422, "invalid", "note"),
        ({"to": 1, "note": "a\0"}, 422, "invalid", "note"),
        ({"to": 99}, 404, "not-found", None),
        ({"to": 3}, 409, "conflict", None),
    ],
)
async def test_what_is_no_way_back(memory: Api, body: Any, status: int, code: str, field: str | None) -> None:
    await edited(memory)
    answer = await memory.ask("POST", PATH, "editor", json=body)
    words = refused(answer, status, code)
    assert answer.json()["field"] == field, words
    assert (await memory.get("/schedules/digest"))["revision"] == 3


async def test_stale_deleted_and_elsewhere(memory: Api) -> None:
    await edited(memory)
    refused(await memory.ask("POST", PATH, "editor", json={"to": 1}, headers={"If-Match": '"2"'}), 412, "stale")
    elsewhere = "/api/v1/schedules/other/roll-back"
    await memory.create("other", "elsewhere")
    refused(await memory.ask("POST", elsewhere, "editor", json={"to": 1}), 404, "not-found")
    await memory.client().schedules.delete("digest", actor="ana")
    refused(await memory.ask("POST", PATH, "editor", json={"to": 1}), 404, "not-found")
    # Whoever creates it again may go on from what it was before.
    await memory.create("digest")
    answer = await memory.ask("POST", PATH, "editor", json={"to": 2})
    assert answer.json()["schedule"]["definition"]["retries"] == 3


async def test_only_an_admin_goes_back_to_a_command(memory: Api) -> None:
    await memory.create("digest")
    command = {"definition": {"target": {"command": {"program": "/usr/bin/true", "args": []}}}}
    await memory.ask("PATCH", "/api/v1/schedules/digest", "admin", json=command)
    await memory.ask("PATCH", "/api/v1/schedules/digest", "admin", json={"definition": {"target": {"task": "x"}}})
    refused(await memory.ask("POST", PATH, "editor", json={"to": 2}), 403, "forbidden")
    answer = await memory.ask("POST", PATH, "admin", json={"to": 2})
    assert "command" in answer.json()["schedule"]["definition"]["target"]
    assert (await memory.ask("POST", PATH, "editor", json={"to": 1})).status_code == 200
