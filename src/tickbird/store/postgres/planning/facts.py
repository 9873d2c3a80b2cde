"""Facts from other rows, on PostgreSQL: read first, then locked if a decision relies on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.plan import NO_FACTS, ActiveRun, Facts
from tickbird.domain.runs.run import Origin, Status
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.dependencies import Successes, lock_successes, read_successes, watch
from tickbird.store.postgres.planning.waiting_runs import lock_active_runs
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.decide import (
    MAX_RUNS,
    decide,
    decided_after,
    depended_on,
    held_keys,
    needs_held_flag,
)
from tickbird.store.shared.planning.due import DueSchedule


class _ActiveRow(NamedTuple):
    schedule_id: int
    id: int
    status: Status
    origin: Origin
    concurrency_key: str | None
    awaits: bool


async def read_facts(db: Session, schedule_ids: Iterable[int]) -> dict[int, Facts]:
    """The active runs of schedules, oldest first; in a separate statement, after the cursors were locked."""
    active: defaultdict[int, list[ActiveRun]] = defaultdict(list)
    for row in sorted(await db.fetch_as(_ActiveRow, "read_active", ids=numbers(schedule_ids))):
        active[row.schedule_id].append(ActiveRun(row.id, row.status, row.origin, row.concurrency_key, row.awaits))
    return {schedule_id: Facts(tuple(runs)) for schedule_id, runs in active.items()}


async def read_decided(db: Session, schedules: Iterable[Schedule], now: float) -> dict[int, tuple[int, ...]]:
    """Ticks that already have a run, although the cursor has not reached them."""
    afters = {schedule.id: after for schedule in schedules if (after := decided_after(schedule, now)) is not None}
    if not afters:
        return {}
    decided: defaultdict[int, tuple[int, ...]] = defaultdict(tuple)
    for schedule_id, tick in await db.fetch("decided_ticks", ids=numbers(afters), afters=numbers(afters.values())):
        decided[schedule_id] += (tick,)
    return decided


async def lock_facts(db: Session, schedule_ids: Collection[int]) -> dict[int, Facts]:
    """Like read_facts, with the active runs locked until the end of the transaction."""
    await lock_active_runs(db, schedule_ids)
    return await read_facts(db, schedule_ids)


async def decide_batch(
    db: Session, schedules: Sequence[DueSchedule], facts: Mapping[int, Facts], now: float, zones: int
) -> list[ScheduleDecision]:
    """Decide these schedules; schedules that must be read again are omitted, and stay due."""
    holding = [due.schedule.id for due in schedules if needs_held_flag(due.schedule, due.edited)]
    held = {row[0] for row in await db.fetch("schedules_with_held_runs", ids=numbers(holding))} if holding else set()
    needed = {(due.schedule.namespace, name) for due in schedules for name in depended_on(due.schedule, due.edited)}
    successes: Successes = await watch(db, needed) if needed else {}
    ticks = await read_decided(db, (due.schedule for due in schedules), now)

    def decided_on(due: DueSchedule) -> ScheduleDecision:
        facts_of_schedule = facts.get(due.schedule.id, NO_FACTS)
        if due.schedule.id in ticks:
            facts_of_schedule = replace(facts_of_schedule, decided=ticks[due.schedule.id])
        if due.schedule.id in held:
            facts_of_schedule = replace(facts_of_schedule, held=True)
        if recorded := successes.get(due.schedule.namespace):
            facts_of_schedule = replace(facts_of_schedule, successes=recorded)
        return decide(due, facts_of_schedule, now, zones)

    batch: list[ScheduleDecision] = []
    relying: dict[int, int] = {}
    awaiting = False
    runs = 0
    for due in schedules:
        decided = decided_on(due)
        awaiting |= decided.plan.relies_on_successes
        if decided.plan.relies_on_runs:
            relying[due.schedule.id] = len(batch)
        batch.append(decided)
        runs += len(decided.plan.runs)
        if runs >= MAX_RUNS:
            break
    if relying:
        # A waiting run must not miss the end of its blocker: lock the blockers, then decide again.
        facts = await lock_facts(db, relying)
        still: set[int] = set()
        if awaiting:
            # A run must not miss a success: lock the records of successes, then decide again.
            noted = {success.schedule_id for names in successes.values() for success in names.values()}
            still = await lock_successes(db, noted)
            successes = await read_successes(db, needed)
        for schedule_id, index in relying.items():
            keys = held_keys(facts.get(schedule_id, NO_FACTS))
            batch[index] = replace(decided_on(schedules[index]), held_keys=keys)
        # If a success is being recorded now, the schedule stays due and is decided again.
        batch = [decided for decided in batch if _awaited(decided) <= still]
    return batch


def _awaited(decided: ScheduleDecision) -> set[int]:
    return {wait.schedule_id for run in decided.plan.runs for wait in run.awaits}
