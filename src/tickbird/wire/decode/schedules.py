"""Schedules and their revisions."""

from __future__ import annotations

from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.diff import FieldDiff
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord, TickOverride
from tickbird.wire.decode.parts import Document, instant, maybe, second
from tickbird.wire.decode.runs import read_run


def read_schedule(document: Document) -> Schedule:
    """A schedule; what cannot be read of it where it is stored, or by this version, is no definition."""
    return Schedule(
        id=document["id"],
        namespace=document["namespace"],
        name=document["name"],
        revision=document["revision"],
        state=document["state"],
        definition=None if document["trigger_description"] is None else _definition(document["definition"]),
        cursor=_cursor(document),
        pause=maybe(_pause, document["paused"]),
        error=document["error"],
        app=document["app"],
        fingerprint=document["fingerprint"],
        definition_json=document["definition"],
        field_overrides=document["field_overrides"],
        created_at=maybe(instant, document["created_at"]),
        changed_at=maybe(instant, document["changed_at"]),
    )


def _definition(encoded: Document) -> Definition | None:
    try:
        return decode_definition(encoded)
    except InvalidError:
        return None


def _cursor(document: Document) -> Cursor:
    pending = document["pending_skip"] or {"until": None, "by": None, "note": ""}
    overrides = [
        *map(_tick_override, document["tick_overrides"]),
        *(TickOverride(second(tick), decided_early=True) for tick in document["early_ticks"]),
    ]
    return Cursor(
        planned_until=maybe(second, document["planned_until"]),
        next_run_at=maybe(second, document["next_run_at"]),
        runs_planned=document["runs_planned"],
        skip_until=maybe(second, pending["until"]),
        skip_by=pending["by"],
        skip_note=pending["note"],
        tick_overrides=tuple(sorted(overrides, key=lambda each: each.tick)),
    )


def _tick_override(document: Document) -> TickOverride:
    return TickOverride(
        tick=second(document["tick"]),
        actor=document["actor"],
        created_at=second(document["created_at"]),
        skip=document["skip"],
        due_at=second(document["due_at"]) if document["moved"] else None,
        payload=document["payload"],
        note=document["note"],
    )


def _pause(document: Document) -> PauseState:
    return PauseState(document["by"], document["note"], maybe(second, document["until"]))


def read_override(document: Document) -> OverrideRecord:
    """A tick to come for which something was decided."""
    return OverrideRecord(
        scheduled_for=instant(document["tick"]),
        due_at=instant(document["due_at"]),
        skip=document["skip"],
        moved=document["moved"],
        payload=document["payload"],
        note=document["note"],
        actor=document["actor"],
        created_at=instant(document["created_at"]),
        passes_over=document["passes_over"],
    )


def read_row(document: Document) -> ScheduleSummary:
    """A schedule in a list."""
    return ScheduleSummary(
        schedule=read_schedule(document),
        last_run=maybe(read_run, document["last_run"]),
        failure_streak=document["failure_streak"],
        held=document["held"],
        last_run_at=maybe(instant, document.get("last_run_at")),
    )


def read_revision(document: Document) -> RevisionRecord:
    """One revision of a schedule."""
    return RevisionRecord(
        revision=document["revision"],
        action=document["action"],
        actor=document["actor"],
        at=instant(document["at"]),
        definition=document["definition"],
        fingerprint=document["fingerprint"],
        detail=document["detail"],
    )


def read_history(document: Document) -> HistoryEntry:
    """A revision with what it changed."""
    changes = document["changes"]
    return HistoryEntry(
        read_revision(document), document["origin"], None if changes is None else [*map(_difference, changes)]
    )


def _difference(document: Document) -> FieldDiff:
    return FieldDiff(tuple(document["path"]), document["how"], document["before"], document["after"])
