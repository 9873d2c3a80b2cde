"""Workers in processes of their own, whose consumers write their effects to the store's database."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from typing import Any

from tickbird import Event, EventBatch, Tickbird
from tickbird.engine.engine import EngineOptions
from tickbird.worker import WorkerProcess

URL = os.environ.get("CONSUMER_URL", "sqlite://:memory:")
IS_SQLITE = URL.startswith("sqlite")
bird = Tickbird(URL, app="shop")

CREATE = "CREATE TABLE effects (consumer text NOT NULL, event_id text NOT NULL, key text NOT NULL, n bigint NOT NULL{})"
INSERT = "INSERT INTO effects (consumer, event_id, key, n) VALUES (?, ?, ?, ?)"


def rows(consumer: str, events: list[Event]) -> list[tuple[Any, ...]]:
    return [(consumer, str(event.id), event.key, event.data["n"]) for event in events]


def connect() -> Any:
    if IS_SQLITE:
        return closing(sqlite3.connect(URL.removeprefix("sqlite:///"), timeout=30.0))
    import psycopg

    return psycopg.connect(URL)


def write(connection: Any, effects: list[tuple[Any, ...]]) -> None:
    connection.cursor().executemany(INSERT if IS_SQLITE else INSERT.replace("?", "%s"), effects)


@bird.consumer("orders.*", group="together", batch=20)
def together(batch: EventBatch) -> None:
    with connect() as connection:
        write(connection, rows("together", list(batch)))
        batch.commit(connection)
        connection.commit()


@bird.consumer("orders.*", group="single", batch=1, concurrency=2)
def single(batch: EventBatch) -> None:
    with connect() as connection:
        batch.commit(connection)
        write(connection, rows("single", list(batch)))
        connection.commit()


@bird.consumer("orders.*", group="apart", concurrency=2)
def apart(event: Event) -> None:
    with connect() as connection:
        write(connection, rows("apart", [event]))
        connection.commit()


if __name__ == "__main__":
    options = EngineOptions(lease=1.0, heartbeat=1.0, safety_poll=0.5, drain=10.0)
    asyncio.run(WorkerProcess(bird, options=options).run(signals=True))
