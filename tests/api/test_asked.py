"""What a request asks for and its route does not know is refused, and nothing is taken for what it is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, refused

FIRST, LAST = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    "method, path, field, said",
    [
        ("GET", "runs?stauts=failed", "stauts", "stauts: is not a parameter of this path; did you mean status?"),
        ("DELETE", "schedules/digest?cancel_run=true", "cancel_run", "did you mean cancel_runs?"),
        ("GET", "runs?namespce=b", "namespce", "did you mean namespace?"),
        ("GET", "now?xyz=1", "xyz", "it takes namespace."),
        ("GET", "tokens?xyz=1", "xyz", "it takes after, limit, live, namespace."),
        ("GET", "events?kinds=planned", "kinds", "did you mean kind?"),
        ("GET", "runs?limit=1&limit=2", "limit", "limit: is given more than once; give it once."),
        ("GET", "runs?namespace=default&namespace=default", "namespace", "is given more than once"),
        ("GET", "runs?limit=1_0", "limit", "limit: '1_0' is not a whole number; write it in digits, such as 10."),
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
    assert (await memory.client().get("digest")).state == "active"


async def test_who_may_not_ask_is_told_that_first(memory: Api) -> None:
    refused(await memory.ask("DELETE", "/api/v1/schedules/digest?x=1", "viewer"), 403, "forbidden")


async def test_the_namespace_may_be_said_everywhere(memory: Api) -> None:
    await memory.get("/tokens", params={"namespace": "default"})
    await memory.get("/openapi.json", params={"namespace": "default"})


async def test_a_list_takes_several(memory: Api) -> None:
    async with memory.listen("/events?kind=planned&kind=skipped") as listener:
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
    assert (await memory.client().get("digest")).state == "active"
    assert await memory.client().runs() == []


@pytest.mark.parametrize(
    "path, body", [("trigger", {}), ("backfill", {"first": FIRST, "last": LAST}), ("backfill", {"dry_run": True})]
)
async def test_runs_are_made_only_of_the_revision_that_was_seen(api: Api, path: str, body: Any) -> None:
    await api.create("digest")
    now = (await api.client().now()).isoformat()
    sent = {"first": FIRST, "last": now, **body} if path == "backfill" else body
    answer = await api.ask("POST", f"/api/v1/schedules/digest/{path}", json=sent, headers={"If-Match": '"7"'})
    assert "is at revision 1, not 7: it changed meanwhile" in refused(answer, 412, "stale")
    assert await api.client().runs() == []
    answer = await api.ask("POST", f"/api/v1/schedules/digest/{path}", json=sent, headers={"If-Match": '"1"'})
    assert answer.status_code in (200, 201), answer.text


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize(
    "method, path, body",
    [
        ("POST", "bulk/pause", {"filter": {}, "expected": 1}),
        ("PUT", "limits/db", {"most": 2}),
        ("POST", "runs", {"task": "report"}),
        ("DELETE", "queues/default/rate", None),
    ],
)
async def test_a_condition_that_nobody_looks_at_is_refused(
    memory: Api, header: str, method: str, path: str, body: Any
) -> None:
    await memory.create("digest")
    answer = await memory.ask(method, f"/api/v1/{path}", json=body, headers={header: "*"})
    assert f"{header}: this request is not made under a condition; leave it out." in refused(answer, 400, "bad-tag")
    assert answer.json()["field"] == header
    assert (await memory.client().get("digest")).state == "active"
    # Who only reads changes nothing by it.
    assert (await memory.ask("GET", "/api/v1/schedules", headers={header: "*"})).status_code == 200
