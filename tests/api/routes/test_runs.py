"""Runs over HTTP: listed, looked at, asked for, cancelled and repeated."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tickbird.domain.explain.explanation import Step
from tickbird.domain.explain.run_detail import RunDetail
from tickbird.domain.runs.logs import Progress
from tickbird.domain.runs.run import AttemptRecord, ClaimedRun, Outcome, RunRecord, Status
from tickbird.domain.schedules.dependencies import after
from tickbird.domain.workers import Worker

PATH = "/api/v1/runs"
WORKER: Worker = a_worker(
    queues=("default", "mail"), slots=4, tasks={"report": {"schema": {"properties": {"n": {"type": "integer"}}}}}
)


async def send(api: Api, path: str = "", role: Any = "editor", **request: Any) -> Any:
    """The document of a run that must be made or changed."""
    answer = await api.ask("POST", f"{PATH}{path}", role, **request)
    assert answer.status_code == (200 if path.endswith("/cancel") else 201), answer.text
    return answer.json()


async def start(api: Api) -> ClaimedRun:
    """The next run, taken by a worker."""
    found = await api.store.leases.claim(WORKER, 1, 60, queues=["default", "mail"], targets=[("task", "report")])
    return found.runs[0]


async def end(api: Api, run: ClaimedRun, status: Status = "succeeded", **outcome: Any) -> None:
    """Say how it ended."""
    await api.store.leases.finish([Outcome(run.id, run.attempt, status, **outcome)])


@pytest.mark.parametrize("priority,stored", [("high", 500), (-7, -7)])
async def test_a_priority_is_a_name_or_a_number(api: Api, priority: str | int, stored: int) -> None:
    assert (await send(api, json={"task": "report", "priority": priority}))["run"]["priority"] == stored


async def test_a_task_is_run_without_a_schedule(api: Api) -> None:
    body = {"task": "report", "payload": {"n": 2}, "queue": "mail", "priority": 5, "start_within": "10m"}
    made = await send(api, json=body)
    run = made["run"]
    assert set(run) == keys(RunRecord)
    assert made["warnings"] == [f"no live worker executes runs: run {run['id']} stays queued until one does"]
    assert (run["origin"], run["status"], run["schedule"], run["target"]) == (
        "manual",
        "queued",
        None,
        {"task": "report"},
    )
    assert (run["queue"], run["priority"], run["payload"]) == ("mail", 5, {"n": 2})
    assert (run["trigger"], run["cron_spec"]) == ("manual", None)
    assert run["metadata"] == {"trigger_type": "manual", "schedule_id": None, "scheduled_at": None}
    assert run["start_by"] is not None
    assert run["actor"].startswith("editor (token ")
    [audited] = [each for each in await api.client().audit.list() if each.run_id == run["id"]]
    assert (audited.action, audited.actor) == ("enqueue", run["actor"])
    await api.store.workers.heartbeat(WORKER, 600)
    served = await send(api, json={"task": "report"})
    assert served["warnings"] == []
    elsewhere = await send(api, json={"task": "report", "queue": "nowhere"})
    assert "no live worker serves queue 'nowhere'" in elsewhere["warnings"][0]
    unknown = await send(api, json={"task": "raport"})
    assert "no live worker knows task 'raport'" in unknown["warnings"][0]
    answer = await api.ask("POST", PATH, "editor", json={"task": "report", "payload": {"n": "x"}})
    assert "is not of type 'integer'" in refused(answer, 422, "invalid")
    assert answer.json()["field"] == "payload"


async def test_a_run_may_begin_later_or_wait_for_a_place(api: Api) -> None:
    later = (await send(api, json={"task": "report", "at": "2100-01-01T00:00:00+01:00"}))["run"]
    assert (later["due_at"], later["status"]) == ("2099-12-31T23:00:00Z", "queued")
    delayed = (await send(api, json={"task": "report", "delay": "1h"}))["run"]
    assert delayed["due_at"] > delayed["created_at"]
    first, second = [await send(api, json={"task": "report", "concurrency_key": "one"}) for _ in range(2)]
    assert first["run"]["concurrency_key"] == "one"
    waits = f"run {second['run']['id']} waits for a slot of concurrency key 'one'"
    assert (second["run"]["status"], second["warnings"]) == ("waiting", [waits])


async def test_the_same_key_gives_the_same_run_to_the_same_caller(api: Api) -> None:
    key, body = {"Idempotency-Key": "once"}, {"task": "report", "payload": {"n": 1}}
    first, again = [(await send(api, headers=key, json=body))["run"]["id"] for _ in range(2)]
    assert first == again
    other = await api.ask("POST", PATH, "editor", headers=key, json={**body, "payload": {"n": 2}})
    assert "has another payload" in refused(other, 409, "conflict")
    assert (await send(api, role="admin", headers=key, json=body))["run"]["id"] != first
    answer = await api.ask("POST", f"{PATH}?namespace=b", "editor", "a", "b", headers=key, json=body)
    assert answer.json()["run"]["id"] != first
    for wrong in ("", "x" * 192):
        refused(await api.ask("POST", PATH, "editor", headers={"Idempotency-Key": wrong}, json=body), 422, "invalid")


async def test_runs_come_newest_first_in_pages(api: Api) -> None:
    await api.create("digest")
    ids = [(await send(api, json={"task": "report"}))["run"]["id"] for _ in range(4)]
    ids.append((await api.client().schedules.trigger("digest", actor="ana")).id)
    done = await start(api)
    await end(api, done, "failed", error="no", failure_kind="raised")
    seen, after = [], None
    for _ in range(5):
        query = {"limit": 2} if after is None else {"limit": 2, "after": after}
        found = await api.get("/runs", "viewer", params=query)
        assert len(found["items"]) <= 2
        assert all(set(each) == keys(RunRecord) for each in found["items"])
        seen += [each["id"] for each in found["items"]]
        if (after := found["next"]) is None:
            break
    assert seen == ids[::-1]
    assert [each["id"] for each in (await api.get("/runs?schedule=digest"))["items"]] == ids[4:]
    assert [each["id"] for each in (await api.get("/runs?status=failed"))["items"]] == [done.id]
    assert (await api.get("/runs?status=failed&schedule=digest"))["items"] == []


async def test_one_run_has_its_attempts_its_progress_and_its_turn(api: Api) -> None:
    made = (await send(api, json={"task": "report"}))["run"]
    run = await start(api)
    await api.store.logs.write([], [Progress(run.id, run.attempt, await api.client().system.now(), {"done": 3})])
    found = await api.get(f"/runs/{made['id']}", "viewer")
    assert set(found) == keys(RunDetail)
    assert (found["run"]["status"], found["run"]["worker"], found["attempts"]) == ("running", WORKER.id, [])
    assert (found["progress"]["attempt"], found["progress"]["value"]) == (1, {"done": 3})
    await end(api, run, "queued", error="Boom: no", failure_kind="raised", failures=1)
    again = await api.get(f"/runs/{made['id']}", "viewer")
    [attempt] = again["attempts"]
    assert set(attempt) == keys(AttemptRecord)
    assert (attempt["attempt"], attempt["error"], attempt["worker"]) == (1, "Boom: no", WORKER.id)
    assert (again["run"]["status"], again["queue_position"]) == ("queued", None)
    await api.client().queues.set_rate("default", "1/day", actor="ana")
    await start(api)
    second = (await send(api, json={"task": "report"}))["run"]
    turn = (await api.get(f"/runs/{second['id']}", "viewer"))["queue_position"]
    assert (turn["rate"], turn["runs_before"]) == ("1/day", 0)
    assert turn["at"] > second["created_at"]


async def waits(api: Api, run_id: int, **query: str) -> list[tuple[str, str]]:
    """What a run waits for, by the names of the steps, and their texts."""
    steps = (await api.get(f"/runs/{run_id}", "viewer", params=query))["waiting_for"]
    assert all(set(step) == keys(Step) for step in steps)
    return [(step["name"], step["text"]) for step in steps]


async def test_a_run_tells_what_it_waits_for(api: Api) -> None:
    first, second = [
        (await send(api, json={"task": "report", "concurrency_key": "one"}))["run"]["id"] for _ in range(2)
    ]
    assert await waits(api, first) == [("worker", "No live worker executes runs.")]
    [(name, words)] = await waits(api, second)
    assert name == "limit"
    assert words.startswith(f"Waits for a slot of concurrency key 'one': the only slot taken by manual run {first}, ")
    await api.store.workers.heartbeat(WORKER, 600)
    assert await waits(api, first) == []
    later = (await send(api, json={"task": "report", "at": "2100-01-01T00:00:00Z"}))["run"]["id"]
    assert await waits(api, later) == [("queue", "Attempt 1 may start at 2100-01-01 00:00:00 UTC.")]
    [(_, words)] = await waits(api, later, tz="Asia/Tokyo")
    assert words == "Attempt 1 may start at 2100-01-01 00:00:00 UTC (09:00:00 JST)."
    run = await start(api)
    assert (run.id, await waits(api, run.id)) == (first, [])
    await end(api, run)
    assert (await waits(api, run.id), await waits(api, second)) == ([], [])


async def test_a_run_of_a_schedule_tells_what_it_waits_for(api: Api) -> None:
    client = api.client()
    await api.create("load")
    await api.create("digest", depends_on=[after("load", within="1h", wait="2h")])
    active, waiting = [(await client.schedules.trigger("digest", actor="ana")).id for _ in range(2)]
    [(name, words)] = await waits(api, waiting)
    assert name == "overlap"
    assert words.startswith(f"Waits for manual run {active}, queued since ")
    assert words.endswith("(overlap=skip, max_concurrent=1).")
    tick = (await client.ticks.next("digest", 1))[0].scheduled_for
    for run_id in (active, waiting):
        await client.runs.cancel(run_id, actor="ana")
    await api.store.planning.plan_due(now=tick + timedelta(seconds=1))
    [awaiting] = [run for run in await client.runs.list(schedule="digest") if run.waiting_for_dependency]
    [(name, words)] = await waits(api, awaiting.id)
    assert name == "dependency"
    assert words.startswith("Waits for load to succeed, by ")
    # Also when the schedule is gone.
    await client.schedules.delete("digest", actor="ana")
    assert [name for name, _ in await waits(api, awaiting.id)] == ["dependency"]


async def test_a_run_is_cancelled_until_it_has_ended(api: Api) -> None:
    queued = (await send(api, json={"task": "report"}))["run"]["id"]
    cancelled = await send(api, f"/{queued}/cancel", "operator", json={"reason": "not needed"})
    assert set(cancelled) == keys(RunRecord)
    assert (cancelled["status"], cancelled["reason"]) == ("cancelled", "not needed")
    assert cancelled["cancel_requested_by"].startswith("operator (token ")
    answer = await api.ask("POST", f"{PATH}/{queued}/cancel", "operator")
    assert f"run {queued} is already cancelled" in refused(answer, 409, "conflict")
    await send(api, json={"task": "report"})
    run = await start(api)
    asked = await send(api, f"/{run.id}/cancel", "operator")
    assert asked["status"] == "running"
    assert asked["cancel_requested_at"] is not None
    await end(api, run)
    refused(await api.ask("POST", f"{PATH}/{run.id}/cancel", "operator"), 409, "conflict")


async def test_a_final_run_is_repeated(api: Api) -> None:
    await send(api, json={"task": "report", "payload": {"n": 1}, "queue": "mail"})
    run = await start(api)
    answer = await api.ask("POST", f"{PATH}/{run.id}/retry", "operator")
    assert "Only a run that has ended can be retried" in refused(answer, 409, "conflict")
    await end(api, run, "failed", error="no", failure_kind="raised")
    same = (await send(api, f"/{run.id}/retry", "operator"))["run"]
    assert (same["retry_of"], same["payload"], same["queue"], same["origin"]) == (run.id, {"n": 1}, "mail", "retry")
    other = await send(api, f"/{run.id}/retry", "operator", json={"payload": {"n": 2}, "wait": 1})
    assert other["run"]["payload"] == {"n": 2}
    assert "stays queued until one does" in other["warnings"][0]
    await api.store.workers.heartbeat(WORKER, 600)
    wrong = await api.ask("POST", f"{PATH}/{run.id}/retry", "operator", json={"payload": {"n": "x"}})
    refused(wrong, 422, "invalid")


async def test_a_run_is_repeated_as_it_was_whatever_became_of_its_schedule(api: Api) -> None:
    await api.create("digest", queue="mail", payload={"n": 1})
    await api.client().schedules.trigger("digest", actor="ana")
    run = await start(api)
    await end(api, run, "failed", error="no", failure_kind="raised")
    original = {"task": (await api.client().runs.get(run.id)).target.name}
    await api.client().schedules.update("digest", actor="ana", task="purge", queue="default", payload={"n": 2})
    for change in ("edit", "delete"):
        if change == "delete":
            await api.client().schedules.delete("digest", actor="ana", cancel_runs=True)
        same = (await send(api, f"/{run.id}/retry", "operator"))["run"]
        assert (same["target"], same["queue"], same["payload"]) == (original, "mail", {"n": 1}), change
        assert same["revision"] == 1


async def test_a_run_is_repeated_once_under_a_key(api: Api) -> None:
    await api.create("digest")
    await api.client().schedules.trigger("digest", actor="ana")
    alone = (await send(api, json={"task": "report"}))["run"]["id"]
    for _ in range(2):
        await end(api, await start(api), "failed", error="no", failure_kind="raised")
    key = {"Idempotency-Key": "again"}
    runs = [run.id for run in await api.client().runs.list()]
    for place, run_id in enumerate(runs):
        own = {"Idempotency-Key": f"again {place}"}
        first, second = [(await send(api, f"/{run_id}/retry", "operator", headers=own))["run"]["id"] for _ in range(2)]
        assert first == second != run_id
        other = await api.ask("POST", f"{PATH}/{run_id}/retry", "operator", headers=own, json={"payload": {"n": 9}})
        assert "has another payload" in refused(other, 409, "conflict")
    assert len(await api.client().runs.list()) == 4
    # The key of something else.
    await send(api, json={"task": "report"}, headers=key)
    answer = await api.ask("POST", f"{PATH}/{alone}/retry", "editor", headers=key)
    assert f"which is not a retry of run {alone}" in refused(answer, 409, "conflict")


async def test_a_run_is_waited_for(api: Api) -> None:
    async def work(listening: asyncio.Event) -> None:
        async with api.store.wakeups() as news:
            listening.set()
            async for _ in news:
                if await api.client().runs.list(status="queued"):
                    await end(api, await start(api), result={"sent": 7})
                    return

    listening = asyncio.Event()
    worker = asyncio.create_task(work(listening))
    await listening.wait()
    done = (await send(api, json={"task": "report", "wait": 60}))["run"]
    await worker
    assert (done["status"], done["result"]) == ("succeeded", {"sent": 7})


async def test_a_run_of_another_namespace_is_as_none(api: Api) -> None:
    there = await api.ask("POST", PATH, "editor", "elsewhere", json={"task": "report"})
    number = there.json()["run"]["id"]
    nowhere = 10**15
    for method, path in (("GET", ""), ("POST", "/cancel"), ("POST", "/retry")):
        said = [refused(await api.ask(method, f"{PATH}/{each}{path}"), 404, "not-found") for each in (number, nowhere)]
        assert said[0].replace(str(number), str(nowhere)) == said[1]
    assert (await api.get("/runs", "viewer"))["items"] == []
    assert (await api.client("elsewhere").runs.get(number)).status == "queued"


@pytest.mark.parametrize(
    "change, field",
    [
        ({"task": None}, "task"),
        ({"task": "a b"}, "task"),
        ({"task": ""}, "task"),
        ({"payload": 5}, "payload"),
        ({"at": "2026-01-01T00:00:00"}, "at"),
        ({"at": "soon"}, "at"),
        ({"at": "2100-01-01T00:00:00Z", "delay": 5}, "at"),
        ({"delay": "soon"}, "delay"),
        ({"delay": -1}, "delay"),
        ({"delay": True}, "delay"),
        ({"queue": "a b"}, "queue"),
        ({"priority": 10**9}, "priority"),
        ({"start_within": "x"}, "start_within"),
        ({"priority": "urgent"}, "priority"),
        ({"crash_limit": -(10**12)}, "crash_limit"),
        ({"crash_limit": 10**12}, "crash_limit"),
        ({"concurrency_key": "{"}, "concurrency_key"),
        ({"concurrency_key": "{n}"}, "concurrency_key"),
        ({"concurrency_key": "a", "delay": 5}, "concurrency_key"),
        ({"wait": 0}, "wait"),
        ({"wait": 301}, "wait"),
        ({"actor": "root"}, "actor"),
    ],
)
async def test_bad_input_makes_no_run(memory: Api, change: dict[str, Any], field: str) -> None:
    answer = await memory.ask("POST", PATH, "editor", json={"task": "report", **change})
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words
    assert (await memory.get("/runs"))["items"] == []


@pytest.mark.parametrize(
    "method, path, sent, status, code",
    [
        ("GET", "?status=lost", None, 422, "invalid"),
        ("GET", "?schedule=nothing", None, 404, "not-found"),
        ("GET", "?schedule=%00", None, 422, "invalid"),
        ("GET", "?limit=1001", None, 422, "invalid"),
        ("GET", "?after=x", None, 400, "bad-page"),
        ("GET", "?after=WyJhIl0", None, 400, "bad-page"),
        ("GET", "/0", None, 422, "invalid"),
        ("GET", "/x", None, 422, "invalid"),
        ("GET", "/1?tz=Mars/X", None, 422, "invalid"),
        ("GET", f"/{2**63}", None, 422, "invalid"),
        ("GET", f"/{2**63 - 1}", None, 404, "not-found"),
        ("POST", "/1/cancel", {"reason": "x" * 2_001}, 422, "invalid"),
        ("POST", "/1/cancel", {"why": ""}, 422, "invalid"),
        ("POST", "/1/retry", {"payload": []}, 422, "invalid"),
        ("POST", "/1/retry", {"wait": "long"}, 422, "invalid"),
    ],
)
async def test_what_is_asked_for_is_checked(
    memory: Api, method: str, path: str, sent: Any, status: int, code: str
) -> None:
    request = {} if sent is None else {"json": sent}
    refused(await memory.ask(method, f"{PATH}{path}", **request), status, code)
