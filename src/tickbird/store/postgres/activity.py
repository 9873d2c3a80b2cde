"""Activity on PostgreSQL, where transactions commit in another order than the instants that they write."""

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
# Between the instant that a statement dates things by and its first lock.
_MARGIN: Final = timedelta(milliseconds=50)
# Transactions of the store are waited for as long as its time-outs let them live, or nearly so; others are passed over.
_MAX_TRANSACTION: Final = 10 * _SECOND
# How far back the ids of transactions may reach that were under way before the first look.
_UNSEEN: Final = 10_000
_EPOCH: Final = 2**32


class PostgresActivity(NounStore, ActivityStore):
    async def watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        rows = await self._db.fetch("settled", now=now)
        clock, last_id, id_read_at, oldest, next_transaction = rows[0][:5]
        if before is not None and clock < before.clock - _SECOND:
            # The clock was set back: what was found before says nothing about now.
            before = None
        at = clock if now is not None else clock - _MARGIN
        if oldest is not None and now is None:
            at = min(at, oldest - MICROSECOND)
        under_way: dict[str, OpenTransaction] = {}
        passed: list[tuple[int, int]] = []
        for *_, name, number, joined, begun in rows:
            if name is None:
                continue
            one = _opened(before, name, clock, last_id, begun)
            under_way[name] = one
            transaction = None if number is None else _full_xid(number, next_transaction)
            if transaction is not None and (joined or one.first_seen_at < clock - _MAX_TRANSACTION):
                passed.append((transaction, 2 * one.floor))
            elif one.first_seen_at >= clock - _MAX_TRANSACTION:
                at = min(at, one.since - MICROSECOND)
        if before is not None:
            at = max(at, before.at)
        # A run that is dated after this instant gets a higher id.
        looks = (*(before.looks if before is not None else ()), (id_read_at, last_id))
        known = [number for number, look in enumerate(looks) if look[0] <= at]
        floor = looks[known[-1]][1] if known else before.floor if before is not None else max(0, last_id - _UNSEEN)
        return Watermark(
            at, floor, clock, tuple(sorted(passed)), last_id, looks[known[-1] :] if known else looks, under_way
        )

    @autocommit
    async def read(
        self, db: Session, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        names = texts(sorted(namespaces))
        place = {"at": after.at, "rank": after.rank, "id": after.id, "limit": limit, "namespaces": names}
        late, too_late = await _late(db, ended_since(after, until), place)
        rows = await db.fetch(
            "read_activity", until=until.at, floor=after.floor, passed=numbers(_shown(until.passed)), **place
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
    # What was not there at the look before has dated nothing by then.
    return before.open.get(name) or OpenTransaction(before.clock - _MARGIN, before.last_id, before.clock)


def _full_xid(number: int, near: int) -> int:
    """A transaction's number with the part that pg_locks does not show: it is one of those around another one."""
    whole = near - near % _EPOCH + number
    if whole - near > _EPOCH // 2:
        return whole - _EPOCH
    return whole + _EPOCH if near - whole > _EPOCH // 2 else whole


def _shown(passed: OpenAtCursor) -> list[int]:
    """As rows show them, which know either all of a number or its lower half."""
    return [each for transaction, _ in passed for each in (transaction, transaction % _EPOCH)]


async def _late(db: Session, passed: OpenAtCursor, place: dict[str, Any]) -> tuple[list[tuple[int, int, Row]], bool]:
    """Runs of transactions that were passed over, each after its row of audit_log."""
    if not passed:
        return [], False
    done = dict(passed)
    xids, floors = numbers(done), numbers(step // 2 for step in done.values())
    rows = await db.fetch("happened_late", xids=xids, floors=floors, **place)
    if any(run_id is None for _, run_id, *_ in rows):
        return [], True
    found: list[tuple[int, int, Row]] = []
    for xid, run_id, at, namespace, audit_id in rows:
        if audit_id is not None and 2 * run_id - 1 > done[xid]:
            found.append((xid, 2 * run_id - 1, (CHANGED, at, audit_id, namespace)))
        found.append((xid, 2 * run_id, (PLANNED, at, run_id, namespace)))
    return found, False


async def _read(db: Session, rows: Sequence[Row]) -> Any:
    runs, skips, audits = ids_of(rows)
    nothing: dict[str, Any] = {"payload": {}, "result": None}
    found = await db.fetch_named("told_runs", ids=numbers(runs)) if runs else []
    skipped = await db.fetch("told_skips", ids=numbers(skips)) if skips else []
    done = await db.fetch_named("told_audit", ids=numbers(audits)) if audits else []
    return (
        {row["id"]: to_run({**row, **nothing}) for row in found},
        {row[0]: (name, SkipRecord(*row)) for name, *row in skipped},
        {row["id"]: AuditEntry(**{**row, "detail": as_object(row["detail"])}) for row in done},
    )
