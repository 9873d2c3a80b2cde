"""The same history gives the same responses on every store."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.planning.histories import History
from tickbird.store.protocol.store import Store


@pytest.mark.parametrize("seed", range(100, 106))
async def test_stores_agree_on_a_history(
    memory_pair: tuple[Store, Store], sqlite_pair: tuple[Store, Store], postgres_pair: tuple[Store, Store], seed: int
) -> None:
    traces: list[list[Any]] = []
    for store, _ in (memory_pair, sqlite_pair, postgres_pair):
        history = History(store, seed)
        await history.play(60)
        traces.append(history.trace)
    memory, sqlite, postgres = traces
    for ours, theirs in zip(memory, sqlite, strict=True):
        assert ours == theirs
    for ours, theirs in zip(memory, postgres, strict=True):
        assert ours == theirs
