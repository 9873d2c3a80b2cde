"""One change to one schedule: what is due first, as it stood; then the command."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Json, Jsonb

from tickbird.domain.codec import FORMAT
from tickbird.domain.commands import Change, Command
from tickbird.domain.planner import NO_FACTS
from tickbird.domain.schedule import Schedule
from tickbird.store.plans import Decided, KnownRevisions, decide
from tickbird.store.postgres.connection import Session
from tickbird.store.postgres.planning import edited_by_sql, lock_facts, write
from tickbird.store.postgres.revisions import learn
from tickbird.store.postgres.rows import numbers, to_schedule
from tickbird.store.protocol import Changed

# So many looks at a thousand runs each are taken before a command; what is due beyond them is left to the planner.
_MOST_LOOKS: Final = 20


async def change(
    db: Session, known: KnownRevisions, namespace: str, name: str, command: Command, now: datetime | None
) -> Changed:
    """Apply the command, with its revision and its audit row."""
    found = await db.fetch("lock_schedule", namespace=namespace, name=name)
    if found:
        await db.fetch("lock_cursor", id=found[0][0])
    # The clock is read once the locks are held, so that it is not behind what others have decided.
    [(now,)] = await db.fetch("clock", now=now)
    assert now is not None
    schedule, last_skip_id, facts = None, None, NO_FACTS
    if found:
        schedule, last_skip_id = await _settle(db, known, found[0][0], now)
        facts = (await lock_facts(db, [schedule.id])).get(schedule.id, NO_FACTS)
    changed = command.apply(schedule, name, facts, now.timestamp())
    after = changed.schedule
    if schedule is None:
        [(new_id,)] = await db.fetch(
            "insert_schedule",
            namespace=namespace,
            name=name,
            definition=Jsonb(dict(after.raw)),
            revision=after.revision,
            now=now,
        )
        after = replace(after, id=new_id)
    if changed.revised:
        await _write_revision(db, after, changed, command.actor, now)
    decided = Decided(after, changed.plan, after.definition, last_skip_id, command.actor)
    rows = await write(db, known, [decided], now, edited=[after.id], reason=_reason(changed), by=command.actor)
    run_ids = [run.id for run in rows.runs]
    await db.execute(
        "write_audit",
        now=now,
        actor=command.actor,
        action=changed.action,
        namespace=namespace,
        schedule_id=after.id,
        schedule=name,
        run_id=run_ids[0] if len(run_ids) == 1 else None,
        detail=Jsonb(dict(changed.detail)),
    )
    await db.execute("wake")
    [detail] = await db.fetch_named("read_schedules", ids=numbers([after.id]))
    return Changed(to_schedule(detail), run_ids)


async def _settle(db: Session, known: KnownRevisions, schedule_id: int, now: datetime) -> tuple[Schedule, int | None]:
    """Plan what is due under the revision in force; the schedule as that leaves it, and its last skip."""
    [detail] = await db.fetch_named("read_schedules", ids=numbers([schedule_id]))
    for _ in range(_MOST_LOOKS):
        if not _is_due(detail, now):
            break
        schedule, edited = to_schedule(detail, explain=True), None
        if (prior := detail["prior_revision"]) is not None:
            await learn(db, known, [(schedule_id, prior)])
            edited = edited_by_sql(known, schedule, prior, detail["edited_at"])
        facts = (await lock_facts(db, [schedule_id])).get(schedule_id, NO_FACTS)
        decided = decide(schedule, facts, now.timestamp(), edited, detail["last_skip_id"])
        await write(db, known, [decided], now, edited=[schedule_id])
        [detail] = await db.fetch_named("read_schedules", ids=numbers([schedule_id]))
    return to_schedule(detail), detail["last_skip_id"]


def _is_due(detail: dict[str, Any], now: datetime) -> bool:
    if detail["format"] > FORMAT:
        return False
    if detail["prior_revision"] is not None:
        return True
    next_run_at = detail["next_run_at"]
    return detail["state"] == "active" if next_run_at is None else bool(next_run_at <= now.timestamp())


async def _write_revision(db: Session, after: Schedule, changed: Change, actor: str, now: datetime) -> None:
    definition, pause = Jsonb(dict(after.raw)), after.pause
    await db.execute(
        "write_schedule",
        id=after.id,
        app=after.app,
        definition=definition,
        revision=after.revision,
        fingerprint=after.fingerprint,
        overrides=Jsonb(dict(after.overrides)),
        paused_by=pause.by if pause else None,
        pause_note=pause.note if pause else None,
        paused_until=pause.until if pause else None,
        error=after.error,
        now=now,
    )
    await db.execute("write_cursor_revision", id=after.id, revision=after.revision, definition=definition)
    await db.execute(
        "write_revision",
        id=after.id,
        revision=after.revision,
        definition=Json(dict(after.raw)),
        fingerprint=after.fingerprint,
        action=changed.action,
        actor=actor,
        detail=Jsonb(dict(changed.detail)),
        now=now,
    )


def _reason(changed: Change) -> str:
    return {"delete": "schedule deleted", "pause": "schedule paused"}.get(changed.action, changed.action)
