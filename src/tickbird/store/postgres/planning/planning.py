"""Planning on PostgreSQL: lock due cursors, decide in Python, write what was decided as sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any, Final

from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.planning.plan_result import RefusedPlan
from tickbird.domain.planning.planner import NO_FACTS, ActiveRun, Facts, park
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.schedules.schedule import Cursor, Schedule, SqlEdit
from tickbird.domain.schedules.tick_overrides import VOID, read_overrides
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.dependencies import Successes, hold_successes, read_successes, watch, write_awaits
from tickbird.store.postgres.planning.revisions import learn
from tickbird.store.postgres.planning.waiting_runs import hold_active, hold_keys, release
from tickbird.store.postgres.planning.zone_cursors import audit, stamp
from tickbird.store.postgres.rows import json_text, numbers, texts, to_schedule
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
    held_keys,
    ids_needed,
    keys_needed,
    last_skips_needed,
    leased,
    leave_large,
    lined_up,
    needs_held_flag,
    pick_handoff,
    plan_on_time,
    recompute_for_zone_data,
    to_rows,
)

# A batch that makes more runs than this leaves the rest of its schedules to the next one, so that memory and the
# time between lock and commit stay small.
MAX_RUNS: Final = 10_000
REPLACED: Final = "replaced"
PLANNER: Final = "planner"
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class DueSchedule:
    """A schedule whose cursor is locked, with what the planner must know besides."""

    schedule: Schedule
    last_skip_id: int | None
    edited: SqlEdit | None = None
    # By which generation of zone rules its cursor was computed; None: all is in UTC.
    zones: int | None = None


@dataclass(slots=True)
class Batch:
    """What one planning transaction has decided."""

    now: datetime | None = None
    schedules: int = 0
    runs: int = 0
    skips: int = 0
    parked: list[str] = field(default_factory=list)
    left: bool = False
    leased: list[ClaimedRun] = field(default_factory=list)
    refused: list[RefusedPlan] = field(default_factory=list)

    def add(self, other: Batch) -> None:
        """Count another batch as well."""
        self.now = other.now or self.now
        self.schedules += other.schedules
        self.runs += other.runs
        self.skips += other.skips
        self.parked += other.parked
        self.left |= other.left
        self.leased += other.leased
        self.refused += other.refused


def clock(locked: Sequence[tuple[Any, ...]]) -> datetime:
    """The store's clock, as it was when these cursors were locked."""
    return EPOCH + timedelta(microseconds=locked[0][4])


async def plan_locked(
    db: Session,
    known: RevisionCache,
    locked: Sequence[tuple[Any, ...]],
    zones: Zones,
    hand_off: HandOff | None = None,
    refusal: str | None = None,
) -> Batch:
    """Plan the schedules of these locked cursors; with a refusal, park them for it."""
    if not locked:
        return Batch()
    now = clock(locked)
    left = await _leave_large(db, known, locked)
    due: list[DueCursor] = [(row[0], row[1], row[2], row[3]) for row in locked if row[0] not in left]
    await learn(db, known, (row[:2] for row in due if row[3]))
    if refusal is None:
        heeding = known.heeding(due)
        facts = await read_facts(db, heeding) if heeding else {}
        on_time, others = plan_on_time(due, known, facts, now.timestamp())
        mine = await _write_on_time(db, on_time, hand_off, now)
    else:
        facts, on_time, others, mine = {}, [], [row[0] for row in due], []
    done = Batch(now=now, schedules=len(on_time), runs=len(on_time), leased=mine, left=bool(left))
    if others:
        done.add(await _plan_others(db, known, others, facts, now, zones, refusal))
    return done


async def _leave_large(db: Session, known: RevisionCache, locked: Sequence[tuple[Any, ...]]) -> set[int]:
    """The schedules that are left to the next step, since definitions of this one would take too much memory."""
    missing = known.missing((row[0], row[1]) for row in locked)
    if not missing:
        return set()
    sizes = dict(await db.fetch("definition_sizes", ids=numbers(key[0] for key in missing)))
    return leave_large((key[0], sizes.get(key[0], 0)) for key in missing)


