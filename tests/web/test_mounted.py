"""The dashboard inside another app, under a path: from the log-in to the log-out nothing leads out of it."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from playwright.async_api import Browser, expect
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.web.conftest import View, log_in, window
from tickbird import Tickbird, every


def in_fastapi(bird: Tickbird) -> Any:
    """As docs/dashboard.md says it."""
    app = FastAPI(lifespan=bird.lifespan())
    app.mount("/ops", bird.dashboard())
    return app


def in_starlette(bird: Tickbird) -> Any:
    """The same without FastAPI."""
    return Starlette(routes=[Mount("/ops", bird.dashboard())], lifespan=bird.lifespan())


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """The URL of an app that mounts the dashboard."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    server.install_signal_handlers = lambda: None
    task = asyncio.create_task(server._serve([listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()


@pytest.mark.parametrize("mount", [in_fastapi, in_starlette])
async def test_all_links_stay_under_the_path(
    browser: Browser, tmp_path: Path, mount: Callable[[Tickbird], Any]
) -> None:
    """Log in, look, act, log out: every link, form, file and cookie belongs to /ops."""
    bird = Tickbird(f"sqlite:///{tmp_path}/t.db", app="shop")
    client = await bird.client()
    await client.schedules.create("nightly", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    _, text = await client.tokens.create("ana", "admin", actor="ada")
    async with serving(mount(bird)) as url:
        context, desk = await window(browser, url, View("sqlite", True, False))
        page, sent = desk.page, list[str]()
        page.on("request", lambda request: sent.append(urlsplit(request.url).path))
        await log_in(desk, text, "/ops/audit")
        [session] = [each["value"] for each in await context.cookies() if each["name"] == "tickbird_session"]
        async with httpx.AsyncClient(base_url=url, cookies={"tickbird_session": session}) as http:
            for path in ("audit", "settings", "settings/tokens", "help", "workers", "schedules", "runs", "load", ""):
                found = (await http.get(f"/ops/{path}")).text
                assert "Log out" in found
                leads = re.findall(r'(?:href|action|src|hx-get|hx-post|data-live)="(?!#)([^"]*)"', found)
                assert [each for each in leads if not each.startswith("/ops")] == []
        await desk.open("/ops/settings/tokens/new")
        await page.get_by_label("Name", exact=True).fill("bot")
        await page.get_by_role("button", name="Create token").click()
        await expect(page.locator("#token-text")).to_contain_text("tbk_")
        await page.get_by_role("link", name="I have copied it").click()
        row = page.locator("tbody tr", has_text="bot")
        await row.get_by_role("link", name="Revoke…").click()
        await page.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_text("(bot) is revoked")).to_be_visible()
        assert {each["path"] for each in await context.cookies()} == {"/ops"}
        await page.get_by_role("button", name="Log out").click()
        await expect(page).to_have_url(f"{url}/ops/login")
        await desk.check()
        assert [each for each in sent if not each.startswith("/ops")] == []
        await context.close()


async def test_over_tls_cookies_are_sent_over_nothing_else(tmp_path: Path) -> None:
    """Whether it is TLS of its own or of a proxy that is believed: the framework says so in the scheme."""
    bird = Tickbird(f"sqlite:///{tmp_path}/t.db", app="shop")
    _, text = await (await bird.client()).tokens.create("ana", "viewer", actor="ada")
    transport = httpx.ASGITransport(in_starlette(bird))
    for scheme in ("http", "https"):
        async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://shop.test") as http:
            answer = await http.post("/ops/login", data={"token": text, "next": "/settings"})
            assert (answer.status_code, answer.headers["location"]) == (303, "/ops/settings")
            assert ("Secure" in answer.headers["set-cookie"]) is (scheme == "https")
            page = (await http.get("/ops/settings")).text
            csrf = re.search(r'name="csrf" content="([0-9a-f]+)"', page)
            assert csrf is not None
            form = {"csrf": csrf[1], "zone": "utc", "mine": "Europe/Rome"}
            kept = (await http.post("/ops/settings/zone", data=form)).headers.get_list("set-cookie")
            assert len(kept) == 3
            assert all(("Secure" in each) is (scheme == "https") and "Path=/ops" in each for each in kept)
    await bird.aclose()
