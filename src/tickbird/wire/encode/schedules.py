"""Schedules, their overrides and revisions, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.planning.upcoming import overrides_of
from tickbird.domain.schedules.diff import FieldDiff
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.schedules.warnings import DefinitionWarning
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.instants import utc_text as iso
from tickbird.wire.encode.runs import run_document


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    """A schedule as it is stored; `trigger_description` is null if the definition cannot be read."""
    definition, pause, cursor = schedule.definition, schedule.pause, schedule.cursor
    return {
        "id": schedule.id,
        "namespace": schedule.namespace,
        "name": schedule.name,
        "state": schedule.state,
        "enabled": schedule.enabled,
        "kind": schedule.kind,
        "cron_spec": schedule.cron_spec,
        "burst_allowed": schedule.burst_allowed,
        "trigger_description": None if definition is None else definition.trigger.describe(),
        "zone": None if definition is None else definition.trigger.tz,
        "definition": dict(schedule.definition_json),
        "field_overrides": dict(schedule.field_overrides),
        "tick_overrides": [override_document(each) for each in overrides_of(schedule)],
        "early_ticks": [iso(to_datetime(each.tick)) for each in cursor.tick_overrides if each.decided_early],
        "pending_skip": None
        if cursor.skip_until is None
        else {"until": iso(to_datetime(cursor.skip_until)), "by": cursor.skip_by, "note": cursor.skip_note},
        "revision": schedule.revision,
        "fingerprint": schedule.fingerprint,
        "app": schedule.app,
        "paused": None
        if pause is None
        else {
            "by": pause.by,
            "note": pause.note,
            "until": None if pause.until is None else iso(to_datetime(pause.until)),
        },
        "error": schedule.error,
        "next_run_at": iso(schedule.next_run_at),
        "planned_until": iso(schedule.planned_until),
        "runs_planned": cursor.runs_planned,
        "created_at": iso(schedule.created_at),
        "changed_at": iso(schedule.changed_at),
    }


def schedule_summary_document(row: ScheduleSummary, problems: Sequence[str]) -> dict[str, Any]:
    """A schedule in a list."""
    return {
        **schedule_document(row.schedule),
        "last_run": None if row.last_run is None else run_document(row.last_run),
        "last_run_id": row.last_run_id,
        "last_run_at": iso(row.last_run_at),
        "last_enqueued_at": iso(row.last_enqueued_at),
        "failure_streak": row.failure_streak,
        "held": row.held,
        "problems": list(problems),
    }


def override_document(override: OverrideRecord) -> dict[str, Any]:
    """A tick to come for which something was decided; `payload` is null where it is the schedule's."""
    return {
        "tick": iso(override.scheduled_for),
        "skip": override.skip,
        "moved": override.moved,
        "due_at": iso(override.due_at),
        "passes_over": override.passes_over,
        "payload": None if override.payload is None else dict(override.payload),
        "note": override.note,
        "actor": override.actor,
        "created_at": iso(override.created_at),
    }


def warning_document(caution: DefinitionWarning) -> dict[str, Any]:
    """What is unusual about a definition; `at` is null where it is about no instant in particular."""
    return {"code": caution.code, "text": caution.text, "at": iso(caution.at)}


def revision_document(revision: RevisionRecord) -> dict[str, Any]:
    """One revision of a schedule."""
    return {
        "revision": revision.revision,
        "action": revision.action,
        "actor": revision.actor,
        "at": iso(revision.at),
        "definition": dict(revision.definition),
        "fingerprint": revision.fingerprint,
        "detail": dict(revision.detail),
    }


def history_document(entry: HistoryEntry) -> dict[str, Any]:
    """A revision with what it changed; `changes` is null where the one before it is no longer kept."""
    changes = entry.changes
    return {
        **revision_document(entry.revision),
        "origin": entry.origin,
        "changes": None if changes is None else [difference_document(each) for each in changes],
    }


def difference_document(difference: FieldDiff) -> dict[str, Any]:
    """A field that differs; null stands for its default where it was added or removed."""
    return {
        "field": difference.field,
        "path": list(difference.path),
        "how": difference.how,
        "before": difference.before,
        "after": difference.after,
    }
