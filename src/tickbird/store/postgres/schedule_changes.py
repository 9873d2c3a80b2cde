"""One change of one schedule: plan due ticks under the old definition, then apply the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors
from psycopg.types.json import Json, Jsonb

from tickbird.domain.errors import TickbirdError
from tickbird.domain.limits.concurrency import Key
from tickbird.domain.planning.admission import ScheduleDecision, admit, keys_needed
from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Change, Command
from tickbird.domain.planning.commands.define import Create, Delete
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule
from tickbird.domain.planning.plan import ActiveRun, Facts, RetriedRun
from tickbird.domain.runs.idempotency import match_trigger
from tickbird.domain.schedules.codec import CUSTOM_TRIGGERS, ignored_reason
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Schedule, check_readable
from tickbird.store.postgres.audit import write_audit
from tickbird.store.postgres.calendars import calendar_contents
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, Work
from tickbird.store.postgres.database.errors import REFUSED
from tickbird.store.postgres.enqueue import finding
from tickbird.store.postgres.planning.dependencies import dependents, read_needs, read_successes, watch
from tickbird.store.postgres.planning.facts import read_decided
from tickbird.store.postgres.planning.revisions import load_revisions
from tickbird.store.postgres.planning.waiting_runs import lock_active_runs, lock_keys, release
from tickbird.store.postgres.planning.write import defer_runs, write_plans
from tickbird.store.postgres.rows import numbers, to_run, to_schedule
from tickbird.store.shared.json_columns import as_object
from tickbird.store.shared.planning.decide import decide, depended_on, held_keys
from tickbird.store.shared.planning.due import DueSchedule, edited_by_sql
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import run_async
from tickbird.store.shared.zone_data import PlanningPermission

T = TypeVar("T")
# The number of plans, of a thousand runs each, before a command; the planner decides further due ticks.
_MAX_TRIES: Final = 20
# The changes that plain SQL can request, by action.
_REQUESTS: Final[dict[str, type[Command]]] = {
    "pause": Pause,
    "resume": Resume,
    "delete": Delete,
    "reschedule": Reschedule,
}
_ACTIVE: Final = ("active", "active_statuses", "active_origins", "active_keys", "active_awaits")


async def transact(
    database: Database, namespace: str, commands: Sequence[Command], work: Work[T], *, name: str | None = None
) -> T:
    """Run some commands in one transaction; `name` is that of the schedule, if there is only one."""
    # In a separate transaction: waiting for runs of other schedules while this one is locked could deadlock.
    if names := {(namespace, name) for command in commands for name in command.dependencies_after(None)}:
        await database.transact(lambda db: watch(db, names))
    try:
        return await database.connections.transact(work)
    except errors.UniqueViolation:
        # Another transaction created a schedule with this name at the same time; now the commands see it.
        return await database.transact(work)
    except psycopg.Error as error:
        if error.sqlstate == REFUSED and commands:
            refusal = {"actor": commands[0].actor, "reason": error.diag.message_primary}
            await database.transact(
                lambda db: db.execute("record_refusal", namespace=namespace, schedule=name, **refusal)
            )
        raise database.translate(error) from None


async def change(
    db: Session,
    revisions: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    name: str,
    command: Command,
    now: datetime | None,
) -> ChangeResult:
    """Apply the command, with its revision and its audit row."""
    if command.changes_dependencies:
        await db.execute("lock_dependencies", namespace=namespace)
    matches = await db.fetch("lock_schedule", namespace=namespace, name=name)
    if matches and matches[0][2] is not None:
        await apply_requests(db, revisions, may, matches[0][0])
    current = await read_locked(db, matches[0][0] if matches else None, now)
    retried = None
    if matches and isinstance(command, Trigger) and command.retry_of is not None:
        retried = await _read_retried_run(db, revisions, matches[0][0], command.retry_of)
    # All at once, before one of them is used below.
    await lock_keys(db, _keys(namespace, current, command, retried))
    # Planners with other time zone data handle cursors that were computed with it.
    if matches and may.plan(matches[0][1]):
        current = await plan_due_ticks(db, revisions, current)
    now, schedule = current.now, current.schedule
    if schedule is not None:
        check_readable(schedule)
    key = command.idempotency_key if isinstance(command, Trigger) else None
    if isinstance(command, Trigger) and key is not None:
        keyed = await run_async(finding(namespace, key), db.fetch_step)
        if keyed is not None and schedule is not None:
            run_id = match_trigger(key, keyed, schedule.id, command.payload)
            [detail] = await db.fetch_named("get_run", id=run_id)
            return ChangeResult(schedule, [run_id], to_run(detail))
    facts = replace(current.facts, retried_run=retried)
    if names := command.calendars_after(schedule):
        facts = replace(facts, calendars=await calendar_contents(db, namespace, names))
    if command.changes_dependencies:
        needs = await read_needs(db, namespace, command.dependencies_after(schedule))
        facts = replace(facts, needs=needs, dependents=await dependents(db, namespace, name))
    changed = command.apply(schedule, name, facts, now.timestamp())
    after = changed.schedule
    if schedule is None:
        [(new_id,)] = await db.fetch(
            "insert_schedule",
            namespace=namespace,
            name=name,
            definition=Jsonb(dict(after.definition_json)),
            revision=after.revision,
            now=now,
        )
        after = replace(after, id=new_id)
    keys = held_keys(current.facts)
    if not changed.makes_revision:
        unchanged = await _leave_unchanged(db, revisions, changed, keys, now, command.actor)
        if key is not None:
            await db.execute("key_run", id=unchanged.run_ids[0], idempotency_key=key)
        return unchanged
    decided = ScheduleDecision(
        after, changed.plan, after.definition, current.last_skip_id, command.actor, keys, edited=True
    )
    await _write_revision(db, after, changed, command.actor, may, now)
    rows = await write_plans(db, revisions, [decided], now, reason=reason(changed), by=command.actor)
    run_ids = [run.id for run in rows.runs]
    if command.changes_dependencies and after.definition is not None and after.definition.depends_on:
        await watch(db, {(namespace, needed.schedule) for needed in after.definition.depends_on})
    await write_audit(
        db,
        now,
        command.actor,
        changed.action,
        namespace,
        schedule_id=after.id,
        schedule=name,
        run_id=run_ids[0] if len(run_ids) == 1 else None,
        detail=changed.detail,
    )
    await db.execute("wake")
    [detail] = await db.fetch_named("read_schedules", ids=numbers([after.id]))
    return ChangeResult(to_schedule(detail), run_ids)


async def apply_requests(db: Session, revisions: RevisionCache, may: PlanningPermission, schedule_id: int) -> None:
    """Apply the changes that plain SQL requested, each as of its instant, before any later tick is decided.

    A SQL function stores a request in the cursor, in the caller's transaction, and makes the cursor due.
    """
    [(namespace, name, deletes)] = await db.fetch("requested_schedule", id=schedule_id)
    if deletes:
        await db.execute("lock_dependencies", namespace=namespace)
    requests: list[dict[str, Any]] = [row[0] for row in await db.fetch("take_requests", id=schedule_id)]
    for request in requests:
        at, action = datetime.fromtimestamp(request["at"], UTC), request["action"]
        if action == "release":
            continue
        fields = {key: value for key, value in request.items() if key not in ("action", "at")}
        try:
            await change(db, revisions, may, namespace, name, _REQUESTS[action](**fields), at)
        except TickbirdError as error:
            detail = {**request, "error": str(error)}
            await write_audit(
                db, at, request["actor"], "refuse", namespace, schedule_id=schedule_id, schedule=name, detail=detail
            )
    if not requests:
        return
    if any(request["action"] == "release" for request in requests):
        # Last: the changes lock running runs before waiting ones, as sessions that finish runs do.
        await release(db, revisions, [schedule_id], datetime.fromtimestamp(requests[-1]["at"], UTC))
    await db.execute("mirror_job", id=schedule_id)


async def _read_retried_run(db: Session, revisions: RevisionCache, schedule_id: int, run_id: int) -> RetriedRun | None:
    """Read the run to retry; None if it is not a run of this schedule."""
    rows = await db.fetch_named("get_run", id=run_id)
    run = to_run(rows[0]) if rows else None
    if run is None or run.schedule_id != schedule_id or run.revision is None:
        return None
    revision = (await load_revisions(db, revisions, [(schedule_id, run.revision)])).by_key.get(
        (schedule_id, run.revision)
    )
    return RetriedRun(run, None if revision is None else revision.definition)


def _keys(namespace: str, current: LockedSchedule, command: Command, retried: RetriedRun | None) -> set[Key]:
    """The concurrency keys of the schedule's active runs, and of new runs of the command and of due ticks."""
    keys: set[str | None] = set(held_keys(current.facts))
    schedule = current.schedule
    definition = command.definition if isinstance(command, Create) else schedule.definition if schedule else None
    if definition is not None:
        keys.add(definition.key())
        if isinstance(command, Trigger) and command.payload is not None:
            keys.add(definition.key(command.payload))
        overrides = schedule.cursor.tick_overrides if schedule else ()
        keys |= {definition.key(override.payload) for override in overrides if override.payload is not None}
    if retried is not None and retried.definition is not None and isinstance(command, Trigger):
        keys.add(retried.definition.key(retried.run.payload if command.payload is None else command.payload))
    return {(namespace, key) for key in keys if key is not None}


