"""Schedules made and changed by a form: seen as one types, reviewed, saved; and when two do so at once."""

import re
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page, expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at, window
from tests.web.pages.test_schedules import HOSTILE, WORKER, make
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import FIELDS, Definition, Target
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.trigger import trigger_from_json
from tickbird.web.forms.policy_fields import GROUPS
from tickbird.web.forms.trigger_text import clock_notes, kept_note, read_trigger, trigger_texts


def test_no_field_is_forgotten() -> None:
    assert {field.name for _, fields in GROUPS for field in fields} | {"trigger", "target", "payload"} == {*FIELDS}


@pytest.mark.parametrize(
    "encoded",
    [
        {"cron": "0 9 * * mon#1", "tz": "Europe/Rome"},
        {"every": {"hours": 1, "minutes": 30}},
        {"every": {"months": 1}, "tz": "Asia/Tokyo"},
        {"every": {"days": 2}, "anchor": "2026-01-05T09:00:00", "tz": "Europe/Rome"},
        {"rrule": "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9", "tz": "Europe/Rome"},
        {"rrule": "FREQ=WEEKLY;BYDAY=MO", "dtstart": "2026-01-05T09:00:00", "exdate": ["2026-01-12T09:00:00"]},
        {"at": "2027-01-31T09:00:00Z"},
        {"any_of": [{"cron": "0 3 * * *", "tz": "Europe/Rome"}, {"cron": "0 5 * * sun", "tz": "Europe/Rome"}]},
        {"any_of": [{"cron": "0 3 * * *", "tz": "Europe/Rome"}, {"cron": "0 5 * * sun", "tz": "Asia/Tokyo"}]},
        {"any_of": [{"at": "2027-01-31T09:00:00Z"}, {"every": {"days": 1}, "tz": "Europe/Rome"}]},
    ],
    ids=str,
)
def test_triggers_as_texts_are_the_same(encoded: dict[str, object]) -> None:
    """Stored triggers round-trip, some of them as JSON."""
    text, tz = trigger_texts(encoded)
    assert read_trigger(text, tz).to_json() == trigger_from_json(encoded).to_json()


def test_times_of_one_shots_that_the_clock_leaves_out_or_repeats() -> None:
    """Told beside the form; times with an offset, and other triggers, are nothing unusual."""
    text = "at 2027-03-28T02:30\nat 2027-10-31 02:30\nat 2027-03-28T02:30Z\n30 2 * * *\nat never"
    [gone, twice] = clock_notes(text, "Europe/Rome")
    assert "02:30 does not exist on 28 Mar 2027" in gone
    assert "02:30 occurs twice on 31 Oct 2027" in twice
    assert clock_notes(text, "UTC") == []


_WEEKLY = {"rrule": "FREQ=WEEKLY;BYDAY=MO", "dtstart": "2026-01-05T09:00:00", "exdate": ["2026-01-12T09:00:00"]}
_STEPS = {"every": {"days": 2}, "anchor": "2026-01-05T09:00:00"}


@pytest.mark.parametrize(
    "text, stored, expected, names",
    [
        ("rrule FREQ=DAILY", _WEEKLY, {**_WEEKLY, "rrule": "FREQ=DAILY"}, "dtstart and exdate stay"),
        ("FREQ=DAILY;COUNT=9", _WEEKLY, {**_WEEKLY, "rrule": "FREQ=DAILY;COUNT=9"}, "dtstart and exdate stay"),
        ("every 4h", _STEPS, {**_STEPS, "every": {"hours": 4}}, "anchor stays"),
        ('{"rrule": "FREQ=DAILY"}', _WEEKLY, {"rrule": "FREQ=DAILY"}, ""),
        ("every 4h", _WEEKLY, {"every": {"hours": 4}}, ""),
        ("rrule FREQ=DAILY", None, {"rrule": "FREQ=DAILY"}, ""),
    ],
)
def test_typed_text_of_the_same_form_keeps_options_that_text_cannot_express(
    text: str, stored: dict[str, object] | None, expected: dict[str, object], names: str
) -> None:
    assert read_trigger(text, "UTC", stored).to_json() == expected
    notes = kept_note(text, "UTC", stored)
    assert [names in note for note in notes] == ([True] if names else [])


