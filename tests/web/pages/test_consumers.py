"""The pages of consumer groups, and the actions on them."""

import re

import httpx
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at
from tests.web.event_steps import WORKER, declare, deliver, letters, publish
from tests.web.making import HOSTILE
from tests.web.test_guard import Held
from tickbird.domain.events.deliveries import DeliveryOutcome, GroupRequest


@looked_at
async def test_groups_show_state_lag_and_dead_letters(desk: Desk, served: Served) -> None:
    """Each number leads to its rows; a stopped group and failed letters are on the first page too."""
    await declare(served, "billing", "orders.#")
    await declare(served, "audit")
    await publish(served, "42", "43", "42")
    page = await desk.open("/events")
    groups = page.get_by_role("region", name="Consumer groups, as a table")
    await expect(groups.get_by_role("row")).to_have_count(3)
    await expect(groups.get_by_role("link", name="lag of billing: 3")).to_be_visible()
    await deliver(served, fails=["42"], error=f"ValueError: no price {HOSTILE}")
    await served.client.consumers.stop("audit", actor="ana", reason=HOSTILE)
    await expect(groups.get_by_role("link", name="1 failed in billing")).to_be_visible()
    await expect(groups.get_by_role("row").nth(1)).to_contain_text("stopped")
    await desk.check("events-groups")
    await groups.get_by_role("link", name="1 failed in billing").click()
    await expect(page.locator("[id^=letter-]")).to_have_count(1)
    page = await desk.open("/")
    needs = page.locator(".needs")
    await expect(needs).to_contain_text("Consumer group audit is stopped")
    await expect(needs).to_contain_text("1 dead letter of group billing failed")
    await desk.check("now-groups")
    await needs.get_by_role("link", name="Consumer group audit is stopped").click()
    await expect(page.get_by_text("Nothing is delivered to this group.")).to_be_visible()
    await expect(page.get_by_text("<script>alert(2)</script>").first).to_be_visible()
    await desk.check("group-stopped")


@looked_at
async def test_a_group_shows_its_partitions(desk: Desk, served: Served) -> None:
    """Offset, lag, worker and error of each; the lag leads to the unread events."""
    await declare(served)
    await publish(served, "42", "43", "44", "45")
    await deliver(served, fails=["43"])
    events = await publish(served, "42", "42", "43")
    request = [GroupRequest("billing", 10)]
    claimed = await served.store.consumers.claim("default", request, WORKER, limit=2, lease=600.0)
    paused = next(one for one in claimed.deliveries if one.lease.partition == events[2].partition)
    outcome = DeliveryOutcome(
        lease=paused.lease, is_redelivery=False, after=paused.after, through=paused.after, pause=600.0, error=HOSTILE
    )
    await served.store.consumers.finish([outcome])
    page = await desk.open("/events/groups/billing")
    row = page.locator(f"#partition-{events[0].partition}")
    await expect(row).to_contain_text("in delivery")
    await expect(row).to_contain_text(WORKER)
    other = page.locator(f"#partition-{events[2].partition}")
    await expect(other).to_contain_text("paused")
    await other.locator("summary").click()
    await expect(other.locator("pre")).to_contain_text("<script>alert(2)</script>")
    await desk.check("group")
    await row.get_by_role("link", name="lag of partition").click()
    await expect(page.locator("[id^=event-]")).to_have_count(2)
    await desk.check()


@done
async def test_a_group_is_stopped_moved_copied_and_deleted(desk: Desk, served: Served) -> None:
    """Each action takes effect, is in the audit, and shows its command line."""
    await declare(served)
    events = await publish(served, "42", "43", "44")
    await deliver(served)
    page = await desk.open("/events/groups/billing")
    dialog = page.get_by_role("dialog", name="Action")
    await page.get_by_role("link", name="Stop…").click()
    await dialog.get_by_label("Reason").fill("bank holiday")
    await expect(dialog.locator("#cli code")).to_have_text("tickbird consumers stop billing --reason 'bank holiday'")
    await desk.check("group-stop")
    await dialog.get_by_role("button", name="Stop").click()
    await expect(page.get_by_text("billing is stopped.")).to_be_visible()
    await expect(page.get_by_text("bank holiday")).to_be_visible()
    await page.get_by_role("link", name="Resume…").click()
    await dialog.get_by_role("button", name="Resume").click()
    await expect(page.get_by_text("billing continues.")).to_be_visible()
    await page.get_by_role("link", name="Move…").click()
    await dialog.get_by_label("Position", exact=True).fill("1")
    await desk.check("group-move")
    await dialog.get_by_label("Reason").fill("wrong prices")
    cli = dialog.locator("#cli code")
    await expect(cli).to_have_text("tickbird consumers seek billing --position 1 --note 'wrong prices' --yes")
    await dialog.get_by_role("button", name="Move").click()
    await expect(page.get_by_text("billing continues after position 1.")).to_be_visible()
    assert (await served.client.consumers.get("billing")).lag == 2
    await page.get_by_role("link", name="Copy…").click()
    await expect(dialog.get_by_label("Name of the copy")).to_have_value("billing-scratch")
    await desk.check("group-copy")
    await dialog.get_by_role("button", name="Copy", exact=True).click()
    await expect(page.get_by_text("billing-scratch is a scratch group of billing.")).to_be_visible()
    assert (await served.client.consumers.get("billing-scratch")).lag == len(events)
    await page.get_by_role("link", name="Delete…").click()
    # 404: the page of the deleted group refreshes once more before it is left.
    desk.expected |= {422, 404}
    await dialog.get_by_label("Type its name").fill("billing")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(dialog.get_by_text("Type the exact name of the group.")).to_be_visible()
    await dialog.get_by_label("Type its name").fill("billing-scratch")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("billing-scratch is deleted.")).to_be_visible()
    assert [group.name for group in await served.client.consumers.list()] == ["billing"]
    page = await desk.open("/audit")
    await expect(page.get_by_role("link", name="group billing", exact=True).first).to_be_visible()
    await expect(page.get_by_text("bank holiday").or_(page.locator("summary")).first).to_be_visible()


