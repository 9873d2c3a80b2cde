"""Planning on PostgreSQL: decide locked cursors in Python, and write the decisions as sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.edits import park
from tickbird.domain.planning.fast_path import DueCursor, need_facts, plan_on_time_batch
from tickbird.domain.planning.plan import Facts
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.due import load_due_revisions, read_due_schedules
from tickbird.store.postgres.planning.events import publish_on_time
from tickbird.store.postgres.planning.facts import decide_batch, read_facts
from tickbird.store.postgres.planning.write import write_on_time, write_plans
from tickbird.store.postgres.planning.zone_cursors import audit, stamp
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.decide import tally
from tickbird.store.shared.planning.revision_cache import RevisionCache


async def plan_locked(
    db: Session,
    revisions: RevisionCache,
    locked: Sequence[DueCursor],
    now: datetime,
    zones: Zones,
    hand_off: HandOff | None = None,
) -> PlanResult:
    """Plan the schedules of these locked cursors; nearly all are on time."""
    due = await load_due_revisions(db, revisions, locked)
    ids = need_facts(due)
    facts = await read_facts(db, ids) if ids else {}
    runs, others = plan_on_time_batch(due, facts, now.timestamp())
    planned = PlanResult(now, more=len(due) < len(locked))
    if runs:
        executed = [run for run in runs if run.info.event is None]
        if len(executed) < len(runs):
            executed += await publish_on_time(db, [run for run in runs if run.info.event is not None], now)
        leased = await write_on_time(db, executed, hand_off, now) if executed else []
        next_at = to_datetime(min(run.next_run_at for run in runs))
        events = len(runs) - len(executed)
        planned = replace(
            planned, schedules=len(runs), runs=len(executed), events=events, next_at=next_at, leased=leased
        )
    if others:
        planned = planned.plus(await _plan_others(db, revisions, others, facts, now, zones))
    return planned


async def park_locked(
    db: Session, revisions: RevisionCache, locked: Sequence[DueCursor], now: datetime, error: str
) -> PlanResult:
    """Park the schedules of these locked cursors, which the database refuses to plan."""
    schedules = await read_due_schedules(db, revisions, [cursor.schedule_id for cursor in locked])
    batch: Sequence[ScheduleDecision] = [
        ScheduleDecision(
            due_schedule.schedule,
            park(due_schedule.schedule, error),
            None,
            due_schedule.last_skip_id,
            edited=bool(due_schedule.edited),
        )
        for due_schedule in schedules
    ]
    batch = await _omit_locked(db, batch)
    await write_plans(db, revisions, batch, now)
    return tally(batch, now)


async def _plan_others(
    db: Session, revisions: RevisionCache, ids: Sequence[int], facts: Mapping[int, Facts], now: datetime, zones: Zones
) -> PlanResult:
    """Plan schedules that are late, blocked, edited or otherwise special."""
    requested = {row[0] for row in await db.fetch("requested_schedules", ids=numbers(ids))}
    ids = [schedule_id for schedule_id in ids if schedule_id not in requested]
    schedules = await read_due_schedules(db, revisions, ids)
    decided = await decide_batch(db, schedules, facts, now.timestamp(), zones.generation)
    outdated = {
        due_schedule.schedule.id for due_schedule in schedules if due_schedule.has_old_zone_data(zones.generation)
    }
    batch = await _omit_locked(db, decided)
    await write_plans(db, revisions, batch, now)
    if outdated:
        await _record_zones(db, zones, [plan for plan in batch if plan.schedule.id in outdated], now)
    planned = tally(batch, now)
    return replace(planned, more=planned.more or len(batch) < len(ids), requested=tuple(requested))


async def _omit_locked(db: Session, batch: Sequence[ScheduleDecision]) -> Sequence[ScheduleDecision]:
    """Omit decisions whose schedule row must be written while another session edits it; they stay due."""
    changed = [decided.schedule.id for decided in batch if decided.changes_schedule]
    if not changed:
        return batch
    locked = {row[0] for row in await db.fetch("lock_schedules", ids=numbers(changed))}
    return [decided for decided in batch if decided.schedule.id in locked or not decided.changes_schedule]


async def _record_zones(db: Session, zones: Zones, batch: Sequence[ScheduleDecision], now: datetime) -> None:
    """Stamp cursors that were recomputed with the current time zone data, and audit the moved ones."""
    await audit(db, zones, [decided.moved for decided in batch if decided.moved is not None], now)
    await stamp(db, zones, [decided.schedule.id for decided in batch])
