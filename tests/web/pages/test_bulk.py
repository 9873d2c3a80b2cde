"""Bulk actions on selected or all matching schedules."""

import asyncio
import re
import tomllib
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect
from playwright.async_api import Error as PlaywrightError

from tests.web.conftest import Desk, Served, done, log_in, window
from tests.web.pages.test_schedules import HOSTILE, make
from tickbird.domain.triggers.trigger import at
from tickbird.web.pages import bulk


@done
async def test_a_selection_is_paused_and_resumed(desk: Desk, served: Served) -> None:
    """With a required reason and an end; unchanged schedules are listed with the reason."""
    await make(served, "alpha", "beta", "gamma", "delta")
    await served.client.schedules.pause("beta", actor="ben", note="mine")
    page = await desk.open("/schedules")
    for name in ("alpha", "beta", "gamma"):
        await page.get_by_label(f"Select {name}", exact=True).check()
    await expect(page.get_by_text("3 selected")).to_be_visible()
    await page.get_by_role("button", name="Pause…").click()
    dialog = page.locator("#dialog")
    await expect(dialog.get_by_role("heading", name="Pause 3 schedules")).to_be_visible()
    await expect(dialog.get_by_text("1 is already paused and will not change.")).to_be_visible()
    desk.expected.add(422)
    await dialog.get_by_label("in an hour").check()
    await dialog.get_by_role("button", name="Pause them").click()
    await expect(dialog.get_by_text("Enter a reason for the people on call.")).to_be_visible()
    await expect(dialog.get_by_label("in an hour")).to_be_checked()
    await dialog.get_by_label("Reason").fill(HOSTILE)
    await desk.check("bulk-pause")
    await dialog.get_by_role("button", name="Pause them").click()
    await expect(dialog.get_by_role("heading", name="2 of 3 paused")).to_be_visible()
    await expect(dialog.get_by_role("row", name="beta")).to_contain_text("is already paused by ben")
    paused = (await served.client.schedules.get("alpha")).pause
    assert paused is not None
    assert paused.note == HOSTILE
    assert paused.until is not None
    await dialog.get_by_text("Back to the list").click()
    await expect(dialog).to_be_hidden()
    # What was selected still is, behind a page that shows what became of it.
    await expect(page.locator("tr", has_text="alpha")).to_contain_text("<script>alert(1)</script>")
    await page.get_by_role("button", name="Resume…").click()
    await dialog.get_by_role("button", name="Resume them").click()
    await expect(dialog.get_by_role("heading", name="3 of 3 resumed")).to_be_visible()
    assert (await served.client.schedules.get("beta")).state == "active"


@done
async def test_bulk_preview_request_is_aborted_when_the_form_is_sent(desk: Desk, served: Served) -> None:
    """A preview response that arrives after the form was sent is dropped."""
    await make(served, "alpha")
    page = await desk.open("/schedules")
    asked, held = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await held.wait()
        with suppress(PlaywrightError):  # It may have been given up.
            await route.continue_()

    await page.route("**look=1**", hold)
    await page.get_by_label("Select alpha", exact=True).check()
    await page.get_by_role("button", name="Pause…").click()
    dialog = page.locator("#dialog")
    await dialog.get_by_label("Reason").fill("a holiday")
    await asked.wait()
    await dialog.get_by_role("button", name="Pause it").click()
    await expect(dialog.get_by_role("heading", name="1 of 1 paused")).to_be_visible()
    held.set()
    await dialog.get_by_text("Back to the list").click()
    await expect(page.locator("tr", has_text="alpha")).to_contain_text("a holiday")


