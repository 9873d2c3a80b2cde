"""Every Python snippet of the README and the docs runs; a snippet that says so continues the one before."""

from __future__ import annotations

import inspect
import re
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.client.http.servers import make_token, serving

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def programs(page: Path) -> list[str]:
    """The page's programs, each one or more snippets long."""
    found: list[str] = []
    for code in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        if code.startswith("# continues"):
            found[-1] += code
        else:
            found.append(code)
    return found


CASES = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, code in enumerate(programs(page), 1)
]


@pytest.mark.parametrize("code", CASES)
async def test_a_snippet_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TICKBIRD_URL", raising=False)
    with ExitStack() as ending:
        if "Tickbird.connect()" in code:
            url = f"sqlite:///{tmp_path}/served.db"
            monkeypatch.setenv("TICKBIRD_TOKEN", await make_token(url, "editor", "default"))
            monkeypatch.setenv("TICKBIRD_SERVER", ending.enter_context(serving(url)))
        await run(code)


async def run(code: str) -> None:
    """A program, and each of its functions that needs nothing."""
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet", "exec", dont_inherit=True), names)
    for name, value in list(names.items()):
        if inspect.iscoroutinefunction(value) and value.__module__ == "snippet":
            if name.startswith("test_") and "calls" in names:
                names["calls"].clear()
            if not inspect.signature(value).parameters:
                await value()
    if (bird := names.get("bird")) is not None:
        await bird.aclose()


def test_there_are_snippets() -> None:
    assert len(CASES) >= 5


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
