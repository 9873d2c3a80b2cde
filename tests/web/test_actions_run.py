"""Run now: a form from the parameters of the task; sent twice, it creates one run."""

import asyncio
import re

from playwright.async_api import Route, expect

from tests.web.conftest import Desk, Served, done
from tests.web.histories import HOSTILE, a_worker, make
from tickbird.domain.runs.run import RunRecord


async def manual_runs(served: Served) -> list[RunRecord]:
    """Return the manual runs."""
    return [run for run in await served.client.runs.list(schedule="nightly") if run.origin == "manual"]


@done
async def test_run_now_with_the_fields_of_its_task(desk: Desk, served: Served) -> None:
    """Fields have the schedule's payload, show errors, and define the payload of the run."""
    await a_worker(served)
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.get_by_role("link", name="Run now…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await expect(dialog.get_by_label("title")).to_have_value("Sales")
    await dialog.get_by_label("limit").fill("0")
    await dialog.get_by_label("kind").select_option(label='"weekly"')
    await dialog.get_by_label("to", exact=True).fill('["a@example.com", ')
    desk.expected.add(422)
    await dialog.get_by_role("button", name="Run now").click()
    await expect(dialog.get_by_text("This is not JSON")).to_be_visible()
    await dialog.get_by_label("to", exact=True).fill('["a@example.com"]')
    await dialog.get_by_role("button", name="Run now").click()
    await expect(dialog.get_by_text("0 is less than the minimum of 1")).to_be_visible()
    await expect(dialog.get_by_label("to", exact=True)).to_have_value('["a@example.com"]')
    await dialog.get_by_label("limit").fill("5")
    await dialog.get_by_label("title").fill(HOSTILE)
    await expect(dialog.locator("#cli code")).to_contain_text("tickbird trigger nightly --payload '{")
    await desk.check("run-now")
    await dialog.get_by_role("button", name="Run now").click()
    await page.wait_for_url(re.compile(r"/runs/\d+$"))
    [run] = await manual_runs(served)
    wanted = {"limit": 5, "kind": "weekly", "to": ["a@example.com"], "title": HOSTILE}
    assert (dict(run.payload), run.actor, run.origin) == (wanted, "dev", "manual")

    # The next time it is offered again.
    await desk.open("/schedules/nightly/run")
    await page.get_by_text("Recent payloads").click()
    await page.get_by_role("link", name=f"run {run.id}").click()
    # What cannot be seen in it is shown by its number, as JSON.
    await expect(page.get_by_label("title")).to_have_value(re.compile(r"<script>alert.*\\u202eevil"))
    await page.get_by_role("button", name="As JSON").click()
    await expect(page.get_by_label("Payload as JSON")).to_have_value(re.compile('"limit": 5'))
    await desk.check("run-now-json")


@done
async def test_command_line_follows_input_during_a_request(desk: Desk, served: Served) -> None:
    """Also for input during a request."""
    await a_worker(served)
    await make(served)
    page = await desk.open("/schedules/nightly/run")
    asked, held = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await held.wait()
        await route.continue_()

    await page.route("**look=1**", hold)
    await page.get_by_label("limit").fill("5")
    await asked.wait()
    await page.get_by_label("limit").fill("7")
    held.set()
    await expect(page.locator("#cli code")).to_contain_text('"limit": 7')


async def test_the_same_form_sent_twice_makes_one_run(desk: Desk, served: Served) -> None:
    """Also concurrently, and as JSON for a task without a worker."""
    await make(served)
    page = await desk.open("/schedules/nightly/run")
    fields = {name: await page.locator(f"#form [name={name}]").input_value() for name in ("csrf", "key", "revision")}
    sent = {**fields, "payload.whole": '{"title": "once"}'}
    answers = await asyncio.gather(
        *(page.request.post(f"{desk.url}/schedules/nightly/run", form=sent, max_redirects=0) for _ in range(3))
    )
    assert {answer.status for answer in answers} == {303}
    [run] = await manual_runs(served)
    assert {answer.headers["location"] for answer in answers} == {f"/runs/{run.id}"}
    assert dict(run.payload) == {"title": "once"}
    # Who goes back and changes it wants another one.
    await page.request.post(f"{desk.url}/schedules/nightly/run", form={**sent, "payload.whole": "{}"}, max_redirects=0)
    assert len(await manual_runs(served)) == 2


async def test_a_large_payload_survives(desk: Desk, served: Served) -> None:
    """Most of a megabyte, shown, sent and stored."""
    large = {"text": "é" * 400_000 + HOSTILE}
    await make(served, payload=large)
    page = await desk.open("/schedules/nightly")
    await expect(page.get_by_role("heading", name="nightly", exact=True)).to_be_visible()
    await desk.open("/schedules/nightly/run")
    await page.get_by_role("button", name="Run now").click()
    await page.wait_for_url(re.compile(r"/runs/\d+$"))
    [run] = await manual_runs(served)
    assert dict(run.payload) == large
