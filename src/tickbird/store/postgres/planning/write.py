"""Write plans on PostgreSQL: one statement per kind of row, for any number of schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.planning.admission import ScheduleDecision, admit, defer, deferrable, keys_needed
from tickbird.domain.planning.fast_path import OnTimeRun, pick_handoff
from tickbird.domain.planning.plan import apply_plan
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.tick_overrides import VOID
from tickbird.domain.workers import HandOff
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.events import publish_planned
from tickbird.store.postgres.planning.upcoming_ticks import write_upcoming
from tickbird.store.postgres.planning.waiting_runs import lock_keys, release
from tickbird.store.postgres.rows import columns, json_text, numbers, texts
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.planning.rows import LastSkip, Rows, ids_needed, last_skips_needed, to_rows

REPLACED: Final = "replaced"
PLANNER: Final = "planner"


async def write_on_time(
    db: Session, runs: Sequence[OnTimeRun], hand_off: HandOff | None, now: datetime
) -> list[ClaimedRun]:
    """Insert runs of ticks that are on time; returns the ones leased to the planning worker."""
    mine = pick_handoff(runs, hand_off)
    # Many schedules have few kinds of runs: the common values of a kind are sent once.
    templates = [run.info.template for run in runs]
    kinds = {template: number for number, template in enumerate(dict.fromkeys(templates), 1)}
    leased = await db.fetch(
        "write_on_time",
        **columns(runs),
        **columns(list(kinds), "template_"),
        template=numbers(map(kinds.__getitem__, templates)),
        leased=numbers(run.schedule_id in mine for run in runs) if mine else "{}",
        worker=hand_off.worker.id if hand_off else None,
        lease=hand_off.lease if hand_off else 0.0,
        now=now,
    )
    if not leased:
        return []
    by_schedule = {run.schedule_id: run for run in runs}
    return [by_schedule[schedule_id].to_claimed(run_id, incarnation) for schedule_id, run_id, incarnation in leased]


async def write_plans(
    db: Session,
    revisions: RevisionCache,
    batch: Sequence[ScheduleDecision],
    now: datetime,
    *,
    reason: str = REPLACED,
    by: str = PLANNER,
) -> Rows:
    """Write decisions; the waiting runs are chosen last, when their keys are locked."""
    if not batch:
        return Rows()
    if keys := keys_needed(batch):
        batch = admit(batch, await lock_keys(db, keys))
    batch = await defer_runs(db, batch, now)
    spare = await _take_ids(db, batch)
    last_skips: dict[int, LastSkip] = {}
    if skip_ids := last_skips_needed(batch):
        last_skips = {skip.id: skip for skip in await db.fetch_as(LastSkip, "read_skips", ids=numbers(skip_ids))}
    rows = to_rows(batch, spare, spare, last_skips)
    await _write_runs(db, rows, now)
    await publish_planned(db, rows.runs, now)
    await _write_ledger(db, rows, now)
    if rows.stop:
        await db.execute("stop_runs", ids=numbers(rows.stop), now=now, by=by, reason=reason)
    if cleared := [decided.schedule.id for decided in batch if decided.plan.clear]:
        await db.execute("clear_lanes", ids=numbers(cleared), now=now, reason=reason)
    if rows.cancel:
        await db.execute("drop_runs", ids=numbers(rows.cancel), now=now, reason=reason)
    # A manual run may have waited for a cancelled one. Another session may have skipped a waiting run that was locked
    # here.
    if locked := [decided.schedule.id for decided in batch if decided.plan.cancel or decided.held_keys]:
        await release(db, revisions, locked, now, keys=keys)
    changed = (decided for decided in batch if decided.edited or decided.schedule.cursor.planned_until is None)
    await write_upcoming(db, (apply_plan(decided.schedule, decided.plan) for decided in changed), now)
    return rows


async def defer_runs(db: Session, batch: Sequence[ScheduleDecision], now: datetime) -> Sequence[ScheduleDecision]:
    """Return the plans with queued runs deferred if their schedule has created many runs."""
    crowded = deferrable(batch)
    if not crowded:
        return batch
    lines = dict(await db.fetch("lines_of", ids=numbers(crowded)))
    deferred, longer = defer(batch, lines, int(now.timestamp()) // MINUTE)
    if longer:
        await db.execute("extend_lines", ids=numbers(longer), lines=numbers(longer.values()))
    return deferred


async def _take_ids(db: Session, batch: Sequence[ScheduleDecision]) -> Iterator[int]:
    """Ids for the runs and skips of these plans, reserved before they are written, so that skips can refer to runs."""
    count = sum(ids_needed(batch))
    return iter([row[0] for row in await db.fetch("take_ids", count=count)] if count else [])


async def _write_runs(db: Session, rows: Rows, now: datetime) -> None:
    moved = columns(rows.cursors, "cursor_")
    if rows.runs:
        await db.execute("write_plans", **moved, **columns(rows.runs, "run_"), now=now)
    else:
        await db.execute("move_cursors", **moved)
    if rows.payloads:
        await db.execute("write_payloads", **columns(rows.payloads))
    if rows.applied_overrides:
        await db.execute("write_applied_override", **columns(rows.applied_overrides))
    if rows.awaits:
        await db.execute("write_awaits", **columns(rows.awaits))
    if rows.overrides:
        await db.execute("write_overrides", **columns(rows.overrides))


async def _write_ledger(db: Session, rows: Rows, now: datetime) -> None:
    if rows.longer:
        await db.execute("extend_skips", **columns(rows.longer), now=now)
    if rows.skips:
        await db.execute("write_skips", **columns(rows.skips), now=now)
    if rows.schedules:
        await db.execute("write_pauses", **columns(rows.schedules))
    if rows.void:
        void_columns = columns(rows.void)
        details = texts([json_text(row.detail) for row in rows.void])
        await db.execute("write_void", **void_columns, detail=details, action=VOID, planner=PLANNER, now=now)