@dataclass(frozen=True, slots=True)
class LockedSchedule:
    """A schedule locked with its cursor and active runs, as of `now`; `schedule` is None if it does not exist."""

    now: datetime
    row: dict[str, Any]
    facts: Facts

    @property
    def schedule(self) -> Schedule | None:
        return None if self.row["id"] is None else to_schedule(self.row)

    @property
    def last_skip_id(self) -> int | None:
        """The id of the skip that the next skip may extend."""
        return self.row["last_skip_id"]  # type: ignore[no-any-return]


async def read_locked(db: Session, schedule_id: int | None, now: datetime | None) -> LockedSchedule:
    """Lock the active runs of a schedule whose row and cursor are locked, and read it."""
    [row] = await db.fetch_named("read_locked_schedule", id=schedule_id, now=now)
    if row["any_aside"]:
        # Transactions that were waited for may have released some runs, which that statement did not see.
        await lock_active_runs(db, [row["id"]])
        [row] = await db.fetch_named("read_locked_schedule", id=schedule_id, now=now)
    del row["any_aside"]
    active = zip(*(row.pop(name) for name in _ACTIVE), strict=True)
    facts = Facts(tuple(ActiveRun(*run) for run in active), held=row.pop("any_held"))
    return LockedSchedule(row.pop("now"), row, facts)


