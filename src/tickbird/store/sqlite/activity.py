"""Activity on SQLite, where a writer is alone until it commits."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any

from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.time.instants import MICROSECOND, from_micros, to_micros
from tickbird.store.protocol.activity import ActivityStore
from tickbird.store.shared.activity import ids_of, merge_activity
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction, write_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL, fetch_named
from tickbird.store.sqlite.rows import dump, to_audit_entry, to_run, to_skip


class SqliteActivity(NounStore, ActivityStore):
    async def watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        version = 0
        if self._db.reader is not self._db.writer:
            version = await self._db.reader.run(lambda db: db.execute(SQL["data_version"]).fetchone()[0])
            if before is not None and before.data_version == version and now is None:
                # Nothing was written since, so there is no writer to wait for.
                return before
        return await self._watermark(version, now)

    @write_transaction
    def _watermark(self, db: Session, version: int, now: datetime | None) -> Watermark:
        """Read as the only writer, so that every row with an earlier instant is committed."""
        [last_id] = db.execute(SQL["last_run_id"]).fetchone()
        clock = read_clock(now)
        # The next writer may still write within this microsecond.
        at = clock - MICROSECOND if now is None else clock
        return Watermark(at, last_id, clock, data_version=version)

    @read_transaction
    def read(
        self, db: Session, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        position = {"at": to_micros(after.at), "rank": after.rank, "id": after.id, "floor": after.floor}
        bounds = {**position, "until": to_micros(until.at), "namespaces": dump(sorted(namespaces)), "limit": limit}
        found_rows = db.execute(SQL["read_activity"], bounds).fetchall()
        if found_rows and found_rows[0][0] < 0:
            return ActivityPage(more=True)
        rows = [(rank, from_micros(at), row_id, namespace) for rank, at, row_id, namespace in found_rows]
        runs, skips, audits = (dump(ids) for ids in ids_of(rows))
        details: Any = (
            {row["id"]: _slim(to_run(row)) for row in fetch_named(db, "runs_by_id", {"ids": runs})},
            {row["id"]: (row["schedule"], to_skip(row)) for row in fetch_named(db, "activity_skips", {"ids": skips})},
            {row["id"]: to_audit_entry(row) for row in fetch_named(db, "activity_audit", {"ids": audits})},
        )
        return merge_activity(after, until, [], rows, details)


def _slim(run: RunRecord) -> RunRecord:
    return replace(run, payload={}, result=None)
