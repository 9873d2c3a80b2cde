"""Prose names methods of the client as they are: `client.schedules.pause`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tickbird.client import StoreClient
from tickbird.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Not the name of a page, such as http-client.md.
_METHOD = re.compile(r"(?<![-\w])(?:client|bird\.sync)\.(?!md\b)([a-z_]+)(?:\.([a-z_]+))?(\(?)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_methods_of_the_client_exist(page: Path, tmp_path: Path) -> None:
    client = StoreClient(SqliteStore(str(tmp_path / "tickbird.db")))
    for match in _METHOD.finditer(page.read_text()):
        noun, verb, called = match.groups()
        assert hasattr(client, noun), f"{match[0]} is no noun of the client"
        assert verb is None or hasattr(getattr(client, noun), verb), f"{match[0]} is no method of the client"
        assert verb is not None or not called or callable(getattr(client, noun)), f"{match[0]} names no verb"
