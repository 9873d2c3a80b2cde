"""A plan as one JSON document, for programs; instants are UTC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickbird.domain.schedules.schedule import PauseState
from tickbird.domain.time.instants import utc_text
from tickbird.files.diagnostics import Diagnostic
from tickbird.files.plan import FilePlan, KeptOverride, Kind, ScheduleChange
from tickbird.files.tick_diff import TickChanges

KINDS: tuple[Kind, ...] = ("create", "change", "resume", "calendar", "delete")


def plan_document(plan: FilePlan, *, applied: bool) -> dict[str, Any]:
    """What would change, or was changed."""
    return {
        "app": plan.app,
        "namespace": plan.namespace,
        "applied": applied,
        "changes": {kind: plan.count(kind) for kind in KINDS},
        "same": plan.same,
        "not_in_files": list(plan.not_in_files),
        "stays": [
            {"name": each.name, "kept_overrides": _kept_overrides(each.kept_overrides), "pause": _pause(each.pause)}
            for each in plan.stays
        ],
        "schedules": [_change(change) for change in plan.schedules],
        "settings": [
            {"part": each.part, "name": each.name, "before": each.before, "after": each.after} for each in plan.settings
        ],
        "crowds": [
            {"at": utc_text(each.at), "schedules": each.schedules, "names": list(each.names)} for each in plan.crowds
        ],
        "unserved": list(plan.unserved),
        "diagnostics": [diagnostic_document(each) for each in plan.diagnostics],
        "conflicts": [diagnostic_document(each) for each in plan.conflicts],
    }


def diagnostic_document(diagnostic: Diagnostic) -> dict[str, Any]:
    """Something that is wrong, and where it stands."""
    place = diagnostic.location
    return {"file": place.file, "line": place.line, "column": place.column, "text": diagnostic.text}


def _change(change: ScheduleChange) -> dict[str, Any]:
    late = change.late
    return {
        "name": change.name,
        "kind": change.kind,
        "fields": [{"name": each.name, "before": each.before, "after": each.after} for each in change.fields],
        "kept_overrides": _kept_overrides(change.kept_overrides),
        "pause": _pause(change.pause),
        "ticks": _ticks(change.ticks),
        "late": None if late is None else {"ticks": late.ticks, "catch_up": late.catch_up},
        "void": change.void,
        "notes": list(change.notes),
    }


def _kept_overrides(kept: Sequence[KeptOverride]) -> list[dict[str, Any]]:
    return [{"name": each.name, "value": each.value, "declared": each.declared} for each in kept]


def _pause(pause: PauseState | None) -> dict[str, Any] | None:
    return None if pause is None else {"by": pause.by, "note": pause.note, "until": pause.until}


def _ticks(ticks: TickChanges) -> dict[str, Any]:
    return {
        "before": ticks.before,
        "after": ticks.after,
        "appear": ticks.appear,
        "vanish": ticks.vanish,
        "moved": ticks.moved,
        "complete": ticks.complete,
        "appearing": [utc_text(at) for at in ticks.appearing],
        "vanishing": [utc_text(at) for at in ticks.vanishing],
        "moving": [{"from": utc_text(old), "to": utc_text(new)} for old, new in ticks.moving],
    }
