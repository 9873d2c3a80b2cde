"""What happened on SQLite, where whoever dates something is the only writer until it is committed."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark
from tickbird.domain.runs.run import RunRecord
from tickbird.store.shared.activity import ids_of, merge_activity
from tickbird.store.sqlite.database.instants import clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import audit_record, dump, run_record, skip_record


def settle(db: sqlite3.Connection, now: int | None, version: int) -> Watermark:
    """As the only writer, so that nobody else has dated anything that is not there yet."""
    [last_id] = db.execute(SQL["last_run_id"]).fetchone()
    # Whoever writes next may still do so within this microsecond.
    at = clock() - 1 if now is None else now
    # The version stands for the clock: it moves whenever there is something new.
    return Watermark(at, last_id, clock=version)


def read_activity(
    db: sqlite3.Connection, namespaces: Collection[str], after: ActivityCursor, until: Watermark, limit: int
) -> ActivityPage:
    """What happened behind a place."""
    place = {"at": after.at, "rank": after.rank, "id": after.id, "floor": after.floor}
    bounds = {**place, "until": until.at, "namespaces": dump(sorted(namespaces)), "limit": limit}
    rows = db.execute(SQL["read_activity"], bounds).fetchall()
    if rows and rows[0][0] < 0:
        return ActivityPage(more=True)
    runs, skips, audits = (dump(ids) for ids in ids_of(rows))
    found: Any = (
        {row[0]: _slim(run_record(row)) for row in db.execute(SQL["some_runs"], {"ids": runs})},
        {row[1]: (row[0], skip_record(row[1:])) for row in db.execute(SQL["told_skips"], {"ids": skips})},
        {row[0]: audit_record(row) for row in db.execute(SQL["told_audit"], {"ids": audits})},
    )
    return merge_activity(after, until, [], rows, found)


def _slim(run: RunRecord) -> RunRecord:
    return replace(run, payload={}, result=None)
