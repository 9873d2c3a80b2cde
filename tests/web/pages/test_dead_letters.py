"""The pages of dead letters, and the decisions about them."""

import json
import re

import httpx
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, log_in, looked_at
from tests.web.event_steps import declare, deliver, letters, publish, stamped
from tests.web.making import HOSTILE
from tests.web.test_guard import Held
from tickbird.domain.events.event import NewEvent


async def some_letters(served: Served) -> None:
    """Two failed keys in two groups, and events that wait for one of them."""
    await declare(served)
    await declare(served, "statistics")
    await publish(served, "42", "42", "43", "42", HOSTILE)
    await deliver(served, fails=["42", HOSTILE], error=f"ValueError: no price for 42\n{HOSTILE}")
    await deliver(served, "statistics", fails=["43"], retry_in=600.0)


@looked_at
async def test_letters_are_listed_and_filtered(desk: Desk, served: Served) -> None:
    """By group, state and key, in the URL; the quarantined key counts its waiting events."""
    page = await desk.open("/events/dead-letters")
    await expect(page.get_by_text("No unresolved dead letters.")).to_be_visible()
    await desk.check("letters-empty")
    await some_letters(served)
    rows = page.locator("[id^=letter-]")
    await expect(rows).to_have_count(5)
    await desk.check("letters")
    # The choices of the form are those of its first load.
    page = await desk.open("/events/dead-letters")
    await page.get_by_label("Group").select_option("billing")
    await page.get_by_label("State").select_option("failed")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(rows).to_have_count(2)
    await expect(page).to_have_url(re.compile("group=billing&state=failed"))
    await expect(page.get_by_text("<img src=x").first).to_be_visible()
    await rows.get_by_role("link", name="42", exact=True).click()
    await expect(rows).to_have_count(1)
    await expect(page.locator(".cli code").last).to_have_text(
        "tickbird dead-letters ls --group billing --state failed --key 42"
    )
    await rows.first.get_by_role("link").first.click()
    await expect(page.get_by_text("2 events of it")).to_be_visible()
    await expect(page.locator("pre.error")).to_contain_text("<script>alert(2)</script>")
    await desk.check("letter")
    await page.get_by_role("link", name="2 events of it").click()
    await expect(rows).to_have_count(2)
    await expect(rows.first).to_contain_text("deferred")
    desk.expected.add(422)
    await desk.open("/events/dead-letters?state=lost&key=1")
    await expect(page.get_by_role("alert")).to_contain_text("is not a state")


@done
async def test_a_letter_is_replayed_and_another_skipped(desk: Desk, served: Served) -> None:
    """A replay releases the events that wait, in order; a skip needs a reason, which the letter and the audit keep."""
    await some_letters(served)
    page = await desk.open("/events/dead-letters?group=billing&state=failed")
    dialog = page.get_by_role("dialog", name="Action")
    key = page.get_by_role("link", name="42", exact=True)
    await page.locator("[id^=letter-]").filter(has=key).get_by_role("link", name="Replay…").click()
    await expect(dialog.get_by_text("2 waiting events follow in order")).to_be_visible()
    await dialog.get_by_label("Reason").fill("price added")
    await desk.check("letter-replay")
    await dialog.get_by_role("button", name="Replay").click()
    await expect(page.get_by_text(re.compile(r"Dead letter \d+ will be delivered again\."))).to_be_visible()
    await deliver(served, fails=[HOSTILE])
    assert await letters(served) == [("failed", HOSTILE)]
    page = await desk.open("/events/dead-letters?group=billing&state=failed")
    await page.locator("[id^=letter-]").first.get_by_role("link").first.click()
    await page.get_by_role("link", name="Skip…").click()
    desk.expected.add(422)
    await dialog.get_by_label("Reason").fill(" ")
    await dialog.get_by_role("button", name="Skip").click()
    await expect(dialog.get_by_text("Enter a reason")).to_be_visible()
    await desk.check("letter-skip")
    await dialog.get_by_label("Reason").fill(HOSTILE)
    await dialog.get_by_role("button", name="Skip").click()
    await expect(page.get_by_text("is skipped.")).to_be_visible()
    await expect(page.locator("h1")).to_contain_text("skipped")
    await expect(page.get_by_text("<script>alert(2)</script>").first).to_be_visible()
    assert await letters(served) == []
    page = await desk.open("/audit")
    await expect(page.get_by_role("link", name=re.compile("^dead letter ")).first).to_be_visible()


