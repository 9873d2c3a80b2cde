"""Workers over HTTP: who is alive, and who is to end."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tickbird.domain.workers import Worker

PATH = "/api/v1/workers"


async def test_live_workers_are_listed_by_id(api: Api) -> None:
    for name in ("c", "a", "b"):
        tasks = {"report": {"queue": "mail", "schema": {"type": "object"}}}
        await api.store.workers.heartbeat(
            a_worker(name, queues=("mail",), slots=4, tasks=tasks, standby_reason="waits"), 600
        )
    await api.store.workers.heartbeat(a_worker("elsewhere", namespace="elsewhere"), 600)
    first = await api.get("/workers?limit=2", "viewer")
    assert [each["id"] for each in first["items"]] == ["a", "b"]
    rest = await api.get("/workers", "viewer", params={"limit": 2, "after": first["next"]})
    assert ([each["id"] for each in rest["items"]], rest["next"]) == (["c"], None)
    worker = await api.get("/workers/a", "viewer")
    assert worker == first["items"][0]
    assert set(worker) == keys(Worker)
    assert (worker["queues"], worker["slots"], worker["standby_reason"]) == (["mail"], 4, "waits")
    assert worker["tasks"]["report"]["schema"] == {"type": "object"}
    assert (worker["draining"], worker["drain_requested_at"], worker["drain_requested_by"]) == (False, None, None)


async def test_a_worker_is_asked_to_drain(api: Api) -> None:
    await api.store.workers.heartbeat(a_worker("a"), 600)
    answer = await api.ask("POST", f"{PATH}/a/drain", "admin", json={"note": "new kernel"})
    assert answer.status_code == 200, answer.text
    asked = answer.json()
    assert asked["drain_requested_by"].startswith("admin (token ")
    assert asked == (await api.get("/workers/a"))
    assert (await api.store.workers.heartbeat(a_worker("a"), 600)).drain_requested_by == asked["drain_requested_by"]
    # Harmless, and told once.
    again = await api.ask("POST", f"{PATH}/a/drain")
    assert again.json()["drain_requested_at"] == asked["drain_requested_at"]
    [told] = [each for each in (await api.get("/audit"))["items"] if each["action"] == "drain_worker"]
    assert (told["actor"], told["detail"]) == (asked["drain_requested_by"], {"worker": "a", "note": "new kernel"})


async def test_a_worker_that_is_not_here_is_not_drained(api: Api) -> None:
    await api.store.workers.heartbeat(a_worker("there", namespace="elsewhere"), 600)
    await api.store.workers.heartbeat(a_worker("step", kind="sync"), 600)
    for method, path in (("GET", ""), ("POST", "/drain")):
        said = [refused(await api.ask(method, f"{PATH}/{name}{path}"), 404, "not-found") for name in ("there", "where")]
        assert said[0].replace("'there'", "'where'") == said[1]
    assert "is a deploy step" in refused(await api.ask("POST", f"{PATH}/step/drain"), 409, "conflict")
    assert (await api.store.workers.heartbeat(a_worker("there", namespace="elsewhere"), 600)).drain_requested_by == ""


@pytest.mark.parametrize(
    "method, path, sent, status, code",
    [
        ("GET", "?limit=0", None, 422, "invalid"),
        ("GET", "?after=x", None, 400, "bad-page"),
        ("GET", f"/{'x' * 1001}", None, 422, "invalid"),
        ("POST", "/%00/drain", None, 422, "invalid"),
        ("POST", "/a/drain", {"note": "x" * 2_001}, 422, "invalid"),
        ("POST", "/a/drain", {"why": ""}, 422, "invalid"),
        ("POST", "/a/drain", {"note": 5}, 422, "invalid"),
    ],
)
async def test_what_is_asked_for_is_checked(
    memory: Api, method: str, path: str, sent: Any, status: int, code: str
) -> None:
    request = {} if sent is None else {"json": sent}
    refused(await memory.ask(method, f"{PATH}{path}", **request), status, code)
