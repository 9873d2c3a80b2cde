"""A response that arrives late never overwrites newer input, in any form of the dashboard."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error, Locator, Page, Request, Route, expect

import tickbird.web
from lab.faults import until
from tests.web.conftest import Desk, Served, log_in
from tests.web.histories import WORKER, a_past, a_worker, make
from tests.web.making import enqueue
from tests.web.pages.test_backfills import a_backfill, missed
from tests.web.test_actions_run import manual_runs

TEMPLATES = Path(tickbird.web.__file__).parent / "templates"


class Hold:
    """Lets the server answer the requests that match, and keeps the responses back until `release`."""

    def __init__(self, page: Page, matches: Callable[[Request], bool], status: int | None = None) -> None:
        self.page = page
        self.answered = asyncio.Event()
        # Has the page sent the same request again since? Then it drops the response that is held.
        self.overtaken = False
        self._released = asyncio.Event()
        self._passed = asyncio.Event()
        self._matches = matches
        self._status = status

    async def __aenter__(self) -> "Hold":
        await self.page.route("**", self._handle)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._released.set()
        await self.page.unroute("**", self._handle)

    async def _handle(self, route: Route) -> None:
        if self.answered.is_set() or not self._matches(route.request):
            self.overtaken = self.overtaken or self._matches(route.request)
            await route.fallback()
            return
        if self._status is None:
            # The browser follows a redirect itself.
            response = await route.fetch(max_redirects=0)
            self.answered.set()
            await self._released.wait()
            # The page may have aborted the request.
            with suppress(Error):
                await route.fulfill(response=response)
        else:
            self.answered.set()
            await self._released.wait()
            await route.fulfill(status=self._status, body="")
        self._passed.set()

    async def release(self) -> None:
        """Let the response through; returns after the page has had its turn with it."""
        self._released.set()
        await self._passed.wait()
        await self.page.evaluate("fetch(location.href).then((answer) => answer.text())")

    async def load(self) -> None:
        """Let the response through that loads a page; returns after the page has loaded."""
        async with self.page.expect_event("load"):
            self._released.set()


def sends(page: Page, path: str) -> Hold:
    """Hold the response to a form."""
    return Hold(page, lambda request: request.method == "POST" and re.search(f"{path}$", request.url) is not None)


def reads(page: Page, part: str, target: str = "") -> Hold:
    """Hold the response to a request for a part of the page."""

    def matches(request: Request) -> bool:
        return part in request.url and request.headers.get("hx-target", "") == target

    return Hold(page, matches)


def form_of(page: Page) -> Locator:
    """The form in the dialog."""
    return page.get_by_role("dialog", name="Action")


async def type_across(field: Locator, text: str, hold: Hold, shown: Locator) -> None:
    """Replace the text of a field by the keyboard, half before the response arrives and half after it."""
    await field.select_text()
    half = len(text) // 2
    if half:
        await field.page.keyboard.type(text[:half])
    await hold.release()
    # What follows the typing may have sent a newer request, if this test had to wait for the machine.
    await until(lambda: _shown_or_overtaken(shown, hold))
    await field.page.keyboard.type(text[half:])
    await expect(field).to_have_value(text)


async def _shown_or_overtaken(shown: Locator, hold: Hold) -> bool:
    return hold.overtaken or await shown.is_visible()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A form whose first version is refused while the second one is typed."""

    prepare: Callable[[Served], Awaitable[str]]
    opener: str
    # Of the field, the text that is sent first, and the newer one.
    label: str
    first: str
    newer: str
    button: str
    path: str
    shown: str
    stored: Callable[[Served], Awaitable[object]]
    # A box or radio button that is checked first, and another one that is checked later.
    check: str = ""
    check_later: str = ""
    tick: str = ""
    confirm: str = ""
    status: int | None = None


async def on_schedule(served: Served) -> str:
    await a_worker(served)
    await make(served)
    return "/schedules/nightly"


async def on_many(served: Served) -> str:
    await make(served)
    return "/schedules"


async def on_past(served: Served) -> str:
    await a_past(served)
    return "/schedules/nightly"


async def on_run(served: Served) -> str:
    return f"/runs/{await enqueue(served)}"


async def on_ended_run(served: Served) -> str:
    run = await enqueue(served, {"a": 0})
    await served.client.cancel(run, actor="ana")
    return f"/runs/{run}"


