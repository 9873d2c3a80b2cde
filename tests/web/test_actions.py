"""Actions on a schedule: in a dialog, on a page, by keyboard, and with concurrent changes."""

import shlex
from datetime import timedelta
from urllib.parse import quote

from playwright.async_api import Browser, expect

from tests.web.conftest import Desk, Served, done, window
from tests.web.histories import HOSTILE, HOUR, a_worker, do, make, this_hour
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.triggers.cron.cron import cron


@done
async def test_pause_and_resume(desk: Desk, served: Served) -> None:
    """The form opens in a dialog, requires a reason, updates its command line, and reports the result."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await expect(dialog.get_by_label("Reason")).to_be_focused()
    await dialog.get_by_label("Reason").fill(f"it's {HOSTILE}")
    await dialog.get_by_label("in an hour").check()
    # Exactly so to be copied; shown so that nothing in it turns the rest round.
    line = f"tickbird pause nightly --note 'it'\"'\"'s {HOSTILE}' --until 1h"
    await expect(dialog.locator("#cli [data-copy]")).to_have_attribute("data-copy", line)
    await expect(dialog.locator("#cli code")).to_have_text(line.replace("\u202e", "\\u202e"))
    await desk.check("pause")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is paused until")
    paused = (await served.client.schedules.get("nightly")).pause
    assert paused is not None
    assert paused.until is not None
    assert (paused.by, paused.note) == ("dev", f"it's {HOSTILE}")
    assert abs(to_datetime(paused.until) - this_hour()) < 3 * HOUR

    await page.get_by_role("link", name="Resume…").click()
    await expect(dialog).to_contain_text("Paused by dev: “it's <script>")
    await dialog.get_by_role("button", name="Resume").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is resumed; next at")
    assert (await served.client.schedules.get("nightly")).state == "active"


async def test_refused_action_keeps_its_input(desk: Desk, served: Served) -> None:
    """Also for errors that only the server detects; the invalid field has the focus."""
    await make(served)
    page = await desk.open("/schedules/nightly/pause")
    desk.expected.add(422)
    await page.get_by_label("Reason").fill("   ")
    await page.get_by_label("Date and time").fill("2020-01-01T10:00:00")
    await expect(page.get_by_label("a specific time:")).to_be_checked()
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#note-wrong")).to_contain_text("Enter a reason")
    await expect(page.get_by_label("Reason")).to_be_focused()
    await page.get_by_label("Reason").fill("upgrade")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#until_at-wrong")).to_contain_text("Choose a future time")
    await expect(page.get_by_label("Date and time")).to_have_value("2020-01-01T10:00")
    await expect(page.get_by_label("Reason")).to_have_value("upgrade")
    assert (await served.client.schedules.get("nightly")).state == "active"
    await desk.check("pause-refused")


@done
async def test_two_people_at_once_lose_nothing(desk: Desk, served: Served) -> None:
    """The second user sees the change of the first, and can send the same input again."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Reason").fill("upgrade")
    await do(served, Update(actor=f"eve {HOSTILE}", fields={"retries": 5}))
    desk.expected.add(412)
    await dialog.get_by_role("button", name="Pause").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("This schedule was changed by someone else")
    await expect(dialog.get_by_role("alert")).to_contain_text("by eve <script>alert(1)")
    await expect(dialog.get_by_role("row", name="retries")).to_contain_text("5")
    await expect(dialog.get_by_label("Reason")).to_have_value("upgrade")
    assert (await served.client.schedules.get("nightly")).state == "active"
    await desk.check("meanwhile")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is paused")
    schedule = await served.client.schedules.get("nightly")
    assert schedule.definition is not None
    assert (schedule.state, schedule.definition.retries) == ("paused", 5)


async def test_an_action_by_keyboard_alone(desk: Desk, served: Served) -> None:
    """Tab and Enter open it, Escape closes it and the focus is back; then it is done."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    opener = page.get_by_role("link", name="Reschedule…")
    await opener.focus()
    await page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Action")
    await expect(dialog).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    await expect(opener).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(dialog.get_by_label("now", exact=True)).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await expect(dialog.get_by_label("in 30 minutes")).to_be_checked()
    await expect(dialog.locator("#cli code")).to_have_text("tickbird reschedule nightly 30m")
    await page.keyboard.press("Enter")
    await expect(page.locator(".banner.success")).to_contain_text("The next tick of nightly is due at")
    [tick] = await served.client.ticks.next("nightly", 1)
    assert tick.override is not None
    assert tick.override.moved


async def test_the_next_tick_is_moved_by_one_click(desk: Desk, served: Served) -> None:
    """For both buttons: now, and in half an hour."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    for name, away in (("+30 min", 1_800), ("Now", 0)):
        await page.get_by_role("link", name="Reschedule…").click()
        await page.get_by_role("dialog", name="Action").get_by_role("button", name=name).click()
        await expect(page.locator(".banner.success")).to_contain_text("The next tick of nightly is due at")
        [tick] = await served.client.ticks.next("nightly", 1)
        assert abs((tick.due_at - await served.client.system.now()).total_seconds() - away) < 120
        await desk.open("/schedules/nightly")


