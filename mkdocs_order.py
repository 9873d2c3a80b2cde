"""Navigation for the pages that `mkdocs.yml` does not name: other pages, then decisions by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Append the missing pages; mkdocs calls it."""
    docs = Path(config["docs_dir"])
    named = set(_pages(config["nav"]))
    pages = [page.relative_to(docs).as_posix() for page in sorted(docs.rglob("*.md"))]
    missing = [page for page in pages if page not in named]
    decisions = [page for page in missing if page.startswith("decisions/")]
    others = [page for page in missing if page not in decisions]
    config["nav"] += [{title: part} for title, part in (("More", others), ("Decisions", decisions)) if part]
    return config


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in _pages(part)]
