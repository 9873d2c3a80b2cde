"""Concurrency keys and queues over HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus


async def send(api: Api, method: str, path: str, **request: Any) -> Any:
    """The document of a change that must be made."""
    answer = await api.ask(method, f"/api/v1{path}", "editor", **request)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("key", ["warehouse", "tenant:acme/1", "/", "a b?c#d%", "é“"])
async def test_a_key_is_limited_and_let_go(api: Api, key: str) -> None:
    path = f"/limits/{quote(key, safe='')}"
    limit = await send(api, "PUT", path, json={"max_running": 3})
    assert set(limit) == keys(ConcurrencyLimit)
    assert limit == {"key": key, "max_running": 3, "is_explicit": True, "active": 0, "waiting": 0}
    assert (await api.get("/limits", "viewer"))["items"] == [limit]
    assert await send(api, "DELETE", path) == {**limit, "max_running": 1, "is_explicit": False}
    assert "there is no limit for" in refused(await api.ask("DELETE", f"/api/v1{path}", "editor"), 404, "not-found")
    told = [(each.action, each.detail["after"]) for each in await api.client().audit.list() if each.action == "limit"]
    assert told == [("limit", None), ("limit", 3)]


async def test_keys_come_in_pages_and_let_waiters_go(api: Api) -> None:
    client = api.client()
    for key in "ccab":
        await client.runs.enqueue("report", actor="ana", unknown_task_ok=True, concurrency_key=key)
    first = await api.get("/limits?limit=2", "viewer")
    assert [each["key"] for each in first["items"]] == ["a", "b"]
    rest = await api.get("/limits", "viewer", params={"limit": 2, "after": first["next"]})
    [last] = rest["items"]
    assert (last["key"], last["active"], last["waiting"], rest["next"]) == ("c", 1, 1, None)
    assert (await send(api, "PUT", "/limits/c", json={"max_running": 2}))["active"] == 2


async def test_a_queue_has_a_rate_until_it_is_taken_back(api: Api) -> None:
    await api.client().runs.enqueue("report", actor="ana", unknown_task_ok=True, queue="mail")
    changed = await send(api, "PUT", "/queues/mail/rate", json={"rate": "100/min"})
    assert changed["warnings"] == ["no live worker executes runs: its runs stay queued until one does"]
    queue = changed["queue"]
    assert set(queue) == keys(QueueStatus)
    assert (queue["queue"], queue["rate"], queue["queued"], queue["workers"]) == ("mail", "100/min", 1, 0)
    await api.store.workers.heartbeat(a_worker(queues=("default", "mail"), slots=2, tasks={"report": {}}), 600)
    first = await api.get("/queues?limit=1", "viewer")
    assert [each["queue"] for each in first["items"]] == ["default"]
    rest = await api.get("/queues", "viewer", params={"after": first["next"]})
    assert (rest["items"], rest["next"]) == ([{**queue, "workers": 1}], None)
    free = await send(api, "DELETE", "/queues/mail/rate")
    assert (free["queue"]["rate"], free["warnings"]) == (None, [])
    answer = await api.ask("DELETE", "/api/v1/queues/mail/rate", "editor")
    assert "queue 'mail' has no rate" in refused(answer, 404, "not-found")


async def test_limits_are_those_of_a_namespace(api: Api) -> None:
    client = api.client("elsewhere")
    await client.limits.set("k", 5, actor="ana")
    await client.queues.set_rate("mail", "1/s", actor="ana")
    assert (await api.get("/limits"))["items"] == (await api.get("/queues"))["items"] == []
    for path in ("limits/k", "queues/mail/rate"):
        refused(await api.ask("DELETE", f"/api/v1/{path}", "editor"), 404, "not-found")
    await send(api, "PUT", "/limits/k", json={"max_running": 2})
    assert [each.max_running for each in await client.limits.list()] == [5]


@pytest.mark.parametrize(
    "method, path, sent, status, code",
    [
        ("PUT", "limits/k", {}, 422, "invalid"),
        ("PUT", "limits/k", {"max_running": 0}, 422, "invalid"),
        ("PUT", "limits/k", {"max_running": 10**6}, 422, "invalid"),
        ("PUT", "limits/k", {"max_running": "many"}, 422, "invalid"),
        ("PUT", "limits/k", {"max_running": 1, "minimum": 1}, 422, "invalid"),
        ("PUT", f"limits/{'k' * 201}", {"max_running": 1}, 422, "invalid"),
        ("PUT", "limits/a%0Ab", {"max_running": 1}, 404, "no-such-path"),
        ("PUT", "limits/%00", {"max_running": 1}, 422, "invalid"),
        ("PUT", "limits/", {"max_running": 1}, 422, "invalid"),
        ("DELETE", "limits/%00", None, 422, "invalid"),
        ("GET", "limits?after=x", None, 400, "bad-page"),
        ("GET", "limits?limit=0", None, 422, "invalid"),
        ("PUT", "queues/mail/rate", {}, 422, "invalid"),
        ("PUT", "queues/mail/rate", {"rate": None}, 422, "invalid"),
        ("PUT", "queues/mail/rate", {"rate": "fast"}, 422, "invalid"),
        ("PUT", "queues/mail/rate", {"rate": "0/s"}, 422, "invalid"),
        ("PUT", "queues/mail/rate", {"rate": "1/s" * 30}, 422, "invalid"),
        ("PUT", "queues/a%20b/rate", {"rate": "1/s"}, 422, "invalid"),
        ("DELETE", "queues/%00/rate", None, 422, "invalid"),
        ("GET", "queues?after=WzFd", None, 400, "bad-page"),
    ],
)
async def test_bad_input_limits_nothing(memory: Api, method: str, path: str, sent: Any, status: int, code: str) -> None:
    request = {} if sent is None else {"json": sent}
    refused(await memory.ask(method, f"/api/v1/{path}", **request), status, code)
    assert (await memory.get("/limits"))["items"] == (await memory.get("/queues"))["items"] == []
