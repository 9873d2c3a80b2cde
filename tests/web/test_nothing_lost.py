"""Input in forms survives errors, expired sessions and lost responses."""

import re

from playwright.async_api import Page, Route, expect

from tests.web.conftest import Desk, Served, done, log_in
from tests.web.histories import make


async def log_in_again(page: Page, token: str) -> None:
    """By the form that one was led to."""
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Log in").click()


async def leave_without_answer(route: Route) -> None:
    """Answer a request of the page itself with nothing; go on with a navigation."""
    if "hx-request" in route.request.headers:
        await route.fulfill(status=204)
    else:
        await route.continue_()


@done
async def test_ended_session_loses_no_input(door: Desk, guarded: Served) -> None:
    """Sent from a dialog, or ended while one still types: one comes back to the form as it was, and it works."""
    door.expected |= {401}
    text = await guarded.token("operator")
    await make(guarded)
    await log_in(door, text, "/schedules/nightly")
    page = door.page
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Reason").fill("half a sentence")
    await dialog.get_by_label("in an hour").check()
    await expect(dialog.locator("#cli code")).to_contain_text("half a sentence")
    # The command line and the live page behind the dialog would lead to the log-in before the form is sent.
    background = re.compile(r"look=1|/schedules/nightly$")
    await page.route(background, leave_without_answer)
    await page.context.clear_cookies()
    await dialog.get_by_role("button", name="Pause").click()
    await page.wait_for_url("**/login?**")
    await page.unroute(background)
    await log_in_again(page, text)
    await expect(page.get_by_label("Reason")).to_have_value("half a sentence")
    await expect(page.get_by_label("in an hour")).to_be_checked()
    await expect(page.locator("#cli code")).to_contain_text("half a sentence")
    # Only typed, not sent: what follows it as it is typed leads to the log-in.
    await page.context.clear_cookies()
    await page.get_by_label("Reason").fill("a whole sentence.")
    await page.wait_for_url("**/login?**")
    await log_in_again(page, text)
    await expect(page.get_by_label("Reason")).to_have_value("a whole sentence.")
    await expect(page.locator("#cli code")).to_contain_text("a whole sentence.")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is paused")
    paused = (await guarded.client.schedules.get("nightly")).pause
    assert paused is not None
    assert paused.note == "a whole sentence."
    # What was answered is kept no longer, nor what was refused and left.
    door.expected.add(422)
    await door.open("/schedules/nightly")
    await page.get_by_role("link", name="Backfill…").click()
    await dialog.get_by_label("Concurrent runs").fill("many")
    await dialog.get_by_role("button", name="Preview").click()
    await expect(dialog.locator("#concurrency-wrong")).to_be_visible()
    assert await page.evaluate("sessionStorage.getItem('tickbird-draft')") is None
    await door.open("/schedules/nightly")
    await expect(page.get_by_role("heading", name="nightly", exact=True)).to_be_visible()
    await expect(dialog).to_be_hidden()
    await door.open("/schedules/nightly/resume")
    await expect(page.get_by_label("Reason")).to_have_value("")


async def test_a_page_that_changes_by_itself_opens_the_dialog_again(door: Desk, guarded: Served) -> None:
    """The session ends while a dialog is open: after the login it is open again, with its input."""
    door.expected |= {401}
    text = await guarded.token("operator")
    await make(guarded)
    await log_in(door, text, "/schedules/nightly")
    page = door.page
    await page.get_by_role("link", name="Skip…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Number", exact=True).fill("3")
    await expect(dialog.locator("#cli code")).to_contain_text("--count 3")
    # In the page, since a refresh of its own can leave it at any moment after the session has ended.
    await page.evaluate("setInterval(() => document.body.dispatchEvent(new Event('live')), 50)")
    await page.context.clear_cookies()
    await page.wait_for_url("**/login?**")
    await log_in_again(page, text)
    await expect(dialog.get_by_label("Number", exact=True)).to_have_value("3")
    await expect(dialog.get_by_label("a number of ticks:")).to_be_checked()


async def test_form_of_an_earlier_session_gets_a_new_csrf_token(door: Desk, guarded: Served) -> None:
    """After a login in another window, the first submission is refused without loss, the second succeeds."""
    door.expected |= {403}
    text = await guarded.token("operator")
    await make(guarded)
    await log_in(door, text, "/schedules/nightly")
    page = door.page
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Reason").fill("upgrade")
    await expect(dialog.locator("#cli code")).to_contain_text("upgrade")
    other = await page.context.new_page()
    await other.goto(f"{guarded.url}/login")
    await log_in_again(other, text)
    await other.wait_for_url(f"{guarded.url}/")
    await other.close()
    await dialog.get_by_role("button", name="Pause").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("You have logged in again since you opened this form")
    assert (await guarded.client.schedules.get("nightly")).state == "active"
    await expect(dialog.get_by_label("Reason")).to_have_value("upgrade")
    await door.check("form-made-good")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is paused")


async def test_a_form_that_gets_no_answer_says_so(desk: Desk, served: Served) -> None:
    """Whether the server cannot be reached or fails: the form stays as it was typed."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Reason").fill("upgrade")
    await expect(dialog.locator("#cli code")).to_contain_text("upgrade")
    desk.expected |= {503}
    part = '<div id="form"><div data-problem="store-unavailable">The store cannot be used at the moment.</div></div>'
    await page.route("**/schedules/nightly/pause", lambda route: route.fulfill(status=503, body=part))
    await dialog.get_by_role("button", name="Pause").click()
    await expect(dialog.get_by_role("alert")).to_have_text("The store cannot be used at the moment.")
    await page.unroute_all()
    await page.route("**/schedules/nightly/pause", lambda route: route.abort())
    await dialog.get_by_role("button", name="Pause").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("The server did not respond.")
    await expect(dialog.get_by_label("Reason")).to_have_value("upgrade")
    desk.wrong.clear()
    await page.unroute_all()
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("nightly is paused")
