"""Concurrency limits and queues, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus
from tickbird.domain.time.instants import utc_text as iso


def limit_document(limit: ConcurrencyLimit) -> dict[str, Any]:
    """A concurrency key, how many runs of it may go on and how many do."""
    return {
        "key": limit.key,
        "max_running": limit.max_running,
        "is_explicit": limit.is_explicit,
        "active": limit.active,
        "waiting": limit.waiting,
    }


def queue_document(queue: QueueStatus) -> dict[str, Any]:
    """A queue: what stands in it, its rate, when the next run may begin if not at once, and how many serve it."""
    return {
        "queue": queue.name,
        "rate": None if queue.rate is None else str(queue.rate),
        "next_at": iso(queue.next_at),
        "waiting": queue.waiting,
        "queued": queue.queued,
        "running": queue.running,
        "workers": queue.workers,
    }
