"""Planning on SQLite, compared with raw SQLite that writes the same rows in the same batches."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from bench.common import Options, Report, Table, interleave
from bench.database import DEFINITIONS, DUE, NOW
from tickbird.domain.schedules.codec import encode_definition
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database.connection import connect
from tickbird.store.sqlite.database.url import SqliteUrl

DUE_MICROS = int(DUE.timestamp()) * 1_000_000
NOW_MICROS = int(NOW.timestamp() * 1_000_000)
LOCK = """SELECT schedule_id, next_run_at, runs_planned FROM cursors
    WHERE next_run_at <= ? ORDER BY next_run_at LIMIT ?"""
MOVE = "UPDATE cursors SET next_run_at = ?, planned_until = ?, runs_planned = ? WHERE schedule_id = ?"
INSERT = """INSERT INTO runs (namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin,
    scheduled_for, due_at, available_at, crash_limit, created_at)
    VALUES ('default', ?1, 1, 'task', 'noop', 'default', 0, 'queued', 'schedule', ?2, ?2, ?2, 3, ?3)
    ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING"""


async def measure(options: Options, report: Report) -> None:
    """10,000 due, planned in batches by the store and by raw SQLite."""
    count = options.size(10_000, 40)
    batches = (10,) if options.quick else (100, 500, 1_000)
    with tempfile.TemporaryDirectory(prefix="tickbird-bench-") as folder:
        path = str(Path(folder) / "bench.db")
        store = SqliteStore(path)
        await store.open()
        db = connect(SqliteUrl(path))
        try:
            _fill(db, count)
            variants: dict[str, Callable[[], Awaitable[float]]] = {}
            for batch in batches:
                variants[f"Tickbird, SQLite, batch {batch}"] = partial(_plan, store, db, count, batch)
                variants[f"raw SQLite, batch {batch}"] = partial(_raw, db, count, batch)
            await _plan(store, db, count, batches[-1])
            rates = await interleave(options.size(7, 1), variants)
        finally:
            db.close()
            await store.close()
    report.samples |= rates.values
    rows = []
    for batch in batches:
        ours, raw = f"Tickbird, SQLite, batch {batch}", f"raw SQLite, batch {batch}"
        share = rates.ratio(ours, raw)
        rows.append([batch, rates.median(ours), rates.spread(ours), rates.median(raw), rates.spread(raw), share])
        if not options.quick:
            report.hold(
                f"SQLite, {count:,} due, batch {batch}, compared with raw SQLite", "≥ 0.40 ×", share, share >= 0.40
            )
    report.tables.append(
        Table(
            f"SQLite, {count:,} due: ticks per second, synchronous=FULL",
            ("batch", "Tickbird", "min – max", "raw", "min – max", "ratio"),
            rows,
        )
    )


def _fill(db: sqlite3.Connection, count: int) -> None:
    texts = [json.dumps(encode_definition(definition)) for definition in DEFINITIONS]
    db.execute("BEGIN")
    db.executemany(
        "INSERT INTO schedules (namespace, name, definition) VALUES ('default', ?, ?)",
        ((f"s{number}", texts[number % len(texts)]) for number in range(count)),
    )
    db.execute("COMMIT")


def _restore(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    db.execute("DELETE FROM runs")
    due = (DUE_MICROS - 60_000_000, DUE_MICROS)
    db.execute("UPDATE cursors SET planned_until = ?, next_run_at = ?, runs_planned = 0", due)
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


async def _plan(store: SqliteStore, db: sqlite3.Connection, count: int, batch: int) -> float:
    _restore(db)
    total = 0
    began = time.perf_counter()
    while True:
        planned = await store.planning.plan_due(batch, now=NOW)
        total += planned.runs
        if not planned.more:
            break
    seconds = time.perf_counter() - began
    assert total == count == db.execute("SELECT count(*) FROM runs").fetchone()[0]
    return count / seconds


async def _raw(db: sqlite3.Connection, count: int, batch: int) -> float:
    _restore(db)
    began = time.perf_counter()
    while True:
        db.execute("BEGIN IMMEDIATE")
        rows = db.execute(LOCK, (NOW_MICROS, batch)).fetchall()
        db.executemany(MOVE, [(due + 60_000_000, due, planned + 1, number) for number, due, planned in rows])
        db.executemany(INSERT, [(number, due, NOW_MICROS) for number, due, _ in rows])
        db.execute("COMMIT")
        if len(rows) < batch:
            break
    seconds = time.perf_counter() - began
    assert count == db.execute("SELECT count(*) FROM runs").fetchone()[0]
    return count / seconds