async def _write_on_time(
    db: Session, rows: Sequence[OnTimeRun], hand_off: HandOff | None, now: datetime
) -> list[ClaimedRun]:
    """Write ticks as runs; those that were leased to the worker that plans."""
    if not rows:
        return []
    mine = pick_handoff(rows, hand_off)
    schedules, revisions, ticks, due, start_by, following, _ = zip(*rows, strict=True)
    templates = [row.template for row in rows]
    # Many schedules, few kinds of runs: what a kind has in common is sent once.
    kinds = {template: number for number, template in enumerate(dict.fromkeys(templates), 1)}
    common = list(zip(*kinds, strict=True))
    made = await db.fetch(
        "write_on_time",
        schedules=numbers(schedules),
        revisions=numbers(revisions),
        ticks=numbers(ticks),
        due=numbers(due),
        start_by=numbers(start_by),
        next=numbers(following),
        templates=numbers(map(kinds.__getitem__, templates)),
        leased=numbers(map(mine.__contains__, schedules)) if mine else "{}",
        namespaces=texts(common[0]),
        kinds=texts(common[1]),
        targets=texts(common[2]),
        queues=texts(common[3]),
        priorities=numbers(common[4]),
        crash_limits=numbers(common[5]),
        worker=hand_off.worker.id if hand_off else None,
        lease=hand_off.lease if hand_off else 0.0,
        now=now,
    )
    if not made:
        return []
    by_schedule = {row.schedule_id: row for row in rows}
    return [leased(by_schedule[schedule_id], run_id) for schedule_id, run_id in made]


async def _plan_others(
    db: Session,
    known: RevisionCache,
    ids: Sequence[int],
    facts: Mapping[int, Facts],
    now: datetime,
    zones: Zones,
    refusal: str | None,
) -> Batch:
    """Plan schedules that are late, held up, edited or otherwise out of the ordinary."""
    looks = await read_due_schedules(db, known, ids)
    if refusal is None:
        batch = await _decide(db, looks, facts, now.timestamp(), zones.generation)
    else:
        batch = [
            ScheduleDecision(look.schedule, park(look.schedule, refusal), None, look.last_skip_id) for look in looks
        ]
    batch = await _undisputed(db, batch)
    await write(db, known, batch, now, edited=_pending(looks))
    await _follow_zones(db, zones, looks, batch, now)
    done = Batch(schedules=len(batch), left=len(batch) < len(ids))
    for decided in batch:
        # A schedule with more due ticks than fit into one plan is still due.
        done.left |= (decided.plan.cursor.next_run_at or now.timestamp() + 1) <= now.timestamp()
        done.runs += len(decided.plan.runs)
        done.skips += len(decided.plan.skips)
        if decided.plan.state == "parked" and decided.schedule.state != "parked":
            done.parked.append(decided.schedule.name)
    return done


async def _follow_zones(
    db: Session, zones: Zones, looks: Iterable[DueSchedule], batch: Iterable[ScheduleDecision], now: datetime
) -> None:
    """Mark cursors that were computed anew by the zone rules of today, and tell what moved."""
    written = {decided.schedule.id for decided in batch}
    outdated = [look for look in looks if _has_old_zone_data(look, zones.generation) and look.schedule.id in written]
    if outdated:
        again = (recompute_for_zone_data(look.schedule, look.last_skip_id) for look in outdated if look.edited is None)
        await audit(db, zones, [found[1] for found in again if found is not None and found[1] is not None], now)
        await stamp(db, zones, [look.schedule.id for look in outdated])


def _has_old_zone_data(look: DueSchedule, zones: int) -> bool:
    return look.zones is not None and look.zones < zones


