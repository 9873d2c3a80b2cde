"""Activity pages, for every store: from narrow rows in order to complete items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from tickbird.domain.ledger.activity import (
    KINDS,
    Activity,
    ActivityCursor,
    ActivityPage,
    AuditEntry,
    OpenAtCursor,
    Watermark,
)
from tickbird.domain.runs.run import RunRecord, SkipRecord

# Rank, instant, id and namespace.
Row = tuple[int, datetime, int, str]
# The complete values of each kind by id; skips with the name of their schedule.
Runs = Mapping[int, RunRecord]
Skips = Mapping[int, tuple[str, SkipRecord]]
Audits = Mapping[int, AuditEntry]


def ended_since(after: ActivityCursor, until: Watermark) -> OpenAtCursor:
    """The transactions that the cursor passed while they were open and that have ended since."""
    under_way = {transaction for transaction, _ in until.passed}
    return tuple(entry for entry in after.passed if entry[0] not in under_way)


def ids_of(rows: Iterable[Row]) -> tuple[list[int], list[int], list[int]]:
    """The ids of the runs, skips and audit rows."""
    runs: set[int] = set()
    skips, audits = [], []
    for rank, _, row_id, _ in rows:
        kind = KINDS[rank]
        if kind == "changed":
            audits.append(row_id)
        elif kind == "skipped":
            skips.append(row_id)
        else:
            runs.add(row_id)
    return sorted(runs), skips, audits


def merge_activity(
    after: ActivityCursor,
    until: Watermark,
    late: Sequence[tuple[int, int, Row]],
    rows: Sequence[Row],
    values: tuple[Runs, Skips, Audits],
) -> ActivityPage:
    """Build a page; each item has the cursor that follows it. Late rows are placed at the start of the page.

    Each late row has its transaction, and the position up to which that transaction was read.
    """
    items: list[tuple[ActivityCursor, Activity]] = []
    floors = dict(after.passed)
    for number, (transaction, step, row) in enumerate(late):
        # After its last row, the transaction is no longer open at the cursor.
        if number + 1 < len(late) and late[number + 1][0] == transaction:
            floors[transaction] = step
        else:
            floors.pop(transaction, None)
        cursor = ActivityCursor(*after.position, after.floor, tuple(floors.items()))
        if (item := _activity(row, *values)) is not None:
            items.append((cursor, item))
    for row in rows:
        # A row that was pruned, or a skip that was extended meanwhile, is reported by its later state.
        if (item := _activity(row, *values)) is not None:
            rank, at, row_id, _ = row
            items.append((ActivityCursor(at, rank, row_id, after.floor, until.passed), item))
    return ActivityPage(tuple(items))


def _activity(row: Row, runs: Runs, skips: Skips, audits: Audits) -> Activity | None:
    rank, at, row_id, namespace = row
    kind = KINDS[rank]
    if kind == "changed":
        record = audits.get(row_id)
        return None if record is None else Activity(at, kind, record.schedule, audit=record, namespace=namespace)
    if kind == "skipped":
        if row_id not in skips:
            return None
        name, skip = skips[row_id]
        return Activity(at, kind, name, skip=skip, namespace=namespace)
    run = runs.get(row_id)
    return None if run is None else Activity(at, kind, run.schedule, run=run, namespace=namespace)
