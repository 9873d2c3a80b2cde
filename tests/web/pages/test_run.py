"""The page of a run: error, attempts, waiting reason, cancel, retry, and retry with changes."""

from typing import Any

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at
from tests.web.making import HOSTILE, TRACEBACK, a_schedule, a_worker, claim, enqueue, finish, now, say
from tickbird.client import StoreClient
from tickbird.domain.runs.logs import Progress
from tickbird.domain.targets.command import command
from tickbird.domain.triggers.every import every

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["limit"],
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "how many rows <b>"},
        "dry": {"type": "boolean", "default": False},
        "who": {"type": "string", "default": "all"},
    },
}


@looked_at
async def test_failed_run_shows_its_error_first(desk: Desk, served: Served) -> None:
    """Details, timeline, attempts and payload; hostile data is text, and open details stay open."""
    await a_worker(served)
    await a_schedule(served, retries=2, payload={"limit": 5, "who": HOSTILE})
    made = await served.client.schedules.trigger("nightly", actor="ana")
    for attempt in (1, 2):
        [run] = await claim(served)
        status = "queued" if attempt == 1 else "failed"
        await finish(served, run, status, error=TRACEBACK, failure_kind="raised", failures=1)
    await say(served, made.id, "started", HOSTILE, attempt=2)
    page = await desk.open(f"/runs/{made.id}")
    await expect(page.get_by_role("heading", name=f"run {made.id} failed")).to_be_visible()
    await expect(page.locator("pre.error")).to_contain_text(
        "ConnectionError: mail refused <img src=x onerror=alert(1)>"
    )
    await expect(page.locator("pre.error")).to_contain_text("\\u202eevilred")
    await expect(page.get_by_text("attempt 2 of 3")).to_be_visible()
    await expect(page.locator("#course svg")).to_be_visible()
    await expect(page.locator(".value").first).to_contain_text("<script>alert(2)</script>\\u202eevil")
    await page.locator("#attempt-1 summary").click()
    again = await served.client.runs.retry(made.id, actor="bo")
    await expect(page.get_by_role("link", name=f"run {again.id}")).to_be_visible()
    await expect(page.locator("#attempt-1 details[open] pre")).to_contain_text("Traceback")
    await desk.check("run-failed")


@done
async def test_waiting_run_shows_its_reason(desk: Desk, served: Served) -> None:
    """As `why` tells it; progress and the end show without a reload."""
    run_id = await enqueue(served, {"x": 1})
    page = await desk.open(f"/runs/{run_id}")
    await expect(page.get_by_role("heading", name=f"run {run_id} queued")).to_be_visible()
    await expect(page.get_by_label("Waiting for")).to_contain_text("worker")
    await a_worker(served)
    [run] = await claim(served)
    await expect(page.get_by_role("heading", name=f"run {run_id} running")).to_be_visible()
    await served.store.logs.write([], [Progress(run_id, 1, now(), {"done": 4, "of": 10})])
    await expect(page.get_by_text("40%")).to_be_visible()
    await desk.check("run-running")
    await finish(served, run, result={"html": HOSTILE, "rows": [1, 2]})
    await expect(page.get_by_role("heading", name=f"run {run_id} succeeded")).to_be_visible()
    await expect(page.get_by_label("Result")).to_contain_text("<img src=x onerror=alert(1)>")
    await desk.check("run-succeeded")


@done
async def test_running_run_is_requested_to_stop(desk: Desk, served: Served) -> None:
    """The form explains the effect; the page shows the reason; an ended run cannot be cancelled."""
    run_id = await enqueue(served)
    [run] = await claim(served)
    page = await desk.open(f"/runs/{run_id}")
    await desk.button("Cancel…").click()
    await expect(page.get_by_text("The worker asks it to stop. It ends when its code reacts")).to_be_visible()
    await expect(page.locator("#dialog .cli code")).to_have_text(f"tickbird cancel {run_id}")
    await page.get_by_label("Reason").fill(HOSTILE)
    await desk.check("run-cancel")
    await page.get_by_role("button", name="Request stop").click()
    await expect(page.get_by_text(f"Run {run_id} was asked to stop; this page shows when it ends.")).to_be_visible()
    await expect(page.locator(".banner.warn")).to_contain_text("<script>alert(2)</script>")
    await finish(served, run, "cancelled")
    await expect(page.get_by_role("heading", name=f"run {run_id} cancelled")).to_be_visible()
    await expect(page.get_by_role("link", name="Cancel…")).to_have_count(0)
    await desk.open(f"/runs/{run_id}/cancel")
    await expect(page.get_by_text("There is nothing to cancel")).to_be_visible()


