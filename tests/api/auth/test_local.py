"""Without tokens: only this machine, and no page of another site that a browser on it shows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.conftest import refused
from tickbird.api.app import create_api
from tickbird.client import StoreClient
from tickbird.stores import open_store

DEFINITION = {"trigger": {"every": {"hours": 1}}, "target": {"task": "report"}}
NEW = {"name": "digest", "definition": DEFINITION}
CHANGE = {"X-Tickbird": "1", "Content-Type": "application/json"}


class Dev:
    """The API of `tickbird dev`, as a browser or curl reaches it."""

    def __init__(self, store: Any) -> None:
        self.client = StoreClient(store, "shop")
        self.app = create_api(lambda namespace: StoreClient(store, namespace), loopback="shop")

    async def ask(self, method: str, path: str, host: str = "127.0.0.1:8420", **request: Any) -> Any:
        headers = {"Host": host, **request.pop("headers", {})}
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8420") as http:
            return await http.request(method, path, headers=headers, **request)


@pytest.fixture
async def dev() -> AsyncIterator[Dev]:
    store = open_store("sqlite://:memory:")
    await store.open()
    yield Dev(store)
    await store.close()


async def test_whoever_is_here_needs_no_token(dev: Dev) -> None:
    made = await dev.ask("POST", "/api/v1/schedules", json=NEW, headers=CHANGE)
    assert made.status_code == 201, made.text
    listed = await dev.ask("GET", "/api/v1/schedules")
    assert [each["name"] for each in listed.json()["items"]] == ["digest"]
    [record] = await dev.client.audit.list()
    assert record.actor == "dev"
    # One namespace, that of the app.
    refused(await dev.ask("GET", "/api/v1/schedules?namespace=default"), 403, "closed-namespace")
    # A token is neither needed nor looked at.
    assert (await dev.ask("GET", "/api/v1/schedules", headers={"Authorization": "Bearer x"})).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "127.9.9.9:80", "[::1]:8420", "LOCALHOST"])
async def test_names_of_this_machine(dev: Dev, host: str) -> None:
    assert (await dev.ask("GET", "/api/v1/schedules", host)).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "evil.test:8420",
        "127.0.0.1.evil.test",
        "localhost.evil.test",
        "10.0.0.7",
        "0.0.0.0",
        "",
        "[::1",
        "a@b",
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/schedules", "/healthz", "/readyz"])
async def test_a_name_that_somebody_else_leads_here_is_refused(dev: Dev, host: str, path: str) -> None:
    refused(await dev.ask("GET", path, host), 403, "foreign-host")


@pytest.mark.parametrize("origin", ["http://evil.test", "https://127.0.0.1:8420", "http://127.0.0.1:9", "null"])
async def test_another_site_is_refused(dev: Dev, origin: str) -> None:
    refused(await dev.ask("GET", "/api/v1/schedules", headers={"Origin": origin}), 403, "foreign-origin")
    here = {"Origin": "http://127.0.0.1:8420"}
    assert (await dev.ask("GET", "/api/v1/schedules", headers=here)).status_code == 200


async def test_a_change_needs_what_no_form_can_send(dev: Dev) -> None:
    path = "/api/v1/schedules"
    refused(await dev.ask("POST", path, json=NEW), 403, "no-header")
    refused(await dev.ask("POST", path, json=NEW, headers={"X-Tickbird": "0"}), 403, "no-header")
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = await dev.ask("POST", path, content=b"{}", headers={"X-Tickbird": "1", "Content-Type": kind})
        refused(answer, 415, "not-json")
    refused(await dev.ask("POST", f"{path}/digest/pause", headers={"X-Tickbird": "1"}), 415, "not-json")
    refused(await dev.ask("DELETE", f"{path}/digest"), 403, "no-header")
    assert await dev.client.schedules.list() == []
    await dev.ask("POST", path, json=NEW, headers=CHANGE)
    assert (await dev.ask("DELETE", f"{path}/digest", headers={"X-Tickbird": "1"})).status_code == 200
