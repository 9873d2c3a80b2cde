"""What all stores share of planning: from cursors to plans, and from plans to rows; pure, instants in whole seconds."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tickbird.domain.errors import ConflictError
from tickbird.domain.limits.concurrency import Key, WaitingRun, take
from tickbird.domain.limits.fairness import NOT_DEFERRED, stagger
from tickbird.domain.planning.edits import park
from tickbird.domain.planning.fast_path import OnTime, on_time
from tickbird.domain.planning.plan import Facts, Plan, PlannedRun, PlannedSkip, after_plan, at_plan
from tickbird.domain.planning.planner import plan
from tickbird.domain.planning.zone_changes import apply_zone_change
from tickbird.domain.runs.run import AWAITING_LANE, HELD_LANE, USUAL_LANE, ClaimedRun
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition, check_payload, spread_offset
from tickbird.domain.schedules.schedule import Schedule, SqlEdit
from tickbird.domain.schedules.tick_overrides import applied_override_text, overrides_text, void_detail
from tickbird.domain.sized_cache import SizedCache, size_of
from tickbird.domain.time.instants import to_datetime
from tickbird.store.protocol.store import HandOff, MovedSchedule
from tickbird.store.shared.json_columns import Undecodable, decode, error_text

# Of no row: the process cannot open a file, or has no memory left.
PROCESS_ERRORS = (OSError, MemoryError)
# Bytes of decoded definitions that a process keeps. An ordinary one takes 1.5 kB, one with a large payload megabytes.
MAX_CACHE = 100_000_000
_ORDINARY = 1_500
# Characters of stored definitions that one planning step reads. Decoded, they may take 25 times as many bytes.
MAX_READ = 8_000_000


class RunTemplate(NamedTuple):
    """What all runs of a revision have in common."""

    namespace: str
    target_kind: str
    target: str
    queue: str
    priority: int
    crash_limit: int


class RevisionInfo:
    """What never changes about one revision of a schedule."""

    __slots__ = ("definition", "heeds_runs", "name", "namespace", "offset", "size", "template")

    def __init__(self, namespace: str, name: str, definition: Definition) -> None:
        self.namespace = namespace
        self.name = name
        self.definition = definition
        self.offset = spread_offset(namespace, name, definition.spread)
        # Bytes in memory.
        self.size = _ORDINARY + size_of(definition.payload) + size_of(definition.closed)
        # Does it matter for the next tick which runs are active?
        self.heeds_runs = definition.overlap != "allow"
        target = definition.target
        self.template = RunTemplate(
            namespace, target.kind, target.name, definition.queue, definition.priority, definition.crash_limit
        )


class RevisionCache:
    """Decoded definitions by (schedule id, revision), the most recently used ones; for one thread or loop.

    Any of them may be forgotten when another one is added: a caller that needs several keeps them itself.
    """

    def __init__(self, maximum: int = MAX_CACHE) -> None:
        self._known: SizedCache[tuple[int, int], RevisionInfo] = SizedCache(maximum)

    @property
    def size(self) -> int:
        """Bytes of all that is known."""
        return self._known.size

    def get(self, schedule_id: int, revision: int) -> RevisionInfo | None:
        """What is known of a revision; None when it must be read."""
        return self._known.get((schedule_id, revision))

    def missing(self, revisions: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of these revisions that must be read."""
        return [key for key in revisions if key not in self._known]

    def heeding(self, due: Iterable[DueCursor]) -> list[int]:
        """The schedules of these cursors for which active runs matter, as far as is known."""
        known = self._known
        return [row[0] for row in due if (one := known.get((row[0], row[1]))) is None or one.heeds_runs or not row[3]]

    def add(self, schedule_id: int, revision: int, known: RevisionInfo) -> RevisionInfo:
        """Remember a revision that was read; the longest unused ones make room for it."""
        self._known.put((schedule_id, revision), known, known.size)
        return known

    def clear(self) -> None:
        """Forget everything: after a rollback, what was read in that transaction may never have been."""
        self._known.clear()


class UncommittedRevisions(RevisionCache):
    """For one transaction that writes revisions: revisions that it reads are forgotten, since it may be rolled back."""

    def __init__(self, committed: RevisionCache) -> None:
        super().__init__()
        self._committed = committed

    def get(self, schedule_id: int, revision: int) -> RevisionInfo | None:
        """As of the committed revisions, or of this transaction."""
        return super().get(schedule_id, revision) or self._committed.get(schedule_id, revision)


