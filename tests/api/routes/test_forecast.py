"""What the next days bring, over HTTP: bounded, and to whoever may look."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, keys
from tickbird.domain.forecast.forecast import Forecast
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every

PATH = "/api/v1/simulate"
SPAN = {"from": "2035-06-01T00:00:00Z", "to": "2035-06-02T00:00:00Z"}


async def test_before_and_after(api: Api) -> None:
    for number in range(3):
        await api.create(f"s{number}", trigger=cron("0 * * * *"))
    await api.create("elsewhere", "other", trigger=cron("* * * * *"))
    outage = {"from": "2035-06-01T02:00:00Z", "to": "2035-06-01T04:00:00Z"}
    answer = await api.ask("POST", PATH, "viewer", json={**SPAN, "slots": 1, "outages": [outage], "limit": 2})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    before, after = found["baseline"], found["what_if"]
    names = keys(Forecast)
    assert set(before) == set(after) == names
    assert (before["ticks"], before["runs"], before["skips"], before["slots"]) == (72, 72, {}, None)
    assert (after["slots"], after["peak"]["busy"], len(after["by_schedule"])) == (1, 1, 2)
    assert after["skips"]["coalesced"] == 3
    assert [hour["runs"] for hour in after["hours"][2:4]] == [0, 0]
    # Nothing came of it.
    assert (await api.get("/runs", "viewer"))["items"] == []


async def test_a_document_as_if_it_was_applied(api: Api) -> None:
    document = {"app": "shop", "schedules": {"new": {"cron": "0 * * * *", "task": "work"}}}
    answer = await api.ask("POST", PATH, "viewer", json={**SPAN, "document": document})
    assert [each["name"] for each in answer.json()["baseline"]["by_schedule"]] == ["new"]
    assert (await api.get("/schedules", "viewer"))["items"] == []
    document["schedules"]["new"]["cron"] = "61 * * * *"  # type: ignore[index]
    wrong = await api.ask("POST", PATH, "viewer", json={**SPAN, "document": document})
    assert (wrong.status_code, "schedule new" in wrong.json()["detail"]) == (422, True)


@pytest.mark.parametrize(
    "body, said",
    [
        ({"days": 400}, "days"),
        ({"days": 2, **SPAN}, "Give one of them"),
        ({"slots": 0}, "slots"),
        ({**SPAN, "outages": [{"from": "2030-01-01T00:00:00Z", "to": "2030-01-02T00:00:00Z"}]}, "outside"),
        ({"share": 0.5}, "at least one live worker"),
        ({"names": ["nobody"]}, "nobody"),
        ({"from": "2035-06-01T00:00:00Z", "to": "2035-05-01T00:00:00Z"}, "after the start"),
    ],
)
async def test_what_makes_no_sense_is_refused(api: Api, body: dict[str, Any], said: str) -> None:
    answer = await api.ask("POST", PATH, "viewer", json=body)
    assert (answer.status_code, said in answer.text) == (404 if "names" in body else 422, True), answer.text


async def test_a_request_is_bounded(api: Api) -> None:
    await api.create("busy", trigger=every(seconds=1))
    answer = await api.ask("POST", PATH, "viewer", json={"days": 366})
    assert answer.status_code == 422
    assert "at most 12,000,000 can be simulated" in answer.json()["detail"]
    assert "Choose fewer days" in answer.text
