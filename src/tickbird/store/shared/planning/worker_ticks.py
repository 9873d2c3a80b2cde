"""From the ticks of a worker to rows of runs; instants in whole seconds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tickbird.domain.planning.worker_ticks import FALLBACK_ACTOR, IN_MEMORY_ACTOR, WorkerTick
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import applied_override_text, overrides_text


class WorkerRunRow(NamedTuple):
    """A run to insert, unless its tick has one or too many runs of its schedule are active."""

    namespace: str
    schedule_id: int
    revision: int
    target_kind: str
    target: str
    queue: str
    priority: int
    origin: str
    scheduled_for: int
    due_at: int
    start_by: int | None
    covers_first: int | None
    covers_last: int | None
    covers_count: int | None
    crash_limit: int
    actor: str
    # Maximum of active runs (None: no limit), and how many runs of the schedule come before this one.
    max_running: int | None
    place: int
    # JSON texts; None: the payload of the revision, and no override.
    payload: str | None
    applied_override: str | None


def to_rows(ticks: Iterable[WorkerTick], *, fallback: bool) -> list[WorkerRunRow]:
    places: Counter[int] = Counter()
    rows: list[WorkerRunRow] = []
    for schedule, run in ticks:
        definition = schedule.definition
        assert definition is not None and run.scheduled_for is not None and run.due_at is not None
        first, last, count = run.covers or (None, None, None)
        # In fallback, the revision may be missing when the run is executed.
        payload = dict(definition.payload) if run.payload is None and fallback else run.payload
        rows.append(
            WorkerRunRow(
                namespace=schedule.namespace,
                schedule_id=schedule.id,
                revision=schedule.revision,
                target_kind=definition.target.kind,
                target=definition.target.name,
                queue=definition.queue,
                priority=definition.priority,
                origin=run.origin,
                scheduled_for=run.scheduled_for,
                due_at=run.due_at,
                start_by=run.start_by,
                covers_first=first,
                covers_last=last,
                covers_count=count,
                crash_limit=definition.crash_limit,
                actor=FALLBACK_ACTOR if fallback else IN_MEMORY_ACTOR,
                max_running=definition.max_running,
                place=places[schedule.id],
                payload=None if payload is None else check_payload(payload),
                applied_override=None if run.override is None else applied_override_text(run.override),
            )
        )
        places[schedule.id] += 1
    return rows


def restored_row(schedule: Schedule) -> dict[str, Any]:
    """The columns of a schedule and its cursor, as a worker last read them."""
    cursor, pause = schedule.cursor, schedule.pause
    return {
        "id": schedule.id,
        "namespace": schedule.namespace,
        "name": schedule.name,
        "app": schedule.app,
        "definition": json.dumps(dict(schedule.definition_json)),
        "revision": schedule.revision,
        "fingerprint": schedule.fingerprint,
        "field_overrides": json.dumps(dict(schedule.field_overrides)),
        "paused_by": pause.by if pause else None,
        "pause_note": pause.note if pause else None,
        "paused_until": pause.until if pause else None,
        "state": schedule.state,
        "planned_until": cursor.planned_until,
        "runs_planned": cursor.runs_planned,
        "skip_until": cursor.skip_until,
        "skip_by": cursor.skip_by,
        "skip_note": cursor.skip_note,
        "tick_overrides": overrides_text(cursor.tick_overrides) if cursor.tick_overrides else None,
    }


def continue_from(row: Mapping[str, Any], planned_until: int | None, runs_planned: int) -> dict[str, Any]:
    """The columns with the later one of two cursors: that of the worker, and one that is still stored."""
    if planned_until is None or planned_until <= (row["planned_until"] or 0):
        return dict(row)
    return {**row, "planned_until": planned_until, "runs_planned": runs_planned}