async def plan_due_ticks(db: Session, revisions: RevisionCache, current: LockedSchedule) -> LockedSchedule:
    """Plan due ticks under the revision in force; returns the schedule afterwards."""
    for _ in range(_MAX_TRIES):
        if not is_due(current.row, current.now):
            break
        schedule, edited = to_schedule(current.row, explain=True), None
        if (prior := current.row["prior_revision"]) is not None:
            before = (await load_revisions(db, revisions, [(schedule.id, prior)])).by_key.get((schedule.id, prior))
            edited = edited_by_sql(before, schedule, prior, current.row["edited_at"])
        facts = current.facts
        if decided_ticks := await read_decided(db, [schedule], current.now.timestamp()):
            facts = replace(facts, decided=decided_ticks[schedule.id])
        if names := {(schedule.namespace, name) for name in depended_on(schedule, edited)}:
            successes = (await watch(db, names)).get(schedule.namespace, {})
            # No awaited success may be missed. If one is being recorded, the whole transaction is retried.
            await db.fetch("lock_successes_or_fail", ids=numbers(success.schedule_id for success in successes.values()))
            facts = replace(facts, successes=(await read_successes(db, names)).get(schedule.namespace, {}))
        due = DueSchedule(schedule, current.last_skip_id, edited)
        decided = decide(due, facts, current.now.timestamp())
        await write_plans(db, revisions, [decided], current.now)
        current = await read_locked(db, schedule.id, current.now)
        if current.schedule is not None and current.schedule.in_memory:
            # Its cursor has no next tick: one pass decides the recent ones.
            break
    return current


