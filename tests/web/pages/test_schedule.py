"""The page of one schedule."""

import sqlite3
from contextlib import closing
from datetime import timedelta

import psycopg
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at
from tests.web.histories import HOSTILE, HOUR, a_past, a_worker, do, make, run_tick, this_hour
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.ticks import Override
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.trigger import at as once
from tickbird.store.protocol.store import Store


@looked_at
async def test_schedule_page_shows_state_ticks_runs_and_definition(desk: Desk, served: Served) -> None:
    """Definition, state, history and future; each tick links to its explanation."""
    await a_worker(served)
    last = await a_past(
        served,
        tags=("money",),
        description=f"Sends the sales.\n{HOSTILE}",
        timeout=60,
        retries=2,
    )
    await make(served, "after", depends_on=(After("nightly", 3_600, 60),))
    moved = to_seconds(last + 2 * HOUR)
    await do(served, Override(actor="eve", tick=moved, move_to=moved + 600, note="later"), "nightly")
    page = await desk.open("/schedules/nightly")
    await expect(page.get_by_role("heading", name="nightly", exact=True)).to_be_visible()
    await expect(page.locator(".lead")).to_contain_text("Europe/Rome")
    await expect(page.locator(".lead")).to_contain_text("created by ana")
    await expect(page.locator(".state")).to_contain_text("active")
    strip = page.locator("#strip")
    assert await strip.locator("a.pic-mark").count() == 20
    await expect(page.get_by_role("region", name="Next ticks")).to_contain_text("set by eve: “later”")
    await expect(page.get_by_role("region", name="Newest runs")).to_contain_text("<script>alert(1)</script>")
    await expect(page.locator(".policies")).to_contain_text("Retries")
    await expect(page.get_by_role("link", name="after", exact=True)).to_be_visible()
    await expect(page.locator("#r2")).to_contain_text("db upgrade <script>")
    await desk.check("schedule")
    await strip.get_by_role("link", name="failed").first.focus()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await expect(page.locator(".verdict")).to_contain_text("Ran as run")


@done
async def test_schedule_page_of_parked_paused_ended_and_deleted(desk: Desk, served: Served, store: Store) -> None:
    """Parked with its error, paused with whom and why, from code with overrides, a shadow, ended, deleted."""
    await make(served, "broken")
    await spoil(store, "broken")
    await served.store.planning.plan_due(now=this_hour() + HOUR)
    page = await desk.open("/schedules/broken")
    await expect(page.locator(".state")).to_contain_text("parked")
    await expect(page.locator(".lead")).to_contain_text("cannot be read")
    await expect(page.locator("#raw")).to_contain_text("99 <b>* *")
    await expect(page.get_by_role("link", name="Run now…")).to_have_count(0)
    await desk.check("schedule-parked")

    await make(served, "code", app="shop", retries=3)
    await do(served, Update(actor="eve", fields={"retries": 9, "tags": ["x"]}), "code")
    await do(served, Pause(actor=HOSTILE, note=HOSTILE, until=to_seconds(this_hour() + 5 * HOUR)), "code")
    page = await desk.open("/schedules/code")
    await expect(page.locator(".lead")).to_contain_text("defined in code (app shop)")
    await expect(page.locator(".state")).to_contain_text("“<script>alert(1)</script>")
    await expect(page.locator(".policies")).to_contain_text("operator override (code: 3)")
    await expect(page.get_by_role("link", name="Resume…")).to_be_visible()
    await expect(page.get_by_role("region", name="Next ticks")).to_contain_text("will be skipped (paused)")
    await desk.check("schedule-paused")

    await make(served, "shadow", shadow=True)
    await expect((await desk.open("/schedules/shadow")).locator(".state")).to_contain_text("runs nothing")
    await expect(page.get_by_role("link", name="Run now…")).to_have_count(0)

    await make(served, "single", once(this_hour() - 30 * timedelta(minutes=1) + HOUR), at=this_hour())
    await run_tick(served, this_hour() + 30 * timedelta(minutes=1))
    await expect((await desk.open("/schedules/single")).locator(".state")).to_contain_text("it has no future ticks")

    await do(served, Delete(actor="zoe"), "code")
    page = await desk.open("/schedules/code")
    await expect(page.locator(".state")).to_contain_text("deleted by zoe")
    await expect(page.locator("#offers")).to_have_text("")
    await desk.check("schedule-deleted")

    desk.expected.add(404)
    await desk.open("/schedules/shadwo")
    await expect(page.get_by_text("Did you mean shadow?")).to_be_visible()


async def spoil(store: Store, name: str) -> None:
    """Write nonsense into a definition, as plain SQL can."""
    nonsense = '{"v":1,"trigger":{"cron":"99 <b>* * * *"},"target":{"task":"report"}}'
    change = f"SET definition = '{nonsense}' WHERE name = '{name}'"
    if store.url.startswith("sqlite"):
        with closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as file, file:
            file.execute(f"UPDATE schedules {change}")
        return
    async with await psycopg.AsyncConnection.connect(store.url) as database:
        await database.execute(f"UPDATE tickbird.schedules {change}".encode())


async def test_schedule_page_shows_dst_notes_at_ticks(desk: Desk, served: Served) -> None:
    """The days on which summer can begin, in the hour that is then left out."""
    await make(served, "spring", cron("30 2 25-31 3 *", tz="Europe/Rome"))
    page = await desk.open("/schedules/spring")
    await expect(page.locator(".clock-note", has_text="02:30 does not exist that day").first).to_be_visible()


async def test_viewer_has_no_actions_and_forged_form_is_refused(door: Desk, guarded: Served) -> None:
    """No buttons and no links to forms; the form is refused by GET and POST."""
    await make(guarded)
    await log_in(door, await guarded.token("viewer"), "/schedules/nightly")
    page = door.page
    await expect(page.get_by_role("heading", name="nightly", exact=True)).to_be_visible()
    await expect(page.locator("#offers a")).to_have_count(0)
    await expect(page.get_by_role("link", name="change")).to_have_count(0)
    csrf = await page.locator("meta[name=csrf]").get_attribute("content")
    door.expected.add(403)
    sent = {"csrf": csrf or "", "note": "forged", "typed_name": "nightly", "to": "now", "revision": "1"}
    for verb in (
        "pause",
        "resume",
        "run",
        "reschedule",
        "skip",
        "backfill",
        "delete",
        "revisions/1/roll-back",
    ):
        for answer in (
            await page.request.post(f"{door.url}/schedules/nightly/{verb}", form=sent),
            await page.request.get(f"{door.url}/schedules/nightly/{verb}"),
        ):
            assert answer.status == 403, verb
    assert (await guarded.client.schedules.get("nightly")).revision == 1
    assert await guarded.client.runs.list(schedule="nightly") == []
    await door.check()


async def test_the_page_follows_what_happens(desk: Desk, served: Served) -> None:
    """A pause by another user appears live, and open details stay open."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.locator("#raw summary").click()
    await served.client.schedules.pause("nightly", actor="ben", note="elsewhere")
    await expect(page.locator(".state")).to_contain_text("“elsewhere”")
    await expect(page.get_by_role("link", name="Resume…")).to_be_visible()
    assert await page.locator("#raw").get_attribute("open") is not None
