"""Times in forms: the form shows their zone and the time in UTC while the user types."""

import re
from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done
from tests.web.histories import make
from tickbird.web.display_clock import Clock
from tickbird.web.forms.instants import in_full, read_instant

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text, tz, said",
    [
        ("2026-03-01T14:00", "Europe/Rome", "2026-03-01 14:00:00 CET (13:00:00 UTC), in 1 h"),
        ("2026-03-02T00:30", "Europe/Rome", "2026-03-02 00:30:00 CET (2026-03-01 23:30:00 UTC), in 11 h 30 min"),
        ("2026-03-01T12:00:00", "UTC", "2026-03-01 12:00:00 UTC, now"),
        (
            "2026-03-29T02:30",
            "Europe/Rome",
            "2026-03-29 03:00:00 CEST (01:00:00 UTC), in 27 d 13 h. 02:30 does not exist",
        ),
        ("2026-03-01T14:00-08:00", "Europe/Rome", "2026-03-01 23:00:00 CET (22:00:00 UTC), in 10 h"),
    ],
)
def test_an_instant_in_full(text: str, tz: str, said: str) -> None:
    """In the chosen zone and in UTC, with the date if it differs, and with DST notes."""
    assert in_full(read_instant(text, tz, "x"), tz, NOW).startswith(said)


@pytest.mark.parametrize("year", ["0001", "9999"])
def test_instants_at_the_ends_of_the_calendar_are_shown(year: str) -> None:
    at = datetime(int(year), 1 if year == "0001" else 12, 3 if year == "0001" else 29, tzinfo=UTC)
    assert "UTC" in Clock("mine", "Asia/Tokyo", NOW).both(at)


@done
async def test_the_zone_of_a_form_says_how_its_times_are_read(desk: Desk, served: Served) -> None:
    """While typing, and after a change of the zone: the input stays, and its meaning is updated."""
    await make(served)
    page = await desk.open("/schedules/nightly")
    await page.get_by_role("link", name="Pause…").click()
    dialog = page.get_by_role("dialog", name="Action")
    reads = dialog.locator("#f-until_at-reads")
    await expect(reads).to_be_empty()
    await dialog.get_by_label("tomorrow 09:00").check()
    await expect(reads).to_contain_text(re.compile(r"09:00:00 CES?T \(0[78]:00:00 UTC\), in "))
    await dialog.get_by_label("Reason").fill("upgrade")
    await dialog.get_by_label("Date and time").fill("2090-01-01T10:00")
    await expect(reads).to_contain_text("2090-01-01 10:00:00 CET (09:00:00 UTC), in ")
    await dialog.get_by_label("Times are in").select_option("UTC")
    await expect(reads).to_contain_text("2090-01-01 10:00:00 UTC, in ")
    await expect(dialog.get_by_label("Date and time")).to_have_value("2090-01-01T10:00")
    await expect(dialog.locator("#cli code")).to_contain_text("--until 2090-01-01T10:00:00Z")
    await desk.check("typed-time")
    await dialog.get_by_role("button", name="Pause").click()
    await expect(page.locator(".banner.success")).to_contain_text("until 2090-01-01 11:00:00 CET (10:00:00 UTC)")

    page = await desk.open("/schedules/nightly/backfill")
    await page.get_by_label("From").fill("2026-03-29T02:30")
    await expect(page.locator("#f-first-reads")).to_contain_text("02:30 does not exist on 29 Mar 2026 in Europe/Rome")
    await expect(page.locator("#f-last-reads")).to_contain_text("UTC")
    await desk.check("typed-range")

    page = await desk.open("/schedules")
    await page.get_by_label("Select nightly", exact=True).check()
    await page.get_by_role("button", name="Pause…").click()
    await dialog.get_by_label("in an hour").check()
    await expect(dialog.locator("#until-reads")).to_contain_text(re.compile("UTC, in (1 h|59 min)"))
    await desk.check("typed-bulk")
