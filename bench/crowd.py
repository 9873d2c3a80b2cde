"""Stores of a large team after some time: the requested number of schedules and runs, written as sets."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from bench.database import Schedules
from bench.history import STATEMENTS as HISTORY
from tickbird import cron, every
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.store.shared.sql import load_statements
from tickbird.store.sqlite import SqliteStore

STATEMENTS: Final = load_statements("bench", "crowd")
# Seconds over which the runs are spread, at least one second apart for each schedule.
SPAN: Final = 7 * 86_400
AUDITED: Final = 50_000
_BATCH: Final = 500_000


def definitions() -> tuple[Definition, ...]:
    """A few hundred typical triggers, tags and targets."""
    zones = ("UTC", "Europe/Rome", "America/New_York", "Asia/Kolkata")
    daily = [cron(f"{number % 60} {number % 24} * * *", tz=zones[number % 4]) for number in range(240)]
    triggers = [*daily, *(every(minutes=number) for number in (5, 10, 15, 20, 30, 60))]
    return tuple(
        Definition(
            trigger=trigger,
            target=Target(f"shop.task{index % 50}"),
            tags=(f"team{index % 12}", f"tier{index % 3}"),
            payload={"limit": index, "region": "eu-west"},
            spread=600 if index % 5 == 0 else 0,
        )
        for index, trigger in enumerate(triggers)
    )


@dataclass(frozen=True)
class Crowd:
    """The sizes; the newest run is due at `now`."""

    schedules: int
    runs: int
    now: datetime

    @property
    def values(self) -> dict[str, Any]:
        apart = max(1 / self.schedules, SPAN / self.runs)
        return {
            "schedules": self.schedules,
            "total": self.runs,
            "apart": apart,
            "now": int(self.now.timestamp()),
            "entries": min(self.runs, AUDITED),
        }

    async def on_postgres(self, url: str) -> None:
        stored = Schedules(url)
        await stored.make(self.schedules, definitions())
        stored.execute("SET session_replication_role = replica")
        stored.execute("SET synchronous_commit = off")
        indexes = stored.execute(HISTORY["indexes"])
        for index, _ in indexes:
            stored.execute(f"DROP INDEX tickbird.{index}")
        for first in range(1, self.runs + 1, _BATCH):
            bounds = {"first": first, "last": min(self.runs, first + _BATCH - 1)}
            stored.execute(STATEMENTS["crowd_runs"], {**self.values, **bounds})
        for _, statement in indexes:
            stored.execute(statement)
        for name in ("crowd_states", "crowd_pauses", "crowd_skips", "crowd_audit"):
            stored.execute(STATEMENTS[name], self.values)
        stored.execute("VACUUM (ANALYZE)")
        stored.close()

    async def on_sqlite(self, path: Path) -> None:
        """Fill a file that does not exist yet."""
        store = SqliteStore(str(path))
        await store.open()
        await store.close()
        texts = json.dumps([encode_definition(definition) for definition in definitions()])
        with closing(sqlite3.connect(path)) as db:
            db.execute(STATEMENTS["lite_crowd_schedules"], {**self.values, "definitions": texts})
            db.execute(STATEMENTS["lite_crowd_states"], self.values)
            db.execute(STATEMENTS["lite_crowd_runs"], {**self.values, "first": 1, "last": self.runs})
            db.execute(HISTORY["lite_counters"])
            for name in ("lite_crowd_skips", "lite_crowd_audit"):
                db.execute(STATEMENTS[name], self.values)
            db.execute("ANALYZE")
            db.commit()
