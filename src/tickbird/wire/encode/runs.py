"""Runs with their attempts, logs and position in their queue, as JSON."""

from __future__ import annotations

from typing import Any

from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import AttemptRecord, RunRecord
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.instants import utc_text as iso


def run_document(run: RunRecord) -> dict[str, Any]:
    """A run."""
    covers = run.covers
    return {
        "id": run.id,
        "namespace": run.namespace,
        "schedule": run.schedule,
        "schedule_id": run.schedule_id,
        "revision": run.revision,
        "target": {run.target.kind: run.target.name},
        "queue": run.queue,
        "priority": run.priority,
        "origin": run.origin,
        "trigger": run.trigger,
        "cron_spec": run.cron_spec,
        "metadata": {
            "trigger_type": run.metadata.trigger_type,
            "schedule_id": run.metadata.schedule_id,
            "scheduled_at": iso(run.metadata.scheduled_at),
        },
        "status": run.status,
        "scheduled_for": iso(run.scheduled_for),
        "due_at": iso(run.due_at),
        "available_at": iso(run.available_at),
        "start_by": iso(run.start_by),
        "covers": None
        if covers is None
        else {"first": iso(covers.first), "last": iso(covers.last), "count": covers.count},
        "attempt": run.attempt,
        "failures": run.failures,
        "crashes": run.crashes,
        "created_at": iso(run.created_at),
        "first_started_at": iso(run.first_started_at),
        "started_at": iso(run.started_at),
        "finished_at": iso(run.finished_at),
        "lease_until": iso(run.lease_until),
        "worker": run.worker,
        "retry_of": run.retry_of,
        "actor": run.actor,
        "reason": run.reason,
        "cancel_requested_at": iso(run.cancel_requested_at),
        "cancel_requested_by": run.cancel_requested_by,
        "payload": dict(run.payload),
        "result": run.result,
        "error": run.error,
        "failure_kind": run.failure_kind,
        "concurrency_key": run.concurrency_key,
        "backfill_id": run.backfill_id,
        "held": run.held,
        "waiting_for_dependency": run.waiting_for_dependency,
        "released_at": iso(run.released_at),
        "released_by": run.released_by,
        "applied_override": None
        if run.applied_override is None
        else {
            "moved": run.applied_override.moved,
            "payload": run.applied_override.payload,
            "note": run.applied_override.note,
            "actor": run.applied_override.actor,
            "created_at": iso(to_datetime(run.applied_override.created_at)),
        },
    }


def queue_position_document(turn: QueuePosition | None) -> dict[str, Any] | None:
    """What keeps a queued run back in its queue: the rate, and until when others may pass it."""
    if turn is None:
        return None
    rate = None if turn.rate is None else str(turn.rate)
    return {
        "rate": rate,
        "runs_before": turn.runs_before,
        "at": iso(turn.at),
        "deferred_until": iso(turn.deferred_until),
    }


def log_document(line: LogLine) -> dict[str, Any]:
    """A line that a run has logged."""
    return {
        "attempt": line.attempt,
        "number": line.number,
        "at": iso(line.at),
        "level": level_name(line.level),
        "level_number": line.level,
        "text": line.text,
    }


def level_name(level: int) -> str:
    """The level of a line, as the standard library names it."""
    import logging

    return logging.getLevelName(level).lower()


def progress_document(progress: Progress) -> dict[str, Any]:
    """How far a run said last that it was."""
    return {"attempt": progress.attempt, "at": iso(progress.at), "value": progress.value}


def attempt_document(attempt: AttemptRecord) -> dict[str, Any]:
    """An attempt that did not end its run well."""
    return {
        "attempt": attempt.attempt,
        "worker": attempt.worker,
        "started_at": iso(attempt.started_at),
        "ended_at": iso(attempt.ended_at),
        "outcome": attempt.outcome,
        "error": attempt.error,
    }
