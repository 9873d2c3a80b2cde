"""A response to one dialog never gets into the next one."""

import re

import pytest
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, log_in
from tests.web.histories import make
from tests.web.late_responses.forms import form_of
from tests.web.late_responses.holds import reads, sends
from tests.web.test_actions_run import manual_runs


async def test_a_second_click_on_an_opener_replaces_nothing(desk: Desk, served: Served) -> None:
    """The dialog is read once."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/pause") else None)
    async with reads(page, "/pause", "dialog-body") as hold:
        await page.get_by_role("link", name="Pause…").dblclick()
        await hold.answered.wait()
        await hold.release()
    await form_of(page).get_by_label("Reason").fill("upgrade")
    await page.evaluate("fetch(location.href).then((answer) => answer.text())")
    await expect(form_of(page).get_by_label("Reason")).to_have_value("upgrade")
    assert len(asked) == 1


async def test_the_last_opener_wins(desk: Desk, served: Served) -> None:
    """The form that was asked for first arrives after the other one was opened, and is dropped."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    async with reads(page, "/pause", "dialog-body") as hold:
        await page.get_by_role("link", name="Pause…").click()
        await hold.answered.wait()
        await page.get_by_role("link", name="Skip…").click()
        await form_of(page).get_by_label("Number", exact=True).fill("3")
        await hold.release()
        await expect(form_of(page).get_by_label("Number", exact=True)).to_have_value("3")
    await form_of(page).get_by_role("button", name="Skip").click()
    await expect(page.locator(".banner.success")).to_be_visible()


@pytest.mark.parametrize("note, said", [("upgrade", "was completed after you closed the form."), ("", "was refused")])
async def test_a_response_to_a_closed_form_leaves_the_next_form_alone(
    desk: Desk, served: Served, note: str, said: str
) -> None:
    """Neither an error nor a redirect: the user stays in the next form, and a banner reports the first result."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    form = form_of(page)
    desk.expected.add(422)
    async with sends(page, "/pause") as hold:
        await page.get_by_role("link", name="Pause…").click()
        await form.get_by_label("Reason").evaluate("(each) => each.removeAttribute('required')")
        await form.get_by_label("Reason").fill(note)
        await form.get_by_role("button", name="Pause").click()
        await hold.answered.wait()
        await page.keyboard.press("Escape")
        await expect(form).to_be_hidden()
        await page.get_by_role("link", name="Run now…").click()
        await form.get_by_label("Payload as JSON").fill('{"newer": 1}')
        await hold.release()
    await expect(page.locator(".late-response")).to_contain_text(said)
    await expect(form.get_by_label("Payload as JSON")).to_have_value('{"newer": 1}')
    await desk.check()
    assert (await served.client.schedules.get("nightly")).state == ("paused" if note else "active")
    await form.get_by_role("button", name="Run now").click()
    await page.wait_for_url(re.compile(r"/runs/\d+$"))
    assert [dict(run.payload) for run in await manual_runs(served)] == [{"newer": 1}]


async def test_a_late_command_line_stays_out_of_the_next_form(desk: Desk, served: Served) -> None:
    """The command line and the readings of a closed form are dropped."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    form = form_of(page)
    async with reads(page, "look=1", "cli") as hold:
        await page.get_by_role("link", name="Pause…").click()
        await form.get_by_label("in an hour").check()
        await hold.answered.wait()
        await page.keyboard.press("Escape")
        await page.get_by_role("link", name="Skip…").click()
        await form.get_by_label("Number", exact=True).fill("3")
        await hold.release()
        await expect(form.locator("#f-until_at-reads")).to_be_empty()
    await expect(form.locator("#cli code")).to_contain_text("--count 3")
    await expect(form.get_by_label("Number", exact=True)).to_have_value("3")


async def test_a_draft_is_not_lost_to_a_refresh(door: Desk, guarded: Served) -> None:
    """After a log-in the page may be refreshed before the dialog arrives: the draft still comes into it."""
    door.expected |= {401}
    text = await guarded.token("operator")
    await make(guarded)
    await log_in(door, text, "/schedules/nightly")
    page = door.page
    await page.get_by_role("link", name="Skip…").click()
    await form_of(page).get_by_label("Number", exact=True).fill("3")
    await page.context.clear_cookies()
    await page.evaluate("document.body.dispatchEvent(new Event('live'))")
    await page.wait_for_url("**/login?**")
    async with reads(page, "/skip", "dialog-body") as hold:
        await page.get_by_label("Token").fill(text)
        await page.get_by_role("button", name="Log in").click()
        await hold.answered.wait()
        await page.evaluate(
            "new Promise((done) => { document.addEventListener('htmx:afterSettle', done, {once: true});"
            " document.body.dispatchEvent(new Event('live')); }).then(() => null)"
        )
        await hold.release()
    await expect(form_of(page).get_by_label("Number", exact=True)).to_have_value("3")