def leave_large(sizes: Iterable[tuple[int, int]]) -> set[int]:
    """Which schedules a planning step leaves to the next one, given their ids and the sizes of their definitions."""
    total, left = 0, set()
    for schedule_id, size in sizes:
        if total and total + size > MAX_READ:
            left.add(schedule_id)
        else:
            total += size
    return left


def read_definition(stored: str | None, *, to_plan: bool = False) -> tuple[Definition | None, str | None]:
    """The definition of a stored JSON text, or None and the error; see decoded_definition."""
    if stored is None:
        return None, "its revision does not exist"
    return decoded_definition(decode(stored), to_plan=to_plan)


def decoded_definition(value: Any, *, to_plan: bool = False) -> tuple[Definition | None, str | None]:
    """The definition of a decoded JSON value, or None and the error.

    With `to_plan`, errors of the process are raised: for those, nobody may park the schedule.
    """
    if isinstance(value, Undecodable):
        return None, value.error
    try:
        return decode_definition(value), None
    except Exception as error:
        # An error in one row must not concern another.
        if to_plan and isinstance(error, PROCESS_ERRORS):
            raise
        return None, error_text(error)


def newer_format(name: str) -> ConflictError:
    """A schedule in a format that this code does not know: it may neither be planned nor changed."""
    return ConflictError(
        f"schedule {name!r} was written by a newer tickbird, and this one cannot read it;", hint="upgrade tickbird."
    )


@dataclass(frozen=True, slots=True)
class ScheduleDecision:
    """A schedule as it stood, what was decided about it, and the definition its runs and skips go by."""

    schedule: Schedule
    plan: Plan
    definition: Definition | None
    last_skip_id: int | None = None
    # Who asked for the runs of this plan; None when the planner decided alone.
    actor: str | None = None
    # The concurrency keys of the schedule's active runs, where those are held.
    held_keys: frozenset[str] = frozenset()


def held_keys(facts: Facts) -> frozenset[str]:
    """The concurrency keys of a schedule's active runs."""
    return frozenset(run.key for run in facts.active if run.key is not None)


def decide(
    schedule: Schedule,
    facts: Facts,
    now: float,
    edited: SqlEdit | None = None,
    last_skip_id: int | None = None,
    *,
    other_zones: bool = False,
) -> ScheduleDecision:
    """Plan one schedule; one that cannot be planned is parked, and no other is later for it.

    With `other_zones` its cursor was computed by other zone rules, and is first computed anew.
    """
    if schedule.definition is None:
        parked = park(schedule, schedule.error or "it cannot be read.", edited)
        return ScheduleDecision(schedule, parked, None, last_skip_id)
    try:
        if other_zones and edited is None:
            followed = apply_zone_change(schedule)
            decided = after_plan(followed, plan(at_plan(schedule, followed), facts, now))
        else:
            decided = plan(schedule, facts, now, edited)
    except PROCESS_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        return ScheduleDecision(schedule, park(schedule, error_text(error)), None, last_skip_id)
    definition = schedule.definition
    if edited is not None and decided.revision == edited.before.revision:
        definition = edited.before.definition or definition
    held = held_keys(facts) if decided.relies_on_runs else frozenset()
    return ScheduleDecision(schedule, decided, definition, last_skip_id, held_keys=held)


def needs_held_flag(schedule: Schedule, edited: SqlEdit | None) -> bool:
    """Must the planner know whether runs of this schedule are held?"""
    asked = [schedule.definition, edited.before.definition if edited else None]
    return any(definition is not None and definition.hold_above is not None for definition in asked)


def depended_on(schedule: Schedule, edited: SqlEdit | None) -> set[str]:
    """The schedules of which the planner must know when they last succeeded."""
    asked = [schedule.definition, edited.before.definition if edited else None]
    return {each.schedule for definition in asked if definition is not None for each in definition.depends_on}


# Schedule id, revision, `planned_until`, and: is the schedule active, with nothing moved, skipped or just edited?
DueCursor = tuple[int, int, int | None, bool]


class OnTimeRun(NamedTuple):
    """A tick that becomes a queued run and moves its cursor by one; all other columns follow from the revision."""

    schedule_id: int
    revision: int
    tick: int
    due_at: int
    start_by: int | None
    next_run_at: int
    known: RevisionInfo

    @property
    def template(self) -> RunTemplate:
        """What all runs of its revision have in common."""
        return self.known.template


