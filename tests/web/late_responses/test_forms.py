"""A response that fills in, previews or answers a form never overwrites newer input."""

import re
from typing import Any

from playwright.async_api import expect

from tests.web.conftest import Desk, Served
from tests.web.histories import WORKER, a_worker, make
from tests.web.late_responses.forms import on_schedule, pause_note, run_limit
from tests.web.late_responses.holds import reads, sends, type_across
from tests.web.test_actions_run import manual_runs


async def test_a_recent_payload_keeps_newer_input(desk: Desk, served: Served) -> None:
    """The link fills in the other fields; the field that was typed into meanwhile keeps its text."""
    await on_schedule(served)
    run = await served.client.schedules.trigger("nightly", actor="ana", payload={"title": "Old", "limit": 9})
    page = await desk.open("/schedules/nightly/run")
    await page.get_by_text("Recent payloads").click()
    limit = page.get_by_label("limit")
    async with reads(page, "like=", "form") as hold:
        await page.get_by_role("link", name=f"run {run.id}").click()
        await hold.answered.wait()
        await limit.fill("5")
        await hold.release()
    await expect(page.get_by_label("title")).to_have_value("Old")
    await expect(limit).to_have_value("5")
    await expect(page.locator("#cli code")).to_contain_text('"limit": 5')
    await page.get_by_role("button", name="Run now").click()
    await page.wait_for_url(re.compile(r"/runs/\d+$"))
    assert dict((await manual_runs(served))[0].payload) == {"title": "Old", "limit": 5}


async def test_a_form_is_sent_as_it_was_when_the_button_was_pressed(desk: Desk, served: Served) -> None:
    """Also if a recent payload is on its way: it is not filled in any more, and the run page is shown."""
    await on_schedule(served)
    run = await served.client.schedules.trigger("nightly", actor="ana", payload={"title": "Old", "limit": 9})
    page = await desk.open("/schedules/nightly/run")
    await page.get_by_text("Recent payloads").click()
    async with reads(page, "like=", "form") as like, sends(page, "/run") as sent:
        await page.get_by_role("link", name=f"run {run.id}").click()
        await like.answered.wait()
        await page.get_by_label("limit").fill("5")
        await page.get_by_role("button", name="Run now").click()
        await sent.answered.wait()
        await like.release()
        await expect(page.get_by_label("title")).to_have_value("Sales")
        await page.get_by_label("limit").fill("6")
    await page.wait_for_url(re.compile(r"/runs/\d+$"))
    assert dict((await manual_runs(served))[0].payload) == {"title": "Sales", "limit": 5}


async def test_the_last_of_two_recent_payloads_is_shown(desk: Desk, served: Served) -> None:
    """The response to the first link arrives after the second link was pressed."""
    await on_schedule(served)
    first, second = [
        await served.client.schedules.trigger("nightly", actor="ana", payload={"title": title})
        for title in ("One", "Two")
    ]
    page = await desk.open("/schedules/nightly/run")
    await page.get_by_text("Recent payloads").click()
    async with reads(page, f"like={first.id}", "form") as hold, reads(page, f"like={second.id}", "form") as later:
        await page.get_by_role("link", name=f"run {first.id}").click()
        await hold.answered.wait()
        await page.get_by_role("link", name=f"run {second.id}").click()
        await later.answered.wait()
        await hold.release()
        await expect(page.get_by_label("title")).to_have_value("Sales")
        await later.release()
    await expect(page.get_by_label("title")).to_have_value("Two")


async def test_input_without_a_field_in_the_response_stays(desk: Desk, served: Served) -> None:
    """The response to “As JSON” has no field for newer input: the form stays, says so, and the next press has it."""
    await on_schedule(served)
    page = await desk.open("/schedules/nightly/run")
    async with sends(page, "/run") as hold:
        await page.get_by_role("button", name="As JSON").click()
        await hold.answered.wait()
        await page.get_by_label("limit").fill("5")
        await hold.release()
    await expect(page.get_by_text("because you changed the form meanwhile")).to_be_visible()
    await expect(page.get_by_label("limit")).to_have_value("5")
    await desk.check()
    await page.get_by_role("button", name="As JSON").click()
    await expect(page.get_by_label("Payload as JSON")).to_have_value(re.compile('"limit": 5'))
    await page.get_by_role("button", name="Run now").click()
    await page.wait_for_url(re.compile(r"/runs/\d+$"))
    assert await run_limit(served) == [5]


