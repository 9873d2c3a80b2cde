"""Schedules that are changed over HTTP: created, edited, deleted, paused, resumed, moved, skipped and triggered."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, refused
from tickbird.domain.runs.run import Outcome
from tickbird.domain.workers import Worker

PATH = "/api/v1/schedules"
DIGEST = {"trigger": {"cron": "0 9 * * *", "tz": "Europe/Rome"}, "target": {"task": "digest"}}
WORKER: Worker = a_worker(
    queues=("default",), slots=4, tasks={"digest": {"schema": {"properties": {"n": {"type": "integer"}}}}}
)


async def send(api: Api, method: str, path: str, role: Any = "editor", **request: Any) -> Any:
    """The document of a change that must be made."""
    answer = await api.ask(method, f"{PATH}{path}", role, **request)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def make(api: Api, name: str = "digest", **fields: Any) -> Any:
    """A schedule, created over HTTP."""
    return await send(api, "POST", "", json={"name": name, "definition": {**DIGEST, **fields}})


async def audited(api: Api) -> list[tuple[str, str]]:
    """Who did what, oldest first."""
    return [
        (each.action, each.actor) for each in reversed(await api.client().audit.list()) if each.schedule is not None
    ]


async def test_a_schedule_is_created_with_all_its_policies(api: Api) -> None:
    fields: dict[str, Any] = {
        "payload": {"n": 3},
        "tags": ["mail"],
        "grace": "10m",
        "timeout": 90,
        "exclude": ["sat", "sun"],
        "backoff": {"base": 2, "max": 60},
        "start_at": "2026-01-01T00:00:00Z",
        "depends_on": [],
    }
    answer = await api.ask(
        "POST", PATH, "editor", json={"name": "digest", "definition": {**DIGEST, **fields}, "first": "now"}
    )
    assert answer.status_code == 201
    assert answer.headers["etag"] == '"1"'
    made = answer.json()
    assert made["warnings"] == ["no live worker executes runs: its runs stay queued until one does"]
    assert made["schedule"] == (await api.get("/schedules/digest", "viewer"))
    stored = made["schedule"]["definition"]
    assert (stored["grace"], stored["timeout"], stored["payload"]) == (600, 90, {"n": 3})
    [run] = await api.client().runs.list(schedule="digest")
    assert run.origin == "manual"
    [(action, actor)] = [each for each in await audited(api) if each[0] == "create"]
    assert (action, actor.partition(" (token ")[0]) == ("create", "editor")


async def test_lengths_of_time_are_texts_or_seconds_in_every_field(api: Api) -> None:
    await make(api, "load")
    fields: dict[str, Any] = {"backoff": {"base": "5s", "max": 60}}
    fields["depends_on"] = [{"after": "load", "within": "24h", "wait": 7200}]
    made = (await make(api, **fields))["schedule"]["definition"]
    assert made["backoff"] == {"base": 5, "max": 60}
    assert made["depends_on"] == [{"after": "load", "within": 86400, "wait": 7200}]
    changed = await send(api, "PATCH", "/digest", json={"definition": {"backoff": "1m"}})
    assert changed["schedule"]["definition"]["backoff"] == {"base": 60, "max": 300}
    for wrong in (
        {"backoff": {"base": "soon"}},
        {"backoff": {"first": "5s"}},
        {"backoff": {"base": 10**9 + 1}},
        {"backoff": ["5s"]},
        {"depends_on": [{"after": "load", "within": "soon"}]},
        {"depends_on": [{"after": "load", "within": "1h", "wait": None}]},
        {"depends_on": [["load", "24h"]]},
        {"depends_on": ["load", "24h"]},
    ):
        answer = await api.ask("PATCH", f"{PATH}/digest", "editor", json={"definition": wrong})
        refused(answer, 422, "invalid")
        assert answer.json()["field"] == next(iter(wrong))


async def test_what_exists_is_not_created_again(api: Api) -> None:
    await make(api)
    answer = await api.ask("POST", PATH, "editor", json={"name": "digest", "definition": DIGEST})
    assert "already exists" in refused(answer, 409, "conflict")


async def test_a_task_that_is_served_gives_no_warning_and_its_payload_is_checked(api: Api) -> None:
    await api.store.workers.heartbeat(WORKER, 600)
    assert (await make(api))["warnings"] == []
    for method, path, body in (
        ("POST", "", {"name": "other", "definition": {**DIGEST, "payload": {"n": "x"}}}),
        ("PATCH", "/digest", {"definition": {"payload": {"n": "x"}}}),
        ("PUT", "/digest", {"definition": {**DIGEST, "payload": {"n": "x"}}}),
        ("POST", "/digest/trigger", {"payload": {"n": "x"}}),
    ):
        answer = await api.ask(method, f"{PATH}{path}", "editor", json=body)
        assert "payload of task 'digest': n: 'x' is not of type 'integer'" in refused(answer, 422, "invalid")
        assert answer.json()["field"] == "payload"


async def test_a_patch_changes_only_what_is_stated(api: Api) -> None:
    await make(api, retries=3, tags=["a"])
    changed = await send(api, "PATCH", "/digest", json={"definition": {"tags": ["b"], "retries": None}})
    assert changed["schedule"]["revision"] == 2
    assert changed["schedule"]["definition"] == {"v": 1, **DIGEST, "tags": ["b"]}
    # What is the same makes no revision.
    same = await send(api, "PATCH", "/digest", json={"definition": {"tags": ["b"]}})
    assert same["schedule"]["revision"] == 2
    moved = await send(
        api, "PATCH", "/digest", json={"definition": {"trigger": {"every": {"hours": 2}}, "target": {"task": "other"}}}
    )
    assert (moved["schedule"]["trigger_description"], moved["schedule"]["definition"]["tags"]) == (
        "Every 2 hours",
        ["b"],
    )


async def test_a_put_makes_the_schedule_what_is_sent(api: Api) -> None:
    created = await api.ask("PUT", f"{PATH}/digest", "editor", json={"definition": {**DIGEST, "retries": 3}})
    assert created.status_code == 201
    replaced = await api.ask("PUT", f"{PATH}/digest", "editor", json={"definition": {**DIGEST, "tags": ["x"]}})
    assert replaced.status_code == 200
    assert replaced.json()["schedule"]["definition"] == {"v": 1, **DIGEST, "tags": ["x"]}
    # What a document says of itself can be sent back as it is, here once more behind a deletion.
    document = (await api.get("/schedules/digest"))["definition"]
    await send(api, "DELETE", "/digest")
    again = await api.ask("PUT", f"{PATH}/digest", "editor", json={"definition": document})
    assert again.status_code == 201
    assert again.json()["schedule"]["revision"] > 2


@pytest.mark.parametrize(
    "method, path, body",
    [
        ("PATCH", "", {"definition": {"retries": 5}}),
        ("PUT", "", {"definition": DIGEST}),
        ("DELETE", "", None),
        ("POST", "/pause", {"note": "x"}),
        ("POST", "/resume", {}),
        ("POST", "/reschedule", {"to": "2099-01-01T00:00:00Z"}),
        ("POST", "/skip", {}),
    ],
)
async def test_a_change_of_another_revision_is_refused(api: Api, method: str, path: str, body: Any) -> None:
    await make(api)
    await send(api, "PATCH", "/digest", json={"definition": {"retries": 1}})
    before = await api.get("/schedules/digest")
    answer = await api.ask(method, f"{PATH}/digest{path}", "editor", json=body, headers={"If-Match": '"1"'})
    assert "is at revision 2, not 1: it has changed." in refused(answer, 412, "stale")
    answer = await api.ask(method, f"{PATH}/digest{path}", "editor", json=body, headers={"If-Match": "W/1"})
    assert "is not an ETag of this API" in refused(answer, 400, "bad-tag")
    for unquoted in ("0", "1", '"0"'):
        answer = await api.ask(method, f"{PATH}/digest{path}", "editor", json=body, headers={"If-Match": unquoted})
        refused(answer, 412, "stale")
    assert await api.get("/schedules/digest") == before


async def test_a_put_may_ask_that_there_is_one_or_that_there_is_none(api: Api) -> None:
    body = {"definition": DIGEST}
    absent = await api.ask("PUT", f"{PATH}/digest", "editor", json=body, headers={"If-Match": '"1"'})
    refused(absent, 412, "stale")
    first = await api.ask("PUT", f"{PATH}/digest", "editor", json=body, headers={"If-None-Match": "*"})
    assert (first.status_code, first.headers["etag"]) == (201, '"1"')
    second = await api.ask("PUT", f"{PATH}/digest", "editor", json=body, headers={"If-None-Match": "*"})
    refused(second, 412, "stale")
    odd = await api.ask("PUT", f"{PATH}/digest", "editor", json=body, headers={"If-None-Match": '"1"'})
    refused(odd, 400, "bad-tag")


async def test_many_who_edit_at_once_lose_no_update(api: Api) -> None:
    await make(api, priority=0)
    await api.token("editor")

    async def add() -> int:
        tries = 0
        while True:
            tries += 1
            read = await api.ask("GET", f"{PATH}/digest", "editor")
            number = read.json()["definition"].get("priority", 0) + 1
            headers = {"If-Match": read.headers["etag"]}
            answer = await api.ask(
                "PATCH", f"{PATH}/digest", "editor", json={"definition": {"priority": number}}, headers=headers
            )
            if answer.status_code == 200:
                return tries
            refused(answer, 412, "stale")

    tries = await asyncio.gather(*(add() for _ in range(8)))
    found = await api.get("/schedules/digest")
    assert (found["definition"]["priority"], found["revision"]) == (8, 9)
    assert sum(tries) >= 8


async def test_a_schedule_is_paused_and_resumed(api: Api) -> None:
    await make(api)
    until = (await api.client().system.now() + timedelta(hours=2)).replace(microsecond=0)
    paused = await send(
        api, "POST", "/digest/pause", "operator", json={"note": "db upgrade", "until": until.isoformat()}
    )
    state = paused["schedule"]["paused"]
    assert (paused["schedule"]["state"], state["note"]) == ("paused", "db upgrade")
    assert state["until"] == until.isoformat().replace("+00:00", "Z")
    assert state["by"].startswith("operator (token ")
    assert (await send(api, "POST", "/digest/resume", "operator"))["schedule"]["state"] == "active"
    answer = await api.ask("POST", f"{PATH}/digest/resume", "operator")
    assert "is active, not paused" in refused(answer, 409, "conflict")
    # Without a word as well.
    assert (await send(api, "POST", "/digest/pause", "operator"))["schedule"]["paused"]["note"] == ""


async def test_a_tick_is_moved_and_others_are_skipped(api: Api) -> None:
    await make(api)
    first, second, third = (await api.get("/schedules/digest/next?count=3"))["items"]
    to = (await api.client().system.now() + timedelta(minutes=30)).replace(microsecond=0).isoformat()
    await send(api, "POST", "/digest/reschedule", "operator", json={"to": to, "note": "early"})
    moved, *_ = (await api.get("/schedules/digest/next?count=1"))["items"]
    assert (moved["scheduled_for"], moved["due_at"]) == (first["scheduled_for"], to.replace("+00:00", "Z"))
    assert moved["override"]["note"] == "early"
    await send(api, "POST", "/digest/skip", "operator", json={"until": third["scheduled_for"]})
    coming = (await api.get("/schedules/digest/next?count=3"))["items"]
    assert [each["skipped"] for each in coming[1:]] == ["operator", None]
    assert coming[1]["scheduled_for"] == second["scheduled_for"]
    answer = await api.ask("POST", f"{PATH}/digest/skip", "operator", json={"until": to, "count": 2})
    assert "Give one of them" in refused(answer, 422, "invalid")


async def test_a_schedule_is_triggered(api: Api) -> None:
    await make(api, payload={"n": 1})
    before = await api.get("/schedules/digest")
    answer = await api.ask("POST", f"{PATH}/digest/trigger", "operator", json={"payload": {"n": 2}})
    assert answer.status_code == 201
    run = answer.json()["run"]
    assert (run["origin"], run["status"], run["payload"]) == ("manual", "queued", {"n": 2})
    assert run["actor"].startswith("operator (token ")
    assert answer.json()["warnings"] == [f"no live worker executes runs: run {run['id']} stays queued until one does"]
    waiting = await send(api, "POST", "/digest/trigger", "operator")
    assert waiting["run"]["payload"] == {"n": 1}
    assert waiting["warnings"] == [f"run {waiting['run']['id']} waits until the active run of digest is final"]
    assert await api.get("/schedules/digest") == before


async def test_the_same_key_gives_the_same_run_to_the_same_caller(api: Api) -> None:
    await make(api)
    key = {"Idempotency-Key": "once"}
    first, again = [
        (await send(api, "POST", "/digest/trigger", "operator", headers=key))["run"]["id"] for _ in range(2)
    ]
    assert first == again
    # Another caller knows nothing of it.
    assert (await send(api, "POST", "/digest/trigger", "editor", headers=key))["run"]["id"] != first
    other = await api.ask("POST", f"{PATH}/digest/trigger", "operator", headers=key, json={"payload": {"n": 2}})
    assert "idempotency key 'once' belongs to run" in refused(other, 409, "conflict")
    assert "has another payload" in refused(other, 409, "conflict")
    for wrong in ("", "x" * 192):
        answer = await api.ask("POST", f"{PATH}/digest/trigger", "operator", headers={"Idempotency-Key": wrong})
        refused(answer, 422, "invalid")


async def test_a_run_is_waited_for(api: Api) -> None:
    await make(api)

    async def work(listening: asyncio.Event) -> None:
        async with api.store.wakeups() as news:
            listening.set()
            async for _ in news:
                found = await api.store.leases.claim(WORKER, 1, 60, queues=["default"], targets=[("task", "digest")])
                for run in found.runs:
                    await api.store.leases.finish([Outcome(run.id, run.attempt, "succeeded", result={"sent": 7})])
                    return

    listening = asyncio.Event()
    worker = asyncio.create_task(work(listening))
    await listening.wait()
    done = (await send(api, "POST", "/digest/trigger", "operator", json={"wait": 60}))["run"]
    await worker
    assert (done["status"], done["result"]) == ("succeeded", {"sent": 7})
    late = (await send(api, "POST", "/digest/trigger", "operator", json={"wait": 1}))["run"]
    assert late["status"] == "queued"


async def test_a_schedule_is_deleted_and_goes_on_from_there(api: Api) -> None:
    await make(api)
    run = (await send(api, "POST", "/digest/trigger"))["run"]
    deleted = await send(api, "DELETE", "/digest?cancel_runs=true")
    assert (deleted["schedule"]["state"], deleted["warnings"]) == ("deleted", [])
    assert (await api.client().runs.get(run["id"])).status == "cancelled"
    refused(await api.ask("DELETE", f"{PATH}/digest", "editor"), 404, "not-found")
    assert (await make(api))["schedule"]["revision"] == deleted["schedule"]["revision"] + 1


@pytest.mark.parametrize(
    "method, path, body, field",
    [
        ("POST", "", {"definition": DIGEST}, "name"),
        ("POST", "", {"name": "a b", "definition": DIGEST}, "schedule"),
        ("POST", "", {"name": 7, "definition": DIGEST}, "name"),
        ("POST", "", {"name": "new", "definition": {}}, "trigger"),
        ("POST", "", {"name": "new", "definition": {"trigger": DIGEST["trigger"]}}, "target"),
        ("POST", "", {"name": "new", "definition": []}, "definition"),
        ("POST", "", {"name": "new", "definition": DIGEST, "more": 1}, "more"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "retrys": 1}}, "retrys"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "v": 99}}, "v"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "retries": "3"}}, "retries"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "retries": 10**30}}, "retries"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "payload": []}}, "payload"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "payload": {"a": "\0"}}}, "payload"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "description": 5}}, "description"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "tags": "mail"}}, "tags"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "start_at": "2026-01-01T00:00:00"}}, "start_at"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "target": {"nothing": "x"}}}, "target"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "trigger": {"cron": "61 * * * *"}}}, "minute"),
        ("POST", "", {"name": "new", "definition": {**DIGEST, "trigger": {"cron": "* * * * *", "tz": "Mars"}}}, "tz"),
        ("POST", "", {"name": "new", "definition": DIGEST, "first": "later"}, "first"),
        ("PATCH", "/digest", {"definition": {"trigger": None}}, "trigger"),
        ("PATCH", "/digest", {"definition": {"grace": "soon"}}, "grace"),
        ("PATCH", "/digest", {"retries": 3}, "retries"),
        ("PATCH", "/digest", {"definition": {"closed": {}}}, "closed"),
        ("PUT", "/digest", {"definition": {"trigger": 5, "target": {"task": "x"}}}, "trigger"),
        ("POST", "/digest/pause", {"until": "2099-01-01T00:00:00"}, "until"),
        ("POST", "/digest/pause", {"until": "2000-01-01T00:00:00Z"}, "until"),
        ("POST", "/digest/pause", {"until": 4_000_000_000}, "until"),
        ("POST", "/digest/pause", {"note": "x" * 2_001}, "note"),
        ("POST", "/digest/pause", {"cancel_runs": "maybe"}, "cancel_runs"),
        ("POST", "/digest/reschedule", {}, "to"),
        ("POST", "/digest/reschedule", {"to": "tomorrow"}, "to"),
        ("POST", "/digest/skip", {"count": 0}, "count"),
        ("POST", "/digest/skip", {"count": 10**12}, "count"),
        ("POST", "/digest/trigger", {"payload": 5}, "payload"),
        ("POST", "/digest/trigger", {"wait": 301}, "wait"),
    ],
)
async def test_bad_input_names_the_field_and_changes_nothing(
    memory: Api, method: str, path: str, body: Any, field: str
) -> None:
    await make(memory)
    before = await memory.get("/schedules")
    answer = await memory.ask(method, f"{PATH}{path}", "editor", json=body)
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words
    assert await memory.get("/schedules") == before


@pytest.mark.parametrize(
    "content", [b"", b"{", b"nope", b"[1]", b'{"name": "a"} x', b'{"a": NaN}', b'{"a": ' + b"1" * 5_000 + b"}"]
)
async def test_a_body_that_is_no_object(memory: Api, content: bytes) -> None:
    answer = await memory.ask("POST", PATH, "editor", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    refused(answer, answer.status_code, {400: "malformed", 422: "invalid"}[answer.status_code])


@pytest.mark.parametrize(
    "method, path", [("PATCH", ""), ("DELETE", ""), ("POST", "/pause"), ("POST", "/trigger"), ("POST", "/skip")]
)
async def test_what_is_not_there_cannot_be_changed(memory: Api, method: str, path: str) -> None:
    await memory.create("digest", "elsewhere")
    body = {"definition": {"retries": 1}} if method == "PATCH" else {}
    answer = await memory.ask(method, f"{PATH}/digest{path}", "editor", json=body)
    assert refused(answer, 404, "not-found").startswith("there is no schedule 'digest'.")


@pytest.mark.parametrize("name", ["a\0", "\ud800", "é", "x" * 5_000, ""])
async def test_a_name_that_no_store_can_look_for(api: Api, name: str) -> None:
    await make(api)
    headers = {"Content-Type": "application/json"}
    for fields in (
        {"calendars": [name]},
        {"depends_on": [{"after": name, "within": 60}]},
        {"queue": name},
        {"tags": [name]},
    ):
        for method, path, body in (
            ("PATCH", "/digest", {"definition": fields}),
            ("POST", "", {"name": "new", "definition": {**DIGEST, **fields}}),
        ):
            answer = await api.ask(method, f"{PATH}{path}", "editor", content=json.dumps(body), headers=headers)
            refused(answer, 422, "invalid")


async def test_put_creates_or_replaces_while_others_create_and_delete(api: Api) -> None:
    """Also between the look and the write of one client."""
    statuses: list[int] = []
    await api.token("editor")

    async def put() -> None:
        for _ in range(5):
            answer = await api.ask("PUT", f"{PATH}/busy", "editor", json={"definition": DIGEST})
            statuses.append(answer.status_code)

    async def delete() -> None:
        for _ in range(8):
            assert (await api.ask("DELETE", f"{PATH}/busy", "editor")).status_code in (200, 404)

    await asyncio.gather(*(put() for _ in range(6)), delete(), delete())
    assert len(statuses) == 30
    assert set(statuses) <= {200, 201}
