"""The page about stores has every capability, as the store protocol declares it."""

from __future__ import annotations

import re
from pathlib import Path

from tickbird.store.postgres import PostgresStore
from tickbird.store.protocol.capabilities import CAPABILITIES
from tickbird.store.sqlite import SqliteStore

PAGE = (Path(__file__).parents[2] / "docs" / "stores.md").read_text()


def test_the_table_has_each_capability_as_it_is_declared() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \| (.*) \|$", PAGE, re.MULTILINE)
    declared = [
        (name, each.feature, each.loss, ", ".join(f"`{field}`" for field in each.fields))
        for name, each in CAPABILITIES.items()
    ]
    assert [(name, feature, loss, fields.strip()) for name, feature, loss, fields in rows] == declared


def test_the_stores_lack_what_the_page_says() -> None:
    for title, store in (("PostgreSQL", PostgresStore("postgresql://db/app")), ("SQLite", SqliteStore(":memory:"))):
        [lacks] = re.findall(rf"^\| {title} \|.*\| (.*) \|$", PAGE, re.MULTILINE)
        assert (lacks == "nothing") == (store.capabilities == CAPABILITIES.keys())
