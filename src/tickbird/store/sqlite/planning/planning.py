"""Planning: due cursors become runs, skips and moved cursors, in one transaction that is the only writer."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.planning.plan_result import PlanResult, RefusedPlan
from tickbird.domain.planning.planner import NO_FACTS, Facts, park
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.schedules.schedule import Cursor, PauseState, Schedule, SqlEdit
from tickbird.domain.schedules.tick_overrides import VOID, read_overrides
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.shared.json_columns import error_text
from tickbird.store.shared.plan_backoff import PlanBackoff
from tickbird.store.shared.plans import (
    DueCursor,
    LastSkip,
    OnTimeRun,
    RevisionCache,
    RevisionInfo,
    Rows,
    ScheduleDecision,
    apply_concurrency,
    decide,
    deferrable,
    depended_on,
    ids_needed,
    keys_needed,
    last_skips_needed,
    leased,
    leave_large,
    lined_up,
    needs_held_flag,
    pick_handoff,
    plan_on_time,
    read_definition,
    recompute_for_zone_data,
    to_rows,
)
from tickbird.store.shared.unstorable_values import VALUE_ERRORS
from tickbird.store.sqlite.audit import write_audit
from tickbird.store.sqlite.database.connection import read, write
from tickbird.store.sqlite.database.instants import MICROS, to_instant
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.dependencies import watch, write_awaits
from tickbird.store.sqlite.planning.rate_limits import stored
from tickbird.store.sqlite.planning.revisions import read_revision
from tickbird.store.sqlite.planning.waiting_runs import release, room
from tickbird.store.sqlite.planning.zone_cursors import audit, stamp
from tickbird.store.sqlite.rows import Row, all_facts, dump
from tickbird.store.sqlite.runs import reserve_ids

REPLACED = "replaced"
PLANNER = "planner"
# A batch that makes more runs than this leaves its other schedules to the next step, so that memory stays small.
MAX_RUNS = 10_000

# No row is the cause of these: the file cannot be read or written, or another process holds a lock.
_FILE_ERRORS = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_NOMEM,
    )
)
# Only a change of the row can remove the cause of these: a value that does not fit.
_ROW_ERRORS = (*VALUE_ERRORS, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
_MAX_RETRIES = 20
# Seconds after which a step leaves the rest of a search for refused schedules to the next one.
_MAX_SEARCH = 5.0


@dataclass(frozen=True, slots=True)
class Written:
    """What one transaction has decided: ticks on time, which of their runs were leased, and all the rest."""

    on_time: Sequence[OnTimeRun]
    leased: Sequence[ClaimedRun]
    others: Sequence[ScheduleDecision]


@dataclass(slots=True)
class Tally:
    """What a planning step has done so far."""

    schedules: int = 0
    runs: int = 0
    skips: int = 0
    parked: list[str] = field(default_factory=list)
    leased: list[ClaimedRun] = field(default_factory=list)
    refused: list[RefusedPlan] = field(default_factory=list)

    def add(self, written: Written) -> None:
        """Count what a committed batch has decided."""
        self.schedules += len(written.on_time) + len(written.others)
        self.runs += len(written.on_time)
        self.leased += written.leased
        for decided in written.others:
            self.runs += len(decided.plan.runs)
            self.skips += len(decided.plan.skips)
            if decided.plan.state == "parked" and decided.schedule.state != "parked":
                self.parked.append(decided.schedule.name)


@dataclass(slots=True)
class Step:
    """One planning step."""

    db: sqlite3.Connection
    known: RevisionCache
    backoff: PlanBackoff
    zones: Zones
    clock: Callable[[], int]
    now: int = 0
    tally: Tally = field(default_factory=Tally)

    def plan(self, limit: int, hand_off: HandOff | None) -> PlanResult:
        """Plan up to `limit` due schedules, then refused ones whose backoff is over."""
        self.now = self.clock()
        next_at, due = self._next_due()
        retries = self.backoff.due(to_instant(self.now), _MAX_RETRIES)
        if not due and not retries:  # and so nobody has to wait for a writer that has nothing to write
            return PlanResult(to_instant(self.now), next_at=self.backoff.next_at(to_instant(next_at)))
        if due:
            self._plan_due(limit, hand_off)
        for schedule_id in retries:
            self._retry(schedule_id)
        next_at, more = self._next_due()
        tally = self.tally
        return PlanResult(
            now=to_instant(self.now),
            schedules=tally.schedules,
            runs=tally.runs,
            skips=tally.skips,
            parked=tuple(tally.parked),
            next_at=self.backoff.next_at(to_instant(next_at)),
            more=more,
            leased=tally.leased,
            refused=tuple(tally.refused),
        )

    def _bounds(self) -> dict[str, Any]:
        return {"format": FORMAT, "zones": self.zones.generation, "refused": dump(list(self.backoff.ids))}

    def _next_due(self) -> tuple[int | None, bool]:
        """When the next schedule is due, and whether any is by now."""
        bounds = self._bounds()
        next_at, new = read(self.db, lambda: self.db.execute(SQL["next_due"], bounds).fetchone())
        return next_at, bool(new) or (next_at is not None and next_at <= self.now)

    def _plan_due(self, limit: int, hand_off: HandOff | None) -> None:
        ids: list[int] = []

        def work() -> Written:
            # Dated once nobody else can write any more, so that what is dated later is written later.
            self.now = self.clock()
            rows = _due(self.db, {**self._bounds(), "now": self.now}, limit)
            ids[:] = [row[0] for row in rows]
            return _plan(self.db, self.known, self.zones, rows, self.now, hand_off)

        error = self._try(work)
        if error is not None and not ids:
            raise error
        if error is not None:
            self._search(ids, error)

    def _plan_these(self, ids: Sequence[int]) -> Exception | None:
        """Plan these schedules; returns the error if they are refused."""
        return self._try(lambda: _plan(self.db, self.known, self.zones, self._still_due(ids), self.now))

    def _still_due(self, ids: Sequence[int]) -> list[Row]:
        bounds = {"ids": dump(ids), "now": self.now, "format": FORMAT, "zones": self.zones.generation}
        return self.db.execute(SQL["still_due"], bounds).fetchall()

    def _try(self, work: Callable[[], Written]) -> Exception | None:
        """Add what one transaction plans; returns the error of a refusal, and raises if the file cannot be used."""
        try:
            self.tally.add(write(self.db, work))
        except Exception as error:
            # An error that one row causes must not concern another.
            self.known.clear()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _FILE_ERRORS:
                raise
            return error
        return None

    def _search(self, ids: Sequence[int], error: Exception) -> None:
        """Try halves of a refused batch until each refused schedule is alone."""
        began = time.monotonic()
        refused = [(ids, error)]
        while refused:
            ids, error = refused.pop()
            if len(ids) == 1:
                self._refuse(ids[0], error)
                if time.monotonic() - began > _MAX_SEARCH:
                    return
                continue
            middle = len(ids) // 2
            halves = (ids[:middle], ids[middle:])
            errors = [self._plan_these(half) for half in halves]
            refused += [(half, again) for half, again in zip(halves, errors, strict=True) if again is not None]

    def _retry(self, schedule_id: int) -> None:
        if (error := self._plan_these([schedule_id])) is not None:
            self._refuse(schedule_id, error)
        else:
            self.backoff.remove(schedule_id, to_instant(self.now))

    def _refuse(self, schedule_id: int, error: Exception) -> None:
        """Park a schedule whose row is the cause; try it again later if it is not, or if parking is refused too."""
        text = error_text(error)
        if isinstance(error, _ROW_ERRORS):
            unparkable = self._try(lambda: self._park(schedule_id, text))
            if unparkable is None:
                self.backoff.remove(schedule_id, to_instant(self.now))
                return
            text = f"{text} (and it could not be parked: {error_text(unparkable)})"
        retry_at = self.backoff.add(schedule_id, text, to_instant(self.now))
        self.tally.refused.append(RefusedPlan(self._show(schedule_id, text), text, retry_at))

    def _park(self, schedule_id: int, error: str) -> Written:
        looks = read_schedules(self.db, self.known, self._still_due([schedule_id]))
        batch = [ScheduleDecision(schedule, park(schedule, error), None, row[10]) for row, schedule in looks]
        write_plans(self.db, self.known, batch, self.now)
        return Written([], [], batch)

    def _show(self, schedule_id: int, error: str) -> str:
        """Store the error with its schedule, if the database accepts that; returns the schedule's name."""

        def work() -> str:
            [(name,)] = self.db.execute(SQL["store_refusal"], {"id": schedule_id, "error": error}).fetchall()
            self.db.execute(SQL["mark_refused"], {"id": schedule_id, "now": self.now})
            return str(name)

        try:
            return write(self.db, work)
        except Exception:  # noqa: BLE001 - it is logged and tried again in any case
            return f"with id {schedule_id}"


