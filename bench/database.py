"""A separate PostgreSQL with durability on, and databases full of schedules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import psycopg

from bench.bare import STATEMENTS as BARE
from bench.common import SERVER_SETTINGS
from lab.servers import PostgresServer
from tickbird import cron, every
from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.store.postgres import PostgresStore
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.sql import load_statements

STATEMENTS: Final = {name: text.encode() for name, text in load_statements("bench", "database").items()}

# An instant in winter that is a tick of all these schedules.
DUE: Final = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
# The planner runs a moment later: on time, so that each tick becomes one run.
NOW: Final = DUE + timedelta(milliseconds=200)
TRIGGERS: Final = (
    cron("*/5 * * * *", tz="America/New_York"),
    cron("0 * * * *", tz="Europe/Berlin"),
    cron("0 7 * * *", tz="America/New_York"),
    every(minutes=1),
)
DEFINITIONS: Final = tuple(Definition(trigger=trigger, target=Target("noop")) for trigger in TRIGGERS)


@contextmanager
def server(settings: dict[str, str] | None = None) -> Iterator[PostgresServer]:
    """A server that flushes every commit to the disk."""
    with PostgresServer(fsync=True, settings={**SERVER_SETTINGS, **(settings or {})}) as running:
        yield running


def version(url: str) -> str:
    """The version of a server."""
    with psycopg.connect(url) as connection:
        return str(connection.execute("SHOW server_version").fetchall()[0][0])


class Schedules:
    """A database with schedules 1 … n, which can be made due again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._db = psycopg.connect(url, autocommit=True)

    def close(self) -> None:
        self._db.close()

    async def make(self, count: int, definitions: tuple[Definition, ...] = DEFINITIONS) -> None:
        """Migrate, and store this number of schedules, all of them due."""
        await PostgresStore(self.url).migrate()
        self._db.execute(BARE["make_narrow"])
        texts = [json.dumps(encode_definition(definition)) for definition in definitions]
        # Without row triggers and foreign keys, which would take most of the time.
        self._db.execute("SET session_replication_role = replica")
        for first in range(1, count + 1, 100_000):
            last = min(count, first + 99_999)
            values = {"definitions": texts, "first": first, "last": last, "due": int(DUE.timestamp())}
            self._db.execute(STATEMENTS["fill"], values)
        self._db.execute("SET session_replication_role = origin")
        self._vacuum("schedules", "revisions", "cursors", "schedule_search")

    def restore(self, count: int) -> None:
        """Make the first `count` schedules due, with no runs and no dead rows."""
        self._db.execute("TRUNCATE tickbird.runs, tickbird.skips, tickbird.cursors")
        self._db.execute(STATEMENTS["restore"], {"count": count, "due": int(DUE.timestamp())})
        self._vacuum("cursors")

    def restore_narrow(self, count: int) -> None:
        """The same for the bare claimer's tables."""
        self._db.execute("TRUNCATE bare.cursors, bare.runs")
        self._db.execute(BARE["fill_narrow"], {"count": count, "due": int(DUE.timestamp()), "seconds": 60})
        self._db.execute("ANALYZE bare.cursors")

    def scatter(self, apart: int) -> None:
        """Make only every `apart`-th schedule due."""
        self._db.execute(STATEMENTS["scatter"], {"apart": apart, "due": int(DUE.timestamp())})
        self._vacuum("cursors")

    def restore_scattered(self) -> None:
        """Make planned schedules due again."""
        self._db.execute(STATEMENTS["restore_scattered"], {"due": int(DUE.timestamp())})
        self._db.execute("TRUNCATE tickbird.runs")
        self._vacuum("cursors")

    def _vacuum(self, *tables: str) -> None:
        for table in tables:
            self._db.execute(f"VACUUM (ANALYZE) tickbird.{table}".encode())
        self._db.execute("CHECKPOINT")

    def ticks(self) -> tuple[int, int]:
        """The number of runs, and of their distinct ticks."""
        [(runs, ticks)] = self._db.execute(STATEMENTS["count_ticks"]).fetchall()
        return runs, ticks

    def due(self, now: datetime = NOW) -> int:
        return int(self._db.execute(STATEMENTS["count_due"], {"now": now}).fetchall()[0][0])

    def execute(self, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
        cursor = self._db.execute(statement.encode(), values)
        return cursor.fetchall() if cursor.description else []


def warm(revisions: RevisionCache, count: int, definitions: tuple[Definition, ...] = DEFINITIONS) -> None:
    """Fill the cache as a planner that has planned all of these schedules before."""
    for number in range(1, count + 1):
        revisions.add((number, 1), RevisionInfo("default", f"s{number}", definitions[number % len(definitions)]))
