"""Every schedule has a page, for any name."""

from urllib.parse import quote

import pytest
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in
from tests.web.histories import make
from tickbird.web.schedule_urls import name_from_path, name_in_path, schedule_path

# The first people can give; the others plain SQL can write.
NAMES = ("new", "..", "a/pause", "a/../b", "line\nline", ":a", "new/edit")


@pytest.mark.parametrize("name", ["nightly", "naïve name", "a%2Fb", "%", "", "a\x00b", "\u202e", *NAMES])
def test_a_name_comes_back_from_its_address(name: str) -> None:
    """As one part of a path, which neither a browser nor a page takes for something else."""
    part = name_in_path(name)
    assert name_from_path(part) == name
    assert "/" not in part
    assert part not in ("", "new", ".", "..")
    assert part.isprintable()


def test_plain_names_stay_as_they_are() -> None:
    assert schedule_path("nightly-2.0") == "/schedules/nightly-2.0"
    assert name_from_path("a/b") == "a/b"


@done
async def test_no_page_hides_a_schedule(desk: Desk, served: Served) -> None:
    """Each is reached from the list, and what is done on its page is done to it; old addresses still lead there."""
    await make(served, "a")
    for name in NAMES:
        await make(served, name)
    await desk.open("/schedules")
    links = {
        name: await desk.page.get_by_label(f"Select {name}", exact=True)
        .locator("xpath=ancestor::tr//a")
        .first.get_attribute("href")
        for name in ("new", "..", "a/pause")
    }
    for name, href in links.items():
        page = await desk.open(f"{href}")
        await expect(page.get_by_role("heading", name=name, exact=True, level=1)).to_be_visible()
        await page.get_by_role("link", name="Pause…").click()
        dialog = page.get_by_role("dialog", name="Action")
        await dialog.get_by_label("Reason").fill(f"for {name}")
        await dialog.get_by_role("button", name="Pause").click()
        await expect(page.locator(".state")).to_contain_text(f"for {name}")
        paused = (await served.client.schedules.get(name)).pause
        assert paused is not None
        assert paused.note == f"for {name}"
    for name in NAMES:
        page = await desk.open(quote(schedule_path(name)))
        await expect(page.get_by_role("link", name="Edit", exact=True)).to_have_attribute(
            "href", f"{quote(schedule_path(name), safe='/:')}/edit"
        )
    page = await desk.open("/schedules/a/pause")
    await expect(page.get_by_role("heading", name="Pause a", exact=True)).to_be_visible()
    page = await desk.open("/schedules/new")
    await expect(page.get_by_role("heading", name="New schedule")).to_be_visible()


async def test_logging_in_leads_back_to_a_name_with_marks_of_addresses(door: Desk, guarded: Served) -> None:
    """Which the address has escaped, and keeps so."""
    await make(guarded, "a?b#c/why")
    await log_in(door, await guarded.token("viewer"), quote(schedule_path("a?b#c/why"), safe="/:"))
    await expect(door.page.get_by_role("heading", name="a?b#c/why", level=1)).to_be_visible()
