"""Concurrency keys and queues."""

from __future__ import annotations

from tickbird.domain.limits.concurrency import Limit
from tickbird.domain.limits.rate_limits import Queue, read_rate
from tickbird.wire.decode.parts import Document, instant, maybe


def read_limit(document: Document) -> Limit:
    """A concurrency key."""
    return Limit(document["key"], document["most"], document["is_set"], document["active"], document["waiting"])


def read_queue(document: Document) -> Queue:
    """A queue."""
    return Queue(
        name=document["queue"],
        rate=maybe(read_rate, document["rate"]),
        next_at=maybe(instant, document["next_at"]),
        waiting=document["waiting"],
        queued=document["queued"],
        running=document["running"],
        workers=document["workers"],
    )
