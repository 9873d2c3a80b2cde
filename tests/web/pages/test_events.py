"""The pages of events: the log with its filters, and one event."""

import re
from html import unescape

import httpx
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done, looked_at
from tests.web.event_steps import publish, stamped
from tests.web.making import HOSTILE, a_schedule
from tickbird.domain.events.event import NewEvent
from tickbird.domain.targets.event import event
from tickbird.domain.triggers.every import every


@looked_at
async def test_events_are_listed_filtered_and_live(desk: Desk, served: Served) -> None:
    """Newest first; topic patterns and keys are in the URL; a new event appears by itself."""
    page = await desk.open("/events")
    await expect(page.get_by_text("No events yet.")).to_be_visible()
    await expect(page.get_by_role("navigation", name="Pages").get_by_role("link", name="Events")).to_have_attribute(
        "aria-current", "page"
    )
    await desk.check("events-empty")
    await publish(served, "42", "43", None, HOSTILE)
    await publish(served, "42", topic="orders.shipped.late")
    rows = page.locator("[id^=event-]")
    await expect(rows).to_have_count(5)
    await expect(rows.first).to_contain_text("orders.shipped.late")
    await expect(page.get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
    await desk.check("events")
    await page.get_by_label("Topic").fill("orders.*")
    await page.get_by_role("button", name="Show", exact=True).click()
    await expect(rows).to_have_count(4)
    await expect(page.locator(".cli code")).to_have_text("tickbird events ls --topic 'orders.*'")
    await rows.last.get_by_role("link", name="42", exact=True).click()
    await expect(rows).to_have_count(1)
    await expect(page.get_by_role("textbox", name="Key")).to_have_value("42")
    await expect(page).to_have_url(re.compile(r"topic=orders.(%2A|.)&key=42"))
    desk.expected.add(422)
    await desk.open("/events?topic=a+b!")
    await expect(page.get_by_role("alert")).to_contain_text("is not a pattern of topics")
    await desk.check()


async def test_events_are_paged_by_position(served: Served) -> None:
    """Each event is on one page, in both directions."""
    await publish(served, *[f"k{number % 7}" for number in range(105)])
    async with httpx.AsyncClient(base_url=served.url) as http:

        def read(page: str) -> tuple[list[str], dict[str, str]]:
            ways = re.findall(r'rel="(prev|next)" href="([^"]+)"', page)
            return re.findall(r'id="event-(\d+)"', page), {rel: unescape(href) for rel, href in ways}

        first, ways = read((await http.get("/events")).text)
        assert (len(first), first[0], [*ways]) == (50, "105", ["next"])
        second, onward = read((await http.get(ways["next"])).text)
        third, last = read((await http.get(onward["next"])).text)
        assert sorted({*first, *second, *third}, key=int) == [str(number) for number in range(1, 106)]
        assert [*last] == ["prev"]
        assert read((await http.get(last["prev"])).text)[0] == second
        for query in ("before=x&after=-1", "key=%25%27", "partition=no", "topic=%20", "after=999"):
            assert (await http.get(f"/events?{query}")).status_code == 200, query
        for query in ("topic=a..b", "key=%00", f"key={'k' * 501}"):
            answer = await http.get(f"/events?{query}")
            assert (answer.status_code, 'role="alert"' in answer.text) == (422, True), query


@looked_at
async def test_an_event_shows_attributes_data_and_its_transaction(desk: Desk, served: Served) -> None:
    """Data as a table and as JSON; hostile texts are texts; siblings and the other events of the key are linked."""
    new = [
        NewEvent(
            topic="orders.paid",
            type=HOSTILE[:190],
            key=key,
            data={"number": 7, "note": HOSTILE, "lines": [{"seed": "millet", "sacks": 2}]},
            headers={"traceparent": HOSTILE[:200].replace("\u202e", "")},
            tenant="rome",
        )
        for key in ("42", "43")
    ]
    [first, second] = await stamped(
        served, await served.store.events.publish("default", new, source="/shop/web", actor="ana")
    )
    page = await desk.open("/events")
    await page.locator("[id^=event-]").last.get_by_role("link").first.click()
    await expect(page).to_have_url(re.compile(str(first.id)))
    await expect(page.get_by_text("This namespace has no consumer group.")).to_be_visible()
    attributes = page.get_by_role("region", name="Attributes").or_(page.locator("section", has_text="specversion"))
    for text in ("1.0", "/shop/web", str(first.id), "rome"):
        await expect(attributes.first).to_contain_text(text)
    await expect(page.get_by_role("row", name="number 7")).to_be_visible()
    await expect(page.get_by_text("<script>alert(2)</script>").first).to_be_visible()
    await page.get_by_text("As JSON").click()
    await expect(page.locator("#data-json pre")).to_contain_text('"sacks": 2')
    await desk.check("event")
    await page.get_by_role("link", name="event 2 of 2").click()
    await expect(page).to_have_url(re.compile(str(second.id)))
    await page.get_by_role("link", name="43", exact=True).click()
    await expect(page.locator("[id^=event-]")).to_have_count(1)
    desk.expected.add(404)
    for missing in ("00000000-0000-0000-0000-000000000000", "%3Cb%3E"):
        await desk.open(f"/events/{missing}")
        await expect(page.get_by_text("There is no event")).to_be_visible()


@done
async def test_an_event_leads_to_its_run_and_back(desk: Desk, served: Served) -> None:
    """The run of an event target links to its event, which links to the run and the schedule."""
    target = event("orders.nightly", "ReportDue", key="orders", data={"format": "pdf"})
    await served.client.schedules.create("nightly", every(hours=1), target, actor="ana")
    await a_schedule(served, "other")
    run = await served.client.schedules.trigger("nightly", actor="ana")
    await served.store.events.stamp()
    page = await desk.open(f"/runs/{run.id}")
    details = page.locator("section", has=page.get_by_role("heading", name="Details"))
    await details.locator("a[href^='/events/']").click()
    await expect(page.get_by_role("heading", name="ReportDue")).to_be_visible()
    await expect(page.get_by_role("link", name="schedule nightly")).to_be_visible()
    await desk.check("event-of-run")
    await page.get_by_role("link", name=f"open run {run.id}").click()
    await expect(page.get_by_role("heading", name=f"run {run.id}")).to_be_visible()


async def test_keys_lead_to_events(desk: Desk, served: Served) -> None:
    """`g e` opens the page, `/` its search, `j` and Enter an event."""
    await publish(served, "42", "43")
    page = await desk.open("/settings")
    await page.keyboard.press("g")
    await page.keyboard.press("e")
    await expect(page.get_by_role("heading", name="Events", exact=True)).to_be_visible()
    await page.keyboard.press("/")
    await expect(page.get_by_label("Topic")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.locator("h1").click()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Attributes")).to_be_visible()
