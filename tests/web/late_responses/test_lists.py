"""A list that arrives late keeps ticked rows, a newer search and a newer filter."""

import re

from playwright.async_api import expect

from tests.web.conftest import Desk, Served
from tests.web.histories import make
from tests.web.late_responses.forms import form_of
from tests.web.late_responses.holds import Hold, reads


async def test_a_live_refresh_keeps_ticked_rows(desk: Desk, served: Served) -> None:
    """A row that was ticked while the refresh was in flight stays ticked, also if a new row comes before it."""
    await make(served)
    page = await desk.open("/schedules")
    box = page.get_by_label("Select nightly", exact=True)
    async with Hold(page, lambda request: request.headers.get("hx-target") == "live") as hold:
        await make(served, "another")
        await hold.answered.wait()
        await box.check()
        # A box that has the focus would be left alone in any case.
        await page.get_by_label("Name, tag or target contains").focus()
        await hold.release()
    await expect(page.get_by_label("Select another", exact=True)).to_be_visible()
    await expect(box).to_be_checked()
    await expect(page.get_by_label("Select another", exact=True)).not_to_be_checked()
    await expect(page.locator("#selected")).to_have_text("1 selected, or")
    await page.get_by_role("button", name="Pause…").click()
    await form_of(page).get_by_label("Reason").fill("upgrade")
    await form_of(page).get_by_role("button", name="Pause it").click()
    await expect(form_of(page).get_by_role("heading", name="1 of 1 paused")).to_be_visible()
    assert [(await served.client.schedules.get(name)).state for name in ("nightly", "another")] == ["paused", "active"]


async def test_a_late_list_keeps_a_newer_search(desk: Desk, served: Served) -> None:
    """The response to the first letters changes neither the search field nor, in the end, the list."""
    for name in ("alpha", "almost"):
        await make(served, name)
    page = await desk.open("/schedules")
    search = page.get_by_label("Name, tag or target contains")
    async with reads(page, "q=al", "live") as hold:
        await search.fill("al")
        await hold.answered.wait()
        await page.get_by_label("paused", exact=True).check()
        await page.get_by_label("paused", exact=True).uncheck()
        await search.focus()
        await page.keyboard.press("End")
        await page.keyboard.type("p")
        await hold.release()
        await page.keyboard.type("ha")
    await expect(search).to_have_value("alpha")
    await expect(page.locator("[data-row]")).to_have_count(1)
    await expect(page).to_have_url(re.compile("q=alpha"))


async def test_a_filter_keeps_newer_input(desk: Desk, served: Served) -> None:
    """The filters of runs load a page, too."""
    page = await desk.open("/runs")
    await page.get_by_text("Filter", exact=True).click()
    async with Hold(page, lambda request: "schedule=one" in request.url) as hold:
        await page.get_by_label("Schedule", exact=True).fill("one")
        await page.keyboard.press("Enter")
        await hold.answered.wait()
        await page.keyboard.press("Control+A")
        await page.keyboard.type("two")
        await hold.load()
    await expect(page.get_by_label("Schedule", exact=True)).to_have_value("two")
    await page.get_by_role("button", name="Show").click()
    await page.wait_for_url(re.compile("schedule=two"))
