"""A list from the cache equals the list of a store without a cache."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from conformance.steps import a_worker
from tests.store.postgres.database import Database, opened
from tickbird.client import StoreClient
from tickbird.domain.runs.run import Outcome
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore

SOON = datetime(2100, 1, 1, tzinfo=UTC)


async def test_every_change_is_seen(store: PostgresStore, database: Database) -> None:
    client = StoreClient(store)
    for name in ("a", "b", "c"):
        await client.schedules.create(name, every(hours=1), "work", actor="ana", unknown_task_ok=True, overlap="queue")

    async def end(status: str) -> None:
        claimed = await store.leases.claim(a_worker(), 1, 60, queues=["default"], targets=[("task", "work")])
        await store.leases.finish([Outcome(run.id, run.attempt, status) for run in claimed.runs])  # type: ignore[arg-type]

    async def trigger() -> None:
        await client.schedules.trigger("b", actor="ana")

    async def sql(statement: str) -> None:
        await database.execute(statement)

    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "nothing": client.system.now,
        "a run": trigger,
        "a second run": trigger,
        "the first fails": lambda: end("failed"),
        "an older run than the newest ends": lambda: end("failed"),
        "one more": trigger,
        "it succeeds": lambda: end("succeeded"),
        "a pause": lambda: client.schedules.pause("b", actor="ana", note="rain"),
        "a note by plain SQL": lambda: sql("UPDATE tickbird.schedules SET pause_note = 'sun' WHERE name = 'b'"),
        "going on": lambda: client.schedules.resume("b", actor="ana"),
        "an edit": lambda: client.schedules.update("b", actor="ana", retries=3),
        "a moved tick": lambda: client.schedules.reschedule("b", SOON, actor="ana"),
        "a skip": lambda: client.schedules.skip("a", 2, actor="ana"),
        "held runs": lambda: sql(
            "UPDATE tickbird.runs SET status = 'waiting', lane = 2, finished_at = NULL"
            " WHERE id = (SELECT min(id) FROM tickbird.runs)"
        ),
        "a deleted schedule": lambda: client.schedules.delete("c", actor="ana"),
        "the same name again": lambda: client.schedules.create(
            "c", every(days=1), "work", actor="ana", unknown_task_ok=True
        ),
        "all runs pruned": lambda: sql("DELETE FROM tickbird.runs WHERE status IN ('succeeded', 'failed')"),
    }
    await client.schedules.list()
    for step, change in steps.items():
        await change()
        async with opened(database.url) as fresh:
            expected = await fresh.schedules.list("default")
        assert await store.schedules.list("default") == expected, step
        # The second time, nothing is read but the versions.
        assert await store.schedules.list("default") == expected, step


async def test_an_unchanged_summary_is_the_same_object(store: PostgresStore) -> None:
    client = StoreClient(store)
    for name in ("a", "b"):
        await client.schedules.create(name, every(hours=1), "work", actor="ana", unknown_task_ok=True)
    first = await store.schedules.list("default")
    await client.schedules.pause("a", actor="ana", until=datetime.now(UTC) + timedelta(days=1))
    second = await store.schedules.list("default")
    assert [one is other for one, other in zip(first, second, strict=True)] == [False, True]
