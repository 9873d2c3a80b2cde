"""Forecasts for programs: instants in UTC, lengths in seconds."""

from __future__ import annotations

from typing import Any

from tickbird.domain.forecast.forecast import Forecast, ForecastComparison
from tickbird.domain.time.instants import iso


def simulation_document(found: ForecastComparison) -> dict[str, Any]:
    """A simulation for programs."""
    changed = None if found.changed is None else forecast_document(found.changed)
    return {"baseline": forecast_document(found.baseline), "what_if": changed}


def forecast_document(found: Forecast) -> dict[str, Any]:
    """A forecast for programs: instants in UTC, lengths in seconds."""
    plain = ("schedules", "without_history", "assumed", "paused", "workers", "slots", "ticks", "runs")
    after = ("overlaps", "lost", "held", "left_over")
    return {
        "from": iso(found.start),
        "to": iso(found.end),
        **{name: getattr(found, name) for name in plain},
        "unserved": list(found.unserved),
        "skips": dict(found.skips),
        "cancelled": dict(found.cancelled),
        **{name: getattr(found, name) for name in after},
        "peak": {"busy": found.peak, "at": iso(found.peak_at)},
        "max_queued": {"runs": found.max_queued, "at": iso(found.max_queued_at)},
        "lateness": {
            **found.lateness,
            "schedule": None if found.latest is None else found.latest[0],
            "at": None if found.latest is None else iso(found.latest[1]),
        },
        "busiest_minutes": [{"at": iso(at), "ticks": count} for at, count in found.busiest],
        "queues": [
            {
                "name": each.name,
                "slots": each.slots,
                "runs": each.runs,
                "peak": each.peak,
                "peak_at": iso(each.peak_at),
                "worst_lateness": each.worst_lateness,
            }
            for each in found.queues
        ],
        "by_schedule": [
            {
                "name": each.name,
                "runs": each.runs,
                "skips": dict(each.skips),
                "cancelled": each.cancelled,
                "worst_lateness": each.worst_lateness,
                "duration": each.duration,
                "has_history": each.has_history,
            }
            for each in found.rows
        ],
        "suggestions": [each.to_json() for each in found.suggestions],
        "hours": [
            {"at": iso(each.at), "ticks": each.ticks, "runs": each.runs, "busy": each.busy} for each in found.hours
        ],
    }