def plan_on_time(
    due: Iterable[DueCursor], known: RevisionCache, busy: Container[int], now: float
) -> tuple[list[OnTimeRun], list[int]]:
    """The ticks of nearly all due cursors; and the ids of those schedules whose plan takes the long way."""
    rows: list[OnTimeRun] = []
    others: list[int] = []
    for schedule_id, revision, planned_until, is_plain in due:
        if is_plain and planned_until is not None:
            one = known.get(schedule_id, revision)
            if one is None or (one.heeds_runs and schedule_id in busy):
                pass
            elif (found := _on_time(one, planned_until, now)) is not None:
                rows.append(OnTimeRun(schedule_id, revision, *found, one))
                continue
        others.append(schedule_id)
    return rows, others


def pick_handoff(rows: Sequence[OnTimeRun], hand_off: HandOff | None, limited: Collection[str] = ()) -> frozenset[int]:
    """The schedules whose run the planning worker starts itself: as many as it has room for, by priority.

    None of a queue that has a rate: only a claim counts what begins.
    """
    if hand_off is None or hand_off.room <= 0:
        return frozenset()
    fitting = {
        template
        for template in {row.template for row in rows}
        if template.namespace == hand_off.worker.namespace
        and template.queue in hand_off.queues
        and template.queue not in limited
        and template.target in hand_off.tasks
    }
    mine = [row for row in rows if row.template in fitting]
    if len(mine) > hand_off.room:
        mine.sort(key=lambda row: -row.template.priority)
        del mine[hand_off.room :]
    return frozenset(row.schedule_id for row in mine)


def leased(row: OnTimeRun, run_id: int) -> ClaimedRun:
    """A run that was leased as it was made."""
    one = row.known
    return ClaimedRun(
        run_id,
        1,
        0,
        row.template.target,
        "schedule",
        to_datetime(row.due_at),
        one.definition.payload,
        to_datetime(row.tick),
        schedule_id=row.schedule_id,
        schedule=one.name,
        definition=one.definition,
    )


def _on_time(one: RevisionInfo, planned_until: int, now: float) -> OnTime | None:
    try:
        return on_time(one.definition, one.offset, planned_until, now)
    except Exception:  # noqa: BLE001 - the long way will say what is wrong, and park this schedule alone
        return None


def recompute_for_zone_data(
    schedule: Schedule, last_skip_id: int | None
) -> tuple[ScheduleDecision, MovedSchedule | None] | None:
    """A schedule whose cursor was computed by other zone rules: by these, and how its next look moved; None: as is."""
    try:
        followed = apply_zone_change(schedule)
    except Exception:  # noqa: BLE001 - when it is due, the planner will say what is wrong
        return None
    if followed.cursor == schedule.cursor and followed.state == schedule.state:
        return None
    before, after = schedule.cursor.next_run_at, followed.cursor.next_run_at
    moved = None
    if before != after:
        instants = (None if at is None else to_datetime(at) for at in (before, after))
        moved = MovedSchedule(schedule.namespace, schedule.name, schedule.id, *instants)
    return ScheduleDecision(schedule, followed, schedule.definition, last_skip_id), moved


class CursorRow(NamedTuple):
    """What planning leaves in a cursor; its `prior_revision` becomes null."""

    schedule_id: int
    state: str
    next_run_at: int | None
    planned_until: int | None
    runs_planned: int
    skip_until: int | None
    skip_by: str | None
    skip_note: str
    last_skip_id: int | None
    # As JSON text, None where there are none.
    tick_overrides: str | None


class RunRow(NamedTuple):
    """A run to insert; without `due_at` it is due now. Not before it is due is it available."""

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
    deferred_until: int


class AwaitRow(NamedTuple):
    """What a run waits for: that a schedule succeeds between two instants."""

    run_id: int
    schedule_id: int
    since: int
    until: int


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
    """A skip row that reaches further than before: its new end, and how many ticks were added."""

    id: int
    last_at: int
    added: int


class VoidedOverrideRow(NamedTuple):
    """An override that was not carried out: by whose doing, and what the audit tells of it."""

    namespace: str
    schedule_id: int
    schedule: str
    actor: str | None
    detail: dict[str, Any]


class PauseRow(NamedTuple):
    """Pause and error of a schedule where planning changed them."""

    schedule_id: int
    paused_by: str | None
    pause_note: str | None
    paused_until: int | None
    error: str | None


