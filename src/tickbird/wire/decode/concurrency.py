"""Concurrency keys and queues."""

from __future__ import annotations

from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus, read_rate
from tickbird.wire.decode.parts import Document, instant, maybe


def read_limit(document: Document) -> ConcurrencyLimit:
    """A concurrency key."""
    return ConcurrencyLimit(
        document["key"], document["max_running"], document["is_explicit"], document["active"], document["waiting"]
    )


def read_queue(document: Document) -> QueueStatus:
    """A queue."""
    return QueueStatus(
        name=document["queue"],
        rate=maybe(read_rate, document["rate"]),
        next_at=maybe(instant, document["next_at"]),
        waiting=document["waiting"],
        queued=document["queued"],
        running=document["running"],
        workers=document["workers"],
    )
