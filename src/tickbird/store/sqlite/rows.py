"""Convert rows to values of the protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.doctor.snapshot import WaitingRuns
from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.planning.plan import ActiveRun, Facts
from tickbird.domain.runs.run import AttemptRecord, Covers, RunRecord, SkipRecord, WaitLane
from tickbird.domain.schedules.codec import CUSTOM_TRIGGERS, ignored_reason
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import read_applied_override, read_overrides
from tickbird.domain.time.instants import from_micros, to_seconds
from tickbird.domain.workers import Worker
from tickbird.store.shared.json_columns import as_list, as_object, decode
from tickbird.store.shared.stored_definitions import decoded_definition
from tickbird.store.sqlite.database.statements import NamedRow

Row = tuple[Any, ...]

# Created once: with custom settings, json.dumps creates an encoder per value.
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def dump(value: Any) -> str:
    """A value as compact JSON text in ASCII, because lone surrogates cannot be stored otherwise."""
    return _ENCODER.encode(value)


def to_run(row: NamedRow) -> RunRecord:
    """A row of the view `run_details`."""
    return RunRecord(
        id=row["id"],
        namespace=row["namespace"],
        schedule_id=row["schedule_id"],
        revision=row["revision"],
        target=Target(row["target"], row["target_kind"]),
        queue=row["queue"],
        priority=row["priority"],
        origin=row["origin"],
        status=row["status"],
        scheduled_for=from_micros(row["scheduled_for"]),
        due_at=from_micros(row["due_at"]),
        available_at=from_micros(row["available_at"]),
        start_by=from_micros(row["start_by"]),
        covers=None
        if row["covers_first"] is None
        else Covers(from_micros(row["covers_first"]), from_micros(row["covers_last"]), row["covers_count"]),
        attempt=row["attempt"],
        failures=row["failures"],
        crashes=row["crashes"],
        created_at=from_micros(row["created_at"]),
        started_at=from_micros(row["started_at"]),
        finished_at=from_micros(row["finished_at"]),
        lease_until=from_micros(row["lease_until"]),
        worker=row["worker"],
        retry_of=row["retry_of"],
        actor=row["actor"],
        reason=row["reason"],
        cancel_requested_at=from_micros(row["cancel_requested_at"]),
        cancel_requested_by=row["cancel_requested_by"],
        result=decode(row["result"]),
        error=row["error"],
        failure_kind=row["failure_kind"],
        schedule=row["schedule"],
        payload=as_object(decode(row["payload"])),
        backfill_id=row["backfill_id"],
        held=row["lane"] == WaitLane.HELD and not row["attempt"],
        released_at=from_micros(row["released_at"]),
        released_by=row["released_by"],
        concurrency_key=row["concurrency_key"],
        waiting_for_dependency=row["lane"] == WaitLane.DEPENDENCY,
        undecided=row["lane"] == WaitLane.HELD and row["attempt"] > 0,
        applied_override=read_applied_override(row["applied_override"]),
        first_started_at=from_micros(row["first_started_at"]),
        cron_spec=row["cron_spec"],
        term=row["term"],
    )


def to_schedule(row: NamedRow) -> Schedule:
    """A row of the view `schedule_details`."""
    raw = decode(row["definition"])
    definition, _ = decoded_definition(raw)
    return Schedule(
        id=row["id"],
        namespace=row["namespace"],
        name=row["name"],
        revision=row["revision"],
        state=row["state"],
        definition=definition,
        cursor=Cursor(
            planned_until=_seconds(row["planned_until"]),
            next_run_at=_seconds(row["next_run_at"]),
            runs_planned=row["runs_planned"],
            skip_until=_seconds(row["skip_until"]),
            skip_by=row["skip_by"],
            skip_note=row["skip_note"],
            tick_overrides=read_overrides(row["tick_overrides"]),
        ),
        pause=None
        if row["paused_by"] is None
        else PauseState(row["paused_by"], row["pause_note"] or "", _seconds(row["paused_until"])),
        error=row["error"],
        app=row["app"],
        fingerprint=row["fingerprint"],
        definition_json=as_object(raw),
        field_overrides=as_object(decode(row["field_overrides"])),
        created_at=from_micros(row["created_at"]),
        changed_at=from_micros(row["changed_at"]),
    )


def is_ignored(row: NamedRow) -> bool:
    """True if this row of `schedule_details` has a definition that this process cannot read."""
    return row["format"] >= CUSTOM_TRIGGERS and bool(ignored_reason(as_object(decode(row["definition"]))))


def is_due(row: NamedRow, now: datetime) -> bool:
    """True if the planner must decide this row of `schedule_details`: due, never planned, or edited by plain SQL."""
    state, next_run_at, prior_revision = row["state"], row["next_run_at"], row["prior_revision"]
    if next_run_at is None:
        return bool(state == "active")
    return from_micros(next_run_at) <= now or prior_revision is not None


def last_skip_id(row: NamedRow | None) -> int | None:
    """Return the id of the skip that the next skip of this row of `schedule_details` may extend."""
    return None if row is None or row["last_skip_id"] is None else int(row["last_skip_id"])


def all_facts(rows: Iterable[tuple[Any, ...]]) -> dict[int, Facts]:
    """The active runs by schedule."""
    active: dict[int, list[ActiveRun]] = {}
    for schedule_id, run_id, status, origin, key, awaits in rows:
        active.setdefault(schedule_id, []).append(ActiveRun(run_id, status, origin, key, bool(awaits)))
    return {schedule_id: Facts(tuple(runs)) for schedule_id, runs in active.items()}


def to_skip(row: NamedRow) -> SkipRecord:
    return SkipRecord(
        id=row["id"],
        schedule_id=row["schedule_id"],
        revision=row["revision"],
        reason=row["reason"],
        first=from_micros(row["first_at"]),
        last=from_micros(row["last_at"]),
        count=row["count"],
        run_id=row["run_id"],
        actor=row["actor"],
        note=row["note"],
        decided_at=from_micros(row["decided_at"]),
        term=row["term"],
    )


def to_attempt(row: NamedRow) -> AttemptRecord:
    return AttemptRecord(
        row["attempt"],
        row["worker"],
        from_micros(row["started_at"]),
        from_micros(row["ended_at"]),
        row["outcome"],
        row["error"],
    )


def to_revision(row: NamedRow) -> RevisionRecord:
    return RevisionRecord(
        row["revision"],
        row["action"],
        row["actor"],
        from_micros(row["at"]),
        as_object(decode(row["definition"])),
        row["fingerprint"],
        as_object(decode(row["detail"])),
    )


def to_audit_entry(row: NamedRow) -> AuditEntry:
    return AuditEntry(
        row["id"],
        from_micros(row["at"]),
        row["actor"],
        row["action"],
        row["schedule"],
        row["run_id"],
        as_object(decode(row["detail"])),
    )


def to_worker(row: NamedRow) -> Worker:
    return Worker(
        id=row["id"],
        namespace=row["namespace"],
        app=row["app"],
        kind=row["kind"],
        coordination=row["coordination"],
        host=row["host"],
        pid=row["pid"],
        version=row["version"],
        queues=tuple(as_list(decode(row["queues"]))),
        slots=row["slots"],
        tasks=as_object(decode(row["tasks"]), dict),
        declared=as_object(decode(row["declared"]), str),
        draining=bool(row["draining"]),
        started_at=from_micros(row["started_at"]),
        last_heartbeat_at=from_micros(row["last_heartbeat_at"]),
        live_until=from_micros(row["live_until"]),
        standby_reason=row["standby_reason"],
        health=as_object(decode(row["health"])),
        drain_requested_at=from_micros(row["drain_requested_at"]),
        drain_requested_by=row["drain_requested_by"],
    )


def _seconds(micros: int | None) -> int | None:
    return None if micros is None else to_seconds(from_micros(micros))


def to_waiting_runs(row: Sequence[Any]) -> WaitingRuns:
    queue, kind, name, count, since = row
    return WaitingRuns(queue, Target(name, kind), count, from_micros(since))