async def read_due_schedules(db: Session, known: RevisionCache, ids: Iterable[int]) -> list[DueSchedule]:
    """The schedules of locked cursors; where the revision is known and the state plain nothing more is read."""
    cursors = await db.fetch("read_cursors", ids=numbers(ids))
    prior = [(row[0], row[11]) for row in cursors if row[11] is not None]
    before = (await learn(db, known, prior)).found
    # Of a schedule that was refused, the error is cleared when it is planned.
    plain = {
        row[0]: known.get(row[0], row[1])
        for row in cursors
        if row[2] == "active" and row[11] is None and row[13] is None
    }
    unknown = [row[0] for row in cursors if plain.get(row[0]) is None]
    details = (
        {row["id"]: row for row in await db.fetch_named("read_schedules", ids=numbers(unknown))} if unknown else {}
    )
    looks = []
    for row in cursors:
        schedule_id, revision, last_skip_id = row[0], row[1], row[10]
        if (found := plain.get(schedule_id)) is not None:
            definition, cursor = found.definition, Cursor(*(*row[3:9], read_overrides(row[9])))
            schedule = Schedule(schedule_id, found.namespace, found.name, revision, row[2], definition, cursor)
            looks.append(DueSchedule(schedule, last_skip_id, zones=row[12]))
        else:
            schedule = to_schedule(details[schedule_id], explain=True)
            look = DueSchedule(schedule, last_skip_id, zones=row[12])
            if row[11] is not None:
                edited = before.get((schedule_id, row[11]))
                look.edited = edited_by_sql(edited, schedule, row[11], details[schedule_id]["edited_at"])
            looks.append(look)
    return looks


def edited_by_sql(before: RevisionInfo | None, schedule: Schedule, prior: int, changed_at: int) -> SqlEdit:
    """What held before an edit by plain SQL, under the revision `prior`."""
    definition = None if before is None else before.definition
    return SqlEdit(replace(schedule, revision=prior, definition=definition), changed_at)


async def _decide(
    db: Session, looks: Sequence[DueSchedule], facts: Mapping[int, Facts], now: float, zones: int
) -> list[ScheduleDecision]:
    holding = [look.schedule.id for look in looks if needs_held_flag(look.schedule, look.edited)]
    held = {row[0] for row in await db.fetch("with_held", ids=numbers(holding))} if holding else set()
    needed = _needed(looks)
    successes: Successes = await watch(db, needed) if needed else {}

    def decided_on(look: DueSchedule) -> ScheduleDecision:
        known = facts.get(look.schedule.id, NO_FACTS)
        if look.schedule.id in held:
            known = replace(known, held=True)
        if found := successes.get(look.schedule.namespace):
            known = replace(known, successes=found)
        outdated = _has_old_zone_data(look, zones)
        return decide(look.schedule, known, now, look.edited, look.last_skip_id, other_zones=outdated)

    batch: list[ScheduleDecision] = []
    relying: dict[int, int] = {}
    awaiting = False
    runs = 0
    for look in looks:
        decided = decided_on(look)
        awaiting |= decided.plan.relies_on_successes
        if decided.plan.relies_on_runs:
            relying[look.schedule.id] = len(batch)
        batch.append(decided)
        runs += len(decided.plan.runs)
        if runs >= MAX_RUNS:
            break
    if relying:
        # A waiter must not be left behind by a blocker that finishes meanwhile: hold the blockers, then look again.
        facts = await lock_facts(db, relying)
        still: set[int] = set()
        if awaiting:
            # Nor must a run wait for what comes meanwhile: hold the notes of that, then look again.
            noted = {each.schedule_id for names in successes.values() for each in names.values()}
            still = await hold_successes(db, noted)
            successes = await read_successes(db, needed)
        for schedule_id, place in relying.items():
            keys = held_keys(facts.get(schedule_id, NO_FACTS))
            batch[place] = replace(decided_on(looks[place]), held_keys=keys)
        # Where one is being noted at this moment, the schedule stays due, and is looked at once more.
        batch = [each for each in batch if {a.schedule_id for run in each.plan.runs for a in run.awaits} <= still]
    return batch


def _needed(looks: Iterable[DueSchedule]) -> set[tuple[str, str]]:
    """The schedules of which it matters when they last succeeded."""
    return {(look.schedule.namespace, name) for look in looks for name in depended_on(look.schedule, look.edited)}