async def test_the_command_line_replaces_no_field(desk: Desk, served: Served) -> None:
    """A late response to what follows the typing changes neither text nor caret, and the form sends the newer text."""
    await on_schedule(served)
    page = await desk.open("/schedules/nightly/pause")
    why = page.get_by_label("Reason")
    async with reads(page, "look=1", "cli") as hold:
        await why.fill("one")
        await hold.answered.wait()
        await page.get_by_label("Date and time").fill("2090-01-01T10:00")
        await type_across(why, "two words", hold, page.locator("#cli code", has_text="one"))
    await expect(page.get_by_label("Date and time")).to_have_value("2090-01-01T10:00")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_be_visible()
    assert await pause_note(served) == ("two words", 3_786_944_400)


async def test_the_fields_of_another_task_keep_newer_input(desk: Desk, served: Served) -> None:
    """They are shown also if a payload field has the focus; text that was typed meanwhile stays in its field."""
    schema = {"type": "object", "properties": {"size": {"type": "integer"}, "title": {"type": "string"}}}
    tasks: dict[str, Any] = {**WORKER.tasks, "resize": {"queue": "default", "schema": schema}}
    await a_worker(served, tasks=tasks)
    await make(served)
    page = await desk.open("/schedules/nightly/edit")
    async with reads(page, "/preview", "payload-inputs") as hold:
        await page.get_by_label("Task", exact=True).fill("resize")
        await hold.answered.wait()
        await type_across(page.get_by_label("title"), "New title", hold, page.get_by_label("size"))
    await page.get_by_label("size").fill("7")
    await page.get_by_role("button", name="Review…").click()
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url(re.compile(r"/schedules/nightly$"))
    definition = (await served.client.schedules.get("nightly")).definition
    assert definition is not None
    assert (definition.target.name, dict(definition.payload)) == ("resize", {"title": "New title", "size": 7})


async def test_a_late_preview_keeps_newer_input(desk: Desk, served: Served) -> None:
    """The preview of the earlier text is shown beside the newer one."""
    await make(served)
    page = await desk.open("/schedules/nightly/edit")
    when = page.get_by_label("Cron, every")
    async with reads(page, "/preview", "seen") as hold:
        await when.fill("every 10m")
        await hold.answered.wait()
        await type_across(when, "every 20m", hold, page.locator("#seen .means", has_text="10 minutes"))
    await expect(page.locator("#seen .means")).to_contain_text("20 minutes")
    await page.get_by_role("button", name="Review…").click()
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url(re.compile(r"/schedules/nightly$"))
    definition = (await served.client.schedules.get("nightly")).definition
    assert definition is not None
    assert "20" in str(definition.trigger)


async def test_a_page_that_answers_a_form_keeps_newer_input(desk: Desk, served: Served) -> None:
    """Forms that load a page: input that was typed while the page was on its way is in its fields."""
    await make(served)
    page = await desk.open("/schedules/nightly/edit")
    desk.expected.add(422)
    async with sends(page, "/nightly/edit") as hold:
        await page.get_by_label("Cron, every").fill("every 20m")
        await page.get_by_label("Time zone").fill("Mars/Olympus")
        await page.keyboard.press("Enter")
        await hold.answered.wait()
        await page.keyboard.press("Control+A")
        await page.keyboard.type("Asia/Tokyo")
        await hold.load()
    await expect(page.get_by_text("Nothing was saved")).to_be_visible()
    await expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    await expect(page.get_by_label("Cron, every")).to_have_value("every 20m")
    await expect(page.locator("#seen .means")).to_contain_text("20 minutes")
    await page.get_by_role("button", name="Review…").click()
    await page.get_by_role("button", name="Save").click()
    await page.wait_for_url(re.compile(r"/schedules/nightly$"))
    definition = (await served.client.schedules.get("nightly")).definition
    assert definition is not None
    assert definition.trigger.tz == "Asia/Tokyo"
