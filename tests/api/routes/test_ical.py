"""The calendar over HTTP: what it has, and who may read it how."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.api.auth.test_local import Dev
from tests.api.conftest import Api, refused
from tests.domain.ical_reader import read_ical
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.stores import open_store

PATH = "/calendar.ics"


def basic(password: str, user: str = "whoever") -> dict[str, str]:
    """The header of a calendar program."""
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}


def summaries(answer: Any) -> list[str]:
    """The events of an answer."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/calendar; charset=utf-8"
    parts = read_ical(answer.content).parts
    return [part.values["SUMMARY"] for part in parts if part.kind == "VEVENT"]


async def test_what_is_to_come(api: Api) -> None:
    await api.create("digest", trigger=cron("0 9 * * *", "UTC"), tags=["mail"])
    await api.create("etl", trigger=cron("0 10 * * *", "UTC"))
    await api.create("other", "elsewhere")
    assert sorted(summaries(await api.ask("GET", PATH, "viewer"))) == ["digest"] * 14 + ["etl"] * 14
    for query in ({"tag": "mail"}, {"contains": "ges"}, {"schedule": "digest"}):
        assert summaries(await api.ask("GET", PATH, "viewer", params={**query, "days": 2})) == ["digest"] * 2
    assert len(summaries(await api.ask("GET", PATH, "viewer", params={"limit": 3}))) == 3
    assert "more than these 3 events" in (await api.ask("GET", PATH, "viewer", params={"limit": 3})).text
    refused(await api.ask("GET", PATH, "viewer", params={"schedule": "digets"}), 404, "not-found")
    for wrong in ({"days": 0}, {"days": 367}, {"limit": 0}, {"limit": 10_001}, {"schedule": "x", "tag": "y"}):
        refused(await api.ask("GET", PATH, "viewer", params=wrong), 422, "invalid")


async def test_a_password_will_do_here_and_nowhere_else(memory: Api) -> None:
    await memory.create("digest", trigger=every(days=1))
    token = await memory.token("viewer")
    for user in ("", "ana", "a b"):
        assert summaries(await memory.plain("GET", PATH, headers=basic(token, user))) == ["digest"] * 14
    answer = await memory.plain("GET", PATH)
    refused(answer, 401, "unauthorized")
    assert 'Basic realm="tickbird"' in answer.headers["www-authenticate"]
    wrong = (basic("secret"), basic(token[:-1]), basic("", token), {"Authorization": f"Basic {token}"})
    for headers in (*wrong, {"Authorization": "Basic ====="}, {"Authorization": "Basic //79"}):
        refused(await memory.plain("GET", PATH, headers=headers), 401, "unauthorized")
    admin = basic(await memory.token("admin"))
    for path in ("/metrics", "/api/v1/schedules", "/api/v1/calendar.ics", "/calendar.ics/", "//calendar.ics"):
        answer = await memory.plain("GET", path, headers=admin)
        refused(answer, 401, "unauthorized")
        assert "Basic" not in answer.headers["www-authenticate"]
    refused(await memory.plain("POST", PATH, headers=admin, json={}), 405, "no-such-method")
    # A token of several namespaces says which.
    several = basic(await memory.token("viewer", "a", "b"))
    refused(await memory.plain("GET", PATH, headers=several), 400, "no-namespace")
    assert summaries(await memory.plain("GET", PATH, headers=several, params={"namespace": "b"})) == []


@pytest.fixture
async def dev() -> AsyncIterator[Dev]:
    store = open_store("sqlite://:memory:")
    await store.open()
    yield Dev(store)
    await store.close()


async def test_whoever_is_at_this_machine_needs_no_token(dev: Dev) -> None:
    await dev.client.schedules.create("digest", every(days=1), "report", actor="ana", unknown_task_ok=True)
    assert summaries(await dev.ask("GET", PATH)) == ["digest"] * 14
    refused(await dev.ask("GET", PATH, "evil.example"), 403, "foreign-host")
