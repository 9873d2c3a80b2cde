"""Schedules over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from conformance.steps import a_worker
from tests.api.conftest import Api, keys, refused
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.triggers.cron.cron import cron
from tickbird.wire.codec import encode


async def test_schedules_are_listed_as_documents(api: Api) -> None:
    assert await api.get("/schedules", "viewer") == {"items": [], "next": None}
    await api.create("digest", tags=["mail"], description="Zoë’s")
    await api.client().schedules.trigger("digest", actor="ana", payload={"a": [1, None, "ü"]})
    await api.client().schedules.pause("digest", actor="ana", note="holiday")
    [listed] = (await api.get("/schedules", "viewer"))["items"]
    [row] = await api.client().schedules.list()
    assert listed == encode(row)
    assert listed["last_run"]["payload"] == {"a": [1, None, "ü"]}
    assert (listed["state"], listed["paused"]["note"]) == ("paused", "holiday")
    assert keys(ScheduleSummary) == set(listed)


async def test_a_list_tells_what_starts_and_when_it_last_did(api: Api) -> None:
    await api.create("digest", trigger=cron("*/5 * * * *"))
    [listed] = (await api.get("/schedules", "viewer"))["items"]
    assert (listed["kind"], listed["cron_spec"], listed["enabled"]) == ("task", "*/5 * * * *", True)
    assert listed["burst_allowed"] is False
    assert (listed["last_run_id"], listed["last_run_at"], listed["last_enqueued_at"]) == (None, None, None)

    tick = datetime.fromisoformat(listed["next_run_at"])
    await api.store.planning.plan_due(now=tick)
    await api.client().schedules.pause("digest", actor="ana")
    [listed] = (await api.get("/schedules", "viewer"))["items"]
    run = listed["last_run"]
    assert listed["enabled"] is False
    assert (listed["last_run_id"], listed["last_run_at"]) == (run["id"], None)
    assert listed["last_enqueued_at"] == run["created_at"]
    assert run["trigger"] == "schedule:*/5 * * * *"
    assert run["metadata"] == {"trigger_type": "cron", "schedule_id": "digest", "scheduled_at": run["scheduled_for"]}

    claimed = await api.store.leases.claim(
        a_worker(), 1, 60, queues=["default"], targets=[("task", "report")], now=tick
    )
    assert [found.id for found in claimed.runs] == [run["id"]]
    [listed] = (await api.get("/schedules", "viewer"))["items"]
    assert listed["last_run_at"] == listed["last_run"]["started_at"] is not None


async def test_what_keeps_a_schedule_from_running_is_told(api: Api) -> None:
    await api.create("digest")
    [listed] = (await api.get("/schedules"))["items"]
    assert listed["problems"] == ["no live worker executes runs"]


async def test_schedules_are_found_by_name_tag_and_state(api: Api) -> None:
    for name, tags in (("a-mail", ["x"]), ("b-mail", ["x", "y"]), ("c_.", []), ("d", ["y"])):
        await api.create(name, tags=tags)
    await api.client().schedules.pause("a-mail", actor="ana")

    async def names(**query: Any) -> list[str]:
        found = await api.get("/schedules", "viewer", params=query)
        return [each["name"] for each in found["items"]]

    assert await names(contains="mail") == ["a-mail", "b-mail"]
    assert await names(contains="_") == ["c_."]
    assert await names(contains="%") == []
    assert await names(tag="y") == ["b-mail", "d"]
    assert await names(state="paused") == ["a-mail"]
    assert await names(state="active", tag="x", contains="b") == ["b-mail"]
    assert await names(contains="nothing") == []


async def test_pages_follow_each_other_by_key(api: Api) -> None:
    names = [f"s{number}" for number in range(5)]
    for name in names:
        await api.create(name)
    seen, key = [], None
    for _ in range(3):
        found = await api.get("/schedules", params={"limit": 2, **({"after": key} if key else {})})
        seen += [each["name"] for each in found["items"]]
        key = found["next"]
        # What comes in between disturbs neither.
        await api.create(f"a{len(seen)}")
    assert seen == names
    assert key is None


@pytest.mark.parametrize(
    "query, field",
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"state": "asleep"}, "state"),
        ({"contains": "x" * 201}, "contains"),
        ({"contains": "a\0"}, "contains"),
        ({"tag": "x" * 201}, "tag"),
        ({"tag": "a\0"}, "tag"),
        ({"after": "x" * 2_001}, "after"),
    ],
)
async def test_filters_are_checked(api: Api, query: dict[str, Any], field: str) -> None:
    answer = await api.ask("GET", "/api/v1/schedules", params=query)
    assert refused(answer, 422, "invalid").startswith((f"{field}: ", f"{field} "))
    assert answer.json()["field"] == field


@pytest.mark.parametrize("key", ["", "x", "WzFd", "bnVsbA", "WyJhIiwiYiJd", "WyJcdTAwMDAiXQ", "é", "W1tbW1tbW1s", "/+"])
async def test_a_key_that_is_none_is_refused(api: Api, key: str) -> None:
    answer = await api.ask("GET", "/api/v1/schedules", params={"after": key})
    assert "is not a page token" in refused(answer, 400, "bad-page")
    assert answer.json()["field"] == "after"


async def test_one_schedule_and_its_revision(api: Api) -> None:
    await api.create("digest")
    await api.client().schedules.update("digest", actor="ana", retries=3)
    answer = await api.ask("GET", "/api/v1/schedules/digest", "viewer")
    assert answer.status_code == 200
    assert answer.json() == encode(await api.client().schedules.get("digest"))
    assert keys(Schedule) == set(answer.json())
    assert answer.headers["etag"] == '"2"'


async def test_a_deleted_schedule_is_listed_only_when_asked_for(api: Api) -> None:
    await api.create("digest")
    await api.client().schedules.delete("digest", actor="ana")
    assert (await api.get("/schedules"))["items"] == []
    [listed] = (await api.get("/schedules?state=deleted"))["items"]
    assert listed["name"] == "digest"
    refused(await api.ask("GET", "/api/v1/schedules/digest"), 404, "not-found")


@pytest.mark.parametrize("name", ["nothing", "a b", "x" * 2_000, "'; DROP TABLE runs; --", "é", "%F0%9F%90%A6", '"'])
async def test_a_name_that_no_schedule_has(api: Api, name: str) -> None:
    await api.create("nothings")
    answer = await api.ask("GET", f"/api/v1/schedules/{name}")
    words = refused(answer, 404, "not-found")
    assert words.startswith("there is no schedule ")
    assert ("Did you mean nothings?" in words) == (name == "nothing")


async def test_a_name_that_nothing_can_have(api: Api) -> None:
    refused(await api.ask("GET", f"/api/v1/schedules/{'x' * 10_000}"), 422, "invalid")
    refused(await api.ask("GET", "/api/v1/schedules/a%00"), 422, "invalid")
    refused(await api.ask("GET", "/api/v1/schedules/a%2Fb"), 404, "no-such-path")
    refused(await api.ask("GET", "/api/v1/schedules/%FF"), 404, "not-found")
