"""The audit page: filters, changes and pages."""

import httpx
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, looked_at
from tickbird.domain.triggers.every import every

HOSTILE = "<script>alert(1)</script>\u202eq"


@looked_at
async def test_audit_filters_entries_and_shows_changes(desk: Desk, served: Served) -> None:
    """All filters work; an actor links to their entries."""
    client = served.client
    await client.schedules.create("nightly", every(hours=1), "report", actor="Ana@example.com", unknown_task_ok=True)
    await client.schedules.create("weekly", every(hours=2), "report", actor=HOSTILE, unknown_task_ok=True)
    await client.schedules.update("nightly", actor="ben", description=HOSTILE, priority=7)
    await client.limits.set("mail", 3, actor="ben")
    await client.limits.set("mail", 5, actor="cleo")
    page = await desk.open("/audit")
    await expect(page.locator("tbody tr")).to_have_count(5)
    await expect(page.locator("tbody tr").first.locator(".changes")).to_have_text("mail 3 → 5", use_inner_text=True)
    changed = page.locator("tbody tr", has_text="update").locator(".changes")
    await expect(changed).to_contain_text("priority")
    await expect(changed).to_contain_text("→ <script>alert(1)</script>")
    await page.get_by_role("link", name="ben").first.click()
    await expect(page.locator("tbody tr")).to_have_count(2)
    await expect(page.get_by_label("Actor")).to_have_value("ben")
    await desk.check("audit-found")
    await page.get_by_label("Actor").fill("ana@EX")
    await page.get_by_role("combobox", name="Action").fill("create")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(page.locator("tbody tr")).to_have_count(1)
    await page.get_by_label("Since").fill("2100-01-01T00:00")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(page.get_by_text("No matching entry.")).to_be_visible()
    await desk.check()


async def test_audit_pages_go_both_ways_and_report_invalid_filters(served: Served) -> None:
    """Older, newer and newest pages show each entry once; invalid filters are reported at their fields."""
    for number in range(205):
        await served.client.limits.set("mail", number + 1, actor=f"p{number}")
    async with httpx.AsyncClient(base_url=served.url) as http:

        def told(page: str) -> tuple[list[str], dict[str, str]]:
            from html import unescape
            from re import findall

            ways = findall(r'rel="(prev|next)" href="([^"]+)"', page)
            return findall(r'id="record-(\d+)"', page), {rel: unescape(href) for rel, href in ways}

        seen, ways = told((await http.get("/audit")).text)
        assert (len(seen), [*ways]) == (100, ["next"])
        second, onward = told((await http.get(ways["next"])).text)
        third, last = told((await http.get(onward["next"])).text)
        assert len({*seen, *second, *third}) == 205
        assert [*last] == ["prev"]
        back, forth = told((await http.get(last["prev"])).text)
        assert back == second
        assert told((await http.get(forth["prev"])).text)[0] == seen
        for query in ("since=soon", "until=2026-13-40T00:00", "since=0001-01-01T00:00", "since=%00"):
            answer = await http.get(f"/audit?{query}")
            assert (answer.status_code, 'role="alert"' in answer.text) == (422, True), query
        for query in ("before=x&after=-1", "actor=%25%27", "schedule=a/b", "action=nothing"):
            assert (await http.get(f"/audit?{query}")).status_code == 200, query
