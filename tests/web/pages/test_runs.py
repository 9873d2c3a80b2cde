"""The list of runs: filters, pages in both directions, live updates."""

from urllib.parse import parse_qs, urlsplit

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, looked_at
from tests.web.making import HOSTILE, TRACEBACK, a_schedule, a_worker, claim, enqueue, finish


@looked_at
async def test_runs_in_every_state(desk: Desk, served: Served) -> None:
    """An empty store shows a hint; new runs appear live, and their output is text."""
    page = await desk.open("/runs")
    await expect(page.get_by_text("No runs yet.")).to_be_visible()
    await a_worker(served)
    await a_schedule(served)
    first = await served.client.schedules.trigger("nightly", actor=HOSTILE)
    await expect(page.locator(f"#run-{first.id}")).to_contain_text("queued")
    [run] = await claim(served)
    await finish(served, run, "failed", error=TRACEBACK, failure_kind="raised")
    row = page.locator(f"#run-{first.id}")
    await expect(row).to_contain_text("ConnectionError: mail refused <img src=x")
    await expect(row).to_contain_text("manual by <img src=x")
    await expect(row.get_by_role("link", name=str(first.id))).to_have_attribute("href", f"/runs/{first.id}")
    ids = [await enqueue(served) for _ in range(4)]
    ran, running = await claim(served, 2)
    await finish(served, ran, result=5)
    await served.client.runs.cancel(ids[3], actor="bo", reason="not needed")
    for run_id, words in zip(ids, ("succeeded", "running", "queued", "not needed"), strict=True):
        await expect(page.locator(f"#run-{run_id}")).to_contain_text(words)
    assert running.id == ids[1]
    await desk.check("runs")


@done
async def test_filters_are_in_the_address(desk: Desk, served: Served) -> None:
    """Several statuses, names, origins and times; invalid filters are reported."""
    await a_schedule(served)
    failed = (await served.client.schedules.trigger("nightly", actor="ana")).id
    [run] = await claim(served)
    await finish(served, run, "failed", error="no such table: rows")
    good, other = await enqueue(served), await enqueue(served, task="report")
    [run] = await claim(served)
    await finish(served, run)
    rows = (await desk.open("/runs")).locator("tbody tr")
    await expect(rows).to_have_count(3)
    page = desk.page
    # The key for searching unfolds what it leads to.
    await page.keyboard.press("/")
    await expect(page.get_by_label("Schedule")).to_be_focused()
    await page.get_by_role("checkbox", name="failed").check()
    await page.get_by_role("checkbox", name="succeeded").check()
    await page.get_by_role("button", name="Show").click()
    await expect(rows).to_have_count(2)
    assert parse_qs(urlsplit(page.url).query) == {"status": ["succeeded,failed"]}
    await expect(page.get_by_role("checkbox", name="failed")).to_be_checked()
    await desk.check("runs-filtered")
    for query, found in (
        ("task=report", [other]),
        ("schedule=nightly", [failed]),
        ("origin=manual&task=digest&status=succeeded", [good]),
        ("error=SUCH+table", [failed]),
        ("until=2001-01-01T00:00:00Z", []),
        ("since=2001-01-01T00:00", [other, good, failed]),
    ):
        await desk.open(f"/runs?{query}")
        await expect(rows).to_have_count(len(found))
        assert [await each.get_attribute("id") for each in await rows.all()] == [f"run-{each}" for each in found]
    await expect(page.get_by_label("Due since")).to_have_value("2001-01-01T00:00")
    desk.expected.add(400)
    await desk.open("/runs?status=burnt&since=soon&origin=heaven&undecided=perhaps")
    await expect(page.get_by_text("'burnt' is not a status. Use one of waiting, queued")).to_be_visible()
    await expect(page.locator(".wrong")).to_have_count(4)
    await page.get_by_role("link", name="Clear").click()
    await expect(rows).to_have_count(3)


@done
async def test_pages_go_both_ways(desk: Desk, served: Served) -> None:
    """Older by key, back to newer, and a new run does not move a page that one reads."""
    from tickbird.domain.runs.run import NewRun
    from tickbird.domain.schedules.definition import Target

    ids = await served.store.runs.enqueue("default", [NewRun(Target("digest"), {}) for _ in range(120)], "ana")
    ids = sorted(ids, reverse=True)
    page = await desk.open("/runs?task=digest")
    rows = page.locator("tbody tr")

    async def shown() -> tuple[str | None, str | None]:
        return await rows.first.get_attribute("id"), await rows.last.get_attribute("id")

    assert await shown() == (f"run-{ids[0]}", f"run-{ids[49]}")
    await page.get_by_role("link", name="Older").click()
    await expect(rows.first).to_have_id(f"run-{ids[50]}")
    await page.get_by_role("link", name="Older").click()
    await expect(rows.first).to_have_id(f"run-{ids[100]}")
    await expect(page.get_by_role("link", name="Older")).to_have_count(0)
    await page.get_by_role("link", name="Newer").click()
    await expect(rows.first).to_have_id(f"run-{ids[50]}")
    assert await shown() == (f"run-{ids[50]}", f"run-{ids[99]}")
    await page.get_by_role("link", name="Newest").click()
    await expect(rows.first).to_have_id(f"run-{ids[0]}")
    assert "task=digest" in page.url
    # By the keyboard.
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.locator(f"#run-{ids[1]} a").first).to_be_focused()
    await desk.check()
