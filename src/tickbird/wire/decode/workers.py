"""Workers."""

from __future__ import annotations

from tickbird.domain.workers import Worker
from tickbird.wire.decode.parts import Document, instant, maybe


def read_worker(document: Document) -> Worker:
    """A live worker."""
    return Worker(
        id=document["id"],
        namespace=document["namespace"],
        app=document["app"],
        kind=document["kind"],
        host=document["host"],
        pid=document["pid"],
        version=document["version"],
        queues=tuple(document["queues"]),
        slots=document["slots"],
        tasks=document["tasks"],
        declared=document["declared"],
        draining=document["draining"],
        drain_requested_at=maybe(instant, document["drain_requested_at"]),
        drain_requested_by=document["drain_requested_by"],
        standby_reason=document["standby_reason"],
        health=document["health"],
        started_at=maybe(instant, document["started_at"]),
        last_heartbeat_at=maybe(instant, document["last_heartbeat_at"]),
        live_until=maybe(instant, document["live_until"]),
    )
