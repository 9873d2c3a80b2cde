"""A file, a store on it, and a separate connection."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tickbird.store.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "tickbird.db")


@pytest.fixture
async def store(path: str) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def shell(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    """A person with the sqlite3 shell."""
    with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as shell:
        yield shell
