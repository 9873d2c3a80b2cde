"""Many changes in one transaction: independent changes as sets, the others one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.changes import ChangeSet, ProgressCallback
from tickbird.domain.planning.commands.base import Change, Command
from tickbird.domain.planning.commands.define import Create, Delete, RefreshCalendar, SyncFromCode
from tickbird.domain.planning.plan import NO_FACTS, Facts
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.postgres.calendars import calendar_contents, put_calendar
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.database.database import Database, NounStore
from tickbird.store.postgres.planning.concurrency import set_limit
from tickbird.store.postgres.planning.facts import lock_facts
from tickbird.store.postgres.planning.waiting_runs import lock_active_runs, lock_keys
from tickbird.store.postgres.planning.write import write_plans
from tickbird.store.postgres.queues import set_queue_rate
from tickbird.store.postgres.rows import json_text, numbers, texts, to_schedule
from tickbird.store.postgres.schedule_changes import change, is_due, reason, transact
from tickbird.store.protocol.bulk_changes import BulkChangeStore
from tickbird.store.shared.planning.revision_cache import RevisionCache, UncommittedRevisions
from tickbird.store.shared.zone_data import PlanningPermission, PlanningSwitch

# The size of a set; progress is reported after each.
_SET: Final = 500
_PLAIN: Final = (Create, SyncFromCode, RefreshCalendar, Delete)
Named = tuple[str, Command]


class PostgresBulkChanges(NounStore, BulkChangeStore):
    def __init__(self, database: Database, switch: PlanningSwitch) -> None:
        super().__init__(database)
        self._switch = switch

    async def apply(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: ProgressCallback | None = None,
        now: datetime | None = None,
    ) -> None:
        permission = await self._switch.permission()

        async def work(db: Session) -> None:
            revisions = UncommittedRevisions(self._db.revisions)
            await _apply(db, revisions, permission, namespace, changes, actor, now, counted)

        await transact(self._db, namespace, [command for _, command in changes.commands], work)


async def _apply(
    db: Session,
    revisions: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    changes: ChangeSet,
    actor: str,
    now: datetime | None,
    counted: ProgressCallback | None,
) -> None:
    """Apply all changes in order."""
    if changes.limits or len(changes.commands) > _SET:
        await _lock_rows(db, namespace, changes)
    for update in changes.calendars:
        await put_calendar(db, namespace, update, actor, now)
    for key, max_running in changes.limits.items():
        await set_limit(db, revisions, namespace, key, max_running, actor, now)
    for queue, rate in changes.queues.items():
        await set_queue_rate(db, namespace, queue, rate, actor, now)
    if not changes.commands:
        return
    needed: set[str] = set()
    if any(command.changes_dependencies for _, command in changes.commands):
        await db.execute("lock_dependencies", namespace=namespace)
        needed = {row[0] for row in await db.fetch("depended_on", namespace=namespace)}
    done = 0
    for together in _sets(changes.commands, needed):
        remaining = together
        if len(together) > 1:
            remaining = await _change_set(db, revisions, may, namespace, together, now)
        for name, command in remaining:
            await change(db, revisions, may, namespace, name, command, now)
        done += len(together)
        if counted is not None:
            counted(done)
    await db.execute("wake")


async def _lock_rows(db: Session, namespace: str, changes: ChangeSet) -> None:
    """Lock all rows that the changes may wait for, then the keys: a session that holds a key must not wait for rows."""
    names = sorted({name for name, _ in changes.commands})
    if locked := await db.fetch("lock_named", namespace=namespace, names=texts(names)):
        await lock_active_runs(db, [row[0] for row in locked])
    await lock_keys(db, [(namespace, key) for key in changes.limits])


def _sets(commands: Sequence[Named], needed: set[str]) -> Iterator[list[Named]]:
    """Split commands into sets of independent ones; a command that involves a dependency is alone in its set."""
    gathered: dict[str, Command] = {}
    for name, command in commands:
        is_separate = not isinstance(command, _PLAIN) or (
            name in needed if isinstance(command, Delete) else bool(command.dependencies_after(None))
        )
        if gathered and (is_separate or name in gathered or len(gathered) == _SET):
            yield list(gathered.items())
            gathered = {}
        if is_separate:
            yield [(name, command)]
        else:
            gathered[name] = command
    if gathered:
        yield list(gathered.items())


async def _change_set(
    db: Session,
    revisions: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    commands: Sequence[Named],
    now: datetime | None,
) -> list[Named]:
    """Apply the plain commands; returns the others."""
    locked = await db.fetch("lock_named", namespace=namespace, names=texts([name for name, _ in commands]))
    fingerprints = {row[1]: row[2] for row in locked}
    facts = await lock_facts(db, [row[0] for row in locked]) if locked else {}
    [(at,)] = await db.fetch("clock", now=now)
    ids = numbers(row[0] for row in locked)
    details = {row["name"]: row for row in await db.fetch_named("read_schedules", ids=ids)} if locked else {}
    names = {
        calendar
        for _, command in commands
        if isinstance(command, Create | SyncFromCode)
        for calendar in command.definition.calendars
    }
    stored = {name: to_schedule(detail) for name, detail in details.items()}
    names |= {calendar for name, command in commands for calendar in command.calendars_after(stored.get(name))}
    closed = await calendar_contents(db, namespace, sorted(names)) if names else {}
    remaining: list[Named] = []
    applied: list[tuple[Command, Change, int | None]] = []
    for name, command in commands:
        detail, schedule = details.get(name), stored.get(name)
        schedule_facts = facts.get(schedule.id, NO_FACTS) if schedule else NO_FACTS
        due = detail is not None and may.plan(fingerprints[name]) and is_due(detail, at)
        unreadable = schedule is not None and schedule.definition is None
        if due or unreadable or _has_keys(command, schedule, schedule_facts):
            remaining.append((name, command))
            continue
        done = command.apply(schedule, name, replace(schedule_facts, calendars=closed), at.timestamp())
        if done.plan.runs or done.plan.cancel or done.plan.stop:
            remaining.append((name, command))
        elif done.makes_revision:
            applied.append((command, done, None if detail is None else detail["last_skip_id"]))
    if applied:
        await _write(db, revisions, may, namespace, applied, stored, at)
    return remaining


def _has_keys(command: Command, schedule: Schedule | None, facts: Facts) -> bool:
    """True if slots of a concurrency key are involved, which are assigned one by one."""
    definitions = [schedule.definition if schedule else None, getattr(command, "definition", None)]
    keyed = any(definition is not None and definition.concurrency_key is not None for definition in definitions)
    return keyed or any(run.key is not None for run in facts.active)


async def _write(
    db: Session,
    revisions: RevisionCache,
    may: PlanningPermission,
    namespace: str,
    applied: Iterable[tuple[Command, Change, int | None]],
    stored: dict[str, Schedule],
    now: datetime,
) -> None:
    """Write schedules, cursors, revisions and audit rows, then the decisions about their ticks."""
    changes = list(applied)
    after = [done.schedule for _, done, _ in changes]
    definitions = {schedule.name: json_text(dict(schedule.definition_json)) for schedule in after}
    if new := [schedule for schedule in after if schedule.name not in stored]:
        rows = await db.fetch(
            "insert_schedules",
            namespace=namespace,
            names=texts([schedule.name for schedule in new]),
            definitions=texts([definitions[schedule.name] for schedule in new]),
            revisions=numbers(schedule.revision for schedule in new),
            now=now,
        )
        ids: dict[str, int] = dict(rows)
        after = [replace(schedule, id=ids[schedule.name]) if schedule.name in ids else schedule for schedule in after]
    columns: dict[str, Any] = {
        "ids": numbers(schedule.id for schedule in after),
        "definitions": texts([definitions[schedule.name] for schedule in after]),
        "revisions": numbers(schedule.revision for schedule in after),
    }
    fingerprints = texts([schedule.fingerprint for schedule in after])
    pauses = [schedule.pause for schedule in after]
    await db.execute(
        "write_schedules",
        **columns,
        apps=texts([schedule.app for schedule in after]),
        fingerprints=fingerprints,
        field_overrides=texts([json_text(dict(schedule.field_overrides)) for schedule in after]),
        paused_by=texts([pause.by if pause else None for pause in pauses]),
        pause_notes=texts([pause.note if pause else None for pause in pauses]),
        paused_until=numbers(pause.until if pause else None for pause in pauses),
        errors=texts([schedule.error for schedule in after]),
        now=now,
    )
    await db.execute("write_cursor_revisions", **columns, zones=may.zones.cursor_generation)
    actors = {
        "actions": texts([done.action for _, done, _ in changes]),
        "actors": texts([command.actor for command, _, _ in changes]),
        "details": texts([json_text(dict(done.detail)) for _, done, _ in changes]),
    }
    await db.execute("write_revisions", **columns, **actors, fingerprints=fingerprints, now=now)
    decided = [
        ScheduleDecision(schedule, done.plan, schedule.definition, last_skip_id, command.actor, edited=True)
        for schedule, (command, done, last_skip_id) in zip(after, changes, strict=True)
    ]
    by, why = changes[0][0].actor, reason(changes[0][1])
    await write_plans(db, revisions, decided, now, reason=why, by=by)
    names = texts([schedule.name for schedule in after])
    await db.execute("write_audits", ids=columns["ids"], names=names, **actors, namespace=namespace, now=now)
