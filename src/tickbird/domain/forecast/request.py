"""The arguments of a forecast, validated, and stored rows as its input."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.bounds import MAX_DAYS
from tickbird.domain.forecast.forecast import DEFAULT_DURATION, WhatIf, WorkerCapacity, check_span
from tickbird.domain.forecast.model import RunningRun
from tickbird.domain.planning.decided_ticks import as_durable
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, to_seconds
from tickbird.domain.workers import Worker


def span_end(first: int, days: int | None, last: int | None) -> int:
    """The end of the simulated time, given as an instant or in days (default: a week)."""
    if days is not None and last is not None:
        raise InvalidError("days and to cannot be combined. Give one of them.", field="days")
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_DAYS):
        raise InvalidError(f"days must be a whole number from 1 to {MAX_DAYS}.", field="days")
    last = first + (7 if days is None else days) * DAY if last is None else last
    check_span(first, last)
    return last


def clip_outages(what_if: WhatIf, first: int, last: int) -> WhatIf:
    """Sort the outages and clip them to the simulated time; InvalidError for an outage outside of it."""
    outages = []
    for begin, end in sorted(what_if.outages):
        if end <= first or begin >= last:
            raise InvalidError(
                "outage is outside of the simulated days.", field="outage", hint="Choose an instant within these days."
            )
        outages.append((max(begin, first), min(end, last)))
    return replace(what_if, outages=outages)


def check_duration(seconds: int | None) -> int:
    if seconds is None:
        return DEFAULT_DURATION
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= 366 * DAY:
        raise InvalidError("duration must be from 1 s to 366 days.", field="duration")
    return seconds


def advance_schedule(schedule: Schedule, start: int) -> Schedule:
    """The schedule at a later instant, if all ticks before it run; one in memory as if it were durable."""
    if schedule.in_memory:
        schedule = as_durable(schedule, replace(schedule.cursor, planned_until=start))
    if schedule.definition is None or schedule.cursor.planned_until is None:
        return schedule
    reached = start - 1 - schedule.offset
    overrides = tuple(override for override in schedule.cursor.tick_overrides if override.tick > reached)
    cursor = replace(schedule.cursor, planned_until=reached, next_run_at=None, tick_overrides=overrides)
    if cursor.skip_until is not None and cursor.skip_until <= reached:
        cursor = replace(cursor, skip_until=None)
    until = schedule.pause.until if schedule.pause else None
    if schedule.state == "paused" and until is not None and until <= start:
        return replace(schedule, state="active", pause=None, cursor=cursor)
    return replace(schedule, cursor=cursor)


def worker_capacities(workers: Iterable[Worker]) -> list[WorkerCapacity]:
    return [
        WorkerCapacity(worker.slots, frozenset(worker.queues), worker.targets)
        for worker in workers
        if worker.slots and not worker.draining
    ]


def active_runs(runs: Iterable[RunRecord]) -> list[RunningRun]:
    """Runs of ticks that are not held, oldest first."""
    return [
        RunningRun(
            run.schedule,
            run.status,
            run.origin,
            to_seconds(run.due_at),
            None if run.started_at is None else to_seconds(run.started_at),
        )
        for run in sorted(runs, key=lambda run: run.id)
        if run.schedule is not None and not run.held and run.origin in ("schedule", "catch_up")
    ]
