"""Publish the events of runs: nothing is executed, so a run succeeds in the transaction that inserts its event."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from tickbird.domain.events.event import tick_event_digits
from tickbird.domain.planning.fast_path import OnTimeRun
from tickbird.domain.targets.event import EVENT
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.rows import columns, numbers, texts
from tickbird.store.shared.planning.rows import RunRow


async def publishable(db: Session, schedule_ids: Collection[int]) -> frozenset[int]:
    """The schedules whose planner may publish: no other schedule depends on their successes.

    The others are published in a transaction without locked cursors, because their success releases waiting runs.
    """
    tracked = {row[0] for row in await db.fetch("tracked_schedules", ids=numbers(schedule_ids))}
    return frozenset(schedule_ids) - tracked


async def publish_on_time(db: Session, runs: Sequence[OnTimeRun], now: datetime) -> list[OnTimeRun]:
    """Insert runs of ticks that are on time, with their events; returns the runs that are not `publishable`."""
    templates = [(run.info.template, run.info.event) for run in runs]
    kinds = {template: number for number, template in enumerate(dict.fromkeys(templates), 1)}
    ids = tick_event_digits((run.info.namespace, run.info.name, run.tick) for run in runs)
    # No run waits, so none has to start in time.
    values = columns(runs)
    values.pop("start_by")
    tracked = await db.fetch(
        "publish_on_time",
        **values,
        schedule=texts([run.info.name for run in runs]),
        event_id=texts(ids),
        template=numbers(map(kinds.__getitem__, templates)),
        **columns([template for template, _ in kinds], "template_"),
        **columns([event for _, event in kinds if event is not None], "event_"),
        now=now,
    )
    left = {schedule_id for (schedule_id,) in tracked}
    return [run for run in runs if run.schedule_id in left] if left else []


async def publish_planned(db: Session, runs: Iterable[RunRow], now: datetime) -> int:
    """Publish the events of new runs; returns their number. A schedule with waiting runs is left to a worker."""
    events = [run for run in runs if run.target_kind == EVENT]
    if not events:
        return 0
    mine = await publishable(db, {run.schedule_id for run in events})
    mine -= {run.schedule_id for run in events if run.status != "queued"}
    ids = [run.id for run in events if run.schedule_id in mine]
    if not ids:
        return 0
    [(_, done, *_)] = await db.fetch("publish_runs", ids=numbers(ids), now=now)
    return len(done)
