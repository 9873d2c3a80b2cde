"""Actions that make many runs or take something away: each is shown before it is done, and asked for twice."""

from datetime import timedelta

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done
from tests.web.histories import HOSTILE, HOUR, a_past, a_worker, do, make, this_hour
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.triggers.cron.cron import cron


@done
async def test_a_backfill_is_shown_before_it_starts(desk: Desk, served: Served) -> None:
    """The preview shows the exact number of runs; ticks with a run are excluded; each run is created once."""
    last = await a_past(served)
    page = await desk.open("/schedules/nightly/backfill")
    await page.get_by_label("Times are in").select_option("UTC")
    await page.get_by_label("From").fill(f"{last - 5 * HOUR:%Y-%m-%dT%H:%M}")
    await page.get_by_label("To, included").fill(f"{last + 5 * HOUR:%Y-%m-%dT%H:%M}")
    await page.get_by_label("Concurrent runs").fill("2")
    await page.get_by_role("button", name="Preview").click()
    plan = page.locator("#plan")
    await expect(plan).to_contain_text("3 runs")
    await expect(plan).to_contain_text("3 ticks already have a run")
    await expect(plan).to_contain_text("will run on schedule")
    await plan.get_by_text("Show ticks").click()
    await expect(plan.locator("ol.ticks li")).to_have_count(3)
    assert await served.client.backfills.list() == []
    await desk.check("backfill")
    await page.get_by_role("button", name="Start 3 runs").click()
    await page.wait_for_url("**/backfills/*")
    [made] = await served.client.backfills.list()
    assert (made.total, made.concurrency, made.actor) == (3, 2, "dev")


async def test_large_backfill_requires_typing_its_number(desk: Desk, served: Served) -> None:
    """More than 500 runs need the number typed; a changed preview is shown again."""
    minutes, last = cron("* * * * *"), this_hour()
    await make(served, "minutes", minutes, at=last - 11 * HOUR, catch_up="skip", grace=0)
    await served.store.planning.plan_due(now=last)
    page = await desk.open("/schedules/minutes/backfill")
    await page.get_by_label("Times are in").select_option("UTC")
    await page.get_by_label("From").fill(f"{last - 10 * HOUR:%Y-%m-%dT%H:%M}")
    await page.get_by_label("To, included").fill(f"{last - timedelta(minutes=1):%Y-%m-%dT%H:%M}")
    await page.get_by_role("button", name="Preview").click()
    desk.expected.add(422)
    await page.get_by_role("button", name="Start 600 runs").click()
    await expect(page.locator("#confirmed-wrong")).to_contain_text("Type 600")
    assert await served.client.backfills.list() == []
    await page.get_by_label("Type 600").fill("600")
    await page.get_by_role("button", name="Start 600 runs").click()
    await page.wait_for_url("**/backfills/*")
    assert [each.total for each in await served.client.backfills.list()] == [600]


async def test_delete_needs_the_name(desk: Desk, served: Served) -> None:
    """Anything else deletes nothing."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.get_by_role("link", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Type its name").fill("nightl")
    desk.expected.add(422)
    await dialog.get_by_role("button", name="Delete").click()
    await expect(dialog.locator("#typed_name-wrong")).to_contain_text("Type the exact name")
    assert (await served.client.schedules.get("nightly")).state == "active"
    await desk.check("delete")
    await dialog.get_by_label("Type its name").fill("nightly")
    await dialog.get_by_role("button", name="Delete").click()
    await page.wait_for_url("**/schedules")
    await desk.open("/schedules/nightly")
    await expect(page.locator(".state")).to_contain_text("deleted by dev")


@done
async def test_late_preview_of_a_deleted_schedule_is_ignored(desk: Desk, served: Served) -> None:
    """The preview of a form whose schedule was deleted returns 204."""
    await make(served)
    page = await desk.open("/schedules/nightly/delete")
    await served.client.schedules.delete("nightly", actor="eve")
    async with page.expect_response(lambda response: "look=1" in response.url) as answered:
        await page.get_by_label("Type its name").fill("nightly")
    assert (await answered.value).status == 204


@done
async def test_roll_back_shows_what_it_changes(desk: Desk, served: Served) -> None:
    """The difference to now, then a new revision that has it."""
    await make(served, retries=1)
    await do(served, Update(actor="eve", fields={"retries": 7, "description": HOSTILE}))
    page = await desk.open("/schedules/nightly/revisions")
    await expect(page.locator("#r2 ins").first).to_contain_text("<script>alert(1)</script>")
    await desk.check("revisions")
    await page.get_by_role("link", name="Roll back…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await expect(dialog.get_by_role("row", name="retries")).to_contain_text("7")
    await expect(dialog.locator("#cli code")).to_have_text("tickbird roll-back nightly --to 1")
    await desk.check("roll-back")
    await dialog.get_by_role("button", name="Roll back").click()
    await expect(page.locator(".banner.success")).to_contain_text("revision 1 is restored as revision 3")
    schedule = await served.client.schedules.get("nightly")
    assert schedule.definition is not None
    assert (schedule.revision, schedule.definition.retries) == (3, 1)
    desk.expected.add(404)
    await desk.open("/schedules/nightly/revisions/99/roll-back")
    await expect(page.get_by_text("has no revision 99")).to_be_visible()


async def test_schedule_page_shows_held_runs(desk: Desk, served: Served) -> None:
    """With the way to release and to drop them."""
    await a_worker(served)
    last = this_hour()
    await make(served, at=last - 9 * HOUR - timedelta(minutes=1), catch_up="all", hold_above=2)
    await served.store.planning.plan_due(now=last + timedelta(minutes=1))
    page = await desk.open("/schedules/nightly")
    await expect(page.locator(".state")).to_contain_text("runs are held")
    await page.get_by_role("link", name="Release…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_role("button", name="Release").click()
    await page.wait_for_url("**/held")
    assert await served.client.held.list("nightly") == []
