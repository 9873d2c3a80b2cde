"""The ticks of a schedule over HTTP: to come, decided, explained; and its revisions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.revision import HistoryEntry
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.wire.parameters import read_instant


async def history(api: Api) -> datetime:
    """Nine hours of a schedule that ran each hour, was paused for three of them and backfilled once; when it began."""
    client, store = api.client(), api.store
    began = (await client.system.now()).replace(minute=0, second=0, microsecond=0) - timedelta(hours=12)
    definition = Definition(trigger=every(hours=1), target=Target("report"), overlap="allow")
    command = Create(actor="ana", namespace="default", definition=definition)
    await store.schedules.change("default", "hourly", command, now=began + timedelta(seconds=1))

    async def plan(hours: range) -> None:
        for hour in hours:
            await store.planning.plan_due(now=began + timedelta(hours=hour, seconds=1))

    await plan(range(1, 4))
    pause = Pause(actor="ana", note="", until=None, cancel_runs=False)
    await store.schedules.change("default", "hourly", pause, now=began + timedelta(hours=3, seconds=2))
    await store.schedules.change(
        "default", "hourly", Resume(actor="ana", note=""), now=began + timedelta(hours=6, seconds=2)
    )
    await plan(range(7, 10))
    tick = began + timedelta(hours=4)
    await client.backfills.create("hourly", tick, tick, actor="ana")
    return began


def text(at: datetime) -> str:
    """An instant as it is sent."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
async def test_the_ledger_comes_in_pages_each_decision_once(api: Api, limit: int) -> None:
    began = await history(api)
    query = {"first": text(began), "last": text(began + timedelta(hours=9)), "limit": limit}
    seen: list[Any] = []
    for _ in range(20):
        found = await api.get("/schedules/hourly/ticks", "viewer", params=query)
        assert len(found["items"]) <= limit + 1
        seen += found["items"]
        if found["next"] is None:
            break
        query["after"] = found["next"]
    hours = [(datetime.fromisoformat(each["tick"]) - began) // timedelta(hours=1) for each in seen]
    kinds = ["run" if each["run"] else f"skip of {each['skip']['count']}" for each in seen]
    assert sorted(zip(hours, kinds, strict=True)) == [
        (1, "run"),
        (2, "run"),
        (3, "run"),
        (4, "run"),
        (4, "skip of 3"),
        (7, "run"),
        (8, "run"),
        (9, "run"),
    ]
    assert hours == sorted(hours)


async def test_the_ledger_has_whole_documents(api: Api) -> None:
    await history(api)
    items = (await api.get("/schedules/hourly/ticks"))["items"]
    run = next(each["run"] for each in items if each["run"])
    skip = next(each["skip"] for each in items if each["skip"])
    assert (set(run), set(skip)) == (keys(RunRecord), keys(SkipRecord))
    assert (skip["reason"], skip["count"]) == ("paused", 3)
    empty = {"first": "2030-01-01T00:00:00Z", "last": "2029-01-01T00:00:00Z"}
    assert await api.get("/schedules/hourly/ticks", params=empty) == {"items": [], "next": None}


async def test_why_tells_what_became_of_a_tick(api: Api) -> None:
    began = await history(api)
    skipped = await api.get("/schedules/hourly/why", "viewer", params={"at": text(began + timedelta(hours=5))})
    assert (skipped["verdict"], skipped["schedule"]) == ("skipped", "hourly")
    assert "paused" in skipped["sentence"]
    assert all(set(step) == {"ok", "name", "text", "run_id", "at"} for step in skipped["steps"])
    local = {"at": text(began + timedelta(hours=5)), "tz": "Asia/Tokyo"}
    assert "JST" in str(await api.get("/schedules/hourly/why", params=local))
    # What is behind a plus sign that nobody wrote as %2B.
    answer = await api.ask("GET", f"/api/v1/schedules/hourly/why?at={(began + timedelta(hours=5)).isoformat()}")
    assert answer.json()["at"] == skipped["at"]


async def test_coming_ticks_tell_of_clock_changes(api: Api) -> None:
    await api.create("night", trigger=cron("30 2 * * *", "Europe/Rome"))
    found = await api.get("/schedules/night/next", "viewer", params={"count": 400})
    assert len(found["items"]) == 400
    assert set(found["items"][0]) == keys(UpcomingTick)
    assert any("clocks go forward" in note for each in found["items"] for note in each["notes"])
    assert len((await api.get("/schedules/night/next"))["items"]) == 10


async def test_revisions_come_newest_first_in_pages(api: Api) -> None:
    await api.create("digest")
    for retries in range(1, 4):
        await api.client().schedules.update("digest", actor=f"person {retries}", retries=retries)
    first = await api.get("/schedules/digest/revisions", "viewer", params={"limit": 3})
    assert [(each["revision"], each["actor"]) for each in first["items"]] == [
        (4, "person 3"),
        (3, "person 2"),
        (2, "person 1"),
    ]
    assert set(first["items"][0]) == keys(HistoryEntry)
    assert first["items"][0]["definition"]["retries"] == 3
    rest = await api.get("/schedules/digest/revisions", params={"limit": 3, "after": first["next"]})
    assert [each["revision"] for each in rest["items"]] == [1]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "path, query, field",
    [
        ("next", {"count": 0}, "count"),
        ("next", {"count": 10_001}, "count"),
        ("ticks", {"first": "yesterday"}, "first"),
        ("ticks", {"last": "2026-01-01T00:00:00"}, "last"),
        ("ticks", {"limit": 0}, "limit"),
        ("why", {}, "at"),
        ("why", {"at": "2026-02-30T00:00:00Z"}, "at"),
        ("why", {"at": "2026-01-01T00:00:00"}, "at"),
        ("why", {"at": "x" * 61}, "at"),
        ("why", {"at": "2026-01-01T00:00:00Z", "tz": "Mars"}, "tz"),
    ],
)
async def test_what_is_asked_for_is_checked(memory: Api, path: str, query: dict[str, Any], field: str) -> None:
    await memory.create("digest")
    answer = await memory.ask("GET", f"/api/v1/schedules/digest/{path}", params=query)
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"] == field, words


@pytest.mark.parametrize("path", ["next", "ticks", "why?at=2026-01-01T00:00:00Z", "revisions"])
async def test_what_is_not_there_has_no_ticks(memory: Api, path: str) -> None:
    await memory.create("digest", "elsewhere")
    refused(await memory.ask("GET", f"/api/v1/schedules/digest/{path}"), 404, "not-found")
    for key in ("WyJhIl0", "Wy0xXQ", "WzFlMzAwXQ"):
        if path in ("ticks", "revisions"):
            refused(await memory.ask("GET", f"/api/v1/schedules/digest/{path}?after={key}"), 400, "bad-page")


def test_instants_are_read_in_whole_seconds() -> None:
    nine = datetime(2026, 1, 31, 9, tzinfo=UTC)
    for given in (
        "2026-01-31T09:00:00Z",
        "2026-01-31t09:00:00.999999z",
        "2026-01-31T10:00:00+01:00",
        "2026-01-31T10:00:00 01:00",
        "2026-01-31T09:00Z",
    ):
        assert read_instant(given, "at") == nine
    for given in (
        "9999-12-31T23:59:59-12:00",
        "0001-01-01T00:00:00+14:00",
        "2026-01-31",
        "2026-01-31 09:00",
        "",
        "1769850000",
        "2026-01-31T09:00:00.Z",
        "2026-01-31T25:00:00Z",
    ):
        with pytest.raises(InvalidError, match="at: "):
            read_instant(given, "at")
