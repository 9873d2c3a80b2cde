"""What every page has: the menu, the zone, the theme, keys, live words, and answers to what is not there."""

from playwright.async_api import expect

from tests.web.conftest import Desk, looked_at


@looked_at
async def test_the_first_page_opens(desk: Desk) -> None:
    """It shows the menu, and nothing goes wrong."""
    page = await desk.open("/")
    await expect(page.get_by_role("heading", name="Now", exact=True)).to_be_visible()
    await desk.check("now-empty")
