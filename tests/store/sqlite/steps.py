"""Steps that the tests of the SQLite store share; seconds count from T0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

T0 = datetime(2026, 1, 1, tzinfo=UTC)
DEFINITION = Definition(trigger=every(seconds=60), target=Target("work"))
TEXT = '{"v":1,"trigger":{"every":{"seconds":60}},"target":{"task":"work"}}'


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def a_worker(name: str = "w") -> Worker:
    return Worker(id=name, namespace="default", app="app", host="host", pid=1, version="0")


async def create(store: Store, name: str, definition: Definition = DEFINITION) -> int:
    command = Create(actor="ada", namespace="default", definition=definition)
    return (await store.schedules.change("default", name, command, now=T0)).schedule.id
