"""Backfills and held runs, as JSON."""

from __future__ import annotations

from typing import Any, get_args

from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.runs.run import Status
from tickbird.domain.time.instants import utc_text as iso


def backfill_plan_document(plan: BackfillPlan) -> dict[str, Any]:
    """What a backfill makes or would make; `ticks` are the first of `count`, in the order of running."""
    return {
        "id": plan.backfill_id,
        "schedule": plan.schedule,
        "first": iso(plan.first),
        "last": iso(plan.last),
        "cut_at": iso(plan.cut_at),
        "count": plan.count,
        "taken": plan.taken,
        "excluded": plan.excluded,
        "pruned": plan.pruned,
        "pruned_until": iso(plan.pruned_until),
        "ticks": [iso(tick) for tick in plan.ticks],
    }


def backfill_document(record: BackfillRecord) -> dict[str, Any]:
    """A backfill, and how many of its runs are in each status; `done` also counts those that were pruned."""
    return {
        "id": record.id,
        "namespace": record.namespace,
        "schedule": record.schedule,
        "revision": record.revision,
        "first": iso(record.first),
        "last": iso(record.last),
        "total": record.total,
        "done": record.done,
        "counts": {status: record.counts.get(status, 0) for status in get_args(Status)},
        "order": record.order,
        "concurrency": record.concurrency,
        "payload": None if record.payload is None else dict(record.payload),
        "actor": record.actor,
        "note": record.note,
        "created_at": iso(record.created_at),
        "cancelled_at": iso(record.cancelled_at),
        "cancelled_by": record.cancelled_by,
    }


def held_document(held: HeldSchedule) -> dict[str, Any]:
    """How many runs of a schedule are held, of which ticks, and since when."""
    return {
        "schedule": held.schedule,
        "count": held.count,
        "first": iso(held.first),
        "last": iso(held.last),
        "since": iso(held.since),
    }
