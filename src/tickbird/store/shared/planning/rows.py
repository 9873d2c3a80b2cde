"""From plans to rows: everything that a batch writes, by table; instants in whole seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.plan import PlannedSkip
from tickbird.domain.runs.run import WaitLane
from tickbird.domain.schedules.definition import check_payload
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.schedules.tick_overrides import applied_override_text, overrides_text, void_detail


class CursorRow(NamedTuple):
    """The planning progress of a schedule."""

    schedule_id: int
    state: str
    next_run_at: int | None
    planned_until: int | None
    runs_planned: int
    last_skip_id: int | None


class OverrideRow(NamedTuple):
    """The overrides that remain in a cursor; its `prior_revision` becomes null."""

    schedule_id: int
    skip_until: int | None
    skip_by: str | None
    skip_note: str
    # JSON text; None if there are none.
    tick_overrides: str | None


class RunRow(NamedTuple):
    """A run to insert. `due_at=None` means now; it becomes available at `due_at`."""

    id: int
    namespace: str
    schedule_id: int
    revision: int
    target_kind: str
    target: str
    queue: str
    priority: int
    status: str
    origin: str
    scheduled_for: int | None
    due_at: int | None
    start_by: int | None
    covers_first: int | None
    covers_last: int | None
    covers_count: int | None
    crash_limit: int
    retry_of: int | None
    actor: str | None
    lane: int
    concurrency_key: str | None
    deferred_until_minute: int


class RunText(NamedTuple):
    """JSON text that only few runs have."""

    run_id: int
    text: str


class AwaitRow(NamedTuple):
    """A dependency of a run: a schedule must succeed between two instants."""

    run_id: int
    schedule_id: int
    earliest_at: int
    deadline_at: int


class SkipRow(NamedTuple):
    """A skip to insert."""

    id: int
    schedule_id: int
    revision: int
    reason: str
    first_at: int
    last_at: int
    ticks: int
    run_id: int | None
    actor: str | None
    note: str


class LastSkip(NamedTuple):
    """The newest skip row of a schedule, which a contiguous skip of the same kind extends."""

    id: int
    revision: int
    reason: str
    last_at: int
    run_id: int | None
    actor: str | None
    note: str


class SkipExtension(NamedTuple):
    """A skip row to extend: its new end, and the number of added ticks."""

    id: int
    last_at: int
    ticks: int


class VoidedOverrideRow(NamedTuple):
    """An override that was not applied: its actor, and its detail for the audit log."""

    namespace: str
    schedule_id: int
    schedule: str
    actor: str | None
    detail: dict[str, Any]


class PauseRow(NamedTuple):
    """Pause and error of a schedule, if planning changed them."""

    schedule_id: int
    paused_by: str | None
    pause_note: str | None
    paused_until: int | None
    error: str | None


@dataclass(slots=True)
class Rows:
    """Everything that a batch of plans writes, by table; commits completely or not at all."""

    cursors: list[CursorRow] = field(default_factory=list)
    overrides: list[OverrideRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    # Only if a run has its own payload.
    payloads: list[RunText] = field(default_factory=list)
    awaits: list[AwaitRow] = field(default_factory=list)
    # Only if the tick of a run had an override.
    applied_overrides: list[RunText] = field(default_factory=list)
    void: list[VoidedOverrideRow] = field(default_factory=list)
    skips: list[SkipRow] = field(default_factory=list)
    longer: list[SkipExtension] = field(default_factory=list)
    schedules: list[PauseRow] = field(default_factory=list)
    # Ids of runs that must not start, and of running ones that must stop.
    cancel: list[int] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)


def ids_needed(batch: Iterable[ScheduleDecision]) -> tuple[int, int]:
    """The number of run ids and the maximum number of skip ids that a batch needs."""
    runs = skips = 0
    for decided in batch:
        runs += len(decided.plan.runs)
        skips += len(decided.plan.skips)
    return runs, skips


def last_skips_needed(batch: Iterable[ScheduleDecision]) -> list[int]:
    """Ids of the last skip rows to read before `to_rows`, because they may be extended."""
    return [d.last_skip_id for d in batch if d.plan.skips and d.last_skip_id is not None]


def to_rows(
    batch: Iterable[ScheduleDecision],
    run_ids: Iterator[int],
    skip_ids: Iterator[int],
    last_skips: Mapping[int, LastSkip],
) -> Rows:
    """The rows of these plans; `last_skips` by skip id, for the ids of `last_skips_needed`."""
    rows = Rows()
    for decided in batch:
        decision = decided.plan
        ids = _add_runs(rows, decided, run_ids) if decision.runs else []
        last_skip_id = decided.last_skip_id
        if decision.skips:
            last_skip_id = _add_skips(rows, decided, ids, skip_ids, last_skips.get(last_skip_id or 0))
        _add_cursor(rows, decided, last_skip_id)
        if decided.changes_schedule:
            _add_pause(rows, decided)
        rows.cancel += decision.cancel
        rows.stop += decision.stop
    return rows


def _add_cursor(rows: Rows, decided: ScheduleDecision, last_skip_id: int | None) -> None:
    schedule, cursor = decided.schedule, decided.plan.cursor
    rows.cursors.append(
        CursorRow(
            schedule.id,
            decided.plan.state,
            cursor.next_run_at,
            cursor.planned_until,
            cursor.runs_planned,
            last_skip_id,
        )
    )
    if decided.edited or _has_overrides(cursor) or _has_overrides(schedule.cursor):
        overrides = overrides_text(cursor.tick_overrides) if cursor.tick_overrides else None
        rows.overrides.append(OverrideRow(schedule.id, cursor.skip_until, cursor.skip_by, cursor.skip_note, overrides))
    for override, reason in decided.plan.void:
        detail = void_detail(override, reason)
        rows.void.append(VoidedOverrideRow(schedule.namespace, schedule.id, schedule.name, decided.actor, detail))


def _has_overrides(cursor: Cursor) -> bool:
    return bool(cursor.tick_overrides) or cursor.skip_until is not None


def _add_pause(rows: Rows, decided: ScheduleDecision) -> None:
    pause, schedule_id, error = decided.plan.pause, decided.schedule.id, decided.plan.error
    if pause is None:
        rows.schedules.append(PauseRow(schedule_id, None, None, None, error))
    else:
        rows.schedules.append(PauseRow(schedule_id, pause.by, pause.note, pause.until, error))


def _add_runs(rows: Rows, decided: ScheduleDecision, run_ids: Iterator[int]) -> list[int]:
    schedule, definition = decided.schedule, decided.definition
    assert definition is not None
    ids: list[int] = []
    for run in decided.plan.runs:
        run_id = next(run_ids)
        ids.append(run_id)
        first, last, count = run.covers or (None, None, None)
        rows.runs.append(
            RunRow(
                id=run_id,
                namespace=schedule.namespace,
                schedule_id=schedule.id,
                revision=decided.plan.revision,
                target_kind=definition.target.kind,
                target=definition.target.name,
                queue=definition.queue,
                priority=definition.priority,
                status=run.status,
                origin=run.origin,
                scheduled_for=run.scheduled_for,
                due_at=run.due_at,
                start_by=run.start_by,
                covers_first=first,
                covers_last=last,
                covers_count=count,
                crash_limit=definition.crash_limit,
                retry_of=run.retry_of,
                actor=decided.actor,
                lane=WaitLane.HELD if run.held else WaitLane.DEPENDENCY if run.awaits else WaitLane.DEFAULT,
                concurrency_key=definition.key(run.payload),
                deferred_until_minute=run.deferred_until_minute,
            )
        )
        if run.payload is not None:
            rows.payloads.append(RunText(run_id, check_payload(run.payload)))
        rows.awaits += [AwaitRow(run_id, wait.schedule_id, wait.earliest_at, wait.deadline_at) for wait in run.awaits]
        if run.override is not None:
            rows.applied_overrides.append(RunText(run_id, applied_override_text(run.override)))
    return ids


def _add_skips(
    rows: Rows, decided: ScheduleDecision, run_ids: Sequence[int], skip_ids: Iterator[int], last: LastSkip | None
) -> int:
    """Extend the last skip row or add new ones; returns the id of the new last one."""
    decision = decided.plan
    last_id = 0
    for index, skip in enumerate(decision.skips):
        if index == 0 and last is not None and _extends(decided, skip, last):
            rows.longer.append(SkipExtension(last.id, skip.last, skip.count))
            last_id = last.id
            continue
        last_id = next(skip_ids)
        rows.skips.append(
            SkipRow(
                id=last_id,
                schedule_id=decided.schedule.id,
                revision=skip.revision or decision.revision,
                reason=skip.reason,
                first_at=skip.first,
                last_at=skip.last,
                ticks=skip.count,
                run_id=skip.blocked_by if skip.blocked_by_new is None else run_ids[skip.blocked_by_new],
                actor=skip.actor,
                note=skip.note,
            )
        )
    return last_id


def _early_ticks(schedule: Schedule) -> Iterable[int]:
    """Ticks of the schedule's grid that were decided early."""
    return (
        override.tick
        for override in schedule.cursor.tick_overrides
        if override.decided_early and schedule.grid.contains(override.tick)
    )


def _extends(decided: ScheduleDecision, skip: PlannedSkip, last: LastSkip) -> bool:
    """True if this first skip continues the schedule's last one, for the same reason."""
    return (
        skip.blocked_by_new is None
        and not skip.separate
        and last.last_at == decided.schedule.cursor.planned_until
        and (last.reason, last.run_id, last.revision)
        == (skip.reason, skip.blocked_by, skip.revision or decided.plan.revision)
        and (last.actor, last.note) == (skip.actor, skip.note)
        and not any(run.scheduled_for is not None and run.scheduled_for < skip.first for run in decided.plan.runs)
        and not any(last.last_at < tick < skip.first for tick in _early_ticks(decided.schedule))
    )
