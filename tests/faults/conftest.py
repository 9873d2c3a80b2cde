"""A fleet on each store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lab.faults import Fleet
from tickbird.client import Client, StoreClient
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of the store: a SQLite file, or a PostgreSQL database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tickbird.db"
    address: str = request.getfixturevalue("migrated_url")
    return address


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """The store, open in this process."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def client(store: Store) -> Client:
    """The client of a user."""
    return StoreClient(store)


@pytest.fixture
def fleet(url: str, store: Store, tmp_path: Path) -> Iterator[Fleet]:
    """Worker processes, killed in the end."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    fleet = Fleet(url, folder)
    yield fleet
    fleet.close()
