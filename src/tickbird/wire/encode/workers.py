"""Workers, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.time.instants import utc_text as iso
from tickbird.domain.workers import Worker


def worker_document(worker: Worker) -> dict[str, Any]:
    """A live worker: what it serves and declares, what holds it back, and who asked it to drain."""
    return {
        "id": worker.id,
        "namespace": worker.namespace,
        "app": worker.app,
        "kind": worker.kind,
        "host": worker.host,
        "pid": worker.pid,
        "version": worker.version,
        "queues": list(worker.queues),
        "slots": worker.slots,
        "tasks": dict(worker.tasks),
        "declared": dict(worker.declared),
        "draining": worker.draining,
        "drain_requested_at": iso(worker.drain_requested_at),
        "drain_requested_by": worker.drain_requested_by,
        "standby_reason": worker.standby_reason,
        "health": dict(worker.health),
        "started_at": iso(worker.started_at),
        "last_heartbeat_at": iso(worker.last_heartbeat_at),
        "live_until": iso(worker.live_until),
    }