async def test_an_action_without_scripts(browser: Browser, served: Served, desk: Desk) -> None:
    """A plain link to a page, a plain form, a refusal on the page, and back to the schedule."""
    await make(served)
    context, plain = await window(browser, served.url, desk.view, java_script_enabled=False)
    page = await plain.open("/schedules/nightly")
    await page.get_by_role("link", name="Pause…").click()
    await expect(page.get_by_role("heading", name="Pause nightly")).to_be_visible()
    await page.get_by_label("Reason").fill("no scripts")
    await page.get_by_label("Date and time").fill("2020-01-01T10:00")
    plain.expected.add(422)
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator("#until_at-wrong")).to_be_visible()
    await page.get_by_label("Date and time").fill("2090-01-01T10:00")
    await page.get_by_label("Times are in").select_option("UTC")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is paused until 2090-01-01 11:00:00 CET")
    assert plain.wrong == []
    await context.close()


async def test_ticks_to_come_are_skipped_moved_and_undone(desk: Desk, served: Served) -> None:
    """Skip a number of ticks, override one, and undo it; the command line is equivalent."""
    await a_worker(served)
    # No tick comes by itself while the test runs.
    await make(served, trigger=cron("0 0 1 * *", tz="Europe/Rome"))
    page = await desk.open("/schedules/nightly/skip")
    await page.get_by_label("Number", exact=True).fill("3")
    await expect(page.locator("#cli code")).to_have_text("tickbird skip nightly --count 3")
    await page.get_by_role("button", name="Skip").click()
    await expect(page.locator(".banner.success")).to_contain_text("the next run is at")
    ticks = await served.client.ticks.next("nightly", 5)
    assert [tick.skipped for tick in ticks] == ["operator"] * 3 + [None, None]

    await page.get_by_role("link", name="change").nth(3).click()
    dialog = page.get_by_role("dialog", name="Action")
    later = ticks[3].scheduled_for + timedelta(minutes=10)
    await dialog.get_by_label("Times are in").select_option("UTC")
    await dialog.get_by_label("Date and time").fill(f"{later:%Y-%m-%dT%H:%M:%S}")
    desk.expected.add(422)
    await dialog.get_by_label("Payload as JSON").fill('{"title": ')
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.locator("#payload-wrong")).to_contain_text("This is not JSON")
    await dialog.get_by_label("Payload as JSON").fill('{"title": "once"}')
    await desk.check("override")
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.locator(".banner.success")).to_contain_text("is moved")
    [made] = await served.client.overrides.list("nightly")
    assert (made.due_at, made.payload, made.actor) == (later, {"title": "once"}, "dev")
    await expect(page.get_by_role("region", name="Next ticks")).to_contain_text("with another payload")

    await page.get_by_role("link", name="change").nth(3).click()
    await dialog.get_by_role("button", name="Undo").click()
    await expect(page.locator(".banner.success")).to_contain_text("is removed")
    assert await served.client.overrides.list("nightly") == []


async def test_schedule_name_from_sql_works_on_all_pages(desk: Desk, served: Served) -> None:
    """Marks of addresses and of HTML in it are letters like others, on each page and in the command line."""
    name = f"a/b?c#d%2F&e;{HOSTILE}"
    await make(served, name)
    page = await desk.open(f"/schedules/{quote(name, safe='/')}")
    await expect(page.get_by_role("heading", level=1)).to_contain_text("a/b?c#d%2F&e;<script>alert(1)")
    await page.locator("#strip a.pic-mark").first.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Why?").click()
    await expect(page.locator(".verdict")).to_be_visible()
    await desk.check()
    await page.locator(".crumbs a").nth(1).click()
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Reason").fill("odd")
    line = await dialog.locator("#cli [data-copy]").get_attribute("data-copy")
    assert shlex.split(line or "") == ["tickbird", "pause", name, "--note", "…"]
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator(".state")).to_contain_text("“odd”")
    await desk.check()