@done
async def test_a_run_is_repeated_with_changes(desk: Desk, served: Served) -> None:
    """With the form of its task; errors are at their fields, and the input is kept."""
    await a_worker(served, SCHEMA)
    run_id = await enqueue(served, {"limit": 5, "who": 'ana "x"'})
    [run] = await claim(served)
    await finish(served, run, "failed", error="no")
    page = await desk.open(f"/runs/{run_id}")
    await page.get_by_role("link", name="Retry with changes…").click()
    await expect(page.get_by_label("limit")).to_have_value("5")
    await expect(page.get_by_label("who", exact=True)).to_have_value('ana "x"')
    await page.get_by_label("limit").fill("many")
    await page.get_by_label("dry").select_option("true")
    desk.expected.add(422)
    await page.get_by_role("button", name="Retry with these values").click()
    await expect(page.get_by_text("'many' is not a whole number.")).to_be_visible()
    await expect(page.get_by_label("limit")).to_have_value("many")
    await expect(page.get_by_label("dry")).to_have_value("true")
    await page.get_by_label("limit").fill("1000")
    await page.get_by_role("button", name="Retry with these values").click()
    await expect(page.get_by_text("1000 is greater than the maximum of 100.")).to_be_visible()
    await desk.check("run-change")
    await page.get_by_label("limit").fill("50")
    await page.get_by_role("button", name="Retry with these values").click()
    await expect(page.get_by_text(f"retries run {run_id}.")).to_be_visible()
    [made] = await served.client.runs.list(limit=1)
    assert (made.retry_of, dict(made.payload)) == (run_id, {"limit": 50, "dry": True, "who": 'ana "x"'})
    await expect(page.get_by_role("heading", name=f"run {made.id} queued")).to_be_visible()
    # As it was, in one go.
    await desk.open(f"/runs/{run_id}")
    await page.get_by_role("link", name="Retry…", exact=True).click()
    await page.get_by_role("button", name="Retry").click()
    await expect(page.get_by_text(f"retries run {run_id}.")).to_be_visible()
    [same] = await served.client.runs.list(limit=1)
    assert (same.id > made.id, dict(same.payload)) == (True, {"limit": 5, "who": 'ana "x"'})


async def test_viewer_cannot_cancel_or_retry_runs(door: Desk, guarded: Served) -> None:
    """No buttons, and forms are refused; runs of other namespaces return 404."""
    run_id = await enqueue(guarded)
    hidden = await StoreClient(guarded.store, "other").runs.enqueue("digest", actor="x", unknown_task_ok=True)
    await log_in(door, await guarded.token("viewer", namespaces=("default",)), f"/runs/{run_id}")
    page = door.page
    await expect(page.get_by_role("heading", name=f"run {run_id} queued")).to_be_visible()
    await expect(page.get_by_role("link", name="Cancel…")).to_have_count(0)
    door.expected |= {403, 404}
    for path in (f"/runs/{run_id}/cancel", f"/runs/{run_id}/retry", f"/runs/{run_id}/change"):
        status = await page.evaluate(
            """async (path) => (await fetch(path, {method: "POST", body: new URLSearchParams(
            {csrf: document.querySelector("meta[name=csrf]").content})})).status""",
            path,
        )
        assert status == 403
    assert (await guarded.client.runs.get(run_id)).status == "queued"
    texts = []
    for run in (hidden, 987_654_321, "no-number", "0"):
        for suffix in ("", "/log.txt", "/lines"):
            answer = await page.goto(f"{door.url}/runs/{run}{suffix}")
            assert answer is not None
            assert answer.status == 404
        texts.append((await page.locator("main p").first.inner_text()).replace(str(run), "N"))
    assert texts[0] == texts[1] == "There is no run N. tickbird runs lists the newest."


@looked_at
async def test_report_of_a_run_is_a_message_and_a_table(desk: Desk, served: Served) -> None:
    """As SQL functions return it; hostile data is text."""
    await a_worker(served)
    rows = [{"product": "millet", "sacks": 25}, {"product": HOSTILE, "sacks": None, "note": {"a": 1}}]
    run_id = await enqueue(served)
    [run] = await claim(served)
    await finish(served, run, result={"success": True, "message": "Ordered 2 products.", "details": rows})
    page = await desk.open(f"/runs/{run_id}")
    result = page.get_by_label("Result", exact=True)
    await expect(result.locator("p")).to_have_text("Ordered 2 products.")
    await expect(result.locator("th")).to_have_text(["product", "sacks", "note"])
    await expect(result.locator("tbody tr").first.locator("td")).to_have_text(["millet", "25", ""])
    await expect(result.locator("tbody tr").last).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(result.locator("tbody tr").last).to_contain_text('{"a": 1}')
    await desk.check("run-report")


@done
async def test_run_shows_the_target_of_its_own_revision(desk: Desk, served: Served) -> None:
    await served.client.schedules.create("disk", every(hours=1), command(["/bin/df", "-h"]), actor="ana")
    run = await served.client.schedules.trigger("disk", actor="ana")
    await served.client.schedules.update("disk", target=command(["/bin/df", "-k"]), actor="ana")
    page = await desk.open(f"/runs/{run.id}")
    await expect(page.get_by_label("Details")).to_contain_text("/bin/df -h")
