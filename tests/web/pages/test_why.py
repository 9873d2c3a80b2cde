"""Why: the page that explains one instant."""

import re
from datetime import timedelta
from urllib.parse import quote

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, looked_at
from tests.web.histories import HOUR, a_past, a_worker, do, make, this_hour
from tickbird.domain.planning.commands.define import Delete
from tickbird.domain.time.instants import utc_text
from tickbird.domain.triggers.cron.cron import cron


@looked_at
async def test_why_shows_every_step_with_links(desk: Desk, served: Served) -> None:
    """The verdict, one sentence and every step, with ways to the runs and people that it names, and to other ticks."""
    await a_worker(served)
    last = await a_past(served)
    page = await desk.open(f"/schedules/nightly/why?at={utc_text(last - 4 * HOUR)}")
    await expect(page.locator(".verdict-word")).to_have_text("skipped")
    chain = page.locator(".chain")
    await expect(chain.locator("li.stopped")).to_contain_text("db upgrade <script>alert(1)</script>")
    assert await chain.locator("li.ok").count() >= 2
    await expect(page.get_by_role("link", name="ben").first).to_have_attribute(
        "href", "/audit?schedule=nightly&actor=ben"
    )
    await expect(page.locator(".cli code")).to_have_text(f"tickbird why nightly {utc_text(last - 4 * HOUR)}")
    await desk.check("why-skipped")
    await page.get_by_role("link", name="ben").first.click()
    await expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    await expect(page.locator("tbody tr")).to_have_count(2)
    await desk.check("audit-of-one")
    await page.go_back()
    # Back to a tick that failed, by the ticks between.
    for _ in range(3):
        before = page.url
        await page.locator("a[rel=prev]").click()
        await page.wait_for_url(lambda url, before=before: url != before)
    await expect(page.locator(".verdict-word")).to_have_text("failed")
    await expect(page.locator(".sentence")).to_contain_text("no such table <script>")
    await expect(page.locator(".sentence a").first).to_have_attribute("href", re.compile(r"^/runs/\d+$"))
    await desk.check("why-failed")


@done
async def test_why_explains_any_instant(desk: Desk, served: Served) -> None:
    """On or off the grid, past or future, in a zone; invalid input stays in the field."""
    await make(served)
    page = await desk.open("/schedules/nightly/why")
    await expect(page.locator(".verdict")).to_be_visible()
    await page.get_by_label("Date and time").fill("2040-06-01T00:00:30")
    await page.get_by_label("in", exact=True).select_option("UTC")
    await page.get_by_role("button", name="Why?").click()
    await expect(page.locator(".verdict-word")).to_have_text("not a tick")
    await page.locator("a[rel=next]").click()
    await expect(page.locator(".verdict-word")).to_have_text("will run")
    desk.expected.add(422)
    await desk.open(f"/schedules/nightly/why?at={quote('<b>soon</b>')}")
    await expect(page.get_by_role("alert")).to_contain_text("is not an ISO 8601 date and time")
    await expect(page.get_by_label("Date and time")).to_have_value("<b>soon</b>")
    await desk.open("/schedules/nightly/why?at=9999-12-31T23:59:59Z")
    await expect(page.get_by_role("alert")).to_contain_text("outside the years 1 to 9999")
    await desk.check("why-wrong")
    desk.expected.clear()
    await do(served, Delete(actor="zoe"), "nightly")
    await desk.open(f"/schedules/nightly/why?at={utc_text(this_hour() + 3 * HOUR)}")
    await expect(page.locator(".verdict")).to_contain_text("deleted")


async def test_times_that_clocks_leave_out_or_repeat_are_explained(desk: Desk, served: Served) -> None:
    """02:30 on both Sundays of a year in Rome."""
    await make(served, "nights", cron("30 2 * * *", tz="Europe/Rome"), at=this_hour() - timedelta(days=1))
    page = await desk.open("/schedules/nights/why?at=2027-03-28T02:30&tz=Europe/Rome")
    await expect(page.locator(".banner.warn")).to_contain_text("02:30 does not exist on 28 Mar 2027 in Europe/Rome")
    await expect(page.locator(".verdict-word")).to_have_text("will run")
    await desk.open("/schedules/nights/why?at=2027-10-31T02:30&tz=Europe/Rome")
    await expect(page.locator(".banner.warn")).to_contain_text("02:30 occurs twice on 31 Oct 2027 in Europe/Rome")
    await expect(page.locator(".verdict-word")).to_have_text("will run")
    await page.get_by_role("link", name="Explain the second occurrence").click()
    await expect(page.locator(".verdict-word")).to_have_text("not a tick")
    await desk.check("why-second")
