"""Steps that the tests of the PostgreSQL store share; seconds count from T0."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.store.contenders import PATIENCE
from tests.store.postgres.database import Database
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.codec import definition_text, encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.postgres import PostgresStore

T0 = datetime(2026, 1, 1, tzinfo=UTC)
MINUTELY = Definition(trigger=every(seconds=60), target=Target("work"))
WORKER = Worker(id="w", namespace="default", app="app", host="host", pid=1, version="0")


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not (found := await condition()):  # noqa: ASYNC110 - it comes true in another process
            await asyncio.sleep(0.01)
        return found


async def create(store: PostgresStore, name: str = "clock", definition: Definition = MINUTELY) -> int:
    command = Create(actor="ada", namespace="default", definition=definition)
    return (await store.schedules.change("default", name, command, now=T0)).schedule.id


async def create_many(database: Database, count: int, definition: Definition = MINUTELY) -> None:
    """Schedules s1, s2, …, which have been planned until T0 and are due at its first tick."""
    text = definition_text(encode_definition(definition))
    await database.execute(
        "INSERT INTO tickbird.schedules (name, definition) SELECT 's' || n, %s FROM generate_series(1, %s) AS n",
        text,
        count,
    )
    await database.execute("UPDATE tickbird.cursors SET planned_until = %s, next_run_at = %s", T0, later(60))


async def claim(store: PostgresStore, limit: int = 100, now: datetime | None = None) -> list[Any]:
    claimed = await store.leases.claim(WORKER, limit, 60, queues=["default"], targets=[("task", "work")], now=now)
    return list(claimed.runs)


class Gate:
    """Stops a coroutine function after its work, until it is let through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()
        real = getattr(module, name)

        async def gated(*values: Any, **named: Any) -> Any:
            result = await real(*values, **named)
            if not self.reached.is_set():
                self.reached.set()
                await self.open.wait()
            return result

        monkeypatch.setattr(module, name, gated)
