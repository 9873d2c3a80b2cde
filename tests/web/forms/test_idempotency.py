"""Forms that create something do it once: after a reload, a double click or a repeated submission."""

import re
from typing import Any

import httpx
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done
from tests.web.making import a_schedule, a_worker, claim, enqueue, finish
from tests.web.test_guard import Held

TOKEN = re.compile(r"tbk_[a-z2-7]{8}_[A-Za-z0-9_-]{43}")


@done
async def test_a_token_is_made_once_however_often_its_page_is_loaded(desk: Desk, served: Served) -> None:
    """Loaded again, it says that it was made, and shows no text; a button that is pressed twice is pressed once."""
    page = await desk.open("/settings/tokens/new")
    await page.get_by_label("Name", exact=True).fill("deploy-bot")
    await page.get_by_role("button", name="Create token").dblclick()
    await expect(page.locator("#token-text")).to_have_text(TOKEN)
    text = await page.locator("#token-text").inner_text()
    desk.expected.add(409)
    await page.reload()
    await expect(page.get_by_role("heading", name=f"Token {text[4:12]} already exists")).to_be_visible()
    assert TOKEN.search(await page.content()) is None
    assert len(await served.client.tokens.list()) == 1
    await desk.check("token-again")
    await page.get_by_role("link", name="New token").click()
    await page.get_by_label("Name", exact=True).fill("another")
    await page.get_by_role("button", name="Create token").click()
    await expect(page.locator("#token-text")).to_have_text(TOKEN)
    assert len(await served.client.tokens.list()) == 2


@done
async def test_form_sent_twice_has_one_effect(served: Served) -> None:
    """As a browser without scripts sends it: runs, schedules, their changes, and bulk runs."""
    await a_worker(served)
    await a_schedule(served)
    await a_schedule(served, "other")
    retried = await enqueue(served, {"limit": 1})
    [taken] = await claim(served)
    await finish(served, taken, "failed", error="no")
    async with httpx.AsyncClient(base_url=served.url) as http:
        csrf = await Held(http).csrf()

        async def send(path: str, **fields: Any) -> httpx.Response:
            return await http.post(path, data={"csrf": csrf, **fields})

        async def twice(path: str, **fields: Any) -> tuple[httpx.Response, httpx.Response]:
            return await send(path, **fields), await send(path, **fields)

        # The same answer leads to the same place.
        for path, fields in (
            (f"/runs/{retried}/retry", {"once": "a"}),
            (f"/runs/{retried}/change", {"once": "b", "payload.json": '{"limit": 2}'}),
            ("/schedules/nightly/run", {"key": "c", "revision": "1"}),
            ("/schedules/new", {"once": "d", "name": "fresh", "when": "every 1h", "task": "digest", "step": "save"}),
        ):
            first, second = await twice(path, **fields)
            assert first.status_code == second.status_code == 303, (path, second.text)
            assert first.headers["location"] == second.headers["location"]
        first, second = await twice("/bulk/run", once="e", name=["nightly", "other"], expected="2", go="1")
        runs = re.findall(r'href="/runs/(\d+)"', first.text)
        assert len(runs) == 2
        assert runs == re.findall(r'href="/runs/(\d+)"', second.text)
        # What is changed already by who sends it again is no conflict with somebody else.
        first, second = await twice("/schedules/nightly/edit", revision="1", retries="4", step="save")
        assert (first.status_code, second.status_code) == (303, 303)
        assert (await served.client.schedules.get("nightly")).revision == 2
        other = await send("/schedules/nightly/edit", revision="1", retries="5", step="save")
        assert other.status_code == 412
    made = [run.origin for run in await served.client.runs.list()]
    assert sorted(made) == ["manual"] * 4 + ["retry"] * 2
