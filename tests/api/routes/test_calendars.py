"""Calendars over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, keys, refused
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.planning.calendar_impact import CalendarReport
from tickbird.domain.triggers.cron.cron import cron

PATH = "/api/v1/calendars"


async def put(api: Api, name: str, definition: Any, **headers: str) -> Any:
    """The answer to a put by an editor."""
    sent = {key.replace("_", "-"): value for key, value in headers.items()}
    return await api.ask("PUT", f"{PATH}/{name}", "editor", json={"definition": definition}, headers=sent)


async def test_a_calendar_is_put_looked_at_listed_and_deleted(api: Api) -> None:
    answer = await put(api, "fest", {"dates": ["12-25"], "description": "Christmas"})
    assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
    report = answer.json()
    assert set(report) == keys(CalendarReport)
    assert (report["stored"], report["closed"], report["schedules"]) == (True, ["12-25"], 0)
    found = await api.ask("GET", f"{PATH}/fest", "viewer")
    assert (found.json(), found.headers["etag"]) == (report["calendar"], '"1"')
    assert set(found.json()) == keys(CalendarRecord)
    assert found.json()["changed_by"].startswith("editor (token ")
    for name in ("a", "z"):
        await put(api, name, {"weekdays": ["sun"]})
    first = await api.get("/calendars", "viewer", params={"limit": 2})
    rest = await api.get("/calendars", "viewer", params={"limit": 2, "after": first["next"]})
    assert [each["name"] for each in first["items"] + rest["items"]] == ["a", "fest", "z"]
    assert rest["next"] is None
    gone = await api.ask("DELETE", f"{PATH}/fest", "editor")
    assert (gone.status_code, gone.content) == (204, b"")
    refused(await api.ask("GET", f"{PATH}/fest", "viewer"), 404, "not-found")
    assert (await api.get("/audit", "viewer"))["items"][0]["action"] == "delete_calendar"


async def test_what_a_calendar_does_is_told_before_and_after(api: Api) -> None:
    await put(api, "fest", {"dates": ["12-25"]})
    await api.create("daily", trigger=cron("0 9 * * *"), calendars=["fest"])
    await api.create("rolled", trigger=cron("0 9 25 12 *"), calendars=["fest"], roll="next")
    body = {"definition": {"dates": ["12-26"]}, "horizon": "366d"}
    answer = await api.ask("POST", f"{PATH}/fest/preview", "viewer", json=body)
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["stored"], told["calendar"], told["schedules"], told["complete"]) == (False, None, 2, True)
    daily, rolled = told["effects"]
    assert (daily["schedule"], daily["appear"][0][5:10], daily["vanish"][0][5:10]) == ("daily", "12-25", "12-26")
    assert [(each["from"][8:10], each["to"][8:10]) for each in rolled["moved"]] == [("26", "25")]
    assert (await api.get("/calendars/fest"))["revision"] == 1
    stored = (await put(api, "fest", {"dates": ["12-26"]})).json()
    assert (stored["effects"], stored["calendar"]["revision"]) == (told["effects"], 2)
    assert (await api.get("/schedules/daily"))["revision"] == 2
    refused(await api.ask("DELETE", f"{PATH}/fest", "editor"), 409, "conflict")


async def test_who_was_first(api: Api) -> None:
    assert (await put(api, "fest", {"dates": ["12-25"]}, If_None_Match="*")).status_code == 201
    refused(await put(api, "fest", {"dates": ["12-26"]}, If_None_Match="*"), 412, "stale")
    assert (await put(api, "fest", {"dates": ["12-26"]}, If_Match='"1"')).headers["etag"] == '"2"'
    refused(await put(api, "fest", {"dates": ["12-27"]}, If_Match='"1"'), 412, "stale")
    refused(await put(api, "none", {"dates": ["12-27"]}, If_Match='"1"'), 412, "stale")
    refused(await api.ask("DELETE", f"{PATH}/fest", "editor", headers={"If-Match": '"1"'}), 412, "stale")
    refused(await put(api, "fest", {"dates": ["12-27"]}, If_Match="x"), 400, "bad-tag")
    refused(await put(api, "fest", {"dates": ["12-27"]}, If_Match='"2"', If_None_Match="*"), 412, "stale")
    assert (await api.get("/calendars/fest"))["closed"] == ["12-26"]
    assert (await api.ask("DELETE", f"{PATH}/fest", "editor", headers={"If-Match": '"2"'})).status_code == 204


async def test_calendars_of_other_namespaces_are_not_there(api: Api) -> None:
    await api.client("elsewhere").calendars.put("fest", {"dates": ["12-25"]}, actor="ana")
    assert (await api.get("/calendars"))["items"] == []
    for method in ("GET", "DELETE"):
        words = refused(await api.ask(method, f"{PATH}/fest"), 404, "not-found")
        assert words.replace("fest", "nope") == refused(await api.ask(method, f"{PATH}/nope"), 404, "not-found")


@pytest.mark.parametrize("method, path", [("PUT", "fest"), ("POST", "fest/preview")])
@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "definition"),
        ({"definition": []}, "definition"),
        ({"definition": {}}, "calendar"),
        ({"definition": {"days": ["12-25"]}}, "days"),
        ({"definition": {"dates": ["25-12"]}}, "dates"),
        ({"definition": {"dates": 5}}, "dates"),
        ({"definition": {"weekdays": ["someday"]}}, "weekdays"),
        ({"definition": {"dates": ["12-25"]}, "horizon": "soon"}, "horizon"),
        ({"definition": {"dates": ["12-25"]}, "horizon": 10**12}, "horizon"),
        ({"definition": {"dates": ["12-25"]}, "horizon": 0}, "horizon"),
        ({"definition": {"dates": ["12-25"]}, "more": 1}, "more"),
    ],
)
async def test_what_is_no_calendar(memory: Api, method: str, path: str, body: Any, field: str) -> None:
    answer = await memory.ask(method, f"{PATH}/{path}", json=body)
    words = refused(answer, 422, "invalid")
    assert answer.json()["field"].split(".")[0] == field, words
    assert (await memory.get("/calendars"))["items"] == []


@pytest.mark.parametrize("name", ["weekends", "a b", "x" * 201, "é"])
async def test_what_no_calendar_is_called(memory: Api, name: str) -> None:
    refused(await put(memory, name, {"dates": ["12-25"]}), 422, "invalid")
    refused(await memory.ask("DELETE", f"{PATH}/{name}", "editor"), 422, "invalid")
    refused(await memory.ask("GET", f"{PATH}/{name}", "viewer"), 404, "not-found")


async def test_ticks_are_not_compared_without_end(memory: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.client.calendars.MAX_EXAMINED", 10)
    await put(memory, "fest", {"dates": ["12-25"]})
    for name in ("one", "two"):
        await memory.create(name, trigger=cron("0 * * * *"), calendars=["fest"])
    report = (await put(memory, "fest", {"dates": ["12-26"]})).json()
    assert (report["schedules"], report["complete"], [each["schedule"] for each in report["effects"]]) == (
        2,
        False,
        ["one"],
    )
    # Yet all are brought up to it.
    assert (await memory.get("/schedules/two"))["definition"]["closed"] == {"fest": ["12-26"]}
