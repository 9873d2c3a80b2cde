"""Backfills over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every

PATH = "/api/v1/schedules/daily/backfill"


async def ten_days(api: Api, namespace: str = "default") -> dict[str, Any]:
    """A daily schedule of which the ticks of ten days have come, and two of them have run; those days."""
    today = (await api.client().system.now()).replace(hour=0, minute=0, second=0, microsecond=0)
    definition = Definition(trigger=every(days=1), target=Target("report"), catch_up="skip", overlap="allow")
    command = Create(actor="ana", namespace=namespace, definition=definition)
    began = today - timedelta(days=10)
    await api.store.schedules.change(namespace, "daily", command, now=began + timedelta(hours=1))
    for day in (1, 2, 11):
        await api.store.planning.plan_due(now=began + timedelta(days=day, seconds=1 if day < 3 else -1))
    days: tuple[datetime, datetime] = (began + timedelta(days=1), today)
    return {"first": days[0].isoformat(), "last": days[1].isoformat()}


async def test_ticks_that_have_no_run_are_run(api: Api) -> None:
    days = await ten_days(api)
    dry = await api.ask("POST", PATH, "operator", json={**days, "dry_run": True})
    assert dry.status_code == 200, dry.text
    plan = dry.json()
    assert set(plan) == keys(BackfillPlan)
    assert (plan["id"], plan["count"], plan["taken"], len(plan["ticks"])) == (None, 8, 2, 8)
    looked = await api.ask("POST", f"{PATH}/preview", "viewer", json=days)
    assert looked.json() == plan
    assert (await api.get("/backfills", "viewer"))["items"] == []
    made = (await api.ask("POST", PATH, "operator", json={**days, "note": "lost", "order": "newest"})).json()
    assert made["count"] == 8
    [listed] = (await api.get("/backfills?schedule=daily", "viewer"))["items"]
    found = await api.get(f"/backfills/{made['id']}", "viewer")
    assert listed == found
    assert set(found) == keys(BackfillRecord)
    assert (found["total"], found["done"], found["note"], found["order"]) == (8, 0, "lost", "newest")
    assert found["actor"].startswith("operator (token ")
    answer = await api.ask("POST", f"/api/v1/backfills/{made['id']}/cancel", "operator", json={"note": "enough"})
    assert answer.json()["counts"]["cancelled"] == 8


async def test_ticks_whose_run_may_have_been_pruned_are_left_out(api: Api) -> None:
    days = await ten_days(api)
    for run in await api.client().runs.list(schedule="daily"):
        await api.client().runs.cancel(run.id, actor="ana")
    await api.store.runs.prune(older_than=0, keep=0)
    dry = (await api.ask("POST", PATH, "operator", json={**days, "dry_run": True})).json()
    assert (dry["count"], dry["taken"], dry["pruned"], len(dry["ticks"])) == (8, 0, 2, 8)
    assert dry["first"] < dry["pruned_until"] < dry["ticks"][0]
    made = (await api.ask("POST", PATH, "operator", json=days)).json()
    assert {**made, "id": None} == dry


async def test_a_backfill_of_another_namespace_is_not_there(api: Api) -> None:
    days = await ten_days(api, "elsewhere")
    made = (await api.ask("POST", PATH, "operator", "elsewhere", json=days)).json()
    for number in (made["id"], 10**15):
        refused(await api.ask("GET", f"/api/v1/backfills/{number}", "viewer"), 404, "not-found")
        refused(await api.ask("POST", f"/api/v1/backfills/{number}/cancel", "operator"), 404, "not-found")
    refused(await api.ask("POST", PATH, "operator", json=days), 404, "not-found")
    assert (await api.get("/backfills", "viewer"))["items"] == []
    found = await api.get(f"/backfills/{made['id']}", "viewer", "elsewhere")
    assert found["cancelled_at"] is None


@pytest.mark.parametrize(
    "change, field",
    [
        ({"first": None}, "first"),
        ({"first": "2026-01-01T00:00:00"}, "first"),
        ({"last": "soon"}, "last"),
        ({"concurrency": 0}, "concurrency"),
        ({"order": "random"}, "order"),
        ({"payload": 5}, "payload"),
        ({"more": 1}, "more"),
    ],
)
async def test_bad_input_makes_no_backfill(memory: Api, change: dict[str, Any], field: str) -> None:
    days = await ten_days(memory)
    answer = await memory.ask("POST", PATH, "operator", json={**days, **change})
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words
    assert (await memory.get("/backfills"))["items"] == []


@pytest.mark.parametrize("number", ["0", "-1", "x", str(2**63), "1.5"])
async def test_what_is_no_number_of_a_backfill(memory: Api, number: str) -> None:
    refused(await memory.ask("GET", f"/api/v1/backfills/{number}"), 422, "invalid")
