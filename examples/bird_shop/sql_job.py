"""A temporary PostgreSQL server with a job that is defined by plain SQL: `./dev run --store postgres`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from lab.servers import PostgresServer
from tickbird.stores import open_store


@contextmanager
def temporary_server() -> Iterator[str]:
    """Start a server, migrate its store, execute sql_job.sql, and yield the URL of the store."""
    with PostgresServer() as server:
        asyncio.run(open_store(server.url).migrate())
        with psycopg.connect(server.url) as connection:
            connection.execute(Path(__file__).with_suffix(".sql").read_bytes())
        yield server.url
