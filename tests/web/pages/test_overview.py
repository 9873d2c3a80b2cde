"""The first page and the load page, on a shop with a past."""

import re

import pytest
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, looked_at
from tests.web.lively import play
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every


@looked_at
async def test_now_shows_findings_timeline_and_live_updates(desk: Desk, served: Served) -> None:
    """Findings come first and link to their run; the timeline shows past and future hours."""
    await play(served.store)
    page = await desk.open("/?range=3h")
    needs = page.locator(".needs")
    await expect(needs).to_contain_text("charge-cards failed")
    await expect(needs).to_contain_text("the bank closed the connection")
    await expect(needs).to_contain_text("queue 'gpu'")
    line = page.locator("#timeline")
    await expect(line.locator("a[href^='/runs/']").first).to_be_visible()
    await expect(line.locator("a[href*='/why?at=']").first).to_be_visible()
    await line.get_by_text("Show as table").click()
    await expect(line.get_by_role("cell", name="charge-cards").first).to_be_visible()
    await expect(page.locator("#lateness")).to_contain_text("p99")
    # It is live: what somebody does shows, and what was opened stays open.
    paused = page.locator(".figures div", has_text="paused").locator("dd")
    await expect(paused).to_have_text("1")
    await served.client.schedules.pause("heartbeat", actor="ben", note="too loud")
    await expect(paused).to_have_text("2")
    await expect(line.get_by_role("cell", name="charge-cards").first).to_be_visible()
    await desk.check("now")


async def test_the_time_that_is_shown_fits_the_pace(desk: Desk, served: Served) -> None:
    """Minutes where schedules tick by the second, hours where they tick by the hour; one may choose another."""
    await served.client.schedules.create("quick", every(seconds=5), "report", actor="ana", unknown_task_ok=True)
    page = await desk.open("/")
    chosen = page.locator(".choices a[aria-current]")
    await expect(chosen).to_have_text("±2m")
    await page.get_by_role("link", name="±24h").click()
    await expect(chosen).to_have_text("±24h")
    await served.client.schedules.create("daily", cron("0 3 * * *"), "report", actor="ana", unknown_task_ok=True)
    await served.client.schedules.delete("quick", actor="ana")
    async with Served(served.store, loopback="default") as other:
        # Another server: this one keeps to what it found for a while.
        desk.url = other.url
        await desk.open("/")
        await expect(chosen).to_have_text("±3h")
        await page.goto("about:blank")


@looked_at
async def test_load_shows_the_coming_week_and_where_there_is_room(
    desk: Desk, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The map leads to an hour; the hour to who is due then, and to quiet minutes."""
    # A slow machine would show the first count for 20 times as long as it took.
    monkeypatch.setattr("tickbird.web.pages.load.FRESH", 0.0)
    monkeypatch.setattr("tickbird.web.pages.load.FACTOR", 0.0)
    page = await desk.open("/load")
    await expect(page.get_by_text("No ticks are due in the next seven days.")).to_be_visible()
    await play(served.store, hours=0.5)
    await expect(page.locator("#load-map")).to_contain_text("Peak")
    await expect(page.locator("#hour")).to_contain_text("Quiet minutes to move to")
    cell = page.locator("#load-map a[href*='hour=']").nth(30)
    href = await cell.get_attribute("href")
    assert href is not None
    await cell.focus()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile(r"/load\?hour="))
    await expect(page.locator("#hour").get_by_role("link", name="heartbeat")).to_be_visible()
    await desk.check("load")
    desk.expected.add(422)
    await desk.open("/load?hour=yesterday")
    await expect(page.get_by_text("hour: ")).to_be_visible()
