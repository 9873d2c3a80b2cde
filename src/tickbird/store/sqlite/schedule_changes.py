"""Change a schedule: plan due ticks under the old revision, then apply the command, with its revision and audit row."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import datetime
from functools import partial

from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Change, Command
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.plan import NO_FACTS, RetriedRun
from tickbird.domain.runs.idempotency import match_trigger
from tickbird.domain.schedules.codec import definition_text
from tickbird.domain.schedules.schedule import Schedule, ignored_error
from tickbird.domain.time.instants import to_micros
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.shared.planning.decide import held_keys
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import run_sync
from tickbird.store.shared.zone_data import PlanningPermission
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.calendars import calendar_contents
from tickbird.store.sqlite.database.statements import SQL, NamedRow, fetch_named
from tickbird.store.sqlite.enqueue import finding
from tickbird.store.sqlite.planning.dependencies import dependents, read_needs, watch
from tickbird.store.sqlite.planning.planning import plan_schedules, read_facts
from tickbird.store.sqlite.planning.revisions import read_revision
from tickbird.store.sqlite.planning.write import write_plans
from tickbird.store.sqlite.rows import dump, is_due, is_ignored, last_skip_id, to_schedule
from tickbird.store.sqlite.runs import fetch, get_run

# The number of plans, of a thousand runs each, before a command; with more due ticks, the planner must catch up first.
MAX_PLANS = 50
CANCELLED = "cancelled with the schedule"


def change(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    name: str,
    command: Command,
    now: datetime,
) -> ChangeResult:
    """Apply a command to the schedule of this name, which may not exist yet."""
    row = plan_and_read(db, revisions, may, namespace, name, now)
    before = None if row is None else to_schedule(row)
    facts = NO_FACTS if before is None else read_facts(db, [before.id]).get(before.id, NO_FACTS)
    key = command.idempotency_key if isinstance(command, Trigger) else None
    if isinstance(command, Trigger) and key is not None and before is not None:
        keyed = run_sync(finding(namespace, key), partial(fetch, db))
        if keyed is not None:
            run_id = match_trigger(key, keyed, before.id, command.payload)
            return ChangeResult(before, [run_id], get_run(db, run_id))
    if names := command.calendars_after(before):
        facts = replace(facts, calendars=calendar_contents(db, namespace, names))
    if command.changes_dependencies:
        needs = read_needs(db, namespace, command.dependencies_after(before))
        facts = replace(facts, needs=needs, dependents=dependents(db, namespace, name))
    if isinstance(command, Trigger) and command.retry_of is not None and before is not None:
        facts = replace(facts, retried_run=_read_retried_run(db, revisions, before.id, command.retry_of))
    done = command.apply(before, name, facts, now.timestamp())
    schedule = done.schedule if before else replace(done.schedule, id=_insert(db, done.schedule, now))
    if done.makes_revision:
        _revise(db, schedule, done, command.actor, may, now)
        if command.changes_dependencies and schedule.definition is not None and schedule.definition.depends_on:
            watch(db, namespace, [needed.schedule for needed in schedule.definition.depends_on])
    elif not done.plan.runs:
        # Nothing new was requested; due ticks that were planned before may have created runs.
        db.execute(SQL["wake_others"])
        return ChangeResult(schedule)
    keys = held_keys(facts)
    decided = ScheduleDecision(
        before or schedule,
        done.plan,
        done.definition,
        last_skip_id(row),
        command.actor,
        keys,
        edited=done.makes_revision,
    )
    run_ids = write_plans(db, revisions, [decided], now, actor=command.actor, reason=CANCELLED)
    if key is not None:
        db.execute(SQL["key_run"], {"id": run_ids[0], "idempotency_key": key})
    write_audit(
        db,
        now,
        command.actor,
        done.action,
        namespace,
        schedule_id=schedule.id,
        schedule=name,
        run_id=run_ids[0] if run_ids else None,
        detail=done.detail,
    )
    db.execute(SQL["wake_others"])
    after = _read(db, namespace, name)
    assert after is not None
    return ChangeResult(to_schedule(after), run_ids, None if done.makes_revision else get_run(db, run_ids[0]))


def _read_retried_run(
    db: sqlite3.Connection, revisions: RevisionCache, schedule_id: int, run_id: int
) -> RetriedRun | None:
    """Read the run to retry; None if it is not a run of this schedule."""
    run = get_run(db, run_id)
    if run is None or run.schedule_id != schedule_id or run.revision is None:
        return None
    revision = read_revision(db, revisions, schedule_id, run.revision)
    return RetriedRun(run, None if revision is None else revision.definition)


def plan_and_read(
    db: sqlite3.Connection, revisions: RevisionCache, may: PlanningPermission, namespace: str, name: str, now: datetime
) -> NamedRow | None:
    """Plan due ticks, then return the schedule's row."""
    for _ in range(MAX_PLANS):
        row = _read(db, namespace, name)
        if row is None:
            return None
        if is_ignored(row):
            raise ignored_error(name, as_object(decode(row["definition"])))
        # Planners with other time zone data handle cursors that were computed with it.
        if not is_due(row, now) or not _may_plan(db, may, row["id"]):
            return row
        plan_schedules(db, revisions, [row["id"]], read_facts(db, [row["id"]]), now, may.zones)
        if (planned := _read(db, namespace, name)) is not None and to_schedule(planned).in_memory:
            # Its cursor has no next tick: one pass decides the recent ones.
            return planned
    raise ConflictError(f"schedule {name!r} is still catching up with its ticks.", hint="Try again in a moment.")