@dataclass(slots=True)
class Rows:
    """All that a batch of plans writes, by table; it commits whole or not at all."""

    cursors: list[CursorRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    # Run id and JSON text, only where a run has a payload of its own.
    payloads: list[tuple[int, str]] = field(default_factory=list)
    awaits: list[AwaitRow] = field(default_factory=list)
    # Run id and JSON text, only where its tick had an override.
    applied_overrides: list[tuple[int, str]] = field(default_factory=list)
    void: list[VoidedOverrideRow] = field(default_factory=list)
    skips: list[SkipRow] = field(default_factory=list)
    longer: list[SkipExtension] = field(default_factory=list)
    schedules: list[PauseRow] = field(default_factory=list)
    # Ids of runs that are not to start, and of running ones that are asked to stop.
    cancel: list[int] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)


def keys_needed(batch: Iterable[ScheduleDecision]) -> set[Key]:
    """The concurrency keys that these plans have to do with."""
    wanted: set[Key] = set()
    for decided in batch:
        wanted |= {(decided.schedule.namespace, key) for key in decided.held_keys}
        definition = decided.definition
        if definition is not None and definition.concurrency_key is not None:
            found = {definition.key(run.payload) for run in decided.plan.runs}
            wanted |= {(decided.schedule.namespace, key) for key in found if key is not None}
    return wanted


def apply_concurrency(batch: Sequence[ScheduleDecision], room: MutableMapping[Key, int]) -> list[ScheduleDecision]:
    """The same plans, with those runs waiting whose key has no room left; `room` is used up."""
    return [decided if not _keyed(decided) else _admitted(decided, room) for decided in batch]


def _keyed(decided: ScheduleDecision) -> bool:
    return decided.definition is not None and decided.definition.concurrency_key is not None


def _admitted(decided: ScheduleDecision, room: MutableMapping[Key, int]) -> ScheduleDecision:
    definition, namespace = decided.definition, decided.schedule.namespace
    assert definition is not None
    runs: list[PlannedRun] = []
    for run in decided.plan.runs:
        key = definition.key(run.payload)
        if key is not None and run.status == "queued":
            runs.append(replace(run, status=take(room, (namespace, key))))
        else:
            runs.append(run)
    return replace(decided, plan=replace(decided.plan, runs=tuple(runs)))


def waiter(
    one: RevisionInfo | None,
    run_id: int,
    schedule_id: int | None,
    priority: int,
    key: Key | None,
    backfill_id: int | None,
    concurrency: int | None,
) -> WaitingRun:
    """A waiting run, with what its revision says of how many may go on at once; one, where that cannot be read."""
    maximum: int | None = None
    if schedule_id is not None:
        maximum = 1 if one is None else one.definition.max_running
    return WaitingRun(run_id, schedule_id, priority, maximum, key, backfill_id, concurrency or 0)


def ids_needed(batch: Iterable[ScheduleDecision]) -> tuple[int, int]:
    """How many run ids and, at most, skip ids the rows of a batch need."""
    runs = skips = 0
    for decided in batch:
        runs += len(decided.plan.runs)
        skips += len(decided.plan.skips)
    return runs, skips


def last_skips_needed(batch: Iterable[ScheduleDecision]) -> list[int]:
    """Ids of the last skip rows to read before `to_rows`: those that may be extended."""
    return [d.last_skip_id for d in batch if d.plan.skips and d.last_skip_id is not None]


def deferrable(batch: Iterable[ScheduleDecision]) -> list[int]:
    """The schedules whose new runs may have to be deferred in their queue."""
    return [
        d.schedule.id for d in batch if d.plan.runs and d.definition is not None and d.definition.overlap == "allow"
    ]


def lined_up(
    batch: Iterable[ScheduleDecision], lines: Mapping[int, int | None], minute: int
) -> tuple[dict[int, list[int]], dict[int, int]]:
    """Until when the queued runs of each schedule in `lines` are deferred, and the lines that are longer now."""
    deferred: dict[int, list[int]] = {}
    longer: dict[int, int] = {}
    for decided in batch:
        if (schedule_id := decided.schedule.id) in lines:
            line = lines[schedule_id] or 0
            queued = [run for run in decided.plan.runs if run.status == "queued"]
            deferred[schedule_id], last = stagger(line, minute, (run.origin == "schedule" for run in queued))
            if last != line:
                longer[schedule_id] = last
    return deferred, longer