@looked_at
async def test_preview_updates_while_typing(desk: Desk, served: Served) -> None:
    """In words, next ticks in the zone, clock changes, dates that never come, and a crowd at the same minute."""
    await served.store.workers.heartbeat(WORKER, live_for=600)
    for number in range(4):
        await served.client.schedules.create(
            f"at-three-{number}", cron("0 3 * * *", tz="Europe/Rome"), "report", actor="ana"
        )
    page = await desk.open("/schedules/new")
    seen = page.locator("#preview")
    await expect(seen).to_contain_text("Enter a trigger")
    await page.get_by_label("Cron, every").fill("0 3 * * *")
    await page.get_by_label("Time zone").fill("Europe/Rome")
    await expect(seen).to_contain_text("At 03:00 (Europe/Rome)")
    await expect(seen.locator(".next-ticks tbody tr")).to_have_count(10)
    await expect(seen).to_contain_text(re.compile("03:00:00 CES?T"))
    await expect(seen).to_contain_text("4 in the same minute (5 with this one)")
    await expect(seen).to_contain_text("A quieter minute nearby")
    # Four others at the first minute of that hour, and this one on top.
    figure = seen.locator("#load-change")
    told = re.compile("4 ticks before, 5 after; most at .* 03:00 CES?T: 4 before, 5 after")
    await expect(figure).to_contain_text(told)
    await figure.get_by_text("Show as table").click()
    await expect(figure.locator("tbody tr")).to_have_count(1)
    await desk.check("edit-load")
    await page.get_by_label("Cron, every").fill("30 2 * * *")
    await expect(seen).to_contain_text(re.compile("02:30 does not exist"))
    await page.get_by_label("Cron, every").fill("0 0 30 2 *")
    await expect(seen).to_contain_text("none of its months has such a day")
    await page.get_by_label("Cron, every").fill("0 0 31 * *")
    await expect(seen).to_contain_text("31")
    await page.get_by_role("link", name="first Monday of the month").click()
    await expect(page.get_by_label("Cron, every")).to_have_value("0 9 * * mon#1")
    await expect(seen).to_contain_text("on the first Monday of the month")
    await page.get_by_label("Task", exact=True).fill("nobody-knows")
    await expect(seen).to_contain_text("no live worker knows")
    await page.get_by_label("Time zone").fill("Mars/Olympus")
    await expect(seen).to_contain_text("there is no time zone")
    await page.get_by_label("Time zone").fill("Europe/Rome")
    await expect(seen.locator(".next-ticks tbody tr")).to_have_count(10)
    await desk.check("edit-new")


@done
async def test_preview_works_with_styles_set_by_an_extension(desk: Desk, served: Served) -> None:
    """A style that was set and removed from outside is not restored, which the policy would forbid."""
    page = await desk.open("/schedules/new")
    await page.evaluate(
        "for (const each of document.querySelectorAll('[id]')) { each.style.color = 'red'; each.style.color = '' }"
    )
    await page.get_by_label("Cron, every").fill("0 3 * * *")
    await expect(page.locator("#preview .next-ticks tbody tr")).to_have_count(10)
    await desk.check()


async def review(page: Page) -> None:
    """Continue to the review page."""
    await page.get_by_role("button", name="Review…").click()