def is_due(detail: dict[str, Any], now: datetime) -> bool:
    """True if the planner must decide this row of schedule_details."""
    if detail["id"] is None:
        return False
    if detail["format"] >= CUSTOM_TRIGGERS and ignored_reason(as_object(detail["definition"])):
        return False
    if detail["prior_revision"] is not None:
        return True
    next_run_at = detail["next_run_at"]
    return detail["state"] == "active" if next_run_at is None else bool(next_run_at <= now.timestamp())


async def _leave_unchanged(
    db: Session, revisions: RevisionCache, changed: Change, keys: frozenset[str], now: datetime, actor: str
) -> ChangeResult:
    """Leave the definition unchanged: the command requested a run, or nothing new."""
    schedule = changed.schedule
    if not changed.plan.runs:
        # Due ticks that were planned before may have created runs.
        await db.execute("wake")
        return ChangeResult(schedule)
    decided = ScheduleDecision(schedule, changed.plan, changed.definition, held_keys=keys)
    keys_to_lock = keys_needed([decided])
    if keys_to_lock:
        [decided] = admit([decided], await lock_keys(db, keys_to_lock))
    [decided] = await defer_runs(db, [decided], now)
    [run], definition = decided.plan.runs, changed.definition
    assert definition is not None
    [row] = await db.fetch_named(
        "write_run",
        namespace=schedule.namespace,
        schedule_id=schedule.id,
        schedule=schedule.name,
        revision=changed.plan.revision,
        target_kind=definition.target.kind,
        target=definition.target.name,
        queue=definition.queue,
        priority=definition.priority,
        status=run.status,
        origin=run.origin,
        start_by=run.start_by,
        crash_limit=definition.crash_limit,
        retry_of=run.retry_of,
        actor=actor,
        key=definition.key(run.payload),
        deferred_until_minute=run.deferred_until_minute,
        payload=None if run.payload is None else check_payload(run.payload),
        action=changed.action,
        detail=Jsonb(dict(changed.detail)),
        now=now,
    )
    if keys:
        # Another session may have skipped a waiting run that was locked here.
        await release(db, revisions, [schedule.id], now, keys=keys_to_lock)
    del row["woken"]
    return ChangeResult(schedule, [row["id"]], to_run(row))


async def _write_revision(
    db: Session, after: Schedule, changed: Change, actor: str, may: PlanningPermission, now: datetime
) -> None:
    pause = after.pause
    # An unreadable definition stays as it is stored.
    raw = None if after.definition is None else dict(after.definition_json)
    definition = None if raw is None else Jsonb(raw)
    await db.execute(
        "write_schedule",
        id=after.id,
        app=after.app,
        definition=definition,
        revision=after.revision,
        fingerprint=after.fingerprint,
        field_overrides=Jsonb(dict(after.field_overrides)),
        paused_by=pause.by if pause else None,
        pause_note=pause.note if pause else None,
        paused_until=pause.until if pause else None,
        error=after.error,
        now=now,
    )
    await db.execute(
        "write_cursor_revision",
        id=after.id,
        revision=after.revision,
        definition=definition,
        zones=may.zones.cursor_generation,
    )
    await db.execute(
        "write_revision",
        id=after.id,
        revision=after.revision,
        definition=None if raw is None else Json(raw),
        fingerprint=after.fingerprint,
        action=changed.action,
        actor=actor,
        detail=Jsonb(dict(changed.detail)),
        now=now,
    )


def reason(changed: Change) -> str:
    """The cancellation reason for runs that a change cancels."""
    return {"delete": "schedule deleted", "pause": "schedule paused"}.get(changed.action, changed.action)