@done
async def test_places_are_read_by_time_and_refused_at_their_field(served: Served) -> None:
    """Without scripts: a position, an instant, both ends of the log, and what is neither."""
    await declare(served)
    await publish(served, "42", "43", "44")
    path = "/events/groups/billing/seek"
    async with httpx.AsyncClient(base_url=served.url) as http:
        csrf = await Held(http).csrf()

        async def seek(**fields: str) -> tuple[int, int]:
            answer = await http.post(path, data={"csrf": csrf, **fields})
            return answer.status_code, (await served.client.consumers.get("billing")).lag

        assert await seek(**{"from": "newest"}) == (303, 0)
        assert await seek(**{"from": "oldest"}) == (303, 3)
        assert await seek(position="2") == (303, 1)
        assert await seek(position="1,000") == (422, 1)
        assert await seek(at="2001-01-01T00:00", tz="Europe/Rome") == (303, 3)
        assert await seek(**{"from": "at", "position": "2", "at": "2100-01-01T00:00"}) == (303, 0)
        for wrong in (
            {"position": "x"},
            {"position": "-1"},
            {"position": "9" * 30},
            {},
            {"at": "soon"},
            {"from": "at"},
        ):
            assert (await seek(**wrong))[0] == 422, wrong
        copied = await http.post(
            "/events/groups/billing/copy", data={"csrf": csrf, "scratch": "billing", "from": "oldest"}
        )
        assert copied.status_code == 409
        refused = await http.post(
            "/events/groups/billing/copy", data={"csrf": csrf, "scratch": "a b/", "from": "oldest"}
        )
        assert (refused.status_code, 'id="scratch-wrong"' in refused.text) == (422, True)
        assert (await http.get("/events/groups/nobody")).status_code == 404


@done
async def test_failed_letters_of_a_group_are_replayed_together(desk: Desk, served: Served) -> None:
    await declare(served)
    await publish(served, "42", "43", "44")
    await deliver(served, fails=["42", "43"])
    page = await desk.open("/events/groups/billing")
    await page.get_by_role("link", name="Replay all failed…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await expect(dialog.get_by_text("2 failed letters are delivered again")).to_be_visible()
    await expect(dialog.locator("#cli code")).to_have_text("tickbird dead-letters replay --group billing")
    await dialog.get_by_role("button", name="Replay failed").click()
    await expect(page.get_by_text("2 dead letters of billing will be delivered again.")).to_be_visible()
    assert {state for state, _ in await letters(served)} == {"retrying"}
    await deliver(served)
    assert await letters(served) == []


async def test_roles_decide_which_actions_are_offered(door: Desk, guarded: Served) -> None:
    """A viewer reads; an operator stops and moves; an editor copies and deletes."""
    await declare(guarded)
    await log_in(door, await guarded.token("viewer"), "/events/groups/billing")
    page = door.page
    await expect(page.get_by_role("heading", name=re.compile("billing"))).to_be_visible()
    await expect(page.get_by_role("link", name=re.compile("…$"))).to_have_count(0)
    door.expected.add(403)
    for action in ("stop", "resume", "seek", "copy", "delete", "replay"):
        await door.open(f"/events/groups/billing/{action}")
        await expect(page.get_by_text(re.compile("This requires the role (operator|editor)"))).to_be_visible()
    await page.context.clear_cookies()
    await log_in(door, await guarded.token("operator", "ben"), "/events/groups/billing")
    await expect(page.get_by_role("link", name="Stop…")).to_be_visible()
    await expect(page.get_by_role("link", name="Delete…")).to_have_count(0)
