"""The pages of workers and of the audit."""

from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker

HOSTILE = "<script>alert(1)</script>\u202eq"


def a_worker(name: str = "w1", **options: object) -> Worker:
    """A worker that has just reported."""
    fields = {"app": "shop", "host": "node-1", "pid": 7, "version": "0.1.0", "slots": 10, "queues": ("default", "gpu")}
    return Worker(id=name, namespace="default", **{**fields, **options})  # type: ignore[arg-type]


@looked_at
async def test_workers_and_what_they_serve(desk: Desk, served: Served) -> None:
    """Live, standby and draining workers; their data is shown as text."""
    page = await desk.open("/workers")
    await expect(page.get_by_text("No live workers.")).to_be_visible()
    await served.store.workers.heartbeat(a_worker(), live_for=600)
    await served.store.workers.heartbeat(
        a_worker("w2", host=HOSTILE, standby_reason="does not plan: the clock of the store has jumped"), live_for=600
    )
    await served.client.limits.set("mail", 3, actor="ana")
    await expect(page.get_by_text("0 of 10").first).to_be_visible()
    await expect(page.get_by_text("the clock of the store has jumped")).to_be_visible()
    await expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    await expect(page.get_by_role("cell", name="mail", exact=True)).to_be_visible()
    await desk.check("workers")


@done
async def test_a_fleet_without_a_planner_is_a_banner(desk: Desk, served: Served) -> None:
    await served.store.workers.heartbeat(a_worker(kind="executor"), live_for=600)
    page = await desk.open("/workers")
    banner = page.get_by_text("No live worker plans (1 worker only executes): due ticks wait for a worker that plans.")
    await expect(banner).to_be_visible()
    await desk.check("workers-unplanned")
    await served.store.workers.heartbeat(a_worker("w2", kind="planner", queues=(), slots=0), live_for=600)
    await expect(page.get_by_text("pid 7 · planner")).to_be_visible()
    await expect(banner).to_have_count(0)


@done
async def test_counts_of_queues_and_keys_lead_to_their_runs(desk: Desk, served: Served) -> None:
    """Each number links to the runs that it counts, for any queue name and key."""
    odd = "a&b=c <script>alert(1)</script>"
    await served.client.runs.enqueue("x", actor="ana", queue="gpu", concurrency_key=odd, unknown_task_ok=True)
    second = await served.client.runs.enqueue("x", actor="ana", queue="gpu", concurrency_key=odd, unknown_task_ok=True)
    await served.client.runs.enqueue("x", actor="ana", unknown_task_ok=True)
    await served.client.limits.set(odd, 1, actor="ana")
    page = await desk.open("/workers")
    await desk.check("workers-queues")
    await page.get_by_role("link", name="1 queued in gpu").click()
    await expect(page.locator("tbody tr")).to_have_count(1)
    await expect(page.get_by_label("Queue", exact=True)).to_have_value("gpu")
    await desk.check("runs-of-queue")
    for name, runs in (
        ("1 active with a&b=c", 1),
        ("1 waiting for a&b=c", 1),
        ("1 waiting in gpu", 1),
        ("0 running in gpu", 0),
    ):
        page = await desk.open("/workers")
        await page.get_by_role("link", name=name).click()
        await expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
        await expect(page.locator("tbody tr")).to_have_count(runs)
    await desk.open("/workers")
    await page.get_by_role("link", name="a&b=c", exact=False).first.click()
    await expect(page.locator("tbody tr")).to_have_count(2)
    await expect(page.locator("tbody tr").first).to_contain_text(str(second))


@done
async def test_a_worker_is_drained(desk: Desk, served: Served) -> None:
    """By a form in a dialog, with a note that the audit keeps; the page says so, and offers it no more."""
    await served.store.workers.heartbeat(a_worker(), live_for=600)
    page = await desk.open("/workers")
    await page.get_by_role("link", name="Drain…").click()
    await page.get_by_label("Reason, for the audit").fill("new kernel")
    await desk.check("drain")
    await page.get_by_role("button", name="Drain").click()
    await expect(page.get_by_text("Worker w1 will drain.")).to_be_visible()
    await expect(page.get_by_text("will drain", exact=True)).to_be_visible()
    await expect(page.get_by_role("link", name="Drain…")).to_have_count(0)
    page = await desk.open("/audit")
    await page.locator("summary").first.click()
    await expect(page.get_by_text("new kernel")).to_be_visible()


async def test_only_an_admin_drains(door: Desk, guarded: Served) -> None:
    """Others are not offered it, and are refused if they try."""
    await guarded.store.workers.heartbeat(a_worker(), live_for=600)
    await log_in(door, await guarded.token("editor"), "/workers")
    await expect(door.page.get_by_text("0 of 10")).to_be_visible()
    await expect(door.page.get_by_role("link", name="Drain…")).to_have_count(0)
    door.expected.add(403)
    await door.open("/workers/w1/drain")
    await expect(door.page.get_by_text("This requires the role admin. Your role is editor.")).to_be_visible()


@looked_at
async def test_audit_shows_actor_and_action(desk: Desk, served: Served) -> None:
    """Newest first, by page, of one schedule or of all; hostile notes are texts."""
    await served.client.schedules.create("nightly", every(hours=1), "report", actor=HOSTILE, unknown_task_ok=True)
    await served.client.schedules.pause("nightly", actor="ana", note=HOSTILE)
    page = await desk.open("/audit?schedule=nightly")
    await expect(page.locator("tbody tr")).to_have_count(2)
    await page.locator("summary").first.click()
    await expect(page.locator("pre").first).to_contain_text("<script>alert(1)</script>")
    # It is live, and what was opened stays open.
    await served.client.schedules.resume("nightly", actor="ben")
    await expect(page.locator("tbody tr")).to_have_count(3)
    await expect(page.locator("details[open] pre")).to_contain_text("<script>alert(1)</script>")
    await desk.check("audit")


@done
async def test_the_leader_and_its_terms(desk: Desk, served: Served) -> None:
    """An admin lets another worker lead."""
    await served.store.leadership.elect(a_worker("w1", host=HOSTILE), 600)
    page = await desk.open("/workers")
    await expect(page.get_by_text("in term 1")).to_be_visible()
    await desk.check("workers-leader")
    await page.get_by_role("link", name="Let another worker lead…").click()
    await page.get_by_label("Reason, for the audit log").fill("slow host")
    await page.get_by_role("button", name="End the term").click()
    await expect(page.get_by_text("Term 1 has ended. Another worker takes over.")).to_be_visible()
    await expect(page.get_by_text("resigned (requested by")).to_be_visible()
    leader = await served.client.leadership.get()
    assert leader.lease is None
