"""Fast path: punctual ticks are planned without the full planner and handed off to the planning worker."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable, Sequence
from typing import Any, NamedTuple

from tickbird.domain.events.event import merge_payload
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.sized_cache import size_of
from tickbird.domain.targets.event import EventSpec
from tickbird.domain.time.instants import to_datetime
from tickbird.domain.workers import HandOff

_ORDINARY_BYTES = 1_500


class RunTemplate(NamedTuple):
    """The columns that all runs of a revision share."""

    namespace: str
    target_kind: str
    target: str
    queue: str
    priority: int
    crash_limit: int


class EventTemplate(NamedTuple):
    """The columns that the events of all ticks of a revision share; headers and data as JSON."""

    topic: str
    type: str
    key: str | None
    tenant: str | None
    headers: str | None
    data: str


class RevisionInfo:
    """The immutable data of one revision of a schedule."""

    __slots__ = ("checks_overlap", "definition", "event", "name", "namespace", "offset", "size", "template")

    def __init__(self, namespace: str, name: str, definition: Definition) -> None:
        self.namespace = namespace
        self.name = name
        self.definition = definition
        self.offset = spread_offset(namespace, name, definition.spread)
        # Bytes in memory.
        self.size = _ORDINARY_BYTES + size_of(definition.payload) + size_of(definition.closed)
        # If false, active runs do not affect the next tick.
        self.checks_overlap = definition.overlap != "allow"
        target = definition.target
        self.template = RunTemplate(
            namespace, target.kind, target.name, definition.queue, definition.priority, definition.crash_limit
        )
        # None for other targets.
        self.event: EventTemplate | None = None
        if isinstance(target.spec, EventSpec):
            self.event = _to_template(target.spec, definition.payload)
            self.size += 2 * len(self.event.data)


def _to_template(event: EventSpec, payload: Any) -> EventTemplate:
    headers = json.dumps(dict(event.headers)) if event.headers else None
    data = json.dumps(merge_payload(event.data, payload), separators=(",", ":"))
    return EventTemplate(event.topic, event.type, event.key, event.tenant, headers, data)


class DueCursor(NamedTuple):
    """The columns of a due cursor that the fast path needs."""

    schedule_id: int
    revision: int
    planned_until: int | None
    # Active, with nothing moved, skipped, deferred, refused or just edited.
    has_fast_path: bool


# A due cursor with its revision; None: `plan` must decide.
Due = tuple[DueCursor, RevisionInfo | None]


class OnTimeRun(NamedTuple):
    """A tick that becomes a queued run and moves its cursor by one; the revision defines all other columns."""

    schedule_id: int
    revision: int
    tick: int
    due_at: int
    start_by: int | None
    # When to plan the schedule again.
    next_run_at: int
    info: RevisionInfo

    def to_claimed(self, run_id: int, incarnation: int) -> ClaimedRun:
        """Return the first attempt, leased when the run was inserted."""
        info = self.info
        return ClaimedRun(
            run_id,
            1,
            0,
            info.template.target,
            "schedule",
            to_datetime(self.due_at),
            info.definition.payload,
            to_datetime(self.tick),
            schedule_id=self.schedule_id,
            schedule=info.name,
            definition=info.definition,
            incarnation=incarnation,
            target_kind=info.template.target_kind,
        )


def need_facts(due: Iterable[Due]) -> list[int]:
    """Return the ids of schedules whose active runs matter."""
    return [cursor.schedule_id for cursor, revision in due if revision is None or revision.checks_overlap]


def plan_on_time_batch(due: Iterable[Due], busy: Container[int], now: float) -> tuple[list[OnTimeRun], list[int]]:
    """Plan punctual ticks; return their runs, and the ids of the schedules that `plan` must decide.

    `busy` has the ids of schedules with active runs.
    """
    runs: list[OnTimeRun] = []
    others: list[int] = []
    for cursor, revision in due:
        run = None
        if revision is not None and not (revision.checks_overlap and cursor.schedule_id in busy):
            try:
                run = plan_on_time_tick(cursor, revision, now)
            except Exception:  # noqa: BLE001 - the whole planner reports the error and parks this schedule alone
                run = None
        if run is None:
            others.append(cursor.schedule_id)
        else:
            runs.append(run)
    return runs, others


def plan_on_time_tick(cursor: DueCursor, revision: RevisionInfo, now: float) -> OnTimeRun | None:
    """Return the run of an active schedule with exactly one due, punctual tick; None if `plan` must decide."""
    definition, offset = revision.definition, revision.offset
    if cursor.planned_until is None or not definition.has_fast_path:
        return None
    grid = definition.grid
    tick = grid.next(cursor.planned_until)
    if tick is None:
        return None
    due_at, limit = tick + offset, definition.start_limit
    if not 0 <= now - due_at <= definition.grace or (limit is not None and now - due_at > limit):
        return None
    following = grid.next(tick)
    if following is None or following + offset <= now:
        return None
    start_by = None if limit is None else due_at + limit
    return OnTimeRun(cursor.schedule_id, cursor.revision, tick, due_at, start_by, following + offset, revision)


def pick_handoff(runs: Sequence[OnTimeRun], hand_off: HandOff | None, limited: Collection[str] = ()) -> frozenset[int]:
    """Return the ids of schedules whose run the planning worker starts itself: at most `room`, by priority.

    Runs of `limited` queues are left out: only a claim counts starts against a rate limit.
    """
    if hand_off is None or hand_off.room <= 0:
        return frozenset()
    templates = {
        template
        for template in {run.info.template for run in runs}
        if template.namespace == hand_off.worker.namespace
        and template.queue in hand_off.queues
        and template.queue not in limited
        and (template.target_kind, template.target) in hand_off.targets
    }
    mine = [run for run in runs if run.info.template in templates]
    if len(mine) > hand_off.room:
        mine.sort(key=lambda run: -run.info.template.priority)
        del mine[hand_off.room :]
    return frozenset(run.schedule_id for run in mine)
