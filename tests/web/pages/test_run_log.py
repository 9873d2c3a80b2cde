"""The log of a run: live, filtered, by page and as a file, with any content."""

from datetime import timedelta

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done
from tests.web.making import HOSTILE, claim, enqueue, finish, now, say
from tickbird.domain.runs.logs import LogLine


@done
async def test_lines_come_while_the_page_is_open(desk: Desk, served: Served) -> None:
    """Without a reload, filtered as one types; the end of the log stays in sight; hostile lines are text."""
    run_id = await enqueue(served)
    [run] = await claim(served)
    page = await desk.open(f"/runs/{run_id}")
    lines = page.locator("#log .line")
    await expect(page.get_by_text("The log is empty so far.")).to_be_visible()
    await say(served, run_id, "first", HOSTILE, "a\nb")
    await expect(lines).to_have_count(3)
    await expect(lines.nth(1).locator(".message")).to_have_text(
        "<img src=x onerror=alert(1)><script>alert(2)</script>\\u202eevilred"
    )
    await say(served, run_id, *(f"row {each}" for each in range(200)), first=4)
    await expect(lines).to_have_count(203)
    box = page.locator("#log")
    assert await box.evaluate("box => box.scrollHeight - box.scrollTop - box.clientHeight < 40")
    # Who reads further up is left there.
    await box.evaluate("box => { box.scrollTop = 0; }")
    await say(served, run_id, "careful", first=300, level=30)
    await say(served, run_id, "it burns", first=301, level=40)
    await expect(lines).to_have_count(205)
    assert await box.evaluate("box => box.scrollTop") == 0
    await page.get_by_label("contains").fill("ROW 19")
    await expect(page.locator("#log .line:visible")).to_have_count(11)
    await say(served, run_id, "row 1999", "other", first=400)
    await expect(page.locator("#log .line:visible")).to_have_count(12)
    await page.get_by_label("contains").fill("")
    await page.get_by_label("level").select_option("30")
    await expect(page.locator("#log .line:visible")).to_have_count(2)
    await desk.check("run-log")
    # The same without scripts, by the address.
    await page.get_by_role("button", name="Search").click()
    await page.wait_for_url("**level=30**")
    await expect(lines).to_have_count(2)
    await say(served, run_id, "not this", first=500)
    await say(served, run_id, "worse", first=501, level=50)
    await expect(lines).to_have_count(3)
    # What the run has said in the end is still told.
    await say(served, run_id, "last words", first=600, level=40)
    await finish(served, run)
    await expect(lines).to_have_count(4)


async def test_a_log_of_a_hundred_thousand_lines(desk: Desk, served: Served) -> None:
    """The newest thousand, earlier ones by page, all of it searched and downloaded."""
    run_id = await enqueue(served)
    [run] = await claim(served)
    at = now()
    for attempt in range(1, 11):
        await served.store.logs.write(
            [
                LogLine(run_id, attempt, each, at + timedelta(milliseconds=each), 20, f"line {attempt}.{each}")
                for each in range(1, 10_001)
            ],
            [],
        )
    await served.store.logs.write([LogLine(run_id, 11, 1, at, 40, "x" * 1_000_000)], [])
    await finish(served, run)
    page = await desk.open(f"/runs/{run_id}")
    lines = page.locator("#log .line")
    await expect(lines).to_have_count(1_000)
    await expect(lines.first).to_contain_text("line 10.9002")
    await expect(lines.last).to_contain_text("… (")
    await page.get_by_role("link", name="earlier lines").click()
    await expect(lines.last).to_contain_text("line 10.9001")
    await expect(lines).to_have_count(1_000)
    await desk.open(f"/runs/{run_id}?q=LINE+9.77&level=20")
    await expect(lines).to_have_count(111)
    await expect(lines.first).to_contain_text("line 9.77")
    await desk.check()
    async with page.expect_download() as coming:
        await page.get_by_role("link", name="Download").click()
    text = (await (await coming.value).path()).read_text()
    assert text.count("\n") == 100_001
    assert "INFO     [9] line 9.77\n" in text
