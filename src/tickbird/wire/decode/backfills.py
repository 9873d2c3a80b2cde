"""Backfills."""

from __future__ import annotations

from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord
from tickbird.wire.decode.parts import Document, instant, maybe


def read_backfill_plan(document: Document) -> BackfillPlan:
    """What a backfill makes or would make."""
    return BackfillPlan(
        schedule=document["schedule"],
        first=instant(document["first"]),
        last=instant(document["last"]),
        cut_at=maybe(instant, document["cut_at"]),
        count=document["count"],
        taken=document["taken"],
        excluded=document["excluded"],
        ticks=[*map(instant, document["ticks"])],
        # An older server does not tell.
        pruned=document.get("pruned", 0),
        pruned_until=maybe(instant, document.get("pruned_until")),
        backfill_id=document["id"],
    )


def read_backfill(document: Document) -> BackfillRecord:
    """A backfill, and how many of its runs are in each status."""
    return BackfillRecord(
        id=document["id"],
        namespace=document["namespace"],
        schedule=document["schedule"],
        revision=document["revision"],
        first=instant(document["first"]),
        last=instant(document["last"]),
        total=document["total"],
        order=document["order"],
        concurrency=document["concurrency"],
        payload=document["payload"],
        actor=document["actor"],
        note=document["note"],
        created_at=instant(document["created_at"]),
        cancelled_at=maybe(instant, document["cancelled_at"]),
        cancelled_by=document["cancelled_by"],
        counts={status: count for status, count in document["counts"].items() if count},
    )
