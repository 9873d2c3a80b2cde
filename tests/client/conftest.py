"""A store in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = SqliteStore(":memory:")
    await store.open()
    yield store
    await store.close()
