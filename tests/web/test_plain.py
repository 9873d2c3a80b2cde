"""Rows that plain SQL wrote: each has pages that work, for any name and definition."""

import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path

import httpx

from tests.web.conftest import Served
from tickbird.domain.targets.registry import first_kind_format
from tickbird.domain.triggers.every import every

NAMES = ("a?b=c#d", "\u202ertl", "<b>'\"", "n" * 200)
DEFINITIONS = ("null", "[]", "7", '"x"', '{"trigger": {"cron": "<b>"}}', '{"trigger": null, "target": 5}')


async def test_rows_of_plain_sql_have_pages(served: Served, tmp_path: Path) -> None:
    """Links work; an unreadable definition is shown, and cannot be restored."""
    await served.client.schedules.create("good", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    with closing(sqlite3.connect(tmp_path / "t.db")) as plain, plain:
        [(good,)] = plain.execute("SELECT definition FROM schedules").fetchall()
        rows = [*((name, good) for name in NAMES), *((f"bad-{place}", each) for place, each in enumerate(DEFINITIONS))]
        insert = "INSERT INTO schedules (namespace, name, definition) VALUES ('default', ?, ?)"
        plain.executemany(insert, rows)
    async with httpx.AsyncClient(base_url=served.url, timeout=30) as http:
        listed = (await http.get("/schedules")).text
        csrf = re.findall(r'name="csrf" content="([0-9a-f]+)"', listed)[0]
        links = {unescape(each) for each in re.findall(r'<a [^>]*href="(/schedules/[^"?#]+)"', listed)} - {
            "/schedules/new"
        }
        assert len(links) == len(rows) + 1
        for link in links:
            for page in (link, f"{link}/why", f"{link}/revisions", f"{link}/revisions/1/roll-back"):
                answer = await http.get(page)
                assert (answer.status_code < 500, "<b>'" in answer.text) == (True, False), page
                assert answer.status_code == 200 or page != link, page
        # Back to what was stored first, and is none.
        data = {"csrf": csrf, "revision": "1"}
        answer = await http.post("/schedules/bad-1/revisions/1/roll-back", data=data)
        assert (answer.status_code, "cannot be rolled back to revision 1" in answer.text) == (409, True)


async def test_a_schedule_of_an_unknown_kind_has_no_form(served: Served, tmp_path: Path) -> None:
    """An empty input for its task would hide the target."""
    definition = {
        "v": first_kind_format("nowhere") + 3,
        "trigger": {"every": {"hours": 1}},
        "target": {"nowhere": {"text": "hello"}},
    }
    with closing(sqlite3.connect(tmp_path / "t.db")) as plain, plain:
        insert = "INSERT INTO schedules (namespace, name, definition) VALUES ('default', 'foreign', ?)"
        plain.execute(insert, [json.dumps(definition)])
    async with httpx.AsyncClient(base_url=served.url, timeout=30) as http:
        shown = await http.get("/schedules/foreign")
        assert (shown.status_code, "nowhere" in shown.text) == (200, True)
        for page in ("/schedules/foreign/edit", "/schedules/new?from=foreign"):
            refused = await http.get(page)
            assert refused.status_code == 409
            assert "target kind 'nowhere' is not available here" in unescape(refused.text)
            assert "Install its package on the machines" in refused.text
            assert 'name="task"' not in refused.text


async def test_next_tick_that_will_be_skipped_is_marked(served: Served) -> None:
    """In the list and on its page: skipped by an operator, or by a closed day."""
    client = served.client
    days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    # Open three days from now on, and on none before.
    closed = [day for place, day in enumerate(days) if place != ((await client.system.now()).weekday() + 3) % 7]
    for name, exclude in (("daily", []), ("weekly", closed)):
        await client.schedules.create(name, every(days=1), "report", actor="ana", exclude=exclude, unknown_task_ok=True)
    async with httpx.AsyncClient(base_url=served.url) as http:
        assert "(operator)" not in (await http.get("/schedules")).text
        await client.schedules.skip("daily", actor="ana", count=3)
        for name, reason in (("daily", "operator"), ("weekly", "calendar")):
            for page in ("/schedules?state=active", f"/schedules/{name}"):
                assert f'<span class="quiet">will be skipped ({reason})' in (await http.get(page)).text, page