@done
async def test_a_letter_is_repaired(desk: Desk, served: Served) -> None:
    """The editor shows the original next to the new data; the group gets the new data, the event keeps its own."""
    await declare(served)
    [event] = await publish(served, "42", data={"number": 0, "note": HOSTILE})
    await deliver(served, fails=["42"])
    [letter] = await served.client.dead_letters.list()
    page = await desk.open(f"/events/dead-letters/{letter.id}")
    await page.get_by_role("link", name="Repair…").click()
    dialog = page.get_by_role("dialog", name="Action")
    field = dialog.get_by_label("New data, as JSON")
    assert json.loads(await field.input_value()) == event.data
    desk.expected.add(422)
    await field.fill('{"number": 7')
    await dialog.get_by_role("button", name="Deliver with the new data").click()
    await expect(dialog.get_by_text("This is not JSON")).to_be_visible()
    await expect(field).to_have_value('{"number": 7')
    await field.fill('{"number": 7}')
    await expect(dialog.locator("#cli code")).to_have_text(
        f"tickbird dead-letters repair {letter.id} --data '{{\"number\": 7}}'"
    )
    await desk.check("letter-repair")
    await dialog.get_by_role("button", name="Deliver with the new data").click()
    await expect(page.get_by_text("will be delivered with the new data.")).to_be_visible()
    await expect(page.get_by_role("heading", name="Repaired data")).to_be_visible()
    await desk.check("letter-repaired")
    [repaired] = await served.client.dead_letters.list()
    assert (repaired.state, repaired.repair) == ("retrying", {"number": 7})


async def test_a_repair_is_approved_by_a_second_person(door: Desk, guarded: Served) -> None:
    """An admin requires it; the person who proposed the data cannot approve it."""
    await declare(guarded)
    await publish(guarded, "42")
    await deliver(guarded, fails=["42"])
    [letter] = await guarded.client.dead_letters.list()
    await log_in(door, await guarded.token("admin", "ada"), "/events/dead-letters")
    page = door.page
    await page.get_by_role("link", name="Change…").click()
    await page.get_by_role("button", name="Require a second person").click()
    await expect(page.get_by_text("A repair needs the approval of a second person.").first).to_be_visible()
    await door.open(f"/events/dead-letters/{letter.id}/repair")
    await page.get_by_label("New data, as JSON").fill("[1, 2]")
    await page.get_by_role("button", name="Propose").click()
    await expect(page.get_by_text("The repair is proposed.")).to_be_visible()
    await door.open(f"/events/dead-letters/{letter.id}/approve")
    await expect(page.get_by_text("This is your own proposal")).to_be_visible()
    await expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    await page.context.clear_cookies()
    await log_in(door, await guarded.token("editor", "ben"), f"/events/dead-letters/{letter.id}")
    await door.check("letter-proposed")
    await page.get_by_role("link", name="Approve…").click()
    await door.check("letter-approve")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("will be delivered with the approved data.")).to_be_visible()
    await expect(page.get_by_text("approved by")).to_be_visible()
    assert (await guarded.client.dead_letters.get(letter.id)).repair == [1, 2]


@done
async def test_letters_of_a_transaction_are_decided_together(served: Served) -> None:
    """Without scripts."""
    await declare(served)
    new = [NewEvent(topic="orders.paid", type="Paid", key="42", data={"place": place}) for place in range(2)]
    await stamped(served, await served.store.events.publish("default", new, source="/shop", actor="ana"))
    await deliver(served, fails=["42"])
    [first, _] = await served.client.dead_letters.list()
    path = f"/events/dead-letters/{first.id}"
    async with httpx.AsyncClient(base_url=served.url) as http:
        assert "1 of 2" in (await http.get(path)).text
        csrf = await Held(http).csrf()
        answer = await http.post(f"{path}/skip", data={"csrf": csrf, "note": "no bird"})
        assert answer.status_code == 303
        again = await http.post(f"{path}/skip", data={"csrf": csrf, "note": "no bird"})
        assert again.status_code == 409
        assert (await http.post(f"{path}/approve", data={"csrf": csrf})).status_code == 409
        assert (await http.get("/events/dead-letters/999999")).status_code == 404
        assert (await http.get("/events/dead-letters/x")).status_code == 404
    assert {letter.state for letter in await served.client.dead_letters.list(state="all")} == {"skipped"}


async def test_a_viewer_decides_nothing(door: Desk, guarded: Served) -> None:
    await some_letters(guarded)
    [letter, *_] = await guarded.client.dead_letters.list("billing", "failed")
    await log_in(door, await guarded.token("viewer"), f"/events/dead-letters/{letter.id}")
    await expect(door.page.locator("h1")).to_contain_text("failed")
    await expect(door.page.get_by_role("link", name=re.compile("…$"))).to_have_count(0)
    door.expected.add(403)
    for action in ("replay", "skip", "repair", "approve"):
        await door.open(f"/events/dead-letters/{letter.id}/{action}")
        await expect(door.page.get_by_text(re.compile("This requires the role (operator|editor)"))).to_be_visible()
    await door.open("/events/dead-letters/approval")
    await expect(door.page.get_by_text("This requires the role admin")).to_be_visible()
