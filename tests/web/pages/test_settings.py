"""Settings: caller, time zone, theme, system information, and logout from all sessions."""

from typing import get_args

import httpx
from playwright.async_api import Browser, expect

from tests.web.conftest import Desk, Served, View, done, log_in, looked_at, window
from tickbird.domain.runs.run import SkipReason, Status
from tickbird.domain.schedules.schedule import State
from tickbird.version import VERSION

HOSTILE = '<img src=x onerror="alert(1)">\u202e"\'&'


@looked_at
async def test_settings_show_caller_and_system(door: Desk, guarded: Served, view: View) -> None:
    """Name, role, namespaces, the session's end; store, schema, time zone data; where it is, admins alone see."""
    await log_in(door, await guarded.token("operator", HOSTILE, namespaces=["default", "lab"]), "/settings")
    page = door.page
    you = page.get_by_role("region", name="You")
    await expect(you).to_contain_text("<img src=x")
    for word in ("operator", "default", "lab", "ends", "when it is revoked"):
        await expect(you).to_contain_text(word)
    behind = page.get_by_role("region", name="System")
    version = await guarded.store.schema_version()
    for word in (VERSION, {"sqlite": "SQLite", "postgres": "PostgreSQL"}[view.store], f"version {version}"):
        await expect(behind).to_contain_text(word)
    assert guarded.store.url not in await page.content()
    await expect(page.get_by_role("link", name="Tokens")).to_have_count(0)
    await expect(page.get_by_role("link", name="Doctor")).to_have_count(0)
    await door.check("settings")
    # In the other namespace it is said so, and links stay in it.
    await behind.get_by_role("link", name="lab").click()
    await expect(behind).to_contain_text("lab")
    await expect(page.get_by_role("link", name="Audit", exact=True)).to_have_attribute("href", "/audit?ns=lab")


@done
async def test_times_and_colours_are_chosen(desk: Desk, served: Served) -> None:
    """An unknown zone is refused and stays in the field; the browser's zone is offered; the theme is stored."""
    desk.expected.add(422)
    page = await desk.open("/settings")
    await expect(page.get_by_text("No token is needed here")).to_be_visible()
    await expect(page.get_by_text(served.store.url, exact=True)).to_be_visible()
    await page.get_by_label("my time zone", exact=True).check()
    await page.get_by_label("My time zone", exact=True).fill("Mars/Base")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_contain_text("'Mars/Base' is not a time zone.")
    await expect(page.get_by_label("My time zone", exact=True)).to_have_value("Mars/Base")
    await page.get_by_role("button", name="Use Europe/Rome (this browser)").click()
    await page.get_by_label("my time zone", exact=True).check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("The time zone is saved")).to_be_visible()
    await expect(page.locator("fieldset time")).to_contain_text("CE")
    await page.get_by_label("dark", exact=True).check()
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await page.reload()
    await expect(page.get_by_label("dark", exact=True)).to_be_checked()
    await page.get_by_label("system default").check()
    await expect(page.locator("html[data-theme]")).to_have_count(0)
    await desk.check("settings-open")


@done
async def test_log_out_everywhere_ends_other_windows(door: Desk, guarded: Served, browser: Browser, view: View) -> None:
    """It says how many; the other window is sent to the log-in, a copied cookie opens nothing, others stay in."""
    door.expected.add(401)
    text = await guarded.token("viewer")
    await log_in(door, text, "/settings")
    context, other = await window(browser, guarded.url, view)
    await log_in(other, text, "/settings")
    async with httpx.AsyncClient(base_url=guarded.url) as http, httpx.AsyncClient(base_url=guarded.url) as ben:
        await http.post("/login", data={"token": text})
        await ben.post("/login", data={"token": await guarded.token("viewer", "ben")})
        await door.button("Log out everywhere…").click()
        await expect(door.page.get_by_text("3 sessions are open with the token")).to_be_visible()
        await door.check("logout-everywhere")
        await door.page.get_by_role("button", name="End all 3").click()
        await expect(door.page).to_have_title("Log in · Tickbird")
        assert (await http.get("/settings")).status_code == 303
        assert (await ben.get("/settings")).status_code == 200
    await other.page.reload()
    await expect(other.page).to_have_title("Log in · Tickbird")
    await context.close()
    # The token itself still logs one in.
    await log_in(door, text, "/settings")


@looked_at
async def test_help_explains_every_state_and_skip_reason(desk: Desk) -> None:
    """None of the domain's is missing; the keys' dialog leads there, and so does its button without scripts."""
    page = await desk.open("/settings")
    await page.get_by_role("button", name="Keys").click()
    await page.get_by_role("link", name="Marks, states and skip reasons").click()
    await expect(page.get_by_role("heading", name="Help")).to_be_visible()
    for word in get_args(SkipReason):
        told = page.locator(f"#skip-{word} + dd")
        assert len(await told.inner_text()) > 20
    for word in (*get_args(Status), *get_args(State)):
        await expect(page.locator(f"td .status.{word}", has_text=word).first).to_be_visible()
    await desk.check("help")
