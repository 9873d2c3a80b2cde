"""Activity on PostgreSQL, where commits are not in the order of the instants that transactions write."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from tickbird.domain.ledger.activity import (
    CHANGED,
    PLANNED,
    ActivityCursor,
    ActivityPage,
    AuditEntry,
    OpenAtCursor,
    OpenTransaction,
    Watermark,
)
from tickbird.domain.runs.run import SkipRecord
from tickbird.domain.time.instants import MICROSECOND
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import NounStore, autocommit
from tickbird.store.postgres.rows import numbers, texts, to_run
from tickbird.store.protocol.activity import ActivityStore
from tickbird.store.shared.activity import Row, ended_since, ids_of, merge_activity
from tickbird.store.shared.json_columns import as_object

_SECOND: Final = timedelta(seconds=1)
# The time between the instant that a statement writes and its first lock.
_MARGIN: Final = timedelta(milliseconds=50)
# The store's transactions are waited for nearly as long as their timeouts allow; the watermark passes longer ones.
_MAX_TRANSACTION: Final = 10 * _SECOND
# The maximum number of ids that transactions may have taken before the first watermark.
_UNSEEN: Final = 10_000
_EPOCH: Final = 2**32


class PostgresActivity(NounStore, ActivityStore):
    async def watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        rows = await self._db.fetch("open_transactions", now=now)
        clock, last_id, id_read_at, oldest, next_transaction = rows[0][:5]
        if before is not None and clock < before.clock - _SECOND:
            # The clock was set back: the previous watermark is meaningless.
            before = None
        at = clock if now is not None else clock - _MARGIN
        if oldest is not None and now is None:
            at = min(at, oldest - MICROSECOND)
        under_way: dict[str, OpenTransaction] = {}
        passed: list[tuple[int, int]] = []
        for *_, name, number, joined, begun in rows:
            if name is None:
                continue
            entry = _opened(before, name, clock, last_id, begun)
            under_way[name] = entry
            transaction = None if number is None else _full_xid(number, next_transaction)
            if transaction is not None and (joined or entry.first_seen_at < clock - _MAX_TRANSACTION):
                passed.append((transaction, 2 * entry.floor))
            elif entry.first_seen_at >= clock - _MAX_TRANSACTION:
                at = min(at, entry.since - MICROSECOND)
        if before is not None:
            at = max(at, before.at)
        # A run that is dated after this instant gets a higher id.
        points = (*(before.looks if before is not None else ()), (id_read_at, last_id))
        usable = [number for number, point in enumerate(points) if point[0] <= at]
        floor = points[usable[-1]][1] if usable else before.floor if before is not None else max(0, last_id - _UNSEEN)
        return Watermark(
            at, floor, clock, tuple(sorted(passed)), last_id, points[usable[-1] :] if usable else points, under_way
        )

    @autocommit
    async def read(
        self, db: Session, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        names = texts(sorted(namespaces))
        position = {"at": after.at, "rank": after.rank, "id": after.id, "limit": limit, "namespaces": names}
        late, too_late = await _late(db, ended_since(after, until), position)
        rows = await db.fetch(
            "read_activity", until=until.at, floor=after.floor, passed=numbers(_both_forms(until.passed)), **position
        )
        if too_late or (rows and rows[0][0] < 0):
            return ActivityPage(more=True)
        return merge_activity(after, until, late, rows, await _read(db, [*(row for *_, row in late), *rows]))


def _opened(
    before: Watermark | None, name: str, clock: datetime, last_id: int, begun: datetime | None
) -> OpenTransaction:
    if before is None:
        since = clock if begun is None else begun
        return OpenTransaction(since, max(0, last_id - _UNSEEN), since)
    # A transaction that was not open at the previous watermark has dated nothing before it.
    return before.open.get(name) or OpenTransaction(before.clock - _MARGIN, before.last_id, before.clock)


def _full_xid(number: int, near: int) -> int:
    """Add the upper half of a transaction's number, which pg_locks does not show; `near` is a close number."""
    full = near - near % _EPOCH + number
    if full - near > _EPOCH // 2:
        return full - _EPOCH
    return full + _EPOCH if near - full > _EPOCH // 2 else full


def _both_forms(passed: OpenAtCursor) -> list[int]:
    """Return transaction ids in both forms that rows have: complete, and only the lower half."""
    return [number for transaction, _ in passed for number in (transaction, transaction % _EPOCH)]


async def _late(db: Session, passed: OpenAtCursor, position: dict[str, Any]) -> tuple[list[tuple[int, int, Row]], bool]:
    """Read the runs of transactions that were open at the cursor, each after its row of audit_log."""
    if not passed:
        return [], False
    done = dict(passed)
    xids, floors = numbers(done), numbers(step // 2 for step in done.values())
    rows = await db.fetch("late_activity", xids=xids, floors=floors, **position)
    if any(run_id is None for _, run_id, *_ in rows):
        return [], True
    items: list[tuple[int, int, Row]] = []
    for xid, run_id, at, namespace, audit_id in rows:
        if audit_id is not None and 2 * run_id - 1 > done[xid]:
            items.append((xid, 2 * run_id - 1, (CHANGED, at, audit_id, namespace)))
        items.append((xid, 2 * run_id, (PLANNED, at, run_id, namespace)))
    return items, False


async def _read(db: Session, rows: Sequence[Row]) -> Any:
    runs, skips, audits = ids_of(rows)
    nothing: dict[str, Any] = {"payload": {}, "result": None}
    items = await db.fetch_named("activity_runs", ids=numbers(runs)) if runs else []
    skipped = await db.fetch("activity_skips", ids=numbers(skips)) if skips else []
    done = await db.fetch_named("activity_audit", ids=numbers(audits)) if audits else []
    return (
        {row["id"]: to_run({**row, **nothing}) for row in items},
        {row[0]: (name, SkipRecord(*row)) for name, *row in skipped},
        {row["id"]: AuditEntry(**{**row, "detail": as_object(row["detail"])}) for row in done},
    )
