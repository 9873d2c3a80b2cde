"""The list of schedules: found as one types, filtered, paged, live, by keyboard."""

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import Locator, Route, expect

from tests.web.conftest import Desk, Served, done, looked_at
from tickbird.domain.runs.run import Outcome
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.web.pages import schedules as page_of

HOSTILE = "<script>alert(1)</script>\u202eq"
WORKER = Worker(
    id="w1",
    namespace="default",
    app="shop",
    host="node-1",
    pid=7,
    version="0.1.0",
    slots=10,
    queues=("default",),
    tasks={"report": {"queue": "default"}},
)


async def make(served: Served, *names: str, **options: Any) -> None:
    """Schedules that are as plain as can be."""
    for name in names:
        await served.client.schedules.create(
            name, every(hours=1), "report", actor="ana", unknown_task_ok=True, **options
        )


@looked_at
async def test_schedule_row_shows_state_outcomes_and_problems(desk: Desk, served: Served) -> None:
    """Trigger, tags, outcomes, last run, next tick, state with who and why, problems and failures; hostile text too."""
    page = await desk.open("/schedules")
    await expect(page.get_by_text("No schedules yet.")).to_be_visible()
    client, store = served.client, served.store
    await store.workers.heartbeat(WORKER, live_for=600)
    for name, trigger in (("prices", cron("*/10 9-17 * * mon-fri", tz="Asia/Tokyo")), ("heartbeat", every(minutes=1))):
        await client.schedules.create(name, trigger, "report", actor="ana", tags=["money", "data"])
    for number in range(7):
        await client.schedules.trigger("prices", actor="ana")
        (run,) = (await store.leases.claim(WORKER, 1, 60, queues=["default"], targets=[("task", "report")])).runs
        ended = Outcome(run.id, run.attempt, "succeeded")
        if number > 4:
            ended = Outcome(run.id, run.attempt, "failed", error="OSError: disk is slow", failure_kind="raised")
        await store.leases.finish([ended])
    await client.schedules.create("moved-away", cron("0 4 * * *", tz="Europe/Rome"), "report", actor="ana", shadow=True)
    await make(served, "train", queue="gpu")
    until = (await client.system.now()).replace(microsecond=0) + timedelta(hours=3)
    await client.schedules.pause("heartbeat", actor=HOSTILE, note=HOSTILE, until=until)
    page = await desk.open("/schedules")
    await expect(page.locator("tbody tr")).to_have_count(4)

    def row(name: str) -> Locator:
        return page.locator("tr", has=page.get_by_role("link", name=name, exact=True))

    await expect(row("prices")).to_contain_text("JST")
    await expect(row("prices")).to_contain_text("failed 2× in a row")
    # One picture that says what it shows, and leads to where each of them is told.
    drawn = row("prices").get_by_role("link", name="Last outcomes: 5 ok, 2 failed; last failed ")
    await expect(drawn).to_have_attribute("href", "/schedules/prices#outcomes")
    await expect(drawn.locator(".pic-outcomes path")).to_have_count(2)
    await expect(row("train")).to_contain_text("no live worker serves queue 'gpu'")
    await expect(row("moved-away")).to_contain_text("shadow: nothing runs")
    await expect(row("moved-away")).to_contain_text("At 04:00 (Europe/Rome)")
    await expect(row("heartbeat")).to_contain_text("by <script>alert(1)</script>\\u202eq: “<script>alert(1)</script>")
    await expect(row("heartbeat")).to_contain_text("until")
    await desk.check("schedules")
    await row("prices").get_by_role("link", name="money").click()
    await expect(page).to_have_url(re.compile(r"/schedules\?tag=money$"))
    await expect(page.locator("tbody a.name")).to_have_text(["heartbeat", "prices"])