@done
async def test_made_reviewed_and_changed(desk: Desk, served: Served) -> None:
    """Errors are at their fields and keep the input; only changed fields are updated."""
    page = await desk.open("/schedules/new")
    await page.get_by_label("Name", exact=True).fill("not a name")
    await page.get_by_label("Cron, every").fill("every 90x")
    await page.get_by_text("Failures and retries", exact=True).click()
    await page.get_by_label("Retries").fill("many")
    await page.get_by_label("Payload as JSON").fill('{"limit": 5')
    await page.get_by_label("Tags").fill("mail, eu")
    desk.expected.add(422)
    await review(page)
    for field, why in (("name", "not a valid name"), ("when", "not an interval"), ("retries", "not a whole number")):
        await expect(page.locator(f"#{field}-wrong")).to_contain_text(why)
    await expect(page.locator("#task-wrong")).to_have_text("Enter a task.")
    await expect(page.get_by_text("Nothing was saved. Fix the 5 fields marked below.")).to_be_visible()
    await expect(page.get_by_text("This is not JSON")).to_be_visible()
    await expect(page.get_by_label("Payload as JSON")).to_have_value('{"limit": 5')
    await desk.check("edit-wrong")
    await page.get_by_label("Name", exact=True).fill("digest")
    await page.get_by_label("Cron, every").fill("every 90m")
    await page.get_by_label("Retries").fill("3")
    await page.get_by_label("Task", exact=True).fill("report")
    await page.get_by_label("Payload as JSON").fill('{"note": "' + HOSTILE.replace('"', "") + '"}')
    await review(page)
    await expect(page.get_by_role("heading", name="Create digest?")).to_be_visible()
    await expect(page.locator(".figures")).to_contain_text("112")
    await expect(page.locator("#load-change")).to_contain_text("0 ticks before, 1 after")
    await desk.check("edit-review")
    await page.get_by_role("button", name="Back to the form").click()
    await expect(page.get_by_label("Retries")).to_have_value("3")
    await review(page)
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_text("digest is created.")).to_be_visible()
    made = (await served.client.schedules.get("digest")).definition
    assert made is not None
    assert (made.retries, made.tags, dict(made.payload)) == (3, ("mail", "eu"), {"note": HOSTILE})
    page = await desk.open("/schedules/digest/edit")
    await page.get_by_label("Cron, every").fill("every 1h")
    await page.get_by_label("Retries").fill("")
    await review(page)
    await expect(page.locator(".diff")).to_contain_text("trigger.every.hours")
    await expect(page.locator(".cli code")).to_contain_text("tickbird set --if-revision 1 -- digest")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("digest is saved as revision 2.")).to_be_visible()
    (entry, _) = await served.client.revisions.history("digest")
    assert entry.changes is not None
    assert {each.path[0] for each in entry.changes} == {"trigger", "retries"}
    page = await desk.open("/schedules/new?from=digest")
    await expect(page.get_by_label("Name", exact=True)).to_have_value("digest-copy")
    await expect(page.get_by_label("Tags")).to_have_value("mail, eu")


async def test_two_people_at_once(desk: Desk, served: Served) -> None:
    """The second user sees the change of the first next to their own input, and chooses."""
    await make(served, "nightly", retries=1)
    page = await desk.open("/schedules/nightly/edit")
    await page.get_by_label("Retries").fill("7")
    await page.get_by_label("Description").fill("mine")
    await served.client.schedules.update("nightly", actor="ben", retries=5, timeout=60)
    desk.expected.add(412)
    await review(page)
    told = page.get_by_role("region", name="Edit conflict")
    await expect(told).to_contain_text("ben")
    await expect(told.get_by_role("row", name="retries")).to_contain_text("5")
    await expect(told.get_by_role("row", name="timeout")).to_be_visible()
    await expect(told).to_contain_text("You both changed retries")
    # What was typed stands over what they saved.
    await expect(page.get_by_label("Retries")).to_have_value("7")
    await expect(page.get_by_label("Description")).to_have_value("mine")
    await expect(page.get_by_label("Timeout")).to_have_value("1m")
    await desk.check("edit-conflict")
    await review(page)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("nightly is saved as revision 3.")).to_be_visible()
    saved = (await served.client.schedules.get("nightly")).definition
    assert saved is not None
    assert (saved.retries, saved.timeout, saved.description) == (7, 60, "mine")
    # Or takes theirs.
    page = await desk.open("/schedules/nightly/edit")
    await page.get_by_label("Retries").fill("9")
    await served.client.schedules.update("nightly", actor="ben", retries=2)
    await review(page)
    await page.get_by_role("link", name="Discard my changes").click()
    await expect(page.get_by_label("Retries")).to_have_value("2")


async def test_over_code_and_back(desk: Desk, served: Served) -> None:
    """An operator override survives a deploy, is shown, and can be reset."""
    definition = Definition(trigger=cron("0 3 * * *"), target=Target("report"), retries=1)
    declared = Create(actor="sync", namespace="default", definition=definition, app="shop", fingerprint="f1")
    await served.store.schedules.change("default", "declared", declared)
    page = await desk.open("/schedules/declared/edit")
    await expect(page.get_by_text("Code of app shop declares this schedule")).to_be_visible()
    await page.get_by_label("Retries").fill("4")
    await review(page)
    await expect(page.get_by_text("These are operator overrides")).to_be_visible()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("declared is saved")).to_be_visible()
    assert (await served.client.schedules.get("declared")).field_overrides == {"retries": 4}
    page = await desk.open("/schedules/declared/edit")
    await page.get_by_label("reset to code: retries").check()
    await desk.check("edit-code")
    await review(page)
    await expect(page.get_by_text("Reset to code: retries")).to_be_visible()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("declared is saved")).to_be_visible()
    after = await served.client.schedules.get("declared")
    assert after.field_overrides == {}
    assert after.definition is not None
    assert after.definition.retries == 1