async def read_facts(db: Session, schedule_ids: Iterable[int]) -> dict[int, Facts]:
    """The active runs of schedules, oldest first; in a statement of its own, after the cursors were locked."""
    active: defaultdict[int, list[ActiveRun]] = defaultdict(list)
    found = await db.fetch("read_active", ids=numbers(schedule_ids))
    for schedule_id, run_id, *rest in sorted(found, key=itemgetter(0, 1)):
        active[schedule_id].append(ActiveRun(run_id, *rest))
    return {schedule_id: Facts(tuple(runs)) for schedule_id, runs in active.items()}


async def lock_facts(db: Session, schedule_ids: Collection[int]) -> dict[int, Facts]:
    """As read_facts, with the active runs held until the end of the transaction."""
    await hold_active(db, schedule_ids)
    return await read_facts(db, schedule_ids)


async def _undisputed(db: Session, batch: list[ScheduleDecision]) -> list[ScheduleDecision]:
    """Without those whose own row must be written while somebody else edits it; they stay due."""
    touched = [d.schedule.id for d in batch if _touches_schedule(d)]
    if not touched:
        return batch
    held = {row[0] for row in await db.fetch("lock_schedules", ids=numbers(touched))}
    return [d for d in batch if d.schedule.id in held or not _touches_schedule(d)]


def _touches_schedule(decided: ScheduleDecision) -> bool:
    before, after = decided.schedule, decided.plan
    return after.state == "parked" or (after.pause, after.error) != (before.pause, before.error)


def _pending(looks: Iterable[DueSchedule]) -> set[int]:
    return {look.schedule.id for look in looks if look.edited is not None}


async def write(
    db: Session,
    known: RevisionCache,
    batch: Sequence[ScheduleDecision],
    now: datetime,
    *,
    edited: Collection[int] = (),
    reason: str = REPLACED,
    by: str = PLANNER,
) -> Rows:
    """Write what was decided: a statement per kind of row, whatever the number of schedules."""
    if not batch:
        return Rows()
    if keys := keys_needed(batch):
        batch = apply_concurrency(batch, await hold_keys(db, keys))
    spare = await _take_ids(db, batch)
    last_skips: dict[int, LastSkip] = {}
    if wanted := last_skips_needed(batch):
        last_skips = {row[0]: LastSkip(*row) for row in await db.fetch("read_skips", ids=numbers(wanted))}
    rows = to_rows(batch, spare, spare, last_skips, await defer_runs(db, batch, now))
    await _write_hot(db, rows, now)
    if rows.awaits:
        await write_awaits(db, rows)
    rare = [
        row
        for row, decided in zip(rows.cursors, batch, strict=True)
        if row.schedule_id in edited or _is_rare(decided.plan.cursor) or _is_rare(decided.schedule.cursor)
    ]
    if rare:
        await db.execute(
            "write_rare",
            ids=numbers(row.schedule_id for row in rare),
            until=numbers(row.skip_until for row in rare),
            by=texts([row.skip_by for row in rare]),
            notes=texts([row.skip_note for row in rare]),
            overrides=texts([row.tick_overrides for row in rare]),
        )
    await _write_ledger(db, rows, now)
    if rows.void:
        await db.execute(
            "write_void",
            action=VOID,
            namespaces=texts([row.namespace for row in rows.void]),
            ids=numbers(row.schedule_id for row in rows.void),
            schedules=texts([row.schedule for row in rows.void]),
            actors=texts([row.actor or PLANNER for row in rows.void]),
            details=texts([json_text(row.detail) for row in rows.void]),
            now=now,
        )
    if rows.stop:
        await db.execute("stop_runs", ids=numbers(rows.stop), now=now, by=by, reason=reason)
    if cleared := [d.schedule.id for d in batch if d.plan.clear]:
        await db.execute("clear_lanes", ids=numbers(cleared), now=now, reason=reason)
    if rows.cancel:
        await db.execute("drop_runs", ids=numbers(rows.cancel), now=now, reason=reason)
    # What was cancelled may have been what a manual run waits for; and whoever wanted to release a waiter that was held
    # here has left it.
    held = [d.schedule.id for d in batch if d.plan.cancel or d.held_keys]
    if held:
        await release(db, known, held, now, keys=keys)
    return rows


