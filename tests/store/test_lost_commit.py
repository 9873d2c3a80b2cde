"""The connection breaks at COMMIT, before or after the server receives it: enqueued runs exist once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest

from lab.faults import Proxy
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.postgres import PostgresStore


@pytest.fixture
def wire(postgres_url: str) -> Iterator[Proxy]:
    """A wire to a fresh database."""
    with Proxy(postgres_url) as wire:
        yield wire


@pytest.mark.parametrize("how", ["unheard", "unanswered"])
@pytest.mark.parametrize("key", [None, "order-17"])
async def test_an_enqueued_run_exists_once(wire: Proxy, how: Literal["unheard", "unanswered"], key: str | None) -> None:
    store = PostgresStore(wire.url)
    await store.migrate()
    await store.open()
    try:
        new = [NewRun(Target("work"), {"n": 1}), NewRun(Target("work"), {"n": 2}, idempotency_key=key)]
        wire.trick("COMMIT", how)
        ids = await store.runs.enqueue("default", new, "ada")
        assert wire.tricks == 1
        found = await store.runs.list("default")
        assert [run.id for run in found] == sorted(ids, reverse=True)
        assert {run.payload["n"] for run in found} == {1, 2}
    finally:
        await store.close()