async def on_backfill(served: Served) -> str:
    return f"/backfills/{await a_backfill(served)}"


async def on_held(served: Served) -> str:
    await missed(served, "orders", 5, catch_up="all", hold_above=2)
    return "/held"


async def on_workers(served: Served) -> str:
    await a_worker(served)
    return "/workers"


async def run_limit(served: Served) -> object:
    return [dict(run.payload).get("limit") for run in await manual_runs(served)]


async def pause_note(served: Served) -> object:
    pause = (await served.client.get("nightly")).pause
    return pause and (pause.note, pause.until)


async def schedule_names(served: Served) -> object:
    return [row.schedule.name for row in await served.client.list()]


async def override_payloads(served: Served) -> object:
    return [each.payload and dict(each.payload) for each in await served.client.overrides("nightly")]


async def backfill_concurrency(served: Served) -> object:
    return (await served.client.get_backfill(1)).concurrency


async def cancel_reasons(served: Served) -> object:
    return {run.reason for run in await served.client.runs() if run.status == "cancelled"}


async def newest_payload(served: Served) -> object:
    return max((run.id, dict(run.payload)) for run in await served.client.runs())[1]


async def left_held(served: Served) -> object:
    return [standing.count for standing in await served.client.list_held_schedules()]


async def drain_note(served: Served) -> object:
    return [entry.detail.get("note") for entry in await served.client.audit() if "drain" in entry.action]


