"""A refusal that arrives late never overwrites newer input, in any form of the dashboard."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from playwright.async_api import expect

from tests.web.conftest import Desk, Served
from tests.web.histories import a_past, a_worker, make
from tests.web.late_responses.forms import form_of, on_schedule, pause_note, run_limit
from tests.web.late_responses.holds import Hold, type_across
from tests.web.making import enqueue
from tests.web.pages.test_backfills import a_backfill, missed
from tickbird.domain.workers import Worker


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
    await served.client.runs.cancel(run, actor="ana")
    return f"/runs/{run}"


async def on_backfill(served: Served) -> str:
    return f"/backfills/{await a_backfill(served)}"


async def on_held(served: Served) -> str:
    await missed(served, "orders", 5, catch_up="all", hold_above=2)
    return "/held"


async def on_workers(served: Served) -> str:
    await a_worker(served)
    return "/workers"


async def schedule_names(served: Served) -> object:
    return [row.schedule.name for row in await served.client.schedules.list()]


async def override_payloads(served: Served) -> object:
    return [each.payload and dict(each.payload) for each in await served.client.overrides.list("nightly")]


async def backfill_concurrency(served: Served) -> object:
    return (await served.client.backfills.get(1)).concurrency


async def cancel_reasons(served: Served) -> object:
    return {run.reason for run in await served.client.runs.list() if run.status == "cancelled"}


async def newest_payload(served: Served) -> object:
    return max((run.id, dict(run.payload)) for run in await served.client.runs.list())[1]


async def left_held(served: Served) -> object:
    return [standing.count for standing in await served.client.held.list()]


async def drain_note(served: Served) -> object:
    return [entry.detail.get("note") for entry in await served.client.audit.list() if "drain" in entry.action]


async def on_leader(served: Served) -> str:
    await served.store.leadership.elect(
        Worker(id="w1", namespace="default", app="a", host="h", pid=1, version="1"), 600
    )
    return "/workers"


async def resign_note(served: Served) -> object:
    return [entry.detail.get("note") for entry in await served.client.audit.list() if "resign" in entry.action]


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
            prepare=on_schedule, opener="Pause…", label="Reason", first="one", newer="two words", button="Pause",
            path="/nightly/pause", shown="Choose a date and a time.", stored=pause_note,
            check="a specific time:", check_later="someone resumes it",
        ),
        ("two words", None),
    ),
    "delete": (
        Case(
            prepare=on_schedule, opener="Delete…", label="Type its name", first="nigh", newer="nightly",
            button="Delete", path="/nightly/delete", shown="Type the exact name of the schedule",
            stored=schedule_names,
        ),
        [],
    ),
    "override": (
        Case(
            prepare=on_past, opener="change", label="Payload as JSON", first="{", newer='{"a": 12}', button="Save",
            path=r"/override\?tick=.*", shown="This is not JSON", stored=override_payloads,
            check="Run it on time, with another payload",
        ),
        [{"a": 12}],
    ),
    "backfill": (
        Case(
            prepare=on_past, opener="Backfill…", label="Concurrent runs", first="many", newer="12",
            button="Preview", path="/nightly/backfill", shown="Concurrent runs: enter a whole number",
            stored=backfill_concurrency, confirm="Start",
        ),
        12,
    ),
    "bulk": (
        Case(
            prepare=on_many, opener="Pause…", label="Reason", first="one", newer="two words", button="Pause it",
            path="/bulk/pause", shown="Choose a date and a time.", stored=pause_note, tick="Select nightly",
            check="a specific time:", check_later="someone resumes them",
        ),
        ("two words", None),
    ),
    "cancel a run": (
        Case(
            prepare=on_run, opener="Cancel…", label="Reason", first=LONG, newer="two words", button="Cancel run",
            path="/cancel", shown="characters", stored=cancel_reasons,
        ),
        {"two words"},
    ),
    "retry with changes": (
        Case(
            prepare=on_ended_run, opener="Retry with changes…", label="Payload as JSON", first="{",
            newer='{"a": 12}', button="Retry with these values", path="/change", shown="Nothing was sent",
            stored=newest_payload,
        ),
        {"a": 12},
    ),
    "cancel a backfill": (
        Case(
            prepare=on_backfill, opener="Cancel…", label="Reason", first=LONG, newer="two words",
            button="Cancel backfill", path="/cancel", shown="characters", stored=cancel_reasons,
        ),
        {"backfill 1 cancelled by dev: two words"},
    ),
    "release held runs": (
        Case(
            prepare=on_held, opener="Release…", label="Number of runs", first="lots", newer="02", button="Release",
            path="/release", shown="'lots' is not a whole number", stored=left_held,
        ),
        [4],
    ),
    "drain": (
        Case(
            prepare=on_workers, opener="Drain…", label="Reason, for the audit", first="one", newer="two words",
            button="Drain", path="/drain", shown="Request failed", stored=drain_note, status=503,
        ),
        ["two words"],
    ),
    "resign": (
        Case(
            prepare=on_leader, opener="Let another worker lead…", label="Reason, for the audit", first="one",
            newer="two words", button="End the term", path="/leader/resign", shown="Request failed",
            stored=resign_note, status=503,
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
    await expect(page.locator(".banner.success").or_(form.get_by_role("heading", name="1 of 1 paused"))).to_be_visible()
    assert await case.stored(served) == wanted
