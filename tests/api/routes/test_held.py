"""Held runs over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every


async def outage(api: Api, name: str = "hourly", namespace: str = "default") -> None:
    """A schedule of which nothing was planned for five hours, and the runs of which are therefore held."""
    now = (await api.client().system.now()).replace(minute=0, second=0, microsecond=0)
    definition = Definition(
        trigger=every(hours=1), target=Target("report"), catch_up="all", hold_above=2, overlap="queue"
    )
    command = Create(actor="ana", namespace=namespace, definition=definition)
    await api.store.schedules.change(namespace, name, command, now=now - timedelta(hours=5, seconds=1))
    await api.store.planning.plan_due(now=now - timedelta(minutes=1))


async def test_what_is_held_is_listed(api: Api) -> None:
    for name in ("b", "a"):
        await outage(api, name)
    await outage(api, "c", "elsewhere")
    first = await api.get("/held?limit=1", "viewer")
    [held] = first["items"]
    assert set(held) == keys(HeldSchedule)
    assert (held["schedule"], held["count"]) == ("a", 5)
    assert held["first"] < held["last"]
    rest = await api.get("/held", "viewer", params={"after": first["next"]})
    assert ([each["schedule"] for each in rest["items"]], rest["next"]) == (["b"], None)
    assert (await api.get("/held?schedule=b"))["items"] == rest["items"]
    page = await api.get("/schedules/b/held?limit=3", "viewer")
    more = await api.get("/schedules/b/held", "viewer", params={"after": page["next"]})
    runs = [*page["items"], *more["items"]]
    assert len(runs) == 5
    assert all(run["held"] for run in runs)
    assert [run["id"] for run in runs] == sorted(run["id"] for run in runs)


async def test_held_runs_are_released_and_dropped(api: Api) -> None:
    await outage(api)
    released = await api.ask(
        "POST", "/api/v1/schedules/hourly/held/release", "operator", json={"count": 2, "per_minute": 1, "note": "slow"}
    )
    assert released.json() == {"schedule": "hourly", "released": 2, "held": 3}
    first, second = (await api.client().runs.list(schedule="hourly"))[::-1][:2]
    assert second.available_at > first.available_at
    assert (first.released_by or "").startswith("operator (token ")
    dropped = await api.ask("POST", "/api/v1/schedules/hourly/held/drop", "operator", json={"count": 1})
    assert dropped.json() == {"schedule": "hourly", "dropped": 1, "held": 2}
    assert (await api.ask("POST", "/api/v1/schedules/hourly/held/release", "operator")).json()["released"] == 2
    assert (await api.get("/held"))["items"] == []
    for what in ("release", "drop"):
        answer = await api.ask("POST", f"/api/v1/schedules/hourly/held/{what}", "operator")
        assert "no run of schedule 'hourly' is held" in refused(answer, 409, "conflict")
    told = [each["action"] for each in (await api.get("/audit?schedule=hourly"))["items"]]
    assert told[:3] == ["release_held", "drop_held", "release_held"]


async def test_what_is_held_elsewhere_stays_so(api: Api) -> None:
    await outage(api, namespace="elsewhere")
    assert (await api.get("/held"))["items"] == []
    for method, path in (
        ("GET", "held?schedule=hourly"),
        ("GET", "schedules/hourly/held"),
        ("POST", "schedules/hourly/held/release"),
        ("POST", "schedules/hourly/held/drop"),
    ):
        said = refused(await api.ask(method, f"/api/v1/{path}"), 404, "not-found")
        other = refused(await api.ask(method, f"/api/v1/{path.replace('hourly', 'nothing')}"), 404, "not-found")
        assert said.replace("'hourly'", "'nothing'") == other
    assert (await api.client("elsewhere").held.list())[0].count == 5


@pytest.mark.parametrize(
    "what, sent, field",
    [
        ("release", {"count": 0}, "count"),
        ("release", {"count": 10**7}, "count"),
        ("release", {"per_minute": 0}, "per_minute"),
        ("release", {"per_minute": "fast"}, "per_minute"),
        ("release", {"note": "x" * 2_001}, "note"),
        ("drop", {"count": -1}, "count"),
        ("drop", {"per_minute": 1}, "per_minute"),
        ("drop", {"all": True}, "all"),
    ],
)
async def test_bad_input_decides_nothing(memory: Api, what: str, sent: dict[str, Any], field: str) -> None:
    await outage(memory)
    answer = await memory.ask("POST", f"/api/v1/schedules/hourly/held/{what}", json=sent)
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words
    assert (await memory.get("/held"))["items"][0]["count"] == 5


@pytest.mark.parametrize("path", ["held?after=x", "held?after=WzFd", "schedules/hourly/held?after=WyJhIl0"])
async def test_what_is_no_key_of_a_page(memory: Api, path: str) -> None:
    await outage(memory)
    refused(await memory.ask("GET", f"/api/v1/{path}"), 400, "bad-page")
