"""Runs, and what is known of them."""

from __future__ import annotations

from tickbird.domain.limits.rate_limits import QueuePosition, read_rate
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import AttemptRecord, Covers, RunRecord
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.tick_overrides import AppliedOverride
from tickbird.wire.decode.parts import Document, instant, maybe, second


def read_run(document: Document) -> RunRecord:
    """A run."""
    [(kind, name)] = document["target"].items()
    return RunRecord(
        id=document["id"],
        namespace=document["namespace"],
        schedule_id=document["schedule_id"],
        schedule=document["schedule"],
        revision=document["revision"],
        target=Target(name, kind),
        queue=document["queue"],
        priority=document["priority"],
        origin=document["origin"],
        status=document["status"],
        scheduled_for=maybe(instant, document["scheduled_for"]),
        due_at=instant(document["due_at"]),
        available_at=instant(document["available_at"]),
        start_by=maybe(instant, document["start_by"]),
        covers=maybe(_covers, document["covers"]),
        attempt=document["attempt"],
        failures=document["failures"],
        crashes=document["crashes"],
        created_at=instant(document["created_at"]),
        # A server of an older version does not send these two.
        first_started_at=maybe(instant, document.get("first_started_at")),
        cron_spec=document.get("cron_spec"),
        started_at=maybe(instant, document["started_at"]),
        finished_at=maybe(instant, document["finished_at"]),
        lease_until=maybe(instant, document["lease_until"]),
        worker=document["worker"],
        retry_of=document["retry_of"],
        actor=document["actor"],
        reason=document["reason"],
        cancel_requested_at=maybe(instant, document["cancel_requested_at"]),
        cancel_requested_by=document["cancel_requested_by"],
        payload=document["payload"],
        result=document["result"],
        error=document["error"],
        failure_kind=document["failure_kind"],
        backfill_id=document["backfill_id"],
        held=document["held"],
        released_at=maybe(instant, document["released_at"]),
        released_by=document["released_by"],
        concurrency_key=document["concurrency_key"],
        waiting_for_dependency=document["waiting_for_dependency"],
        applied_override=maybe(_overridden, document["applied_override"]),
    )


def _covers(document: Document) -> Covers:
    return Covers(instant(document["first"]), instant(document["last"]), document["count"])


def _overridden(document: Document) -> AppliedOverride:
    return AppliedOverride(
        actor=document["actor"],
        created_at=second(document["created_at"]),
        moved=document["moved"],
        payload=document["payload"],
        note=document["note"],
    )


def read_attempt(document: Document) -> AttemptRecord:
    """An attempt that did not end its run well."""
    return AttemptRecord(
        attempt=document["attempt"],
        worker=document["worker"],
        started_at=maybe(instant, document["started_at"]),
        ended_at=instant(document["ended_at"]),
        outcome=document["outcome"],
        error=document["error"],
    )


def read_progress(run_id: int, document: Document) -> Progress:
    """How far a run said last that it was."""
    return Progress(run_id, document["attempt"], instant(document["at"]), document["value"])


def read_queue_position(document: Document) -> QueuePosition:
    """What keeps a queued run back in its queue."""
    return QueuePosition(
        rate=maybe(read_rate, document["rate"]),
        runs_before=document["runs_before"],
        at=maybe(instant, document["at"]),
        deferred_until=maybe(instant, document["deferred_until"]),
    )


def read_log(run_id: int, document: Document) -> LogLine:
    """A line that a run has logged."""
    return LogLine(
        run_id=run_id,
        attempt=document["attempt"],
        number=document["number"],
        at=instant(document["at"]),
        level=document["level_number"],
        text=document["text"],
    )


def read_held(document: Document) -> HeldSchedule:
    """How many runs of a schedule are held."""
    return HeldSchedule(
        schedule=document["schedule"],
        count=document["count"],
        first=instant(document["first"]),
        last=instant(document["last"]),
        since=instant(document["since"]),
    )