def _may_plan(db: sqlite3.Connection, may: PlanningPermission, schedule_id: int) -> bool:
    [generation] = db.execute(SQL["zones_of"], {"id": schedule_id}).fetchone()
    return may.plan(generation)


def _read(db: sqlite3.Connection, namespace: str, name: str) -> NamedRow | None:
    rows = fetch_named(db, "schedule_by_name", {"namespace": namespace, "name": name})
    return rows[0] if rows else None


def _insert(db: sqlite3.Connection, schedule: Schedule, now: datetime) -> int:
    """Insert a row; a trigger adds its cursor and first revision. Returns its id."""
    row = {
        "namespace": schedule.namespace,
        "name": schedule.name,
        "app": schedule.app,
        "definition": definition_text(schedule.definition_json),
        "revision": schedule.revision,
        "fingerprint": schedule.fingerprint,
        "now": to_micros(now),
    }
    db.execute(SQL["insert_schedule"], row)
    [(schedule_id,)] = db.execute(SQL["id_of_schedule"], row).fetchall()
    return int(schedule_id)


def _revise(
    db: sqlite3.Connection, schedule: Schedule, done: Change, actor: str, may: PlanningPermission, now: datetime
) -> None:
    """Write a schedule's next revision; its cursor is written with the plan."""
    pause = schedule.pause
    is_readable = schedule.definition is not None
    row = {
        "id": schedule.id,
        "app": schedule.app,
        # An unreadable definition stays as it is stored.
        "definition": definition_text(schedule.definition_json) if is_readable else None,
        "revision": schedule.revision,
        "fingerprint": schedule.fingerprint,
        "field_overrides": dump(dict(schedule.field_overrides)),
        "paused_by": pause.by if pause else None,
        "pause_note": pause.note if pause else None,
        "paused_until": pause.until if pause else None,
        "error": schedule.error,
        "now": to_micros(now),
    }
    db.execute(SQL["update_schedule"], row)
    version = schedule.definition_json["v"] if is_readable else None
    db.execute(SQL["revise_cursor"], {"id": schedule.id, "revision": schedule.revision, "format": version})
    db.execute(SQL["stamp_revised"], {"id": schedule.id, "zones": may.zones.cursor_generation})
    db.execute(SQL["write_revision"], {**row, "action": done.action, "actor": actor, "detail": dump(done.detail)})