async def test_all_that_match_are_run(desk: Desk, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The confirmation shows the number and warnings; large numbers must be typed."""
    monkeypatch.setattr(bulk, "TYPED_ABOVE", 3)
    await make(served, "post-a", "post-b", "post-c", "other")
    await make(served, "post-shadow", shadow=True)
    when = (await served.client.system.now()).replace(microsecond=0) + timedelta(days=3)
    await served.client.schedules.create("post-once", at(when), "report", actor="ana", unknown_task_ok=True)
    await served.client.schedules.pause("post-a", actor="ben", note="stamps")
    page = await desk.open("/schedules?q=post")
    await page.get_by_label("all 5 that match").check()
    await page.get_by_role("button", name="Run…").click()
    dialog = page.locator("#dialog")
    for told in ("Run 5 schedules", "1 paused", "1 one-shot", "1 shadow"):
        await expect(dialog.get_by_text(told).first).to_be_visible()
    await expect(dialog.locator(".cli code")).to_have_text("tickbird trigger --all --contains post --expect 5")
    desk.expected.add(422)
    await dialog.get_by_role("button", name="Run them").click()
    await expect(dialog.locator("#typed-wrong")).to_have_text("Type 5 to confirm.")
    await dialog.get_by_label("Type 5").fill("5")
    await desk.check("bulk-run")
    await dialog.get_by_role("button", name="Run them").click()
    await expect(dialog.get_by_role("heading", name="4 of 5 run")).to_be_visible()
    await expect(dialog.get_by_role("row", name="post-shadow")).to_contain_text("is a shadow and never runs")
    assert sorted(run.schedule or "" for run in await served.client.runs.list()) == [
        "post-a",
        "post-b",
        "post-c",
        "post-once",
    ]
    # Many more than were seen by whoever confirmed: nothing is done.
    await dialog.get_by_text("Back to the list").click()
    await page.get_by_role("button", name="Pause…").click()
    await dialog.get_by_label("Reason").fill("all")
    await make(served, "post-d", "post-e")
    desk.expected.add(409)
    await dialog.get_by_role("button", name="Pause them").click()
    await expect(dialog.get_by_text("7 schedules match, not 5")).to_be_visible()
    await expect(dialog.get_by_label("Reason")).to_have_value("all")
    assert (await served.client.schedules.get("post-b")).state == "active"
    await dialog.get_by_role("button", name="Pause them").click()
    await expect(dialog.get_by_role("heading", name="6 of 7 paused")).to_be_visible()


async def test_a_selection_becomes_a_file(desk: Desk, served: Served, tmp_path: Path) -> None:
    """Which brings them back."""
    await make(served, "alpha", "beta", "gamma", tags=["post"])
    page = await desk.open("/schedules")
    await page.get_by_label("Select alpha").check()
    await page.get_by_label("Select gamma").check()
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name="Export").click()
    path = tmp_path / "schedules.toml"
    await (await waiting.value).save_as(path)
    assert list(tomllib.loads(path.read_text())["schedules"]) == ["alpha", "gamma"]
    assert (await waiting.value).suggested_filename == "schedules.toml"


async def test_without_scripts(browser: Browser, served: Served, desk: Desk) -> None:
    """The same by plain forms, one page after the other."""
    await make(served, "alpha", "beta")
    context, plain = await window(browser, served.url, desk.view, java_script_enabled=False)
    page = await plain.open("/schedules")
    await page.locator("#q").fill("alp")
    await page.get_by_role("button", name="Find").click()
    await expect(page.locator("tbody a.name")).to_have_text(["alpha"])
    await page.get_by_label("all 1 that match").check()
    await page.get_by_role("button", name="Pause…").click()
    await page.get_by_label("Reason").fill("no scripts")
    await page.get_by_role("button", name="Pause it").click()
    await expect(page.get_by_role("heading", name="1 of 1 paused")).to_be_visible()
    await page.get_by_role("link", name="Back to the list").click()
    await expect(page).to_have_url(re.compile(r"\?q=alp$"))
    await expect(page.locator("tbody tr")).to_contain_text("by dev: “no scripts”")
    plain.expected.add(422)
    await page.get_by_role("button", name="Run…").click()
    await expect(page.get_by_text("No schedule is selected")).to_be_visible()
    await context.close()


async def test_bulk_above_the_maximum_is_refused(desk: Desk, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows the maximum, and nothing changes."""
    monkeypatch.setattr(bulk, "MAX_COUNT", 2)
    await make(served, "alpha", "beta", "gamma")
    page = await desk.open("/schedules")
    await page.get_by_label("all 3 schedules").check()
    desk.expected.add(422)
    await page.get_by_role("button", name="Pause…").click()
    await expect(page.get_by_role("alert")).to_contain_text("More than 2 schedules match.")
    assert (await served.client.schedules.get("alpha")).state == "active"


async def test_bulk_viewer_cannot_change_schedules(door: Desk, guarded: Served) -> None:
    """Is not offered it, and refused when a form is forged."""
    await make(guarded, "alpha")
    await log_in(door, await guarded.token("viewer"), "/schedules")
    page = door.page
    await expect(page.get_by_role("button", name="Export")).to_have_count(1)
    for name in ("Pause…", "Resume…", "Run…"):
        await expect(page.get_by_role("button", name=name)).to_have_count(0)
    await expect(page.get_by_role("link", name="+ New")).to_have_count(0)
    door.expected.add(403)
    csrf = await page.locator("meta[name=csrf]").get_attribute("content")
    for verb in ("pause", "resume", "run"):
        answer = await page.request.post(
            f"{guarded.url}/bulk/{verb}",
            form={"csrf": csrf or "", "name": "alpha", "note": "x", "go": "1", "expected": "1"},
            headers={"Origin": guarded.url},
        )
        assert answer.status == 403
    assert (await guarded.client.schedules.get("alpha")).state == "active"
    assert await guarded.client.runs.list() == []
