"""The objects of --json and of the HTTP API: their fields stay, new ones may come.

Instants are UTC, lengths of time are seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from tickbird.domain.access.sessions import SessionRecord
from tickbird.domain.access.tokens import TokenRecord
from tickbird.domain.calendars.calendar import calendar_to_json
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.forecast.preview import Preview
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord
from tickbird.domain.planning.bulk import BulkResult
from tickbird.domain.planning.calendar_impact import CalendarImpact, CalendarReport
from tickbird.domain.planning.upcoming import UpcomingTick, overrides_of
from tickbird.domain.planning.zone_impact import ZoneImpact
from tickbird.domain.runs.held import HeldSchedule
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import AttemptRecord, RunRecord, SkipRecord, Status
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.diff import FieldDiff
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.tick_overrides import OverrideRecord
from tickbird.domain.schedules.warnings import DefinitionWarning
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.instants import utc_text as iso
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import AuditEntry, ScheduleSummary, StoreIdentity, TickDecisions, ZoneRecord, Zones


def schedule_document(schedule: Schedule) -> dict[str, Any]:
    """A schedule as it is stored; `what` is its trigger in words, null while it cannot be read."""
    definition, pause, cursor = schedule.definition, schedule.pause, schedule.cursor
    return {
        "id": schedule.id,
        "namespace": schedule.namespace,
        "name": schedule.name,
        "state": schedule.state,
        "trigger_description": None if definition is None else definition.trigger.describe(),
        "zone": None if definition is None else definition.trigger.tz,
        "definition": dict(schedule.definition_json),
        "field_overrides": dict(schedule.field_overrides),
        "tick_overrides": [override_document(each) for each in overrides_of(schedule)],
        "early_ticks": [iso(to_datetime(each.tick)) for each in cursor.tick_overrides if each.done],
        "skip": None
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


def row_document(row: ScheduleSummary, problems: Sequence[str]) -> dict[str, Any]:
    """A schedule in a list."""
    return {
        **schedule_document(row.schedule),
        "last_run": None if row.last_run is None else run_document(row.last_run),
        "failure_streak": row.failure_streak,
        "held": row.held,
        "problems": list(problems),
    }


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
        "backfill": run.backfill_id,
        "held": run.held,
        "awaiting": run.awaiting,
        "released_at": iso(run.released_at),
        "released_by": run.released_by,
        "override": None
        if run.override is None
        else {
            "moved": run.override.moved,
            "payload": run.override.payload,
            "note": run.override.note,
            "actor": run.override.actor,
            "created_at": iso(to_datetime(run.override.created_at)),
        },
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


def backfill_plan_document(plan: BackfillPlan) -> dict[str, Any]:
    """What a backfill makes or would make; `ticks` are the first of `count`, in the order of running."""
    return {
        "id": plan.backfill_id,
        "schedule": plan.schedule,
        "first": iso(plan.first),
        "last": iso(plan.last),
        "cut_at": iso(plan.cut_at),
        "count": plan.count,
        "taken": plan.taken,
        "excluded": plan.excluded,
        "pruned": plan.pruned,
        "pruned_until": iso(plan.pruned_until),
        "ticks": [iso(tick) for tick in plan.ticks],
    }


def backfill_document(record: BackfillRecord) -> dict[str, Any]:
    """A backfill, and how many of its runs are in each status; `done` also counts those that were pruned."""
    return {
        "id": record.id,
        "namespace": record.namespace,
        "schedule": record.schedule,
        "revision": record.revision,
        "first": iso(record.first),
        "last": iso(record.last),
        "total": record.total,
        "done": record.done,
        "counts": {status: record.counts.get(status, 0) for status in get_args(Status)},
        "order": record.order,
        "concurrency": record.concurrency,
        "payload": None if record.payload is None else dict(record.payload),
        "actor": record.actor,
        "note": record.note,
        "created_at": iso(record.created_at),
        "cancelled_at": iso(record.cancelled_at),
        "cancelled_by": record.cancelled_by,
    }


def held_document(held: HeldSchedule) -> dict[str, Any]:
    """How many runs of a schedule are held, of which ticks, and since when."""
    return {
        "schedule": held.schedule,
        "count": held.count,
        "first": iso(held.first),
        "last": iso(held.last),
        "since": iso(held.since),
    }


def limit_document(limit: ConcurrencyLimit) -> dict[str, Any]:
    """A concurrency key, how many runs of it may go on and how many do."""
    return {
        "key": limit.key,
        "max_running": limit.max_running,
        "is_explicit": limit.is_explicit,
        "active": limit.active,
        "waiting": limit.waiting,
    }


def queue_document(queue: QueueStatus) -> dict[str, Any]:
    """A queue: what stands in it, its rate, when the next run may begin if not at once, and how many serve it."""
    return {
        "queue": queue.name,
        "rate": None if queue.rate is None else str(queue.rate),
        "next_at": iso(queue.next_at),
        "waiting": queue.waiting,
        "queued": queue.queued,
        "running": queue.running,
        "workers": queue.workers,
    }


def turn_document(turn: QueuePosition | None) -> dict[str, Any] | None:
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


def worker_document(worker: Worker) -> dict[str, Any]:
    """A live worker: what it serves and declares, what holds it back, and who asked it to drain."""
    return {
        "id": worker.id,
        "namespace": worker.namespace,
        "app": worker.app,
        "kind": worker.kind,
        "host": worker.host,
        "pid": worker.pid,
        "version": worker.version,
        "queues": list(worker.queues),
        "slots": worker.slots,
        "tasks": dict(worker.tasks),
        "declares": dict(worker.declares),
        "draining": worker.draining,
        "drain_requested_at": iso(worker.drain_requested_at),
        "drain_requested_by": worker.drain_requested_by,
        "standby_reason": worker.standby_reason,
        "health": dict(worker.health),
        "started_at": iso(worker.started_at),
        "last_heartbeat_at": iso(worker.last_heartbeat_at),
        "live_until": iso(worker.live_until),
    }


def token_document(token: TokenRecord) -> dict[str, Any]:
    """A token, without what it is checked by; `namespaces` is null where it opens all."""
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "namespaces": None if token.namespaces is None else list(token.namespaces),
        "state": token.state,
        "created_at": iso(token.created_at),
        "created_by": token.created_by,
        "expires_at": iso(token.expires_at),
        "revoked_at": iso(token.revoked_at),
        "revoked_by": token.revoked_by,
        "last_used_at": iso(token.last_used_at),
        "sessions": token.sessions,
    }


def session_document(session: SessionRecord) -> dict[str, Any]:
    """A session, without what it is checked by, and with what its token may do."""
    return {
        "id": session.id,
        "token_id": session.token_id,
        "name": session.name,
        "role": session.role,
        "namespaces": None if session.namespaces is None else list(session.namespaces),
        "state": session.state,
        "agent": session.agent,
        "opened_at": iso(session.opened_at),
        "expires_at": iso(session.expires_at),
        "closed_at": iso(session.closed_at),
        "closed_by": session.closed_by,
        "last_used_at": iso(session.last_used_at),
    }


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


def activity_document(happening: Activity) -> dict[str, Any]:
    """Something that happened: to a run, a skip, or what somebody did."""
    return {
        "at": iso(happening.at),
        "kind": happening.kind,
        "schedule": happening.schedule,
        "run": None if happening.run is None else run_document(happening.run),
        "skip": None if happening.skip is None else skip_document(happening.skip),
        "audit": None if happening.audit is None else audit_document(happening.audit),
    }


def event_document(happening: Activity) -> dict[str, Any]:
    """Something that happened, as it is sent to all who follow: a run without its payload and result."""
    document = activity_document(happening)
    if (run := document["run"]) is not None:
        del run["payload"], run["result"]
    return document


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
        "warnings": [warning_document(each) for each in preview.cautions],
        "load": None
        if load is None
        else {
            "schedules": load.schedules,
            "complete": load.complete,
            "instants": [
                {"at": iso(each.at), "before": each.before, "minute": each.minute, "after": each.after}
                for each in load.instants
            ],
        },
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


def audit_document(record: AuditEntry) -> dict[str, Any]:
    """Who did what, when and to what."""
    return {
        "id": record.id,
        "at": iso(record.at),
        "actor": record.actor,
        "action": record.action,
        "schedule": record.schedule,
        "run_id": record.run_id,
        "detail": dict(record.detail),
    }


def decisions_document(decisions: TickDecisions) -> dict[str, Any]:
    """The runs and skips of a range of ticks, oldest first."""
    return {
        "runs": [run_document(run) for run in decisions.runs],
        "skips": [skip_document(skip) for skip in decisions.skips],
    }


def identity_document(place: StoreIdentity) -> dict[str, Any]:
    """Where a store is, where it says it is, and why it is taken for a copy; empty where it is none."""
    return {"here": dict(place.here), "stored": dict(place.stored), "copy_reason": place.copy_reason}


def zones_document(zones: Zones) -> dict[str, Any]:
    """Zone rules beside those that a store goes by."""
    return {
        "here": {"version": zones.here.version, "digest": zones.here.digest, "source": zones.here.source},
        "store": None if zones.stored is None else zone_record_document(zones.stored),
        "same": zones.same,
        "adopted": zones.adopted,
    }


def zone_record_document(record: ZoneRecord) -> dict[str, Any]:
    """Zone rules that a store goes by, or went by."""
    return {
        "generation": record.generation,
        "version": record.version,
        "digest": record.digest,
        "adopted_at": iso(record.adopted_at),
        "adopted_by": record.adopted_by,
        "followed_at": iso(record.followed_at),
    }


def moves_document(moves: ZoneImpact) -> dict[str, Any]:
    """The ticks of a schedule that other zone rules move."""
    return {
        "schedule": moves.schedule,
        "zone": moves.zone,
        "removed": moves.removed,
        "added": moves.added,
        "first_removed": [iso(tick) for tick in moves.first_removed],
        "first_added": [iso(tick) for tick in moves.first_added],
        "until": iso(moves.until),
    }


def calendar_document(record: CalendarRecord) -> dict[str, Any]:
    """A stored calendar; `closed` are its days as schedules hold them."""
    return {
        "name": record.name,
        "definition": dict(record.definition),
        "closed": calendar_to_json(record.closed),
        "source": dict(record.source),
        "revision": record.revision,
        "created_at": iso(record.created_at),
        "changed_at": iso(record.changed_at),
        "changed_by": record.changed_by,
    }


def calendar_report_document(report: CalendarReport) -> dict[str, Any]:
    """What a calendar does to coming ticks, or would do; `calendar` is null where it was not stored."""
    calendar = report.calendar
    return {
        "name": report.name,
        "stored": isinstance(calendar, CalendarRecord),
        "calendar": calendar_document(calendar) if isinstance(calendar, CalendarRecord) else None,
        "definition": dict(calendar.definition),
        "closed": calendar_to_json(calendar.closed),
        "source": dict(calendar.source),
        "horizon": report.horizon,
        "schedules": report.schedules,
        "effects": [effect_document(each) for each in report.effects],
        "complete": report.complete,
        "failed": [{"schedule": name, "error": error} for name, error in report.failed],
    }


def effect_document(effect: CalendarImpact) -> dict[str, Any]:
    """The ticks of a schedule that a calendar moves, lets appear or lets vanish; `more` are not listed."""
    return {
        "schedule": effect.schedule,
        "moved": [{"from": iso(old), "to": iso(new)} for old, new in effect.moved],
        "appear": [iso(tick) for tick in effect.appear],
        "vanish": [iso(tick) for tick in effect.vanish],
        "more": effect.more,
    }


def bulk_document(result: BulkResult) -> dict[str, Any]:
    """What one change to many schedules did: which were changed, which were left alone and why."""
    return {
        "verb": result.verb,
        "matched": result.matched,
        "changed": list(result.changed),
        "not_changed": [{"schedule": each.schedule, "why": each.why} for each in result.not_changed],
        "runs": dict(result.runs),
    }
