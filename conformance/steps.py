"""The short steps that the tests are written in; instants are seconds after T0."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tickbird.domain.planning.changes import ChangeResult
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.runs.leases import ClaimResult, FinishResult
from tickbird.domain.runs.run import ClaimedRun, NewRun, RunRecord, SkipRecord, Status
from tickbird.domain.runs.run import Outcome as Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TASK, TargetKey
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

# A Thursday, and an instant of every grid of seconds, minutes, hours and days.
T0 = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE = "default"
NAME = "clock"
MINUTE = every(seconds=60)
SECOND = every(seconds=1)
YEAR = 365 * 86_400


def later(seconds: float) -> datetime:
    """The instant at `seconds` after T0."""
    return T0 + timedelta(seconds=seconds)


def epoch(seconds: int) -> int:
    """Seconds after T0, as epoch seconds."""
    return to_seconds(T0) + seconds


def since(instant: datetime | int | None) -> int | None:
    """Whole seconds from T0 to an instant."""
    if isinstance(instant, int):
        instant = to_datetime(instant)
    return None if instant is None else to_seconds(instant) - to_seconds(T0)


def define(
    trigger: Trigger = MINUTE, *, task: str = "work", target: Target | None = None, **policies: Any
) -> Definition:
    """A definition that ticks every minute and runs `work`, unless said otherwise."""
    return Definition(trigger=trigger, target=target or Target(task), **policies)


async def create(
    store: Store,
    name: str = NAME,
    trigger: Trigger = MINUTE,
    *,
    at: float = 0,
    namespace: str = NAMESPACE,
    app: str | None = None,
    fingerprint: str | None = None,
    **policies: Any,
) -> Schedule:
    """A new schedule, created by Ada."""
    command = Create(
        actor="ada", namespace=namespace, definition=define(trigger, **policies), app=app, fingerprint=fingerprint
    )
    return (await store.schedules.change(namespace, name, command, now=later(at))).schedule


async def change(
    store: Store, command: Command, at: float, *, name: str = NAME, namespace: str = NAMESPACE
) -> ChangeResult:
    """Apply a command at these seconds after T0."""
    return await store.schedules.change(namespace, name, command, now=later(at))


async def get(store: Store, name: str = NAME, namespace: str = NAMESPACE) -> Schedule:
    """A schedule that must exist."""
    schedule = await store.schedules.get(namespace, name)
    assert schedule is not None
    return schedule


async def plan(store: Store, at: float, limit: int = 500) -> PlanResult:
    """One planning step."""
    return await store.planning.plan_due(limit, now=later(at))


async def plan_all(store: Store, at: float, limit: int = 500) -> tuple[int, int]:
    """Plan until nothing is due; return the number of runs and skips."""
    runs = skips = 0
    for _ in range(1_000):
        planned = await plan(store, at, limit)
        runs += planned.runs
        skips += planned.skips
        if not planned.more and (planned.next_at is None or planned.next_at > later(at)):
            return runs, skips
    raise AssertionError("planning does not come to an end")


def a_worker(name: str = "w1", *, namespace: str = NAMESPACE, **fields: Any) -> Worker:
    """A worker with slots for any target."""
    return Worker(id=name, namespace=namespace, app="app", host="host", pid=1, version="0", **fields)


async def claim(
    store: Store,
    at: float,
    limit: int = 100,
    *,
    lease: float = 60,
    worker: Worker | None = None,
    queues: Collection[str] = ("default",),
    tasks: Collection[str] = ("work",),
    targets: Collection[TargetKey] = (),
) -> ClaimResult:
    """Claim the available runs of these tasks and of these other targets, given by kind and name."""
    wanted = [*((TASK, name) for name in tasks), *targets]
    return await store.leases.claim(worker or a_worker(), limit, lease, queues=queues, targets=wanted, now=later(at))


async def start(store: Store, at: float, **options: Any) -> RunRecord:
    """Lease exactly one run."""
    [found] = (await claim(store, at, 1, **options)).runs
    return await read(store, found.id)


async def finish(
    store: Store, run: RunRecord | ClaimedRun, at: float, status: Status = "succeeded", **outcome: Any
) -> FinishResult:
    """Record how the run's current attempt ended."""
    return await store.leases.finish([Outcome(run.id, run.attempt, status, **outcome)], now=later(at))


async def work_off(store: Store, at: float) -> list[ClaimedRun]:
    """Run everything that can be run, one after the other, in the order in which it is given out."""
    done: list[ClaimedRun] = []
    while found := (await claim(store, at, 1)).runs:
        await finish(store, found[0], at)
        done.append(found[0])
    return done


async def enqueue(
    store: Store,
    now: float = 0,
    *,
    task: str = "work",
    kind: str = TASK,
    namespace: str = NAMESPACE,
    **run: Any,
) -> int:
    """One run without a schedule."""
    payload = run.pop("payload", {})
    [run_id] = await store.runs.enqueue(namespace, [NewRun(Target(task, kind), payload, **run)], "ada", now=later(now))
    return run_id


async def read(store: Store, run: RunRecord | ClaimedRun | int) -> RunRecord:
    """Read a run that must exist."""
    found = await store.runs.get(run if isinstance(run, int) else run.id)
    assert found is not None
    return found


async def runs_of(store: Store, name: str = NAME, namespace: str = NAMESPACE) -> list[RunRecord]:
    """Every run of a schedule, oldest first."""
    return list(await store.runs.list(namespace, schedule=name, limit=5_000))[::-1]


async def skips_of(store: Store, name: str = NAME, namespace: str = NAMESPACE) -> Sequence[SkipRecord]:
    """Every skip of a schedule, oldest first."""
    schedule = await get(store, name, namespace)
    return (await store.ledger.tick_decisions(schedule.id, later(-10 * YEAR), later(10 * YEAR))).skips


async def ticks(store: Store, name: str = NAME, namespace: str = NAMESPACE) -> list[tuple[int | None, str, str]]:
    """Every run of a schedule as (tick, origin, status), oldest first."""
    return [(since(run.scheduled_for), run.origin, run.status) for run in await runs_of(store, name, namespace)]


async def ranges(
    store: Store, name: str = NAME, namespace: str = NAMESPACE
) -> list[tuple[str, int | None, int | None, int]]:
    """Every skip of a schedule as (reason, first, last, count), oldest first."""
    return [
        (skip.reason, since(skip.first), since(skip.last), skip.count)
        for skip in await skips_of(store, name, namespace)
    ]


async def looks_next(store: Store, name: str = NAME) -> int | None:
    """The next planner pass of a schedule."""
    return since((await get(store, name)).cursor.next_run_at)


async def statuses(store: Store, name: str = NAME) -> list[str]:
    """The statuses of a schedule's runs, oldest first."""
    return [run.status for run in await runs_of(store, name)]
