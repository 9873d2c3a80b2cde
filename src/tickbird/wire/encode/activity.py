"""Activity and the audit log, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.ledger.activity import Activity, AuditEntry
from tickbird.domain.time.instants import utc_text as iso
from tickbird.wire.encode.runs import run_document
from tickbird.wire.encode.ticks import skip_document


def activity_document(happening: Activity) -> dict[str, Any]:
    """Something that happened: to a run, a skip, or what somebody did."""
    return {
        "at": iso(happening.at),
        "kind": happening.kind,
        "schedule": happening.schedule,
        "run": None if happening.run is None else run_document(happening.run),
        "skip": None if happening.skip is None else skip_document(happening.skip),
        "audit": None if happening.audit is None else audit_document(happening.audit),
    }


def streamed_activity_document(happening: Activity) -> dict[str, Any]:
    """Something that happened, as it is sent to all who follow: a run without its payload and result."""
    document = activity_document(happening)
    if (run := document["run"]) is not None:
        del run["payload"], run["result"]
    return document


def audit_document(record: AuditEntry) -> dict[str, Any]:
    """Who did what, when and to what."""
    return {
        "id": record.id,
        "at": iso(record.at),
        "actor": record.actor,
        "action": record.action,
        "schedule": record.schedule,
        "run_id": record.run_id,
        "detail": dict(record.detail),
    }
