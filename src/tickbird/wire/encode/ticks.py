"""Ticks and what was decided for them, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tickbird.domain.forecast.preview import Preview
from tickbird.domain.ledger.decisions import TickDecisions
from tickbird.domain.planning.upcoming import UpcomingTick
from tickbird.domain.runs.run import SkipRecord
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.time.instants import utc_text as iso
from tickbird.wire.encode.runs import run_document
from tickbird.wire.encode.schedules import override_document, warning_document


def skip_document(skip: SkipRecord) -> dict[str, Any]:
    """Ticks that were not run."""
    return {
        "id": skip.id,
        "schedule_id": skip.schedule_id,
        "reason": skip.reason,
        "first": iso(skip.first),
        "last": iso(skip.last),
        "count": skip.count,
        "revision": skip.revision,
        "run_id": skip.run_id,
        "actor": skip.actor,
        "note": skip.note,
        "decided_at": iso(skip.decided_at),
    }


def tick_document(tick: UpcomingTick, notes: Iterable[str] = ()) -> dict[str, Any]:
    """A tick to come; `skipped` is the reason why it will not run, `override` what was decided for it alone."""
    return {
        "scheduled_for": iso(tick.scheduled_for),
        "due_at": iso(tick.due_at),
        "skipped": tick.skipped,
        "override": None if tick.override is None else override_document(tick.override),
        "notes": list(notes),
    }


def preview_document(preview: Preview) -> dict[str, Any]:
    """What a definition would do; `local` is on the clock of its zone, `load` null where there is no store."""
    load = preview.load
    return {
        "trigger_description": preview.trigger_description,
        "zone": preview.zone,
        "definition": encode_definition(preview.definition),
        "after": iso(preview.after),
        "ticks": [
            {
                "scheduled_for": iso(tick.scheduled_for),
                "local": tick.local.isoformat(),
                "due_at": iso(tick.due_at),
                "skipped": tick.skipped,
                "notes": list(tick.notes),
            }
            for tick in preview.ticks
        ],
        "warnings": [warning_document(each) for each in preview.warnings],
        "load": None
        if load is None
        else {
            "schedules": load.schedules,
            "complete": load.complete,
            "instants": [
                {"at": iso(each.at), "before": each.hour_before, "minute": each.in_minute, "after": each.hour_after}
                for each in load.instants
            ],
        },
    }


def decisions_document(decisions: TickDecisions) -> dict[str, Any]:
    """The runs and skips of a range of ticks, oldest first."""
    return {
        "runs": [run_document(run) for run in decisions.runs],
        "skips": [skip_document(skip) for skip in decisions.skips],
    }
