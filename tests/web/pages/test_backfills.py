"""Backfills and held runs: how far they are, live; cancelled, released and dropped."""

from datetime import datetime, timedelta
from typing import Any

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at
from tests.web.making import HOSTILE, TRACEBACK, a_worker, claim, finish
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every


async def missed(served: Served, name: str, hours: int, **options: Any) -> datetime:
    """Create an hourly schedule that missed a number of hours; return its last tick."""
    await a_worker(served)
    last = (await served.client.system.now()).replace(minute=0, second=0, microsecond=0)
    definition = Definition(trigger=every(hours=1), target=Target("digest"), overlap="allow", **options)
    command = Create(actor="ana", namespace="default", definition=definition)
    await served.store.schedules.change("default", name, command, now=last - timedelta(hours=hours, seconds=1))
    await served.store.planning.plan_due(now=last + timedelta(seconds=30))
    return last


async def a_backfill(served: Served) -> int:
    """One of four ticks of nightly that were skipped."""
    last = await missed(served, "nightly", 4, catch_up="skip")
    plan = await served.client.backfills.create(
        "nightly", last - timedelta(hours=4), last - timedelta(hours=1), actor="ana", concurrency=2, note=HOSTILE
    )
    assert plan.count == 4
    assert plan.backfill_id is not None
    return plan.backfill_id


@looked_at
async def test_a_backfill_shows_how_far_it_is(desk: Desk, served: Served) -> None:
    """In the list and on its page, live, with its failed runs; an empty list teaches."""
    page = await desk.open("/backfills")
    await expect(page.get_by_text("No backfills yet.")).to_be_visible()
    backfill_id = await a_backfill(served)
    await expect(page.locator(f"#backfill-{backfill_id}")).to_contain_text("0 of 4")
    await desk.check("backfills")
    await page.get_by_role("link", name=str(backfill_id), exact=True).click()
    await expect(page.get_by_role("heading", name=f"backfill {backfill_id} running")).to_be_visible()
    bad, good = await claim(served, 2)
    await finish(served, bad, "failed", error=TRACEBACK)
    await finish(served, good)
    await expect(page.get_by_text("2 of 4")).to_be_visible()
    await expect(page.get_by_label("Failed runs", exact=True)).to_contain_text(
        "ConnectionError: mail refused <img src=x"
    )
    await expect(page.locator(f"#run-{bad.id} a").first).to_have_attribute("href", f"/runs/{bad.id}")
    await desk.check("backfill")


@done
async def test_a_backfill_is_cancelled(desk: Desk, served: Served) -> None:
    """Queued runs are cancelled; running ones are asked to stop if selected."""
    backfill_id = await a_backfill(served)
    [run] = await claim(served)
    page = await desk.open(f"/backfills/{backfill_id}")
    await page.get_by_role("link", name="Cancel…").click()
    await expect(page.get_by_text("3 runs have not started and will be cancelled. 1 is running.")).to_be_visible()
    await page.get_by_role("textbox", name="Reason").fill("wrong week")
    await page.get_by_label("also stop running runs").check()
    await desk.check("backfill-cancel")
    await page.get_by_role("button", name="Cancel backfill").click()
    await expect(page.get_by_text("is cancelled, and running runs were asked to stop.")).to_be_visible()
    assert (await served.client.runs.get(run.id)).cancel_requested_at is not None
    await finish(served, run, "cancelled")
    await expect(page.get_by_role("heading", name=f"backfill {backfill_id} cancelled")).to_be_visible()
    await expect(page.get_by_role("link", name="Cancel…")).to_have_count(0)
    desk.expected |= {404, 409}
    await desk.open("/backfills/987654")
    await expect(page.get_by_text("there is no backfill 987654.")).to_be_visible()


@done
async def test_held_runs_are_released_and_dropped(desk: Desk, served: Served) -> None:
    """Release some at a rate; drop the rest after confirmation."""
    page = await desk.open("/held")
    await expect(page.get_by_text("No held runs.")).to_be_visible()
    await missed(served, "orders", 5, catch_up="all", hold_above=2)
    [standing] = await served.client.held.list()
    held = standing.count
    await expect(page.get_by_role("cell", name=str(held), exact=True)).to_be_visible()
    await desk.check("held")
    await page.get_by_role("link", name="Release…").click()
    await page.get_by_label("Number").fill("lots")
    await page.get_by_label("Maximum per minute").fill("6")
    desk.expected.add(422)
    await page.get_by_role("button", name="Release").click()
    await expect(page.get_by_text("'lots' is not a whole number from 1 to 1,000,000.")).to_be_visible()
    await expect(page.get_by_label("Maximum per minute")).to_have_value("6")
    await desk.check("held-release")
    await page.get_by_label("Number").fill("2")
    await page.get_by_role("button", name="Release").click()
    await expect(page.get_by_text("2 held runs of orders released.")).to_be_visible()
    await page.get_by_role("link", name="Drop…").click()
    await page.get_by_role("button", name="Drop").click()
    await expect(page.get_by_text("Confirm that these runs will never execute.")).to_be_visible()
    await page.get_by_label("I understand that these runs will never execute").check()
    await page.get_by_role("button", name="Drop").click()
    await expect(page.get_by_text(f"{held - 2} held runs of orders dropped.")).to_be_visible()
    await expect(page.get_by_text("No held runs.")).to_be_visible()


async def test_viewer_cannot_decide_about_held_runs(door: Desk, guarded: Served) -> None:
    """No buttons, and forms are refused."""
    backfill_id = await a_backfill(guarded)
    await log_in(door, await guarded.token("viewer"), f"/backfills/{backfill_id}")
    page = door.page
    await expect(page.get_by_role("heading", name=f"backfill {backfill_id} running")).to_be_visible()
    await expect(page.get_by_role("link", name="Cancel…")).to_have_count(0)
    door.expected.add(403)
    for path in (f"/backfills/{backfill_id}/cancel", "/held/nightly/release", "/held/nightly/drop"):
        status = await page.evaluate(
            """async (path) => (await fetch(path, {method: "POST", body: new URLSearchParams(
            {csrf: document.querySelector("meta[name=csrf]").content})})).status""",
            path,
        )
        assert status == 403
    assert (await guarded.client.backfills.get(backfill_id)).active == 4
