"""The views schedule_t, event_store_t and outbox_message_t."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors
from psycopg.rows import dict_row

from tests.store.postgres.database import Database, create_role, opened
from tickbird.client import StoreClient
from tickbird.domain.events.event import NewEvent
from tickbird.domain.schedules.event_schedule import read_event_schedule
from tickbird.domain.targets.event import event
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.store.postgres import PostgresStore
from tickbird.store.postgres.database.schema_name import statements

# As light-portal's scheduler reads its table.
POLL = """
SELECT * FROM schedule_t
WHERE active = true AND next_run_ts <= CURRENT_TIMESTAMP
ORDER BY next_run_ts ASC
LIMIT %s
"""
ROW: dict[str, Any] = {
    "schedule_name": "report",
    "frequency_unit": "HOURS",
    "frequency_time": 2,
    "start_ts": "2026-01-01T00:00:07Z",
    "event_topic": "portal-event",
    "event_type": "ReportDue",
    "event_data": '{"format": "pdf"}',
    "host_id": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
}
HEAD = ["id", "host_id", "user_id", "nonce", "aggregate_id", "aggregate_version", "aggregate_type", "event_type"]
COLUMNS = {
    "schedule_t": [
        *("schedule_id", "host_id", "schedule_name", "frequency_unit", "frequency_time", "start_ts", "next_run_ts"),
        *("event_topic", "event_type", "event_data", "aggregate_version", "active"),
    ],
    "event_store_t": [*HEAD, "event_ts", "payload", "metadata"],
    "outbox_message_t": [
        *(*HEAD, "event_ts", "payload", "metadata"),
        *("c_offset", "transaction_id", "transaction_ordinal", "transaction_count"),
    ],
}


class Portal:
    """A store, and sessions that find the views without naming the schema."""

    def __init__(self, store: PostgresStore, url: str) -> None:
        self.store = store
        self.client = StoreClient(store)
        self.url = url

    @asynccontextmanager
    async def session(self) -> AsyncIterator[psycopg.AsyncConnection[dict[str, Any]]]:
        async with await psycopg.AsyncConnection.connect(self.url, autocommit=True, row_factory=dict_row) as session:
            await session.execute("SET search_path = tickbird, public")
            yield session

    async def rows(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        async with self.session() as session:
            return await (await session.execute(statement.encode(), values)).fetchall()

    async def stamp(self) -> None:
        await self.store.events.add_stream("default")
        while (await self.store.events.stamp()).more:
            pass


@pytest.fixture
async def portal(any_migrated_url: str) -> AsyncIterator[Portal]:
    async with opened(any_migrated_url) as store:
        yield Portal(store, any_migrated_url)


async def test_columns_are_those_of_light_portal(portal: Portal) -> None:
    rows = await portal.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'tickbird'"
        " AND table_name = ANY(%s) ORDER BY ordinal_position",
        [*COLUMNS],
    )
    found = {view: [row["column_name"] for row in rows if row["table_name"] == view] for view in COLUMNS}
    assert found == COLUMNS


async def test_row_of_a_schedule(portal: Portal) -> None:
    created = await portal.client.event_schedules.put(**ROW, actor="ana")
    [row] = await portal.rows("SELECT * FROM schedule_t")
    again = await portal.client.event_schedules.put(**ROW | {"frequency_time": 3}, active=False, actor="ana")
    [changed] = await portal.rows("SELECT * FROM schedule_t")
    assert isinstance(row["schedule_id"], UUID)
    assert row["next_run_ts"].timestamp() == created.schedule.cursor.next_run_at
    assert row == ROW | {
        "schedule_id": changed["schedule_id"],
        "start_ts": datetime(2026, 1, 1, 0, 0, 7, tzinfo=UTC),
        "next_run_ts": row["next_run_ts"],
        "aggregate_version": 1,
        "active": True,
    }
    assert (changed["frequency_time"], changed["active"]) == (3, False)
    assert changed["aggregate_version"] == again.schedule.revision
    read = read_event_schedule(row)
    assert (read.name, read.definition.trigger) == ("report", every(hours=2, anchor=row["start_ts"]))


async def test_the_poll_of_light_portal_works_as_printed(portal: Portal) -> None:
    for number, name in enumerate(("late", "later", "latest", "future", "paused"), 1):
        row = ROW | {"schedule_name": name, "active": name != "paused"}
        await portal.client.event_schedules.put(**row, actor="ana")
        minutes = 60 if name == "future" else -number
        await portal.rows(
            "UPDATE cursors AS c SET next_run_at = now() + %s * interval '1 min' FROM schedules AS s"
            " WHERE s.id = c.schedule_id AND s.name = %s AND c.state = 'active' RETURNING 1",
            minutes,
            name,
        )
    assert [row["schedule_name"] for row in await portal.rows(POLL, 10)] == ["latest", "later", "late"]
    assert [row["schedule_name"] for row in await portal.rows(POLL, 1)] == ["latest"]


async def test_intervals_of_every_form_and_no_other_schedules(portal: Portal) -> None:
    start = datetime(2026, 3, 1, 12, tzinfo=UTC)
    target = event("a.b", "A", data={"x": 1, "y": 1})
    triggers = {
        "seconds": every(seconds=30),
        "mixed": every(hours=1, minutes=30, anchor=start),
        "weeks": every(weeks=2),
        "months": every(years=1, months=6, anchor=start, tz="Europe/Rome"),
        "days": every(days=3, anchor=start, tz="America/New_York"),
        "cron": cron("0 3 * * *"),
    }
    for name, trigger in triggers.items():
        await portal.client.schedules.create(name, trigger, target, payload={"y": 2}, actor="ana")
    await portal.client.schedules.create("task", every(hours=1), "work", actor="ana", unknown_task_ok=True)
    other = portal.client.in_namespace("other")
    await other.schedules.create("elsewhere", every(hours=1), target, actor="ana")
    await portal.client.schedules.create("gone", every(hours=1), target, actor="ana")
    await portal.client.schedules.delete("gone", actor="ana")
    rows = await portal.rows("SELECT * FROM schedule_t ORDER BY schedule_name")
    found = {row["schedule_name"]: (row["frequency_time"], row["frequency_unit"], row["start_ts"]) for row in rows}
    assert found == {
        "seconds": (30, "SECONDS", datetime(1970, 1, 1, tzinfo=UTC)),
        "mixed": (90, "MINUTES", start),
        "weeks": (2, "WEEKS", datetime(1970, 1, 5, tzinfo=UTC)),
        "months": (18, "MONTHS", start),
        "days": (3, "DAYS", start),
    }
    assert {row["event_data"] for row in rows} == {'{"x": 1, "y": 2}'}


async def test_a_definition_that_cannot_be_read_hides_only_itself(portal: Portal) -> None:
    await portal.client.event_schedules.put(**ROW, actor="ana")
    trigger = '{"every": {"minutes": "soon"}, "anchor": "2026-99-01T00:00:00"}'
    await portal.rows(
        "INSERT INTO schedules (name, definition) VALUES ('broken', jsonb_build_object('trigger', %s::jsonb, 'target',"
        """ '{"event": {"topic": "a", "type": "A"}}'::jsonb)) RETURNING 1""",
        trigger,
    )
    assert [row["schedule_name"] for row in await portal.rows("SELECT * FROM schedule_t")] == ["report"]


async def test_events_are_in_both_views_when_they_have_a_position(portal: Portal) -> None:
    together = [NewEvent(topic="orders", type="Paid", key=key, data={"n": 1}, tenant="shop") for key in "ab"]
    await portal.store.events.publish("default", together, source="/shop", actor="ana")
    await portal.store.events.publish("other", together, source="/shop", actor="ana")
    single = NewEvent(topic="orders", type="Paid", key="a", headers={"traceparent": "x"})
    [last] = await portal.store.events.publish("default", [single], source="/shop", actor="bo")
    assert await portal.rows("SELECT * FROM event_store_t") == []
    await portal.stamp()
    first, second, third = await portal.rows(
        "SELECT * FROM outbox_message_t WHERE c_offset > 0 ORDER BY c_offset LIMIT 10"
    )
    assert [row["c_offset"] for row in (first, second, third)] == [1, 2, 3]
    assert [(row["aggregate_id"], row["aggregate_version"]) for row in (first, second, third)] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
    ]
    assert [(row["transaction_ordinal"], row["transaction_count"]) for row in (first, second, third)] == [
        (0, 2),
        (1, 2),
        (0, 1),
    ]
    assert first["transaction_id"] == second["transaction_id"] != third["transaction_id"]
    assert (first["host_id"], first["user_id"], first["payload"]) == ("shop", "ana", {"n": 1})
    stored = await portal.rows("SELECT * FROM event_store_t WHERE id = %s", last)
    assert stored == [{name: third[name] for name in COLUMNS["event_store_t"]}]
    assert third["metadata"] == {"source": "/shop", "headers": {"traceparent": "x"}}


async def test_event_of_a_tick(portal: Portal) -> None:
    await portal.client.event_schedules.put(**ROW, actor="ana")
    run = await portal.client.schedules.trigger("report", actor="ana")
    await portal.stamp()
    [row] = await portal.rows("SELECT * FROM event_store_t")
    assert (row["aggregate_id"], row["aggregate_version"], row["host_id"]) == ("report", 1, ROW["host_id"])
    assert (row["payload"], row["metadata"]["run_id"]) == ({"format": "pdf"}, run.id)


@pytest.mark.parametrize("view", COLUMNS)
async def test_views_are_read_only(portal: Portal, view: str) -> None:
    async with portal.session() as session:
        with pytest.raises(errors.ObjectNotInPrerequisiteState, match="cannot"):
            await session.execute(f"DELETE FROM {view}".encode())
        with pytest.raises(errors.ObjectNotInPrerequisiteState, match="cannot"):
            await session.execute(f"UPDATE {view} SET event_type = 'x'".encode())


async def test_only_viewers_may_read(portal: Portal) -> None:
    database = Database(portal.url)
    await database.execute(statements()["create_roles"])
    await create_role(database, "portal_viewer")
    await create_role(database, "portal_guest")
    await database.execute("GRANT tickbird_viewer TO portal_viewer")
    await database.execute("GRANT USAGE ON SCHEMA tickbird TO portal_guest")
    await portal.client.event_schedules.put(**ROW, actor="ana")
    await portal.client.events.publish("orders", "Paid", actor="ana")
    await portal.stamp()
    for view in COLUMNS:
        async with portal.session() as session:
            await session.execute(b"SET SESSION AUTHORIZATION portal_viewer")
            cursor = await session.execute(f"SELECT count(*) AS n FROM {view}".encode())
            assert await cursor.fetchall() == [{"n": 1}]
            await session.execute(b"SET SESSION AUTHORIZATION portal_guest")
            with pytest.raises(errors.InsufficientPrivilege):
                await session.execute(f"SELECT FROM {view}".encode())


@pytest.mark.parametrize(
    "question",
    [
        "SELECT * FROM event_store_t WHERE id = '01964b05-552a-7c4b-9184-6857e7f3dc5f'",
        "SELECT * FROM event_store_t WHERE aggregate_id = 'k7' ORDER BY aggregate_version",
        "SELECT * FROM outbox_message_t WHERE c_offset > 19000 ORDER BY c_offset LIMIT 100",
        POLL % 10,
    ],
)
async def test_reads_use_indexes(portal: Portal, question: str) -> None:
    await portal.rows(
        """INSERT INTO events (time, event_id, partition, namespace, topic, type, source, key, data)
        SELECT now(), gen_random_uuid(), 1, 'default', 'orders', 'Paid', '/shop', 'k' || n, '{}'
        FROM generate_series(1, 20000) AS n RETURNING 1"""
    )
    await portal.rows(
        """INSERT INTO event_log (position, event, version, partition, namespace, topic, key)
        SELECT row_number() OVER (ORDER BY id), id, 1, 1, namespace, topic, key FROM events RETURNING 1"""
    )
    await portal.rows(
        """INSERT INTO schedules (name, definition) SELECT 's' || n,
        '{"trigger": {"every": {"hours": 1}}, "target": {"event": {"topic": "a", "type": "A"}}}'
        FROM generate_series(1, 2000) AS n RETURNING 1"""
    )
    await portal.rows("UPDATE cursors SET next_run_at = now() + interval '1 h' WHERE schedule_id %% 50 > 0 RETURNING 1")
    async with portal.session() as session:
        await session.execute("ANALYZE")
        plan = await (await session.execute(f"EXPLAIN {question}".encode())).fetchall()
    lines = [row["QUERY PLAN"] for row in plan]
    assert not [line for line in lines if "Seq Scan on" in line and "sql_settings" not in line and "pg_" not in line], (
        lines
    )
    assert any("Index" in line for line in lines), lines
