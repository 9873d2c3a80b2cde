"""Single ticks to come over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.schedules.tick_overrides import OverrideRecord

PATH = "/api/v1/schedules/digest/overrides"


async def coming(api: Api, count: int = 3) -> list[datetime]:
    """The next ticks of an hourly schedule."""
    await api.create("digest", payload={"n": 1})
    return [each.scheduled_for for each in await api.client().ticks.next("digest", count)]


def text(at: datetime) -> str:
    """An instant as it is sent."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


async def put(api: Api, tick: datetime, **request: Any) -> Any:
    """What was decided for a tick, which must be possible."""
    answer = await api.ask("PUT", f"{PATH}/{text(tick)}", "operator", **request)
    assert answer.status_code == 200, answer.text
    assert answer.json()["schedule"] == "digest"
    return answer.json()["override"]


async def test_a_tick_is_decided_for_again_and_undone(api: Api) -> None:
    first, second, third = await coming(api)
    skipped = await put(api, second, json={"skip": True, "note": "holiday"})
    assert set(skipped) == keys(OverrideRecord)
    assert (skipped["skip"], skipped["note"], skipped["tick"]) == (True, "holiday", text(second))
    assert skipped["actor"].startswith("operator (token ")
    to = text(third + timedelta(minutes=30))
    moved = await put(api, third, json={"move_to": to, "payload": {"n": 2}})
    assert (moved["moved"], moved["due_at"], moved["payload"]) == (True, to, {"n": 2})
    assert await api.get("/schedules/digest/overrides", "viewer") == {"items": [skipped, moved]}
    again = await put(api, second, json={"payload": {"n": 3}})
    assert (again["skip"], again["payload"]) == (False, {"n": 3})
    # With any zone, and told on the schedule as well.
    local = second.astimezone(tz=None).isoformat()
    answer = await api.ask("DELETE", f"{PATH}/{local}?note=back", "operator")
    assert answer.status_code == 200, answer.text
    undone = answer.json()["schedule"]
    assert undone["tick_overrides"] == [moved]
    assert answer.headers["etag"] == f'"{undone["revision"]}"'
    assert "no live worker executes runs" in answer.json()["warnings"][0]
    nothing = await api.ask("DELETE", f"{PATH}/{text(first)}", "operator")
    refused(nothing, 404, "not-found")


async def test_a_stale_revision_decides_nothing(api: Api) -> None:
    first, *_ = await coming(api)
    stale: dict[str, Any] = {"headers": {"If-Match": '"9"'}}
    refused(await api.ask("PUT", f"{PATH}/{text(first)}", "operator", json={"skip": True}, **stale), 412, "stale")
    refused(await api.ask("DELETE", f"{PATH}/{text(first)}", "operator", **stale), 412, "stale")
    assert (await api.get("/schedules/digest/overrides"))["items"] == []
    await put(api, first, json={"skip": True}, headers={"If-Match": '"1"'})


async def test_a_tick_that_was_decided_is_told_of(api: Api) -> None:
    await coming(api)
    now = await api.client().system.now()
    tick = (now + timedelta(hours=1)).replace(minute=0, second=0, microsecond=0)
    await api.store.planning.plan_due(now=tick + timedelta(seconds=1))
    answer = await api.ask("PUT", f"{PATH}/{text(tick)}", "operator", json={"skip": True})
    assert "is decided already: run " in refused(answer, 409, "conflict")


async def test_ticks_of_another_namespace_are_not_there(api: Api) -> None:
    await api.create("digest", "elsewhere")
    [tick, *_] = [each.scheduled_for for each in await api.client("elsewhere").ticks.next("digest", 1)]
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "", {}),
        ("PUT", f"/{text(tick)}", {"json": {"skip": True}}),
        ("DELETE", f"/{text(tick)}", {}),
    ]
    for method, path, request in asked:
        said = refused(await api.ask(method, f"{PATH}{path}", **request), 404, "not-found")
        other = await api.ask(method, f"{PATH}{path}".replace("digest", "nothing"), **request)
        assert said.replace("'digest'", "'nothing'") == refused(other, 404, "not-found")
    assert await api.client("elsewhere").overrides.list("digest") == []


@pytest.mark.parametrize(
    "tick, sent, field",
    [
        (None, {}, None),
        (None, {"skip": True, "payload": {}}, None),
        (None, {"move_to": "soon"}, "move_to"),
        (None, {"move_to": "2100-01-01T00:00:00"}, "move_to"),
        (None, {"payload": 5}, "payload"),
        (None, {"skip": "perhaps"}, "skip"),
        (None, {"skip": True, "note": "x" * 2_001}, "note"),
        (None, {"skip": True, "actor": "root"}, "actor"),
        ("tomorrow", {"skip": True}, "tick"),
        ("2100-01-01T00:00:00", {"skip": True}, "tick"),
        ("2100-01-01T00:00:01Z", {"skip": True}, None),
        ("2" * 61, {"skip": True}, "tick"),
    ],
)
async def test_bad_input_decides_nothing(memory: Api, tick: str | None, sent: Any, field: str | None) -> None:
    first, *_ = await coming(memory)
    answer = await memory.ask("PUT", f"{PATH}/{tick or text(first)}", json=sent)
    words = refused(answer, 422, "invalid")
    assert field is None or answer.json()["field"] == field, words
    assert (await memory.get("/schedules/digest/overrides"))["items"] == []