def to_rows(
    batch: Iterable[ScheduleDecision],
    run_ids: Iterator[int],
    skip_ids: Iterator[int],
    last_skips: Mapping[int, LastSkip],
    deferred: Mapping[int, Iterable[int]],
) -> Rows:
    """Everything that these plans write; `last_skips` by skip id, as asked for by `last_skips_needed`."""
    rows = Rows()
    for decided in batch:
        ids = _add_runs(rows, decided, run_ids, deferred.get(decided.schedule.id, ())) if decided.plan.runs else ()
        last_skip_id = decided.last_skip_id
        if decided.plan.skips:
            last_skip_id = _add_skips(rows, decided, ids, skip_ids, last_skips.get(last_skip_id or 0))
        schedule, decision = decided.schedule, decided.plan
        cursor = decision.cursor
        rows.cursors.append(
            CursorRow(
                schedule.id,
                decision.state,
                cursor.next_run_at,
                cursor.planned_until,
                cursor.runs_planned,
                cursor.skip_until,
                cursor.skip_by,
                cursor.skip_note,
                last_skip_id,
                overrides_text(cursor.tick_overrides) if cursor.tick_overrides else None,
            )
        )
        for override, reason in decision.void:
            detail = void_detail(override, reason)
            rows.void.append(VoidedOverrideRow(schedule.namespace, schedule.id, schedule.name, decided.actor, detail))
        parked = decision.state == "parked"
        if parked or decision.pause != schedule.pause or decision.error != schedule.error:
            pause = decision.pause
            rows.schedules.append(
                PauseRow(
                    schedule.id,
                    pause.by if pause else None,
                    pause.note if pause else None,
                    pause.until if pause else None,
                    decision.error,
                )
            )
        rows.cancel += decision.cancel
        rows.stop += decision.stop
    return rows


def _add_runs(rows: Rows, decided: ScheduleDecision, run_ids: Iterator[int], deferred: Iterable[int]) -> list[int]:
    schedule, definition = decided.schedule, decided.definition
    assert definition is not None
    ids, until = [], iter(deferred)
    for run in decided.plan.runs:
        run_id = next(run_ids)
        ids.append(run_id)
        first, last, count = run.covers or (None, None, None)
        rows.runs.append(
            RunRow(
                run_id,
                schedule.namespace,
                schedule.id,
                decided.plan.revision,
                definition.target.kind,
                definition.target.name,
                definition.queue,
                definition.priority,
                run.status,
                run.origin,
                run.scheduled_for,
                run.due_at,
                run.start_by,
                first,
                last,
                count,
                definition.crash_limit,
                run.retry_of,
                decided.actor,
                HELD_LANE if run.held else AWAITING_LANE if run.awaits else USUAL_LANE,
                definition.key(run.payload),
                next(until, NOT_DEFERRED) if run.status == "queued" else NOT_DEFERRED,
            )
        )
        if run.payload is not None:
            rows.payloads.append((run_id, check_payload(run.payload)))
        rows.awaits += [AwaitRow(run_id, each.schedule_id, each.since, each.until) for each in run.awaits]
        if run.override is not None:
            rows.applied_overrides.append((run_id, applied_override_text(run.override)))
    return ids


def _add_skips(
    rows: Rows, decided: ScheduleDecision, run_ids: Iterable[int], skip_ids: Iterator[int], last: LastSkip | None
) -> int:
    """Extend the last skip row or add new ones; the id of what is then the last."""
    ids, decision = list(run_ids), decided.plan
    last_id = 0
    for index, skip in enumerate(decision.skips):
        if index == 0 and last is not None and _extends(decided, skip, last):
            rows.longer.append(SkipExtension(last.id, skip.last, skip.count))
            last_id = last.id
            continue
        last_id = next(skip_ids)
        run_id = skip.run_id if skip.under is None else ids[skip.under]
        rows.skips.append(
            SkipRow(
                last_id,
                decided.schedule.id,
                skip.revision or decision.revision,
                skip.reason,
                skip.first,
                skip.last,
                skip.count,
                run_id,
                skip.actor,
                skip.note,
            )
        )
    return last_id


def _done(schedule: Schedule) -> Iterable[int]:
    """Ticks of its grid that were decided ahead of their time."""
    return (each.tick for each in schedule.cursor.tick_overrides if each.done and schedule.grid.contains(each.tick))


def _extends(decided: ScheduleDecision, skip: PlannedSkip, last: LastSkip) -> bool:
    """Does this first skip of a plan go on where the last one of the schedule ended, for the same reason?"""
    return (
        skip.under is None
        and not skip.alone
        and last.last_at == decided.schedule.cursor.planned_until
        and (last.reason, last.run_id, last.revision)
        == (skip.reason, skip.run_id, skip.revision or decided.plan.revision)
        and (last.actor, last.note) == (skip.actor, skip.note)
        and not any(run.scheduled_for is not None and run.scheduled_for < skip.first for run in decided.plan.runs)
        and not any(last.last_at < tick < skip.first for tick in _done(decided.schedule))
    )
