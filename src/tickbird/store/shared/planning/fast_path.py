"""Ticks on time, as nearly all due schedules have: one run each, which the worker that plans may start itself."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence

from tickbird.domain.planning.fast_path import OnTimeRun, RevisionInfo, on_time
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.workers import HandOff
from tickbird.store.shared.planning.due import DueCursor
from tickbird.store.shared.planning.revision_cache import RevisionCache


def find_revisions(due: Iterable[DueCursor], known: RevisionCache) -> list[RevisionInfo | None]:
    """What is known of the revisions of plain cursors, each in the place of its cursor."""
    return [known.get(cursor.schedule_id, cursor.revision) if cursor.is_plain else None for cursor in due]


def heeding(due: Iterable[DueCursor], revisions: Iterable[RevisionInfo | None]) -> list[int]:
    """The schedules of these cursors for which active runs matter, as far as is known."""
    return [
        cursor.schedule_id
        for cursor, revision in zip(due, revisions, strict=True)
        if revision is None or revision.heeds_runs
    ]


def plan_on_time(
    due: Iterable[DueCursor], revisions: Iterable[RevisionInfo | None], busy: Container[int], now: float
) -> tuple[list[OnTimeRun], list[int]]:
    """The ticks of nearly all due cursors; and the ids of those schedules whose plan takes the long way."""
    rows: list[OnTimeRun] = []
    others: list[int] = []
    for cursor, revision in zip(due, revisions, strict=True):
        run = None
        if revision is not None and not (revision.heeds_runs and cursor.schedule_id in busy):
            run = _on_time(cursor, revision, now)
        if run is None:
            others.append(cursor.schedule_id)
        else:
            rows.append(run)
    return rows, others


def _on_time(cursor: DueCursor, revision: RevisionInfo, now: float) -> OnTimeRun | None:
    if cursor.planned_until is None:
        return None
    try:
        return on_time(cursor.schedule_id, cursor.revision, revision, cursor.planned_until, now)
    except Exception:  # noqa: BLE001 - the long way will say what is wrong, and park this schedule alone
        return None


def pick_handoff(rows: Sequence[OnTimeRun], hand_off: HandOff | None, limited: Collection[str] = ()) -> frozenset[int]:
    """The schedules whose run the planning worker starts itself: as many as it has room for, by priority.

    None of a queue that has a rate: only a claim counts what begins.
    """
    if hand_off is None or hand_off.room <= 0:
        return frozenset()
    fitting = {
        template
        for template in {row.template for row in rows}
        if template.namespace == hand_off.worker.namespace
        and template.queue in hand_off.queues
        and template.queue not in limited
        and template.target in hand_off.tasks
    }
    mine = [row for row in rows if row.template in fitting]
    if len(mine) > hand_off.room:
        mine.sort(key=lambda row: -row.template.priority)
        del mine[hand_off.room :]
    return frozenset(row.schedule_id for row in mine)


def leased(row: OnTimeRun, run_id: int, incarnation: int) -> ClaimedRun:
    """A run that was leased as it was made."""
    one = row.known
    return ClaimedRun(
        run_id,
        1,
        0,
        row.template.target,
        "schedule",
        to_datetime(row.due_at),
        one.definition.payload,
        to_datetime(row.tick),
        schedule_id=row.schedule_id,
        schedule=one.name,
        definition=one.definition,
        incarnation=incarnation,
    )