LONG = "x" * 3_000
CASES: dict[str, tuple[Case, object]] = {
    "run now": (
        Case(
            prepare=on_schedule, opener="Run now…", label="limit", first="0", newer="5", button="Run now",
            path="/nightly/run", shown="0 is less than the minimum of 1", stored=run_limit,
        ),
        [5],
    ),
    "pause": (
        Case(
            prepare=on_schedule, opener="Pause…", label="Why", first="one", newer="two words", button="Pause",
            path="/nightly/pause", shown="Choose a date and a time.", stored=pause_note,
            check="this instant:", check_later="somebody resumes it",
        ),
        ("two words", None),
    ),
    "delete": (
        Case(
            prepare=on_schedule, opener="Delete…", label="Type its name", first="nigh", newer="nightly",
            button="Delete", path="/nightly/delete", shown="Type the name of the schedule,",
            stored=schedule_names,
        ),
        [],
    ),
    "override": (
        Case(
            prepare=on_past, opener="change", label="Payload of its run", first="{", newer='{"a": 12}', button="Decide",
            path=r"/override\?tick=.*", shown="This is not JSON", stored=override_payloads,
            check="is due as planned, with another payload",
        ),
        [{"a": 12}],
    ),
    "backfill": (
        Case(
            prepare=on_past, opener="Backfill…", label="Runs at once", first="many", newer="12",
            button="Show what would run", path="/nightly/backfill", shown="At once: write a whole number",
            stored=backfill_concurrency, confirm="Start",
        ),
        12,
    ),
    "bulk": (
        Case(
            prepare=on_many, opener="Pause…", label="Why", first="one", newer="two words", button="Pause it",
            path="/bulk/pause", shown="Choose a date and a time.", stored=pause_note, tick="Select nightly",
            check="this instant:", check_later="somebody resumes them",
        ),
        ("two words", None),
    ),
    "cancel a run": (
        Case(
            prepare=on_run, opener="Cancel…", label="Why", first=LONG, newer="two words", button="Cancel it",
            path="/cancel", shown="characters", stored=cancel_reasons,
        ),
        {"two words"},
    ),
    "retry with changes": (
        Case(
            prepare=on_ended_run, opener="Retry with changes…", label="Payload as JSON", first="{",
            newer='{"a": 12}', button="Retry it so", path="/change", shown="Nothing was sent", stored=newest_payload,
        ),
        {"a": 12},
    ),
    "cancel a backfill": (
        Case(
            prepare=on_backfill, opener="Cancel…", label="Why", first=LONG, newer="two words",
            button="Cancel the backfill", path="/cancel", shown="characters", stored=cancel_reasons,
        ),
        {"backfill 1 cancelled by dev: two words"},
    ),
    "release held runs": (
        Case(
            prepare=on_held, opener="Release…", label="How many", first="lots", newer="02", button="Release them",
            path="/release", shown="'lots' is not a whole number", stored=left_held,
        ),
        [4],
    ),
    "drain": (
        Case(
            prepare=on_workers, opener="Drain…", label="Why, for the audit", first="one", newer="two words",
            button="Drain it", path="/drain", shown="That did not work", stored=drain_note, status=503,
        ),
        ["two words"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_a_late_refusal_keeps_newer_input(desk: Desk, served: Served, name: str) -> None:
    """The message is shown; text, caret, focus and boxes stay as typed, and that is what is stored."""
    case, wanted = CASES[name]
    page = await desk.open(await case.prepare(served))
    if case.tick:
        await page.get_by_label(case.tick, exact=True).check()
    await desk.button(case.opener).click()
    form = form_of(page)
    field = form.get_by_label(case.label)
    await field.evaluate("(each) => each.removeAttribute('maxlength')")
    await field.fill(case.first)
    if case.check:
        await form.get_by_label(case.check).check()
    desk.expected |= {422, 503}
    async with Hold(page, lambda request: bool(re.search(f"{case.path}$", request.url)), case.status) as hold:
        await form.get_by_role("button", name=case.button).click()
        await hold.answered.wait()
        if case.check_later:
            await form.get_by_label(case.check_later).check()
        await type_across(field, case.newer, hold, form.get_by_text(case.shown).first)
    if case.check_later:
        await expect(form.get_by_label(case.check_later)).to_be_checked()
    await form.get_by_role("button", name=case.button).click()
    if case.confirm:
        await form.get_by_role("button", name=case.confirm).click()
    await expect(page.locator(".banner.said").or_(form.get_by_role("heading", name="1 of 1 paused"))).to_be_visible()
    assert await case.stored(served) == wanted


async def test_a_recent_payload_keeps_newer_input(desk: Desk, served: Served) -> None:
    """The link fills in the other fields; the field that was typed into meanwhile keeps its text."""
    await on_schedule(served)
    run = await served.client.trigger("nightly", actor="ana", payload={"title": "Old", "limit": 9})
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
    run = await served.client.trigger("nightly", actor="ana", payload={"title": "Old", "limit": 9})
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
        await served.client.trigger("nightly", actor="ana", payload={"title": title}) for title in ("One", "Two")
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
    await expect(page.get_by_text("since you typed on")).to_be_visible()
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
    why = page.get_by_label("Why")
    async with reads(page, "look=1", "cli") as hold:
        await why.fill("one")
        await hold.answered.wait()
        await page.get_by_label("Date and time").fill("2090-01-01T10:00")
        await type_across(why, "two words", hold, page.locator("#cli code", has_text="one"))
    await expect(page.get_by_label("Date and time")).to_have_value("2090-01-01T10:00")
    await page.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.said")).to_be_visible()
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
    await page.get_by_role("button", name="Save it").click()
    await page.wait_for_url(re.compile(r"/schedules/nightly$"))
    definition = (await served.client.get("nightly")).definition
    assert definition is not None
    assert (definition.target.name, dict(definition.payload)) == ("resize", {"title": "New title", "size": 7})


async def test_a_late_preview_keeps_newer_input(desk: Desk, served: Served) -> None:
    """The preview of the earlier text is shown beside the newer one."""
    await make(served)
    page = await desk.open("/schedules/nightly/edit")
    when = page.get_by_label("Cron, every or at")
    async with reads(page, "/preview", "seen") as hold:
        await when.fill("every 10m")
        await hold.answered.wait()
        await type_across(when, "every 20m", hold, page.locator("#seen .means", has_text="10 minutes"))
    await expect(page.locator("#seen .means")).to_contain_text("20 minutes")
    await page.get_by_role("button", name="Review…").click()
    await page.get_by_role("button", name="Save it").click()
    await page.wait_for_url(re.compile(r"/schedules/nightly$"))
    definition = (await served.client.get("nightly")).definition
    assert definition is not None
    assert "20" in str(definition.trigger)


async def test_a_live_refresh_keeps_ticked_rows(desk: Desk, served: Served) -> None:
    """A row that was ticked while the refresh was in flight stays ticked, also if a new row comes before it."""
    await make(served)
    page = await desk.open("/schedules")
    box = page.get_by_label("Select nightly", exact=True)
    async with Hold(page, lambda request: request.headers.get("hx-target") == "live") as hold:
        await make(served, "another")
        await hold.answered.wait()
        await box.check()
        # A box that has the focus would be left alone in any case.
        await page.get_by_label("Name, tag or target contains").focus()
        await hold.release()
    await expect(page.get_by_label("Select another", exact=True)).to_be_visible()
    await expect(box).to_be_checked()
    await expect(page.get_by_label("Select another", exact=True)).not_to_be_checked()
    await expect(page.locator("#selected")).to_have_text("1 selected, or")
    await page.get_by_role("button", name="Pause…").click()
    await form_of(page).get_by_label("Why").fill("upgrade")
    await form_of(page).get_by_role("button", name="Pause it").click()
    await expect(form_of(page).get_by_role("heading", name="1 of 1 paused")).to_be_visible()
    assert [(await served.client.get(name)).state for name in ("nightly", "another")] == ["paused", "active"]


async def test_a_late_list_keeps_a_newer_search(desk: Desk, served: Served) -> None:
    """The response to the first letters changes neither the search field nor, in the end, the list."""
    for name in ("alpha", "almost"):
        await make(served, name)
    page = await desk.open("/schedules")
    search = page.get_by_label("Name, tag or target contains")
    async with reads(page, "q=al", "live") as hold:
        await search.fill("al")
        await hold.answered.wait()
        await page.get_by_label("paused", exact=True).check()
        await page.get_by_label("paused", exact=True).uncheck()
        await search.focus()
        await page.keyboard.press("End")
        await page.keyboard.type("p")
        await hold.release()
        await page.keyboard.type("ha")
    await expect(search).to_have_value("alpha")
    await expect(page.locator("[data-row]")).to_have_count(1)
    await expect(page).to_have_url(re.compile("q=alpha"))


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
    await form_of(page).get_by_label("Why").fill("upgrade")
    await page.evaluate("fetch(location.href).then((answer) => answer.text())")
    await expect(form_of(page).get_by_label("Why")).to_have_value("upgrade")
    assert len(asked) == 1


async def test_the_last_opener_wins(desk: Desk, served: Served) -> None:
    """The form that was asked for first arrives after the other one was opened, and is dropped."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    async with reads(page, "/pause", "dialog-body") as hold:
        await page.get_by_role("link", name="Pause…").click()
        await hold.answered.wait()
        await page.get_by_role("link", name="Skip…").click()
        await form_of(page).get_by_label("How many").fill("3")
        await hold.release()
        await expect(form_of(page).get_by_label("How many")).to_have_value("3")
    await form_of(page).get_by_role("button", name="Skip").click()
    await expect(page.locator(".banner.said")).to_be_visible()


@pytest.mark.parametrize("note, said", [("upgrade", "was done after you closed it."), ("", "was refused")])
async def test_a_response_to_a_closed_form_leaves_the_next_form_alone(
    desk: Desk, served: Served, note: str, said: str
) -> None:
    """Neither a refusal nor a redirect: the user stays in the next form, and is told what became of the first."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    form = form_of(page)
    desk.expected.add(422)
    async with sends(page, "/pause") as hold:
        await page.get_by_role("link", name="Pause…").click()
        await form.get_by_label("Why").evaluate("(each) => each.removeAttribute('required')")
        await form.get_by_label("Why").fill(note)
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
    assert (await served.client.get("nightly")).state == ("paused" if note else "active")
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
        await form.get_by_label("How many").fill("3")
        await hold.release()
        await expect(form.locator("#f-until_at-reads")).to_be_empty()
    await expect(form.locator("#cli code")).to_contain_text("--count 3")
    await expect(form.get_by_label("How many")).to_have_value("3")


async def test_a_page_that_answers_a_form_keeps_newer_input(desk: Desk, served: Served) -> None:
    """Forms that load a page: input that was typed while the page was on its way is in its fields."""
    await make(served)
    page = await desk.open("/schedules/nightly/edit")
    desk.expected.add(422)
    async with sends(page, "/nightly/edit") as hold:
        await page.get_by_label("Cron, every or at").fill("every 20m")
        await page.get_by_label("Time zone").fill("Mars/Olympus")
        await page.keyboard.press("Enter")
        await hold.answered.wait()
        await page.keyboard.press("Control+A")
        await page.keyboard.type("Asia/Tokyo")
        await hold.load()
    await expect(page.get_by_text("Nothing was saved")).to_be_visible()
    await expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    await expect(page.get_by_label("Cron, every or at")).to_have_value("every 20m")
    await expect(page.locator("#seen .means")).to_contain_text("20 minutes")
    await page.get_by_role("button", name="Review…").click()
    await page.get_by_role("button", name="Save it").click()
    await page.wait_for_url(re.compile(r"/schedules/nightly$"))
    definition = (await served.client.get("nightly")).definition
    assert definition is not None
    assert definition.trigger.tz == "Asia/Tokyo"


async def test_a_filter_keeps_newer_input(desk: Desk, served: Served) -> None:
    """The filters of runs load a page, too."""
    page = await desk.open("/runs")
    await page.get_by_text("Filter", exact=True).click()
    async with Hold(page, lambda request: "schedule=one" in request.url) as hold:
        await page.get_by_label("Schedule", exact=True).fill("one")
        await page.keyboard.press("Enter")
        await hold.answered.wait()
        await page.keyboard.press("Control+A")
        await page.keyboard.type("two")
        await hold.load()
    await expect(page.get_by_label("Schedule", exact=True)).to_have_value("two")
    await page.get_by_role("button", name="Show").click()
    await page.wait_for_url(re.compile("schedule=two"))


async def test_a_draft_is_not_lost_to_a_refresh(door: Desk, guarded: Served) -> None:
    """After a log-in the page may be refreshed before the dialog arrives: the draft still comes into it."""
    door.expected |= {401}
    text = await guarded.token("operator")
    await make(guarded)
    await log_in(door, text, "/schedules/nightly")
    page = door.page
    await page.get_by_role("link", name="Skip…").click()
    await form_of(page).get_by_label("How many").fill("3")
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
    await expect(form_of(page).get_by_label("How many")).to_have_value("3")


# Every element of a template that sends a request, and the test above that holds its response back.
COVERED = {
    ("actions/trigger.html", "hx-get"): 1,  # test_a_recent_payload_keeps_newer_input
    ("macros.html", "hx-get"): 2,  # action: test_the_last_opener_wins; live: test_a_live_refresh_keeps_ticked_rows
    ("macros.html", "hx-post"): 2,  # sends_form: test_a_late_refusal_keeps_newer_input; following_cli
    ("preview_part.html", "hx-post"): 2,  # test_a_late_preview_…, test_the_fields_of_another_task_…
    ("schedule.html", "hx-get"): 1,  # “change” of a tick, by opens_dialog: test_a_late_refusal_keeps_newer_input
    ("schedules.html", "hx-get"): 1,  # test_a_late_list_keeps_a_newer_search
    ("schedules.html", "hx-post"): 1,  # the buttons for many, by opens_dialog: test_a_late_refusal_keeps_newer_input
}
# Templates with a form that `sends_form` sends; actions/frame.html is the frame of every action.
SENT = {"actions/frame.html", "bulk.html", *(f"{name}.html" for name in (
    "backfill_cancel", "drain", "held_decide", "run_cancel", "run_change", "run_retry"))}  # fmt: skip


def test_every_request_of_a_template_is_covered() -> None:
    """A request that is added later needs a test here; a form is sent by the one macro that does it right."""
    found: Counter[tuple[str, str]] = Counter()
    sent = set()
    for path in TEMPLATES.rglob("*.html"):
        name, text = path.relative_to(TEMPLATES).as_posix(), path.read_text()
        found.update((name, verb) for verb in re.findall(r"\b(hx-(?:get|post|put|patch|delete|boost))=", text))
        # Parts out of band are swapped past keep_input.js: only readings of instants, which hold no field.
        assert text.count("hx-select-oob=") == (name == "macros.html"), name
        if "{{ sends_form(" in text:
            sent.add(name)
        for tag in re.findall(r"<[^>]*hx-(?:get|post)=[^>]*(?:#dialog-body|closest #form)[^>]*>", text):
            assert "hx-sync=" in tag, f"{name}: a request for a form without hx-sync: {tag}"
    assert found == COVERED
    assert sent == SENT
