"""What the planner must know of other rows, on PostgreSQL: read first, then held where a decision relies on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tickbird.domain.planning.admission import ScheduleDecision
from tickbird.domain.planning.plan import NO_FACTS, ActiveRun, Facts
from tickbird.domain.runs.run import Origin, Status
from tickbird.store.postgres.database.connection import Session
from tickbird.store.postgres.planning.dependencies import Successes, hold_successes, read_successes, watch
from tickbird.store.postgres.planning.waiting_runs import hold_active
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.decide import MAX_RUNS, decide, depended_on, held_keys, needs_held_flag
from tickbird.store.shared.planning.due import DueSchedule


class _ActiveRow(NamedTuple):
    schedule_id: int
    id: int
    status: Status
    origin: Origin
    concurrency_key: str | None
    awaits: bool


async def read_facts(db: Session, schedule_ids: Iterable[int]) -> dict[int, Facts]:
    """The active runs of schedules, oldest first; in a statement of its own, after the cursors were locked."""
    active: defaultdict[int, list[ActiveRun]] = defaultdict(list)
    for row in sorted(await db.fetch_as(_ActiveRow, "read_active", ids=numbers(schedule_ids))):
        active[row.schedule_id].append(ActiveRun(row.id, row.status, row.origin, row.concurrency_key, row.awaits))
    return {schedule_id: Facts(tuple(runs)) for schedule_id, runs in active.items()}


async def lock_facts(db: Session, schedule_ids: Collection[int]) -> dict[int, Facts]:
    """As read_facts, with the active runs held until the end of the transaction."""
    await hold_active(db, schedule_ids)
    return await read_facts(db, schedule_ids)


async def decide_batch(
    db: Session, looks: Sequence[DueSchedule], facts: Mapping[int, Facts], now: float, zones: int
) -> list[ScheduleDecision]:
    """What becomes of these schedules; those that must be looked at once more are left out, and stay due."""
    holding = [look.schedule.id for look in looks if needs_held_flag(look.schedule, look.edited)]
    held = {row[0] for row in await db.fetch("with_held", ids=numbers(holding))} if holding else set()
    needed = {(look.schedule.namespace, name) for look in looks for name in depended_on(look.schedule, look.edited)}
    successes: Successes = await watch(db, needed) if needed else {}

    def decided_on(look: DueSchedule) -> ScheduleDecision:
        known = facts.get(look.schedule.id, NO_FACTS)
        if look.schedule.id in held:
            known = replace(known, held=True)
        if found := successes.get(look.schedule.namespace):
            known = replace(known, successes=found)
        return decide(look, known, now, zones)

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
            noted = {success.schedule_id for names in successes.values() for success in names.values()}
            still = await hold_successes(db, noted)
            successes = await read_successes(db, needed)
        for schedule_id, place in relying.items():
            keys = held_keys(facts.get(schedule_id, NO_FACTS))
            batch[place] = replace(decided_on(looks[place]), held_keys=keys)
        # Where one is being noted at this moment, the schedule stays due, and is looked at once more.
        batch = [decided for decided in batch if _awaited(decided) <= still]
    return batch


def _awaited(decided: ScheduleDecision) -> set[int]:
    return {wait.schedule_id for run in decided.plan.runs for wait in run.awaits}
