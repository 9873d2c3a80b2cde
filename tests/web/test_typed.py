"""Invalid input in forms gets an error message and is not lost."""

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import httpx
import pytest

from tests.web.conftest import Served
from tickbird.domain.errors import NotFoundError
from tickbird.domain.runs.logs import Progress
from tickbird.web.pages.run import share_of

JUNK = "<script>x</script>\u202e\0" + "9" * 30


async def test_no_field_takes_down_its_form(served: Served) -> None:
    """Each field of a new schedule in turn has an invalid value; the form shows it again."""
    async with httpx.AsyncClient(base_url=served.url, timeout=30) as http:
        page = (await http.get("/schedules/new")).text
        csrf = re.findall(r'name="csrf" content="([0-9a-f]+)"', page)[0]
        form = page[page.index("<main") :]
        fields = [
            each for each in re.findall(r'<(?:input|textarea|select)[^>]* name="([a-z_]+)"', form) if each != "csrf"
        ]
        assert {"name", "when", "tz", "retries", "start_at"} <= {*fields}
        good = {"csrf": csrf, "name": "nightly", "when": "0 3 * * *", "kind": "task", "task": "report"}
        for field in dict.fromkeys(fields):
            answer = await http.post("/schedules/new", data={**good, field: JUNK})
            assert answer.status_code in (200, 303, 422), (field, answer.status_code)
            assert "<script>x" not in answer.text
        answer = await http.post("/schedules/new", data={**good, "tz": "Mars/Olympus", "description": "as typed"})
        assert answer.status_code == 422
        assert "Mars/Olympus" in unescape(answer.text)
        assert "as typed" in answer.text
    with pytest.raises(NotFoundError):
        await served.client.schedules.get("nightly")


@pytest.mark.parametrize("asked", ["since=0001-01-01T00:00", "until=9999-12-31T23:59:59", "since=0001-01-01"])
async def test_filter_outside_the_calendar_is_refused(served: Served, asked: str) -> None:
    """Wherever the visitor's clock stands."""
    for zone in ("Asia/Tokyo", "America/Los_Angeles"):
        cookies = {"tickbird_zone": "mine", "tickbird_mine": zone}
        async with httpx.AsyncClient(base_url=served.url, cookies=cookies) as http:
            for page in ("/runs", "/audit"):
                answer = await http.get(f"{page}?{asked}")
                assert answer.status_code in (400, 422)
                assert "outside the years" in answer.text


@pytest.mark.parametrize(
    "said, share",
    [
        (0.4, 0.4),
        (40, 0.4),
        ({"done": 4, "of": 10}, 0.4),
        ({"done": 10**400, "of": 10**401}, 0.1),
        (10**400, None),
        (-1, None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        ({"done": "4", "of": []}, None),
    ],
)
def test_progress_is_a_bar_where_it_can_be_understood(said: Any, share: float | None) -> None:
    """The page of a run shows any output as text."""
    assert share_of(Progress(1, 1, datetime(2026, 1, 1, tzinfo=UTC), said)) == share
