"""Whatever is typed into the fields of a form is answered in words, and nothing of it is lost."""

import re
from html import unescape

import httpx
import pytest

from tests.web.conftest import Served
from tickbird.domain.errors import NotFoundError

JUNK = "<script>x</script>\u202e\0" + "9" * 30


async def test_no_field_takes_down_its_form(served: Served) -> None:
    """Each field of a new schedule in turn holds what it cannot, and the form comes back with it."""
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
        await served.client.get("nightly")