async def defer_runs(db: Session, batch: Sequence[ScheduleDecision], now: datetime) -> dict[int, list[int]]:
    """Until when the queued runs of these plans are deferred in their queue, by schedule."""
    crowded = deferrable(batch)
    if not crowded:
        return {}
    lines = dict(await db.fetch("lines_of", ids=numbers(crowded)))
    deferred, longer = lined_up(batch, lines, int(now.timestamp()) // MINUTE)
    if longer:
        await db.execute("lengthen_lines", ids=numbers(longer), lines=numbers(longer.values()))
    return deferred


async def _take_ids(db: Session, batch: Sequence[ScheduleDecision]) -> Iterator[int]:
    """Ids for the runs and skips of these plans: known before they are written, so that skips can name runs."""
    count = sum(ids_needed(batch))
    return iter([row[0] for row in await db.fetch("take_ids", count=count)] if count else [])


def _is_rare(cursor: Cursor) -> bool:
    return bool(cursor.tick_overrides) or cursor.skip_until is not None


async def _write_hot(db: Session, rows: Rows, now: datetime) -> None:
    cursors = list(zip(*rows.cursors, strict=True))
    moved: dict[str, Any] = {
        "cursors": numbers(cursors[0]),
        "states": texts(cursors[1]),
        "next": numbers(cursors[2]),
        "until": numbers(cursors[3]),
        "planned": numbers(cursors[4]),
        "skips": numbers(cursors[8]),
    }
    if not rows.runs:
        await db.execute("move_cursors", **moved)
        return
    runs = list(zip(*rows.runs, strict=True))
    await db.execute(
        "write_plans",
        **moved,
        ids=numbers(runs[0]),
        namespaces=texts(runs[1]),
        schedules=numbers(runs[2]),
        revisions=numbers(runs[3]),
        kinds=texts(runs[4]),
        targets=texts(runs[5]),
        queues=texts(runs[6]),
        priorities=numbers(runs[7]),
        statuses=texts(runs[8]),
        origins=texts(runs[9]),
        ticks=numbers(runs[10]),
        due=numbers(runs[11]),
        start_by=numbers(runs[12]),
        first=numbers(runs[13]),
        last=numbers(runs[14]),
        counts=numbers(runs[15]),
        crash_limits=numbers(runs[16]),
        retries=numbers(runs[17]),
        actors=texts(runs[18]),
        lanes=numbers(runs[19]),
        keys=texts(runs[20]),
        deferred_until=numbers(runs[21]),
        now=now,
    )
    if rows.payloads:
        await db.execute(
            "write_payloads",
            ids=numbers(run_id for run_id, _ in rows.payloads),
            payloads=texts([payload for _, payload in rows.payloads]),
        )
    if rows.applied_overrides:
        await db.execute(
            "write_applied_override",
            ids=numbers(run_id for run_id, _ in rows.applied_overrides),
            applied_override=texts([text for _, text in rows.applied_overrides]),
        )


async def _write_ledger(db: Session, rows: Rows, now: datetime) -> None:
    if rows.longer:
        await db.execute(
            "extend_skips",
            ids=numbers(skip.id for skip in rows.longer),
            last=numbers(skip.last_at for skip in rows.longer),
            added=numbers(skip.added for skip in rows.longer),
            now=now,
        )
    if rows.skips:
        skips = list(zip(*rows.skips, strict=True))
        await db.execute(
            "write_skips",
            ids=numbers(skips[0]),
            schedules=numbers(skips[1]),
            revisions=numbers(skips[2]),
            reasons=texts(skips[3]),
            first=numbers(skips[4]),
            last=numbers(skips[5]),
            counts=numbers(skips[6]),
            runs=numbers(skips[7]),
            actors=texts(skips[8]),
            notes=texts(skips[9]),
            now=now,
        )
    if rows.schedules:
        states = list(zip(*rows.schedules, strict=True))
        await db.execute(
            "write_pauses",
            ids=numbers(states[0]),
            by=texts(states[1]),
            notes=texts(states[2]),
            until=numbers(states[3]),
            errors=texts(states[4]),
        )
