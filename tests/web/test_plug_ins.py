"""Pages with the kinds of other packages: broken texts, and forms with several targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest

from tests.plug_in_package import package
from tests.web.conftest import Served
from tests.web.pages.test_schedules import WORKER
from tickbird import every
from tickbird.domain.targets.registry import read_target

FAILING = """
@property
def line(self):
    raise RuntimeError("no line")
@property
def details(self):
    raise SystemExit(2)
@classmethod
def describe(cls, name):
    raise KeyError(name)
@classmethod
def requirement(cls, name):
    return None
"""


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., None]]:
    folder = tmp_path / "package"
    folder.mkdir()
    with package(folder) as write:
        yield write


async def test_pages_show_schedules_of_a_kind_with_failing_texts(served: Served, install: Callable[..., None]) -> None:
    install("shout", FAILING)
    spec = read_target({"shout": {"text": "hello", "channel": "loud"}}).spec
    assert spec is not None
    await served.store.workers.heartbeat(WORKER, live_for=600)
    await served.client.schedules.create("loud", every(hours=1), spec, actor="ana")
    await served.client.schedules.create("calm", every(hours=1), "report", actor="ana", unknown_task_ok=True)
    async with httpx.AsyncClient(base_url=served.url, timeout=30) as http:
        for path in ("/", "/schedules", "/schedules/loud", "/schedules/loud/edit", "/schedules/new", "/doctor"):
            page = await http.get(path)
            assert page.status_code == 200, path
        assert re.search(r"shout <code>(<[^>]*>)?loud<", (await http.get("/schedules/loud")).text)
        definition = {"trigger": {"every": {"hours": 1}}, "target": {"shout": {"text": "hello"}}}
        answer = await http.put("/api/v1/schedules/other", json={"definition": definition}, headers={"X-Tickbird": "1"})
        assert answer.status_code in (200, 201), answer.text


async def test_a_form_with_several_targets_is_refused_and_names_both_fields(
    served: Served, install: Callable[..., None]
) -> None:
    install("shout", "form = (FormField('text', 'Words'),)")
    origin = {"Origin": served.url}
    async with httpx.AsyncClient(base_url=served.url, timeout=30, headers=origin) as http:

        async def send(path: str, **texts: str) -> httpx.Response:
            page = (await http.get(path)).text
            hidden = dict(re.findall(r'<input type="hidden" name="(csrf|once|revision)" value="([^"]*)">', page))
            return await http.post(path, data={**hidden, "step": "save", **texts})

        new = {"name": "mixed", "when": "every 1h", "tz": "UTC"}
        for texts, labels in (
            ({"task": "report", "shout.text": "hello"}, "Task and Words"),
            ({"task": "", "shout.text": "hello", "echo.text": "a"}, "Text and Words"),
        ):
            answer = await send("/schedules/new", **new, **texts)
            assert answer.status_code == 422
            assert f"{labels}: a schedule has one target. Clear one of them." in unescape(answer.text)
        assert await served.client.schedules.list() == []

        assert (await send("/schedules/new", **new, task="", **{"shout.text": "hello"})).status_code == 303
        answer = await send("/schedules/mixed/edit", task="report", **{"shout.text": "hello"})
        assert "Task and Words: a schedule has one target." in unescape(answer.text)
        assert (await send("/schedules/mixed/edit", task="", **{"shout.text": "hi"})).status_code == 303
        assert (await send("/schedules/mixed/edit", task="report", **{"shout.text": ""})).status_code == 303
        assert (await served.client.schedules.get("mixed")).kind == "task"