@done
async def test_schedule_search_updates_while_typing(
    desk: Desk, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a part of name, tag or target; filters and pages stand in the address, which others can open."""
    monkeypatch.setattr(page_of, "PAGE", 3)
    await make(served, "alpha", "beta", "gamma", "delta")
    await make(served, "mail-eu", "mail-us", tags=["post"], queue="slow")
    await served.client.schedules.pause("mail-us", actor="ben", note="no stamps")
    page = await desk.open("/schedules")
    rows, names = page.locator("tbody tr"), page.locator("tbody a.name")
    await expect(names).to_have_text(["alpha", "beta", "delta"])
    await page.get_by_role("link", name="Next →").click()
    await expect(names).to_have_text(["gamma", "mail-eu", "mail-us"])
    await expect(page.get_by_role("link", name="Next →")).to_have_count(0)
    await page.get_by_role("link", name="← Previous").click()
    await expect(names).to_have_text(["alpha", "beta", "delta"])
    await expect(page.get_by_role("link", name="← Previous")).to_have_count(0)
    # The scripts of the page have begun.
    await expect(page.locator("#bulk-pause")).to_be_disabled()
    # Without a button; the field keeps the focus, and the address says it.
    await page.keyboard.press("/")
    await page.keyboard.type("POS")
    await expect(names).to_have_text(["mail-eu", "mail-us"])
    await expect(page).to_have_url(re.compile(r"/schedules\?q=POS$"))
    await expect(page.get_by_text("2 match")).to_be_visible()
    await expect(page.locator("#q")).to_be_focused()
    await page.locator(".chip", has_text="paused").click()
    await page.locator(".chip", has_text="parked").click()
    await expect(names).to_have_text(["mail-us"])
    await expect(page).to_have_url(re.compile(r"/schedules\?q=POS&state=paused%2Cparked$"))
    # Whoever is given the address sees the same, and it stays so when something happens.
    await page.reload()
    await expect(names).to_have_text(["mail-us"])
    await expect(page.locator(".chip", has_text="parked").locator("input")).to_be_checked()
    await served.client.schedules.pause("mail-eu", actor="ben", note="neither here")
    await expect(names).to_have_text(["mail-eu", "mail-us"])
    await expect(rows.first).to_contain_text("by ben: “neither here”")
    await page.locator("#q").fill("nowhere")
    await expect(page.get_by_text("No schedule matches.")).to_be_visible()
    await desk.check()
    page = await desk.open("/schedules?queue=slow&state=active&tag=&q=")
    await expect(page).to_have_url(re.compile(r"/schedules\?state=active&queue=slow$"))
    await expect(page.get_by_text("No schedule matches.")).to_be_visible()


async def test_schedule_search_drops_late_responses(desk: Desk, served: Served) -> None:
    """A slow live update during typing keeps the input and its rows."""
    await make(served, "alpha", "beta")
    page = await desk.open("/schedules")
    asked, held = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await held.wait()
        await route.continue_()

    await page.route(f"{served.url}/schedules", hold)
    names = page.locator("tbody a.name")
    await expect(page.locator("#bulk-pause")).to_be_disabled()
    await page.evaluate("document.body.dispatchEvent(new Event('live'))")
    await asked.wait()
    await page.locator("#q").fill("beta")
    await expect(names).to_have_text(["beta"])
    async with page.expect_request(lambda request: request.url.endswith("/schedules?q=beta")):
        held.set()
    await expect(names).to_have_text(["beta"])
    await expect(page.locator("#live")).to_have_attribute("hx-get", "/schedules?q=beta")


async def test_by_keyboard_and_live(desk: Desk, served: Served) -> None:
    """j, k, x and Enter; the selection stays while rows change."""
    await make(served, "alpha", "beta", "gamma")
    page = await desk.open("/schedules")
    for key in ("j", "j", "x"):
        await page.keyboard.press(key)
    await expect(page.get_by_text("1 selected")).to_be_visible()
    await expect(page.locator("#bulk-pause")).to_be_enabled()
    await served.client.schedules.delete("alpha", actor="ben")
    await make(served, "before-beta")
    await expect(page.locator("tbody a.name")).to_have_text(["before-beta", "beta", "gamma"])
    await expect(page.locator("input[name=name]:checked")).to_have_count(1)
    await expect(page.get_by_label("Select beta", exact=True)).to_be_checked()
    await expect(page.get_by_text("1 selected")).to_be_visible()
    # One that is gone is not selected under another name.
    await served.client.schedules.delete("beta", actor="ben")
    await expect(page.locator("tbody a.name")).to_have_text(["before-beta", "gamma"])
    await expect(page.locator("input[name=name]:checked")).to_have_count(0)
    await expect(page.locator("#bulk-pause")).to_be_disabled()
    for key in ("j", "j", "k"):
        await page.keyboard.press(key)
    await expect(page.get_by_role("link", name="before-beta")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("/schedules/before-beta$"))
