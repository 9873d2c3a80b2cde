"""Changes of many schedules, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.planning.bulk import BulkResult


def bulk_document(result: BulkResult) -> dict[str, Any]:
    """What one change to many schedules did: which were changed, which were left alone and why."""
    return {
        "verb": result.verb,
        "matched": result.matched,
        "changed": list(result.changed),
        "not_changed": [{"schedule": each.schedule, "why": each.why} for each in result.not_changed],
        "runs": dict(result.runs),
    }
