"""Runs that are leased to the worker that plans, as they are made."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickbird.domain.planning.fast_path import OnTimeRun
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.workers import HandOff


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
