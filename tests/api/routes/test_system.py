"""The store as a whole and its ledger over HTTP: who may look, and that nothing of another namespace is seen."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.doctor.finding import Finding
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.ledger.decisions import TickDecisions
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.instants import to_datetime, to_seconds, utc_text
from tickbird.domain.time.zone_data import Zones

WHOLE = [
    ("GET", "doctor"),
    ("GET", "system/identity"),
    ("POST", "system/accept-copy"),
    ("POST", "system/zone-data/adopt"),
]


@pytest.mark.parametrize("method, path", WHOLE)
async def test_the_whole_store_is_for_those_who_may_see_all_of_it(memory: Api, method: str, path: str) -> None:
    said = refused(await memory.ask(method, f"/api/v1/{path}", "admin", "default"), 403, "forbidden")
    assert said == (
        "This request needs all namespaces, but token 'admin' has default. "
        "Use a token that was created with --all-namespaces."
    )
    chosen = await memory.ask(method, f"/api/v1/{path}?namespace=default", "admin", "*")
    assert chosen.status_code in (200, 409), chosen.text


async def test_what_is_told_of_the_store(memory: Api) -> None:
    everything = ("admin", "*")
    [*found] = (await memory.get("/doctor?namespace=default", *everything))["items"]
    assert {*found[0]} == keys(Finding)
    assert {*await memory.get("/system/identity?namespace=default", *everything)} == keys(StoreIdentity)
    zones = await memory.get("/system/zone-data", "viewer")
    assert {*zones} == keys(Zones)
    assert zones["store"] in (await memory.get("/system/zone-data/history", "viewer"))["items"]
    assert (await memory.get("/system/zone-data/impact", "viewer"))["items"] == []
    assert (await memory.get("/now", "viewer"))["now"].endswith("Z")


async def test_the_ledger_is_that_of_the_namespace(memory: Api) -> None:
    await memory.create("mine", first="now")
    await memory.create("theirs", "shop", first="now")
    now = await memory.client().system.now()
    since = utc_text(to_datetime(to_seconds(now - timedelta(hours=1))))
    [mine] = (await memory.get(f"/activity?since={since}", "viewer"))["items"]
    assert {*mine} == keys(Activity)
    assert (mine["kind"], mine["schedule"]) == ("planned", "mine")
    [theirs] = (await memory.get(f"/activity?since={since}", "viewer", "shop"))["items"]
    assert theirs["schedule"] == "theirs"
    span = {"first": since, "last": utc_text(to_datetime(to_seconds(now)))}
    decided = await memory.get("/schedules/mine/decisions", "viewer", params=span)
    assert {*decided} == keys(TickDecisions)
    audit = await memory.get("/schedules/mine/verify", "viewer")
    assert {*audit} == keys(LedgerReport)
    assert audit["ok"]
    assert len((await memory.get("/schedules/mine/active-runs", "viewer"))["items"]) == 1
    for path in ("decisions", "verify", "active-runs"):
        query = {} if path == "active-runs" else span
        asked = await memory.ask("GET", f"/api/v1/schedules/theirs/{path}", "viewer", params=query)
        assert refused(asked, 404, "not-found").startswith("there is no schedule 'theirs'.")
    refused(await memory.ask("GET", "/api/v1/activity?since=2026-01-01T00:00:00", "viewer"), 422, "invalid")


async def test_a_run_that_is_waited_for(memory: Api) -> None:
    await memory.create("mine", first="now")
    [run] = await memory.client().runs.list()
    waited = await memory.get(f"/runs/{run.id}?wait=1", "viewer")
    assert waited["run"]["status"] == "queued"
    await memory.client().runs.cancel(run.id, actor="ana")
    assert (await memory.get(f"/runs/{run.id}?wait=60", "viewer"))["run"]["status"] == "cancelled"
    refused(await memory.ask("GET", "/api/v1/runs/99?wait=5", "viewer"), 404, "not-found")


async def test_fields_that_are_to_be_nothing(memory: Api) -> None:
    await memory.create("mine", timeout=60, tags=["a"])
    body = {"definition": {"retries": 2}, "unset": ["tags"], "none": ["timeout"]}
    changed = (await memory.ask("PATCH", "/api/v1/schedules/mine", json=body)).json()["schedule"]["definition"]
    assert (changed.get("tags"), changed.get("timeout"), changed["retries"]) == (None, None, 2)
    for wrong in ({"none": ["timeuot"]}, {"unset": ["timeuot"]}, {"none": ["timeout"], "unset": ["timeout"]}):
        refused(await memory.ask("PATCH", "/api/v1/schedules/mine", json={"definition": {}, **wrong}), 422, "invalid")


async def test_a_task_that_must_be_known(memory: Api) -> None:
    definition = {"trigger": {"cron": "@daily"}, "target": {"task": "unheard"}}
    body = {"name": "new", "definition": definition, "unknown_task_ok": False}
    said = refused(await memory.ask("POST", "/api/v1/schedules", json=body), 404, "not-found")
    assert said.startswith("no live worker has a task 'unheard'.")
    asked = {"task": "unheard", "unknown_task_ok": False}
    refused(await memory.ask("POST", "/api/v1/runs", json=asked), 404, "not-found")