async def test_without_scripts(browser: Browser, served: Served, desk: Desk) -> None:
    """A schedule is made by plain forms, from a suggestion."""
    context, plain = await window(browser, served.url, desk.view, java_script_enabled=False)
    page = await plain.open("/schedules/new")
    await page.get_by_role("link", name="every weekday at 9").click()
    await expect(page.get_by_label("Cron, every")).to_have_value("0 9 * * mon-fri")
    await expect(page.locator("#preview .next-ticks tbody tr")).to_have_count(10)
    await page.get_by_label("Name", exact=True).fill("plain")
    await page.get_by_label("Task", exact=True).fill("report")
    await review(page)
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_text("plain is created.")).to_be_visible()
    assert (await served.client.schedules.get("plain")).state == "active"
    await context.close()


async def test_edit_requires_editor_and_admin_for_commands(door: Desk, guarded: Served) -> None:
    """An operator is refused; an editor is not offered commands, and refused when a form is forged."""
    await make(guarded, "alpha")
    await log_in(door, await guarded.token("editor"), "/schedules/alpha/edit")
    page = door.page
    await expect(page.get_by_label("Task", exact=True)).to_have_value("report")
    await expect(page.get_by_text("Or a command")).to_have_count(0)
    csrf = await page.locator("meta[name=csrf]").get_attribute("content") or ""
    program = '{"program": "/bin/sh", "args": ["-c", "id"]}'
    form = {"csrf": csrf, "revision": "1", "command": program, "step": "save"}
    there = {"Origin": guarded.url}
    answer = await page.request.post(f"{guarded.url}/schedules/alpha/edit", form=form, headers=there)
    assert answer.status == 403
    assert "Only the role admin may define a target of kind command." in await answer.text()
    await page.context.clear_cookies()
    await log_in(door, await guarded.token("operator", "ops"), "/schedules")
    csrf = await page.locator("meta[name=csrf]").get_attribute("content") or ""
    door.expected.add(403)
    for path in ("new", "alpha/edit"):
        form = {"csrf": csrf, "name": "x", "when": "0 9 * * *", "task": "report", "step": "save"}
        answer = await page.request.post(f"{guarded.url}/schedules/{path}", form=form, headers=there)
        assert answer.status == 403
    assert [row.schedule.name for row in await guarded.client.schedules.list()] == ["alpha"]
    assert (await guarded.client.schedules.get("alpha")).revision == 1


@done
async def test_a_new_schedule_shows_and_gets_the_settings_of_its_task(desk: Desk, served: Served) -> None:
    """In the preview, the review and the saved definition; typed values win, even defaults."""
    settings = {"queue": "reports", "retries": 5, "timeout": 600, "on_crash": "fail", "concurrency_key": "k"}
    tasks = {"report": {"schema": {}, **settings}}
    await served.store.workers.heartbeat(replace(WORKER, queues=("default", "reports"), tasks=tasks), live_for=600)
    page = await desk.open("/schedules/new")
    await page.get_by_label("Name").fill("fresh")
    await page.get_by_label("Cron, every").fill("every 1h")
    await page.get_by_label("Task", exact=True).fill("report")
    told = page.get_by_text("Task defaults: ")
    await expect(told).to_contain_text("Queue reports, Concurrency key k, Retries 5, Timeout 10m, On crash fail.")
    await page.locator("summary", has_text="Failures and retries").click()
    await page.get_by_label("Retries").fill("0")
    await page.get_by_label("On crash").select_option("retry")
    await expect(told).to_contain_text("Queue reports, Concurrency key k, Timeout 10m.")
    await page.get_by_role("button", name="Review…").click()
    await expect(told).to_contain_text("Queue reports, Concurrency key k, Timeout 10m.")
    await page.get_by_role("button", name="Create").click()
    await expect(page.get_by_text("fresh is created.")).to_be_visible()
    definition = (await served.client.schedules.get("fresh")).definition
    assert definition is not None
    found = {name: getattr(definition, name) for name in settings}
    assert found == {**settings, "retries": 0, "on_crash": "retry"}
