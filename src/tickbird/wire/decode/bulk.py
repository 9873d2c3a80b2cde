"""What one change to many schedules did, from its document."""

from __future__ import annotations

from tickbird.domain.planning.bulk import BulkResult, NotChanged
from tickbird.wire.decode.parts import Document


def read_bulk(document: Document) -> BulkResult:
    """What was changed, and what was left alone and why."""
    return BulkResult(
        verb=document["verb"],
        matched=document["matched"],
        changed=list(document["changed"]),
        not_changed=[NotChanged(each["schedule"], each["why"]) for each in document["not_changed"]],
        runs=dict(document["runs"]),
    )