def _due(db: sqlite3.Connection, bounds: dict[str, Any], limit: int) -> list[Row]:
    """Due cursors: half of them the oldest and half the newest if there are too many; and those never planned."""
    due = db.execute(SQL["oldest_due"], {**bounds, "limit": limit}).fetchall()
    if len(due) == limit > 1:
        newest = db.execute(SQL["newest_due"], {**bounds, "limit": limit // 2}).fetchall()
        due = list({row[0]: row for row in due[: limit - limit // 2] + newest}.values())
    room = max(1, limit - len(due))
    return due + db.execute(SQL["never_planned"], {**bounds, "limit": room}).fetchall()


def _plan(
    db: sqlite3.Connection,
    known: RevisionCache,
    zones: Zones,
    rows: Sequence[Row],
    now: int,
    hand_off: HandOff | None = None,
) -> Written:
    """Decide what becomes of the schedules with these cursors, and write it: nearly all are on time."""
    rows = _affordable(db, known, rows)
    _learn(db, known, rows)
    due = list(_due_cursors(rows, zones.generation, now))
    facts = read_facts(db, known.heeding(due))
    on_time, others = plan_on_time(due, known, facts, now / MICROS)
    mine = _write_on_time(db, on_time, hand_off, now) if on_time else []
    batch: list[ScheduleDecision] = []
    if others:
        left = set(others)
        late = [row for row in rows if row[0] in left]
        batch = _decide(db, known, zones, late, facts, now)
        write_plans(db, known, batch, now)
        _follow_zones(db, zones, late, batch, now)
    return Written(on_time, mine, batch)


def _affordable(db: sqlite3.Connection, known: RevisionCache, rows: Sequence[Row]) -> Sequence[Row]:
    """Cursors whose definitions do not take too much memory together; the next step plans the others."""
    missing = known.missing((row[0], row[1]) for row in rows)
    if not missing:
        return rows
    sizes = dict(db.execute(SQL["definition_sizes"], {"ids": dump([key[0] for key in missing])}))
    left = leave_large((key[0], sizes.get(key[0], 0)) for key in missing)
    return [row for row in rows if row[0] not in left]


def _learn(db: sqlite3.Connection, known: RevisionCache, rows: Sequence[Row]) -> None:
    """Read and decode what is not known yet of the revisions in force; what cannot be read stays unknown."""
    revisions = dict(known.missing((row[0], row[1]) for row in rows))
    if revisions:
        for detail in db.execute(SQL["some_schedules"], {"ids": dump(list(revisions))}):
            definition, _ = read_definition(detail[3])
            if definition is not None:
                known.add(detail[0], revisions[detail[0]], RevisionInfo(detail[1], detail[2], definition))


def _due_cursors(rows: Sequence[Row], zones: int, now: int) -> Iterator[DueCursor]:
    for row in rows:
        is_plain = row[2] == "active" and all(row[place] is None for place in (6, 9, 11, 15))
        in_line = row[14] is None or row[14] * MINUTE * MICROS <= now
        yield row[0], row[1], row[3], is_plain and in_line and row[13] in (None, zones)


def _follow_zones(
    db: sqlite3.Connection, zones: Zones, rows: Sequence[Row], batch: Sequence[ScheduleDecision], now: int
) -> None:
    """Mark cursors that were computed anew by the zone rules of today, and tell what moved."""
    outdated = {row[0]: row[11] is None for row in rows if _has_old_zone_data(row, zones)}
    if outdated:
        written = [decided for decided in batch if decided.schedule.id in outdated]
        again = (
            recompute_for_zone_data(each.schedule, each.last_skip_id) for each in written if outdated[each.schedule.id]
        )
        audit(db, zones, [found[1] for found in again if found is not None and found[1] is not None], now)
        stamp(db, zones, [decided.schedule.id for decided in written])


def _has_old_zone_data(row: Row, zones: Zones) -> bool:
    return row[13] is not None and row[13] < zones.generation


def _write_on_time(
    db: sqlite3.Connection, rows: Sequence[OnTimeRun], hand_off: HandOff | None, now: int
) -> list[ClaimedRun]:
    """Write ticks as runs; those that were leased to the worker that plans."""
    ids = reserve_ids(db, "run", len(rows))
    db.executemany(SQL["move_on_time"], [(row.schedule_id, row.tick, row.next_run_at) for row in rows])
    mine = pick_handoff(rows, hand_off, _limited(db, hand_off))
    queued: list[tuple[int, OnTimeRun]] = []
    running: list[tuple[int, OnTimeRun]] = []
    for run_id, row in zip(ids, rows, strict=True):
        (running if row.schedule_id in mine else queued).append((run_id, row))
    if queued:
        db.executemany(SQL["insert_on_time"], [(run_id, now, *row[:5], *row.template) for run_id, row in queued])
        db.execute(SQL["wake_others"])
    if hand_off is None or not running:
        return []
    lease = hand_off.worker.id, now + round(hand_off.lease * MICROS)
    made = []
    for run_id, row in running:
        # One by one, to learn where the tick has a run already.
        if db.execute(SQL["insert_leased"], (run_id, now, *row[:5], *row.template, *lease)).rowcount:
            made.append(leased(row, run_id))
    return made


def _limited(db: sqlite3.Connection, hand_off: HandOff | None) -> Collection[str]:
    """The queues whose runs begin only when they are claimed."""
    return stored(db, hand_off.worker.namespace) if hand_off is not None and hand_off.room > 0 else ()


def _decide(
    db: sqlite3.Connection,
    known: RevisionCache,
    zones: Zones,
    rows: Sequence[Row],
    facts: Mapping[int, Facts],
    now: int,
) -> list[ScheduleDecision]:
    """What becomes of the schedules with these cursors."""
    moment = now / MICROS
    batch: list[ScheduleDecision] = []
    made = 0
    for row, schedule in read_schedules(db, known, rows):
        edited, fact = _edited(db, known, schedule, row), facts.get(schedule.id, NO_FACTS)
        if needs_held_flag(schedule, edited):
            [held] = db.execute(SQL["any_held"], {"schedule_id": schedule.id}).fetchone()
            fact = replace(fact, held=bool(held))
        if names := depended_on(schedule, edited):
            fact = replace(fact, successes=watch(db, schedule.namespace, names))
        batch.append(decide(schedule, fact, moment, edited, row[10], other_zones=_has_old_zone_data(row, zones)))
        made += len(batch[-1].plan.runs)
        if made >= MAX_RUNS:
            break
    return batch


def read_schedules(db: sqlite3.Connection, known: RevisionCache, rows: Sequence[Row]) -> Iterator[tuple[Row, Schedule]]:
    """The schedules with these cursors."""
    # Kept here, since reading the others may push them out of the cache.
    ready = {
        row[0]: one
        for row in rows
        # Of a schedule that was refused, the error is cleared when it is planned.
        if row[2] == "active" and row[11] is None and row[15] is None and (one := known.get(row[0], row[1]))
    }
    details: dict[int, Row] = {}
    if cold := [row[0] for row in rows if row[0] not in ready]:
        details = {detail[0]: detail for detail in db.execute(SQL["some_schedules"], {"ids": dump(cold)})}
    for row in rows:
        one = ready.get(row[0])
        yield row, _hot(row, one) if one else _cold(row, details[row[0]])


def plan_these(db: sqlite3.Connection, known: RevisionCache, zones: Zones, ids: Sequence[int], now: int) -> None:
    """Plan these schedules once, within the caller's transaction."""
    rows = db.execute(SQL["some_cursors"], {"ids": dump(ids)}).fetchall()
    write_plans(db, known, _decide(db, known, zones, rows, read_facts(db, ids), now), now)


def _hot(row: Row, one: RevisionInfo) -> Schedule:
    """An active schedule of a known revision: its cursor says all the rest."""
    cursor = Cursor(*(*row[3:9], read_overrides(row[9])))
    return Schedule(row[0], one.namespace, one.name, row[1], "active", one.definition, cursor)


def _cold(row: Row, detail: Row) -> Schedule:
    """A schedule from its cursor and its own row."""
    schedule_id, revision, state = row[:3]
    _, namespace, name, text, paused_by, pause_note, paused_until, error = detail
    pause = None if paused_by is None else PauseState(paused_by, pause_note or "", paused_until)
    definition, unreadable = read_definition(text, to_plan=True)
    cursor = Cursor(*(*row[3:9], read_overrides(row[9])))
    return Schedule(schedule_id, namespace, name, revision, state, definition, cursor, pause, unreadable or error)


def _edited(db: sqlite3.Connection, known: RevisionCache, schedule: Schedule, row: Row) -> SqlEdit | None:
    """What held before an edit by plain SQL that the planner has not seen yet."""
    prior_revision, changed_at = row[11:13]
    if prior_revision is None:
        return None
    prior = read_revision(db, known, schedule.id, prior_revision)
    before = Schedule(
        schedule.id,
        schedule.namespace,
        schedule.name,
        prior_revision,
        schedule.state,
        prior.definition if prior else None,
        schedule.cursor,
        schedule.pause,
        schedule.error,
    )
    return SqlEdit(before, changed_at)


def read_facts(db: sqlite3.Connection, schedule_ids: Iterable[int]) -> dict[int, Facts]:
    """The active runs of these schedules."""
    return all_facts(db.execute(SQL["active_facts"], {"ids": dump(list(schedule_ids))}))


def write_plans(
    db: sqlite3.Connection,
    known: RevisionCache,
    batch: Sequence[ScheduleDecision],
    now: int,
    *,
    actor: str = PLANNER,
    reason: str = REPLACED,
) -> list[int]:
    """Write all that these plans decide; the ids of the new runs."""
    if keys := keys_needed(batch):
        batch = apply_concurrency(batch, room(db, keys))
    runs, skips = ids_needed(batch)
    last_skips: dict[int, LastSkip] = {}
    if skips and (wanted := last_skips_needed(batch)):
        found = db.execute(SQL["last_skips"], {"ids": dump(wanted)})
        last_skips = {row[0]: LastSkip(*row) for row in found}
    lines: dict[int, int | None] = {}
    if crowded := deferrable(batch):
        lines = dict(db.execute(SQL["lines_of"], {"ids": dump(crowded)}).fetchall())
    deferred, longer = lined_up(batch, lines, now // MICROS // MINUTE)
    run_ids, skip_ids = reserve_ids(db, "run", runs), reserve_ids(db, "skip", skips)
    rows = to_rows(batch, iter(run_ids), iter(skip_ids), last_skips, deferred)
    _insert(db, rows, now)
    if longer:
        db.executemany(SQL["lengthen_line"], longer.items())
    for void in rows.void:
        detail, by = void.detail, void.actor or PLANNER
        write_audit(
            db, now, by, VOID, void.namespace, schedule_id=void.schedule_id, schedule=void.schedule, detail=detail
        )
    change: dict[str, Any] = {"now": now, "actor": actor, "reason": reason}
    for decided in batch:
        if decided.plan.clear:
            db.execute(SQL["clear_lanes"], {**change, "schedule_id": decided.schedule.id})
    if rows.cancel or rows.stop:
        db.execute(SQL["cancel_runs"], {**change, "ids": dump(rows.cancel)})
        db.execute(SQL["stop_runs"], {**change, "ids": dump(rows.stop)})
        release(db, known, {decided.schedule.id for decided in batch if decided.plan.cancel}, now, keys=keys)
    if rows.runs:
        db.execute(SQL["wake_others"])
    return [run.id for run in rows.runs]


def _insert(db: sqlite3.Connection, rows: Rows, now: int) -> None:
    db.executemany(SQL["move_cursor"], rows.cursors)
    if rows.runs:
        db.executemany(SQL["insert_run"], [(*run, now) for run in rows.runs])
    if rows.awaits:
        write_awaits(db, rows)
    if rows.payloads:
        db.executemany(SQL["insert_payload"], rows.payloads)
    if rows.applied_overrides:
        db.executemany(SQL["write_applied_override"], rows.applied_overrides)
    if rows.skips:
        db.executemany(SQL["insert_skip"], [(*skip, now) for skip in rows.skips])
    if rows.longer:
        db.executemany(SQL["extend_skip"], [(*longer, now) for longer in rows.longer])
    if rows.schedules:
        db.executemany(SQL["set_pause"], rows.schedules)
