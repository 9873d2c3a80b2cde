"""The documentation as a site: its order holds, nothing comes from elsewhere, and it builds."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BUILDER = ROOT / ".venv-docs" / "bin" / "python"


def test_the_order_names_pages_once_and_only_such_as_exist() -> None:
    order = re.findall(r"[\w/.-]+\.md", (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[2])
    assert len(order) == len(set(order)) >= 15
    assert [name for name in order if not (ROOT / "docs" / name).is_file()] == []


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_a_page_needs_no_network(page: Path) -> None:
    """A diagram in the language of mermaid would be drawn by a script from another server."""
    text = page.read_text()
    assert "```mermaid" not in text
    assert not re.search(r"!\[[^]]*\]\(https?:|<(script|img|iframe|link)\b", text)


@pytest.mark.skipif(not (BUILDER.parents[1] / ".ready-docs").is_file(), reason="`./dev docs` makes its environment")
def test_the_site_builds_and_needs_no_network(tmp_path: Path) -> None:
    build = [str(BUILDER), "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 10_000
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img|iframe)[^>]*?(?:src|href)=\"((?:https?:)?//[^\"]+)", page.read_text())
        assert not loaded, page.name
