"""Rows as the values that the protocol speaks of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tickbird.domain.ledger.activity import AuditEntry
from tickbird.domain.planning.plan import ActiveRun, Facts
from tickbird.domain.runs.run import AWAITING_LANE, HELD_LANE, AttemptRecord, Covers, RunRecord, SkipRecord
from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule
from tickbird.domain.schedules.tick_overrides import read_applied_override, read_overrides
from tickbird.domain.time.instants import clamp_seconds
from tickbird.domain.workers import Worker
from tickbird.store.shared.json_columns import as_list, as_object, decode
from tickbird.store.shared.stored_definitions import decoded_definition
from tickbird.store.sqlite.database.instants import MICROS, to_instant

Row = tuple[Any, ...]


# Made once: with any setting of its own, json.dumps makes an encoder for every value.
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def dump(value: Any) -> str:
    """A value as compact JSON text, in ASCII: halves of characters cannot be stored otherwise."""
    return _ENCODER.encode(value)


def run_record(row: Row) -> RunRecord:
    """A row of the view `run_records`."""
    return RunRecord(
        id=row[0],
        namespace=row[1],
        schedule_id=row[2],
        revision=row[3],
        target=Target(row[5], row[4]),
        queue=row[6],
        priority=row[7],
        origin=row[8],
        status=row[9],
        scheduled_for=to_instant(row[10]),
        due_at=to_instant(row[11]),
        available_at=to_instant(row[12]),
        start_by=to_instant(row[13]),
        covers=None if row[14] is None else Covers(to_instant(row[14]), to_instant(row[15]), row[16]),
        attempt=row[17],
        failures=row[18],
        crashes=row[19],
        created_at=to_instant(row[20]),
        started_at=to_instant(row[21]),
        finished_at=to_instant(row[22]),
        lease_until=to_instant(row[23]),
        worker=row[24],
        retry_of=row[25],
        actor=row[26],
        reason=row[27],
        cancel_requested_at=to_instant(row[28]),
        cancel_requested_by=row[29],
        result=decode(row[30]),
        error=row[31],
        failure_kind=row[32],
        schedule=row[33],
        payload=as_object(decode(row[34])),
        backfill_id=row[35],
        held=row[36] == HELD_LANE,
        released_at=to_instant(row[37]),
        released_by=row[38],
        concurrency_key=row[39],
        waiting_for_dependency=row[36] == AWAITING_LANE,
        applied_override=read_applied_override(row[40]),
        first_started_at=to_instant(row[41]),
    )


def schedule_record(row: Row) -> Schedule:
    """A row of the view `schedule_records`."""
    raw = decode(row[4])
    definition, _ = decoded_definition(raw)
    return Schedule(
        id=row[0],
        namespace=row[1],
        name=row[2],
        revision=row[5],
        state=row[14],
        definition=definition,
        cursor=Cursor(
            planned_until=_seconds(row[17]),
            next_run_at=_seconds(row[16]),
            runs_planned=row[18],
            skip_until=_seconds(row[21]),
            skip_by=row[22],
            skip_note=row[23],
            tick_overrides=read_overrides(row[27]),
        ),
        pause=None if row[8] is None else PauseState(row[8], row[9] or "", _seconds(row[10])),
        error=row[11],
        app=row[3],
        fingerprint=row[6],
        definition_json=as_object(raw),
        field_overrides=as_object(decode(row[7])),
        created_at=to_instant(row[12]),
        changed_at=to_instant(row[13]),
    )


def is_newer(row: Row) -> bool:
    """Is this row of `schedule_records` in a format that this code does not know?"""
    return bool(row[15] > FORMAT)


def is_due(row: Row, now: int) -> bool:
    """Must the planner look at this row of `schedule_records`: due, never planned, or edited by plain SQL?"""
    state, next_run_at, prior_revision = row[14], row[16], row[25]
    if next_run_at is None:
        return bool(state == "active")
    return bool(next_run_at <= now or prior_revision is not None)


def last_skip_id(row: Row | None) -> int | None:
    """The skip that a row of `schedule_records` may extend."""
    return None if row is None or row[24] is None else int(row[24])


def all_facts(rows: Iterable[Row]) -> dict[int, Facts]:
    """The active runs by schedule."""
    active: dict[int, list[ActiveRun]] = {}
    for schedule_id, run_id, status, origin, key, awaits in rows:
        active.setdefault(schedule_id, []).append(ActiveRun(run_id, status, origin, key, bool(awaits)))
    return {schedule_id: Facts(tuple(runs)) for schedule_id, runs in active.items()}


def skip_record(row: Row) -> SkipRecord:
    """A row of `skips`."""
    skip_id, schedule_id, revision, reason, first, last, count, run_id, actor, note, decided_at = row
    return SkipRecord(
        skip_id,
        schedule_id,
        revision,
        reason,
        to_instant(first),
        to_instant(last),
        count,
        run_id,
        actor,
        note,
        to_instant(decided_at),
    )


def attempt_record(row: Row) -> AttemptRecord:
    """A row of `attempts`."""
    attempt, worker, started_at, ended_at, outcome, error = row
    return AttemptRecord(attempt, worker, to_instant(started_at), to_instant(ended_at), outcome, error)


def revision_record(row: Row) -> RevisionRecord:
    """A row of `revisions`."""
    revision, action, actor, at, definition, fingerprint, detail = row
    return RevisionRecord(
        revision, action, actor, to_instant(at), as_object(decode(definition)), fingerprint, as_object(decode(detail))
    )


def audit_record(row: Row) -> AuditEntry:
    """A row of `audit`."""
    audit_id, at, actor, action, schedule, run_id, detail = row
    return AuditEntry(audit_id, to_instant(at), actor, action, schedule, run_id, as_object(decode(detail)))


def worker_record(row: Row) -> Worker:
    """A row of `workers`."""
    return Worker(
        id=row[0],
        namespace=row[1],
        app=row[2],
        kind=row[3],
        host=row[4],
        pid=row[5],
        version=row[6],
        queues=tuple(as_list(decode(row[7]))),
        slots=row[8],
        tasks=as_object(decode(row[9]), dict),
        declares=as_object(decode(row[10]), str),
        draining=bool(row[11]),
        started_at=to_instant(row[12]),
        last_heartbeat_at=to_instant(row[13]),
        live_until=to_instant(row[14]),
        standby_reason=row[15],
        health=as_object(decode(row[16])),
        drain_requested_at=to_instant(row[17]),
        drain_requested_by=row[18],
    )


def _seconds(micros: int | None) -> int | None:
    return None if micros is None else clamp_seconds(micros // MICROS)
