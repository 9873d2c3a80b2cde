"""Planning on SQLite: decide due cursors in one transaction, which is the only writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.edits import park
from tickbird.domain.planning.fast_path import DueCursor, need_facts, plan_on_time_batch
from tickbird.domain.planning.plan import NO_FACTS, Facts
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.event import EVENT
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.shared.planning.decide import MAX_RUNS, decide, decided_after, depended_on, needs_held_flag, tally
from tickbird.store.shared.planning.due import DueSchedule
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.dependencies import watch
from tickbird.store.sqlite.planning.due import load_due_revisions, read_due_schedules
from tickbird.store.sqlite.planning.events import publish_queued
from tickbird.store.sqlite.planning.write import write_on_time, write_plans
from tickbird.store.sqlite.planning.zone_cursors import audit, stamp
from tickbird.store.sqlite.rows import all_facts, dump


def plan_due_cursors(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    cursors: Sequence[DueCursor],
    now: datetime,
    zones: Zones,
    hand_off: HandOff | None = None,
) -> PlanResult:
    """Plan the schedules of these cursors; nearly all are on time."""
    due = load_due_revisions(db, revisions, cursors)
    facts = read_facts(db, need_facts(due))
    runs, others = plan_on_time_batch(due, facts, now.timestamp())
    planned = PlanResult(now)
    if runs:
        mine = write_on_time(db, runs, hand_off, now)
        next_at = to_datetime(min(run.next_run_at for run in runs))
        events = 0
        if any(run.info.template.target_kind == EVENT for run in runs):
            events = publish_queued(db, revisions, now)
        executed = len(runs) - events
        planned = PlanResult(now, schedules=len(runs), runs=executed, next_at=next_at, leased=mine, events=events)
    if others:
        planned = planned.plus(plan_schedules(db, revisions, others, facts, now, zones))
    return planned


def park_schedules(
    db: sqlite3.Connection, revisions: RevisionCache, ids: Sequence[int], now: datetime, error: str
) -> PlanResult:
    """Park schedules that the database refuses to plan."""
    schedules = read_due_schedules(db, revisions, ids)
    batch = [
        ScheduleDecision(
            due_schedule.schedule,
            park(due_schedule.schedule, error),
            None,
            due_schedule.last_skip_id,
            edited=bool(due_schedule.edited),
        )
        for due_schedule in schedules
    ]
    write_plans(db, revisions, batch, now)
    return tally(batch, now)


def plan_schedules(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    ids: Iterable[int],
    facts: Mapping[int, Facts],
    now: datetime,
    zones: Zones,
) -> PlanResult:
    """Plan schedules that are late, blocked, edited or otherwise special."""
    schedules = read_due_schedules(db, revisions, ids)
    batch = _decide_batch(db, schedules, facts, now, zones)
    write_plans(db, revisions, batch, now)
    outdated = {
        due_schedule.schedule.id for due_schedule in schedules if due_schedule.has_old_zone_data(zones.generation)
    }
    if outdated:
        followed = [decided for decided in batch if decided.schedule.id in outdated]
        audit(db, zones, [decided.moved for decided in followed if decided.moved is not None], now)
        stamp(db, zones, [decided.schedule.id for decided in followed])
    return tally(batch, now)


def _decide_batch(
    db: sqlite3.Connection, schedules: Sequence[DueSchedule], facts: Mapping[int, Facts], now: datetime, zones: Zones
) -> list[ScheduleDecision]:
    batch: list[ScheduleDecision] = []
    runs = 0
    decided_ticks = _read_decided(db, (due.schedule for due in schedules), now)
    for due_schedule in schedules:
        schedule, edited = due_schedule.schedule, due_schedule.edited
        fact = facts.get(schedule.id, NO_FACTS)
        if schedule.id in decided_ticks:
            fact = replace(fact, decided=tuple(decided_ticks[schedule.id]))
        if needs_held_flag(schedule, edited):
            [held] = db.execute(SQL["any_held"], {"schedule_id": schedule.id}).fetchone()
            fact = replace(fact, held=bool(held))
        if names := depended_on(schedule, edited):
            fact = replace(fact, successes=watch(db, schedule.namespace, names))
        batch.append(decide(due_schedule, fact, now.timestamp(), zones.generation))
        runs += len(batch[-1].plan.runs)
        if runs >= MAX_RUNS:
            break
    return batch


def _read_decided(db: sqlite3.Connection, schedules: Iterable[Schedule], now: datetime) -> dict[int, list[int]]:
    """Ticks that already have a run, although the cursor has not reached them."""
    at = now.timestamp()
    afters = {schedule.id: after for schedule in schedules if (after := decided_after(schedule, at)) is not None}
    decided: dict[int, list[int]] = {}
    for schedule_id, tick in db.execute(SQL["decided_ticks"], {"afters": dump(afters)}) if afters else ():
        decided.setdefault(schedule_id, []).append(tick)
    return decided


def read_facts(db: sqlite3.Connection, schedule_ids: Iterable[int]) -> dict[int, Facts]:
    """The active runs of these schedules."""
    return all_facts(db.execute(SQL["active_facts"], {"ids": dump(list(schedule_ids))}))
