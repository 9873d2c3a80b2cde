"""The doctor in the browser."""

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in
from tests.web.pages.test_workers import a_worker
from tickbird.domain.triggers.every import every

HOSTILE = "<script>alert(1)</script>\u202eq"


@done
async def test_doctor_shows_findings_with_fixes(desk: Desk, served: Served) -> None:
    """Problems come first, with a command and a link; checking again shows changes."""
    await served.client.schedules.create("nightly", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    page = await desk.open("/settings")
    await page.get_by_role("link", name="Doctor").click()
    warnings = page.get_by_role("region", name="Warnings").or_(page.get_by_role("region", name="Problems")).first
    await expect(warnings).to_be_visible()
    await expect(page.locator("[data-copy^='tickbird worker']").first).to_be_visible()
    await served.store.workers.heartbeat(a_worker(standby_reason=HOSTILE), live_for=600)
    await page.get_by_role("link", name="Check again").click()
    await expect(page.get_by_text("could not start").first).to_be_visible()
    await page.get_by_text("Show passed checks").click()
    await page.get_by_text("Figures").last.click()
    await desk.check("doctor")


async def test_doctor_requires_admin_of_all_namespaces(door: Desk, guarded: Served) -> None:
    """Admins of one namespace get an error with a hint."""
    door.expected.add(403)
    await log_in(door, await guarded.token("admin"), "/doctor")
    await expect(door.page.get_by_text("The doctor checks the complete store")).to_be_visible()
    await door.page.context.clear_cookies()
    await log_in(door, await guarded.token("admin", "root", all_namespaces=True), "/doctor")
    await expect(door.page.get_by_role("heading", name="Doctor")).to_be_visible()
    await expect(door.page.get_by_text("Show passed checks")).to_be_visible()
