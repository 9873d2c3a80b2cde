"""The example of a consumer that commits with its effects delivers as printed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_snippets import ROOT, programs
from tests.engine.test_events import working
from tests.engine.test_worker import until


async def test_the_example_adds_up_each_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [code] = [code for code in programs(ROOT / "docs" / "events.md") if 'group="revenue"' in code]
    names: dict[str, Any] = {"__name__": "snippet"}
    exec(compile(code, "snippet", "exec", dont_inherit=True), names)
    await names["create_table"]()
    bird = names["bird"]
    event_id = await bird.publish("orders.paid", "OrderPaid", {"amount": 12.5}, key="42")

    async def rows() -> list[tuple[str, float]]:
        with closing(sqlite3.connect("shop.db")) as connection:
            return connection.execute("SELECT event, amount FROM revenue").fetchall()

    async with working(bird):
        await until(rows)
    assert await rows() == [(event_id, 12.5)]
    await bird.aclose()
