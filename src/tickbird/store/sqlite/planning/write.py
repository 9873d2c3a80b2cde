"""Write plans on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.planning.admission import ScheduleDecision, admit, defer, deferrable, keys_needed
from tickbird.domain.planning.fast_path import OnTimeRun, pick_handoff
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.tick_overrides import VOID
from tickbird.domain.targets.event import EVENT
from tickbird.domain.time.instants import to_micros, to_seconds
from tickbird.domain.workers import HandOff
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.planning.rows import LastSkip, Rows, ids_needed, last_skips_needed, to_rows
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.statements import SQL, fetch_as
from tickbird.store.sqlite.planning.events import publish_queued
from tickbird.store.sqlite.planning.rate_limits import stored
from tickbird.store.sqlite.planning.waiting_runs import release, room
from tickbird.store.sqlite.rows import dump
from tickbird.store.sqlite.runs import reserve_ids

REPLACED = "replaced"
PLANNER = "planner"


def write_on_time(
    db: sqlite3.Connection, runs: Sequence[OnTimeRun], hand_off: HandOff | None, now: datetime
) -> list[ClaimedRun]:
    """Insert runs of ticks that are on time; returns the ones leased to the planning worker."""
    ids = reserve_ids(db, "run_id", len(runs))
    db.executemany(SQL["move_on_time"], [(run.schedule_id, run.tick, run.next_run_at) for run in runs])
    mine = pick_handoff(runs, hand_off, _limited(db, hand_off))
    created_at = to_micros(now)
    queued: list[tuple[int, OnTimeRun]] = []
    running: list[tuple[int, OnTimeRun]] = []
    for run_id, run in zip(ids, runs, strict=True):
        (running if run.schedule_id in mine else queued).append((run_id, run))
    if queued:
        db.executemany(SQL["insert_on_time"], [_values(run_id, run, created_at) for run_id, run in queued])
        db.execute(SQL["wake_others"])
    if hand_off is None or not running:
        return []
    [incarnation] = db.execute(SQL["read_incarnation"]).fetchone()
    lease = incarnation, hand_off.worker.id, to_micros(now + timedelta(seconds=hand_off.lease))
    leased = []
    for run_id, run in running:
        # One by one, to detect ticks that already have a run.
        if db.execute(SQL["insert_leased"], (*_values(run_id, run, created_at), *lease)).rowcount:
            leased.append(run.to_claimed(run_id, incarnation))
    return leased


def _values(run_id: int, run: OnTimeRun, created_at: int) -> tuple[Any, ...]:
    return run_id, created_at, run.schedule_id, run.revision, run.tick, run.due_at, run.start_by, *run.info.template


def _limited(db: sqlite3.Connection, hand_off: HandOff | None) -> Collection[str]:
    """The queues with a rate limit, whose runs start only by a claim."""
    return stored(db, hand_off.worker.namespace) if hand_off is not None and hand_off.room > 0 else ()


def write_plans(
    db: sqlite3.Connection,
    revisions: RevisionCache,
    batch: Sequence[ScheduleDecision],
    now: datetime,
    *,
    actor: str = PLANNER,
    reason: str = REPLACED,
) -> list[int]:
    """Write these decisions; returns the ids of the new runs."""
    if not batch:
        return []
    if keys := keys_needed(batch):
        batch = admit(batch, room(db, keys))
    batch = _defer_runs(db, batch, now)
    last_skips: dict[int, LastSkip] = {}
    if skip_ids := last_skips_needed(batch):
        last_skips = {skip.id: skip for skip in fetch_as(db, LastSkip, "last_skips", {"ids": dump(skip_ids)})}
    runs, skips = ids_needed(batch)
    rows = to_rows(batch, iter(reserve_ids(db, "run_id", runs)), iter(reserve_ids(db, "skip_id", skips)), last_skips)
    _write_rows(db, rows, now)
    change: dict[str, Any] = {"now": to_micros(now), "actor": actor, "reason": reason}
    for decided in batch:
        if decided.plan.clear:
            db.execute(SQL["clear_lanes"], {**change, "schedule_id": decided.schedule.id})
    if rows.cancel or rows.stop:
        db.execute(SQL["cancel_runs"], {**change, "ids": dump(rows.cancel)})
        db.execute(SQL["stop_runs"], {**change, "ids": dump(rows.stop)})
        release(db, revisions, {decided.schedule.id for decided in batch if decided.plan.cancel}, now, keys=keys)
    if any(run.target_kind == EVENT for run in rows.runs):
        publish_queued(db, revisions, now)
    if rows.runs:
        db.execute(SQL["wake_others"])
    return [run.id for run in rows.runs]


def _defer_runs(db: sqlite3.Connection, batch: Sequence[ScheduleDecision], now: datetime) -> Sequence[ScheduleDecision]:
    """Return the plans with queued runs deferred if their schedule has created many runs."""
    crowded = deferrable(batch)
    if not crowded:
        return batch
    lines = dict(db.execute(SQL["lines_of"], {"ids": dump(crowded)}).fetchall())
    deferred, longer = defer(batch, lines, to_seconds(now) // MINUTE)
    if longer:
        db.executemany(SQL["extend_line"], longer.items())
    return deferred


def _write_rows(db: sqlite3.Connection, rows: Rows, now: datetime) -> None:
    decided_at = to_micros(now)
    db.executemany(SQL["move_cursor"], rows.cursors)
    if rows.runs:
        db.executemany(SQL["insert_run"], [(*run, decided_at) for run in rows.runs])
    if rows.payloads:
        db.executemany(SQL["insert_payload"], rows.payloads)
    if rows.applied_overrides:
        db.executemany(SQL["write_applied_override"], rows.applied_overrides)
    if rows.awaits:
        db.executemany(SQL["insert_await"], rows.awaits)
    if rows.overrides:
        db.executemany(SQL["write_overrides"], rows.overrides)
    if rows.longer:
        db.executemany(SQL["extend_skip"], [(*longer, decided_at) for longer in rows.longer])
    if rows.skips:
        db.executemany(SQL["insert_skip"], [(*skip, decided_at) for skip in rows.skips])
    if rows.schedules:
        db.executemany(SQL["set_pause"], rows.schedules)
    for void in rows.void:
        write_audit(
            db,
            now,
            void.actor or PLANNER,
            VOID,
            void.namespace,
            schedule_id=void.schedule_id,
            schedule=void.schedule,
            detail=void.detail,
        )
