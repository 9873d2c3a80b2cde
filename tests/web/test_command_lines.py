"""Command lines that forms offer: run in a real shell, they have the same effect as the form."""

import asyncio
import html
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from playwright.async_api import expect

from tests.web.conftest import Desk, Served, done
from tests.web.histories import make
from tests.web.making import enqueue
from tests.web.test_guard import Held
from tickbird.web.schedule_urls import schedule_path

NAME = "a/b?c'd\"$(touch pwned)`touch pwned`\\ !h *"
NOTE = 'it\'s "$(touch pwned)" `touch pwned` \\n -- -x \u202e ; touch pwned & | > < * ? [a] {b} ~ # %s'


async def shell(served: Served, folder: Path, line: str) -> None:
    """Run a copied line in a shell."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "TICKBIRD_URL": served.store.url, "PATH": path}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", line, env=environment, cwd=folder, stdout=pipe, stderr=pipe
    )
    said = b"".join(await process.communicate())
    assert process.returncode == 0, (line, said.decode())


@done
async def test_a_copied_line_does_what_the_form_would_do(served: Served, tmp_path: Path) -> None:
    """Names and notes with shell metacharacters; none of them is executed."""
    await make(served, NAME)
    await make(served, "-x")
    run = await enqueue(served)
    async with httpx.AsyncClient(base_url=served.url) as http:
        csrf = await Held(http).csrf()

        async def line(path: str, **fields: Any) -> str:
            answer = await http.post(path, data={"csrf": csrf, **fields})
            found = re.search(r'data-copy="([^"]*)"', answer.text)
            assert found is not None, answer.text
            return html.unescape(found[1])

        pause = await line(
            f"{quote(schedule_path(NAME))}/pause?look=1", note=NOTE, until_at="2090-01-01T10:00", tz="UTC"
        )
        bulk = await line("/bulk/pause", name=["-x", NAME], note=NOTE, until="1h", cancel_runs="1")
        cancel = await line(f"/runs/{run}/cancel?look=1", reason=NOTE)
        token = await line(
            "/settings/tokens/new?look=1", name="-bot", role="operator", ends="never", namespaces="default"
        )
        resume = await line("/bulk/resume", name="-x", note=NOTE)
        change = await line(f"/runs/{run}/change?look=1", **{"payload.whole": '{"a": "it\'s \\ud800"}'})
    assert (await served.client.runs.get(run)).status == "queued"
    assert "--note" in resume
    assert "\\ud800" in change
    await shell(served, tmp_path, f"{pause} && {cancel} && {token}")
    first = (await served.client.schedules.get(NAME)).pause
    assert first is not None
    assert (first.note, first.until) == (NOTE, 3_786_948_000)
    ended = await served.client.runs.get(run)
    assert (ended.status, ended.reason) == ("cancelled", NOTE)
    assert [each.name for each in await served.client.tokens.list()] == ["-bot"]
    await shell(served, tmp_path, bulk)
    second = (await served.client.schedules.get("-x")).pause
    assert second is not None
    assert second.note == NOTE
    await shell(served, tmp_path, "test ! -e pwned")


async def test_lines_follow_what_is_typed(desk: Desk, served: Served) -> None:
    """Also in the dialogs of runs and of bulk actions."""
    await make(served)
    run = await enqueue(served)
    page = await desk.open(f"/runs/{run}")
    await page.get_by_role("link", name="Cancel…").click()
    dialog = page.get_by_role("dialog", name="Action")
    await dialog.get_by_label("Reason").fill("too late")
    await expect(dialog.locator("#cli code")).to_have_text(f"tickbird cancel {run} --reason 'too late'")
    assert (await served.client.runs.get(run)).status == "queued"
    await desk.check("run-cancel-line")
    page = await desk.open("/schedules")
    await page.get_by_label("Select nightly", exact=True).check()
    await page.get_by_role("button", name="Pause…").click()
    await dialog.get_by_label("Reason").fill("upgrade")
    await dialog.get_by_label("Also cancel").check()
    said = 'for name in nightly; do tickbird pause --note upgrade --cancel-runs -- "$name"; done'
    await expect(dialog.locator("#cli code")).to_have_text(said)
    assert (await served.client.schedules.get("nightly")).state == "active"
