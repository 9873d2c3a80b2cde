"""The frame of all pages: menu, time zone, theme, shortcuts, live updates and error pages."""

from playwright.async_api import Browser, expect

from tests.web.conftest import Desk, Served, View, looked_at, window
from tests.web.lively import play


@looked_at
async def test_the_first_page_opens(desk: Desk) -> None:
    """It shows the menu, and nothing goes wrong."""
    page = await desk.open("/")
    await expect(page.get_by_role("heading", name="Now", exact=True)).to_be_visible()
    await desk.check("now-empty")


async def test_a_picture_is_one_stop_of_the_keyboard(desk: Desk, served: Served, browser: Browser, view: View) -> None:
    """Arrows go from mark to mark, also after a redraw; without scripts each is a stop; rows lead where marks do."""
    await play(served.store, hours=0.5)
    page = await desk.open("/load")
    picture = page.locator("#load-map .picture")
    stops = picture.locator("a:not([tabindex='-1'])")
    await expect(stops).to_have_count(1)
    assert await picture.locator("a").count() > 100
    await stops.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    third = picture.locator("a").nth(2)
    await expect(third).to_be_focused()
    await expect(third).to_have_attribute("tabindex", "0")
    # Its words stand beside it, and are its name; so they do where one points at a mark.
    tip = page.locator("#tip")
    await expect(tip).to_contain_text("ticks")
    await expect(third).to_have_accessible_name(await tip.inner_text())
    await page.keyboard.press("Escape")
    await expect(tip).to_be_hidden()
    await picture.locator("a").nth(5).hover()
    await expect(tip).to_contain_text("ticks")
    await expect(picture.locator("a").nth(5)).to_have_accessible_name(await tip.inner_text())
    await page.evaluate("document.body.dispatchEvent(new Event('live'))")
    await page.mouse.move(2, 2)
    await expect(tip).to_be_hidden()
    await expect(picture.locator("a").nth(5).locator("title")).to_contain_text("ticks")
    await third.focus()
    await expect(stops).to_have_count(1)
    await page.keyboard.press("End")
    await expect(picture.locator("a").last).to_be_focused()
    await page.evaluate("document.body.dispatchEvent(new Event('live'))")
    await page.keyboard.press("Home")
    await expect(picture.locator("a").first).to_be_focused()
    await expect(stops).to_have_count(1)
    # The table leads to the same places.
    first = await picture.locator("a").first.get_attribute("href")
    rows = page.locator("#load-map table a")
    assert first in [await rows.nth(place).get_attribute("href") for place in range(min(30, await rows.count()))]
    # Its name is said once.
    await expect(page.locator("#load-map figcaption")).to_have_attribute("aria-hidden", "true")
    context, plain = await window(browser, served.url, view, java_script_enabled=False)
    await plain.open("/load")
    assert await plain.page.locator("#load-map .picture a").count() > 100
    await expect(plain.page.locator("#load-map .picture [tabindex='-1']")).to_have_count(0)
    await context.close()
