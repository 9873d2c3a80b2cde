"""The records of the store and the journals of the workers, read without any version's code."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

FINAL = ("succeeded", "failed", "cancelled")
_RUNS = {
    "postgres": """
        SELECT r.id, s.name, extract(epoch FROM r.scheduled_for)::bigint, r.status, r.attempt, r.crashes, r.result::text
        FROM tickbird.runs AS r JOIN tickbird.schedules AS s ON s.id = r.schedule_id WHERE s.app = 'load' ORDER BY r.id
    """,
    "sqlite": """
        SELECT r.id, s.name, r.scheduled_for / 1000000, r.status, r.attempt, r.crashes, r.result
        FROM runs AS r JOIN schedules AS s ON s.id = r.schedule_id WHERE s.app = 'load' ORDER BY r.id
    """,
}
_SKIPS = {
    "postgres": """
        SELECT s.name, extract(epoch FROM k.first_at)::bigint, extract(epoch FROM k.last_at)::bigint, k.count
        FROM tickbird.skips AS k JOIN tickbird.schedules AS s ON s.id = k.schedule_id WHERE s.app = 'load'
    """,
    "sqlite": """
        SELECT s.name, k.first_at / 1000000, k.last_at / 1000000, k.count
        FROM skips AS k JOIN schedules AS s ON s.id = k.schedule_id WHERE s.app = 'load'
    """,
}


def ask(url: str, statements: dict[str, str]) -> list[Any]:
    """The rows of a statement."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)) as db:
            return db.execute(statements["sqlite"]).fetchall()
    with psycopg.connect(url) as connection:
        return connection.execute(statements["postgres"].encode()).fetchall()


@dataclass(frozen=True)
class StoredRun:
    """The columns of a run that every version stores."""

    id: int
    schedule: str
    tick: int | None
    status: str
    attempt: int
    crashes: int
    result: str | None


def stored_runs(url: str) -> Sequence[StoredRun]:
    """The runs of the app's schedules, oldest first."""
    return [StoredRun(*row) for row in ask(url, _RUNS)]


def notes(folder: Path, event: str = "ran") -> list[dict[str, Any]]:
    """The journals of the workers; an incomplete last line does not count."""
    lines = [line for path in folder.glob("*.ledger") for line in path.read_bytes().split(b"\n")[:-1]]
    return [note for note in map(json.loads, lines) if note["event"] == event]


def check(url: str, folder: Path, minimum: int) -> None:
    """Every tick of every clock was decided once, every run was executed once, and nothing is left half-done."""
    runs = stored_runs(url)
    skips = ask(url, _SKIPS)
    for name in ("clock-0", "clock-1", "clock-2"):
        decided = Counter(run.tick for run in runs if run.schedule == name and run.tick is not None)
        for _, first, last, count in (skip for skip in skips if skip[0] == name):
            assert last - first + 1 == count
            decided.update(range(first, last + 1))
        assert sorted(decided.elements()) == list(range(min(decided), max(decided) + 1)), f"{name}: lost or doubled"
        assert len(decided) >= minimum
    ran = notes(folder)
    assert max(Counter((note["run"], note["attempt"]) for note in ran).values()) == 1, "one attempt ran twice"
    done = {(note["run"], note["attempt"]): note["pid"] for note in ran}
    for run in runs:
        # Runs that were planned last wait for the next worker.
        assert run.status in ("succeeded", "queued"), run
        assert run.crashes == 0, run
        if run.status == "succeeded":
            assert done[run.id, run.attempt] == int(run.result or 0), "the wrong process was believed"
    assert {note["run"] for note in ran} == {run.id for run in runs if run.status == "succeeded"}
