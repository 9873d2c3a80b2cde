"""Makes the pictures of the README and the docs: real pages, in a real browser, of a shop with a past.

Run by `./dev screenshots`.
"""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.async_api import Page, async_playwright

from tests.web.conftest import CHROMIUM, FLAGS, Served
from tests.web.event_steps import declare, deliver, publish
from tests.web.lively import play
from tickbird.stores import open_store

ROOT = Path(__file__).parents[2]
# A page, its file without ending, and the part of it that is shown.
PICTURES = {"/": "dashboard-now", "/schedules/etl-orders": "dashboard-schedule", "/events": "dashboard-events"}
SIZE = {"width": 1200, "height": 860}


async def main() -> None:
    """Each page in light and dark."""
    chromium = shutil.which(CHROMIUM)
    if chromium is None:
        sys.exit(f"screenshots need Debian's browser: sudo apt-get install {CHROMIUM} fonts-dejavu-core")
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/shop.db")
        await store.open()
        await play(store, hours=6)
        async with Served(store, loopback="default") as site, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, headless=True, args=FLAGS)
            pages = {
                theme: await browser.new_page(viewport=SIZE, color_scheme=theme, timezone_id="Europe/Rome")
                for theme in ("light", "dark")
            }
            for path, name in PICTURES.items():
                if path == "/events":
                    await add_events(site)
                for theme, page in pages.items():
                    await take(page, f"{site.url}{path}", ROOT / "docs" / f"{name}-{theme}.png")
            await browser.close()
        await store.close()


async def add_events(site: Served) -> None:
    """Orders of some customers, of which one cannot be billed, and a group that is behind."""
    await declare(site, "billing", "orders.*")
    await declare(site, "search", "#")
    await declare(site, "statistics", "orders.#", "shop.#")
    customers = ("avocet", "bittern", "crane", "dodo", "egret", "dodo")
    await publish(site, *customers, *customers, topic="orders.placed")
    await publish(site, "rome", topic="shop.closed")
    await deliver(site, fails=["dodo"])
    await deliver(site, "search")
    await publish(site, "crane", topic="orders.placed")
    await deliver(site, "billing")


async def take(page: Page, url: str, file: Path) -> None:
    """What one sees without scrolling."""
    await page.goto(url)
    await page.locator(".pic, [id^=event-]").first.wait_for()
    await page.screenshot(path=file)
    print(file.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
