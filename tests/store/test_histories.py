"""Random histories on real stores: after every step the store equals the model.

TICKBIRD_FUZZ=20 tries twenty times as many, with a new seed each time.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from math import floor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings

from lab.oracle.spec import NAMESPACE, Spec
from lab.oracle.triggers import DAY
from tests.rows import delete_rows
from tests.store.histories import every, histories
from tests.store.model import Model, ModelRun, ModelSchedule, Range
from tests.store.operations import (
    NAMES,
    T0,
    WORKERS,
    Advance,
    AdvanceTo,
    Claimed,
    Died,
    FinishedAll,
    Nothing,
    Operation,
    Plan,
    Pruned,
    Race,
    Rescued,
    State,
    instant,
)
from tests.store.schedule_operations import Created, Triggered
from tickbird.domain.runs.run import FINAL, RunRecord, SkipRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore

# Of runs that never started; other reasons are texts for users, which stores may choose.
REASONS = ("replaced", "misfire")
FUZZ = int(os.environ.get("TICKBIRD_FUZZ", "1"))
# The time limit of each grows with their number.
pytestmark = pytest.mark.timeout(240 * FUZZ)
FAR = instant(T0 - 1_000 * DAY), instant(T0 + 1_000 * DAY)


@dataclass(frozen=True)
class Seen:
    """All that a store holds."""

    runs: list[RunRecord]
    schedules: dict[str, Schedule]
    skips: dict[str, list[SkipRecord]]


async def look(store: Store) -> Seen:
    """Read it all."""
    runs = list(await store.runs.list(NAMESPACE, limit=100_000))[::-1]
    schedules, skips = {}, {}
    for each in NAMES:
        schedule = await store.schedules.get(NAMESPACE, each)
        if schedule is not None:
            schedules[each] = schedule
            decided = await store.ledger.tick_decisions(schedule.id, *FAR, limit=100_000)
            skips[each] = sorted(decided.skips, key=lambda skip: skip.id)
    return Seen(runs, schedules, skips)


def same(model: Model, seen: Seen) -> None:
    """The store equals the model; new runs get their ids in the model."""
    _learn_ids(model, seen)
    assert [run.id for run in model.runs] == [run.id for run in seen.runs]
    for ours, theirs in zip(model.runs, seen.runs, strict=True):
        assert row_of(ours) == row_in(theirs)
    assert set(seen.schedules) == set(model.schedules)
    for each, schedule in model.schedules.items():
        assert cursor_of(schedule) == cursor_in(seen.schedules[each])
        skips = schedule.merge(skip_range(skip) for skip in seen.skips[each])
        assert list(map(row_of_skip, schedule.merge(schedule.skips))) == list(map(row_of_skip, skips))


def _learn_ids(model: Model, seen: Seen) -> None:
    ids = {(run.schedule, run.scheduled_for.timestamp()): run.id for run in seen.runs if run.scheduled_for is not None}
    for run in model.runs:
        if not run.id:
            assert run.tick is not None, "the store did not tell its id"
            assert (run.schedule, run.tick) in ids, f"no run of tick {run.tick - T0:+} of {run.schedule}"
            run.id = ids[run.schedule, run.tick]
    order = [run.id for run in model.runs if run.tick is not None]
    assert order == sorted(order) or len(model.schedules) > 1, "later ticks have lower ids"
    model.runs.sort(key=lambda run: run.id)


def row_of(run: ModelRun) -> dict[str, Any]:
    """A run of the model, for comparison."""
    return {
        "id": run.id,
        "schedule": run.schedule,
        "tick": run.tick and run.tick - T0,
        "origin": run.origin,
        "status": run.status,
        "revision": run.revision,
        "due_at": run.due_at - T0,
        "available_at": run.available_at - T0,
        "start_by": None if run.start_by is None or not run.active else run.start_by - T0,
        "covers": run.covers and (run.covers[0] - T0, run.covers[1] - T0, run.covers[2]),
        "attempt": run.attempt,
        "failures": run.failures,
        "crashes": run.crashes,
        "worker": run.worker if run.status == "running" else None,
        "lease_until": None if run.lease_until is None else run.lease_until - T0,
        "started_at": None if run.started_at is None else run.started_at - T0,
        "finished_at": None if run.finished_at is None else run.finished_at - T0,
        "reason": run.reason if run.status == "cancelled" and not run.attempt else None,
        "asked": run.asked_to_stop if run.status == "running" else None,
        "override": run.override and (run.override.due_at is not None, run.override.payload),
    }


def row_in(run: RunRecord) -> dict[str, Any]:
    """A run of the store, for comparison."""

    def since(at: Any) -> Any:
        return None if at is None else at.timestamp() - T0

    covers = run.covers
    return {
        "id": run.id,
        "schedule": run.schedule,
        "tick": since(run.scheduled_for),
        "origin": run.origin,
        "status": run.status,
        "revision": run.revision,
        "due_at": since(run.due_at),
        "available_at": since(run.available_at),
        "start_by": since(run.start_by) if run.status not in FINAL else None,
        "covers": covers and (since(covers.first), since(covers.last), covers.count),
        "attempt": run.attempt,
        "failures": run.failures,
        "crashes": run.crashes,
        "worker": run.worker if run.status == "running" else None,
        "lease_until": since(run.lease_until),
        "started_at": since(run.started_at),
        "finished_at": since(run.finished_at),
        "reason": run.reason if run.status == "cancelled" and not run.attempt and run.reason in REASONS else None,
        "asked": run.cancel_requested_at is not None if run.status == "running" else None,
        "override": run.applied_override and (run.applied_override.moved, run.applied_override.payload),
    }


def cursor_of(schedule: ModelSchedule) -> dict[str, Any]:
    """A schedule of the model, for comparison."""
    return {
        "state": schedule.state,
        "revision": schedule.revision,
        "planned_until": schedule.planned_until - T0,
        "next_run_at": None if schedule.next_wakeup is None else schedule.next_wakeup - T0,
        "runs_planned": schedule.runs_planned,
        "overrides": [
            (tick - T0, override.skip, None if override.due_at is None else override.due_at - T0, override.payload)
            for tick, override in schedule.tick_overrides.items()
        ],
        "skip_until": schedule.skip_until and schedule.skip_until - T0,
        "paused": schedule.state == "paused",
        "error": None,
    }


def cursor_in(schedule: Schedule) -> dict[str, Any]:
    """A schedule of the store, for comparison."""
    cursor = schedule.cursor
    return {
        "state": schedule.state,
        "revision": schedule.revision,
        "planned_until": None if cursor.planned_until is None else cursor.planned_until - T0,
        "next_run_at": None if cursor.next_run_at is None else cursor.next_run_at - T0,
        "runs_planned": cursor.runs_planned,
        "overrides": [
            (each.tick - T0, each.skip, None if each.due_at is None else each.due_at - T0, each.payload is not None)
            for each in cursor.tick_overrides
            if not each.decided_early
        ],
        "skip_until": cursor.skip_until and cursor.skip_until - T0,
        "paused": schedule.pause is not None,
        "error": schedule.error,
    }


def skip_range(skip: SkipRecord) -> Range:
    """A skip of the store as the model has it."""
    first, last = int(skip.first.timestamp()), int(skip.last.timestamp())
    return Range(skip.reason, skip.revision, skip.run_id, first, last, skip.count)


def row_of_skip(skip: Range) -> tuple[object, ...]:
    """A skip, for comparison."""
    return *skip.kind, skip.first - T0, skip.last - T0, skip.count


@dataclass
class History:
    """One history on a database: operations alternate between its two instances."""

    stores: tuple[Store, Store]
    state: State = field(default_factory=lambda: State(Model()))
    seen: Seen = field(default_factory=lambda: Seen([], {}, {}))
    # Facts that must never change: the run of a tick, a final run.
    run_of: dict[tuple[str, float], int] = field(default_factory=dict)
    finals: dict[int, RunRecord] = field(default_factory=dict)
    turn: int = 0

    async def play(self, specs: list[Spec], steps: list[Operation]) -> None:
        """All steps, then a time without faults."""
        for each, spec in zip(NAMES, specs, strict=False):
            await self.step(Created(each, spec, by_code=True))
        for operation in steps:
            await self.step(operation)
        await self.come_to_rest()

    async def step(self, operation: Operation) -> None:
        """Send it, mirror it, compare."""
        if isinstance(operation, Race):
            await self._race(operation)
            return
        call = operation.call(self.state)
        if call is None:
            return
        self.turn += 1
        store = self.stores[self.turn % 2]
        answer = await call.ask(store)
        before, self.seen = self.seen, await look(self.stores[(self.turn + 1) % 2])
        self.state.model = call.after(self.state.model, answer)
        if isinstance(operation, Pruned):
            self._adopt_pruned(before, operation)
        same(self.state.model, self.seen)
        call.done(answer)
        self._check(before)

    async def _race(self, race: Race) -> None:
        """Both at once: the store must equal the result of one of the two orders."""
        calls = [call for operation in (race.one, race.other) if (call := operation.call(self.state)) is not None]
        answers = await asyncio.gather(*(call.ask(store) for call, store in zip(calls, self.stores, strict=False)))
        pairs = list(zip(calls, answers, strict=True))
        # Planning and maintenance skip rows that the other has locked, even if it is refused later: they are repeated.
        again = [kind().call(self.state) for kind in (Plan, Rescued) if kind in (type(race.one), type(race.other))]
        repeats = [(call, await call.ask(self.stores[0])) for call in again]
        before, self.seen = self.seen, await look(self.stores[0])
        problems = []
        for order in (pairs + repeats, pairs[::-1] + repeats):
            model = self.state.model
            try:
                for call, answer in order:
                    model = call.after(model, answer, racing=True)
                    _learn_ids(model, self.seen)
                same(model, self.seen)
            except AssertionError as problem:
                problems.append(problem)
                continue
            self.state.model = model
            break
        else:
            raise AssertionError("neither order explains what the store holds") from ExceptionGroup("orders", problems)
        for call, answer in pairs:
            call.done(answer)
        self._check(before, racing=True)

    def _adopt_pruned(self, before: Seen, prune: Pruned) -> None:
        """Skips may go only when they are old enough, and never in part."""
        for each, schedule in self.state.model.schedules.items():
            kept = {skip.id: skip for skip in self.seen.skips[each]}
            for skip in before.skips[each]:
                if skip.id in kept:
                    assert kept[skip.id] == skip, "pruning changed a skip"
                else:
                    assert skip.decided_at < instant(self.state.now - prune.older_than), "a young skip was pruned"
            schedule.skips = schedule.merge(map(skip_range, self.seen.skips[each]))

    def _check(self, before: Seen, *, racing: bool = False) -> None:
        """Invariants that do not depend on the model."""
        model = self.state.model
        earlier = {run.id: run for run in before.runs}
        for run in self.seen.runs:
            assert run.id not in self.finals or self.finals[run.id] == run, "a final run changed"
            if run.status in FINAL:
                self.finals[run.id] = run
            spec = model.schedules[str(run.schedule)].specs[run.revision or 0]
            if run.scheduled_for is not None:
                tick = int(run.scheduled_for.timestamp())
                assert self.run_of.setdefault((str(run.schedule), tick), run.id) == run.id, "a tick ran twice"
                assert spec.has_tick(tick), "not a tick of its revision"
            drains = next(one.drains for one in model.runs if one.id == run.id)
            assert run.attempt <= 1 + spec.retries + spec.crash_limit + drains, "too many attempts"
            assert run.started_at is None or run.started_at >= run.due_at, "began before it was due"
            old = earlier.get(run.id)
            if old is not None and old.attempt != run.attempt:
                assert run.attempt == old.attempt + 1
                assert old.status != "running" or racing, "two workers had it at a time"
        for each, skips in self.seen.skips.items():
            self._check_ledger(model.schedules[each], skips)
            old_cursor = before.schedules[each].cursor if each in before.schedules else None
            if old_cursor is not None and old_cursor.planned_until is not None:
                self._check_reached(before.schedules[each], self.seen.schedules[each])
        self._check_overlap()

    def _check_reached(self, before: Schedule, after: Schedule) -> None:
        """Only an edit moves a cursor back, to that instant; decided future ticks are remembered."""
        now, done = floor(self.state.now), {each.tick for each in after.cursor.tick_overrides if each.decided_early}
        reached, old = after.cursor.planned_until or 0, before.cursor.planned_until or 0
        assert reached >= old or (after.revision > before.revision and reached == now), "decided ticks became undecided"
        known = self.state.model.schedules[after.name].done
        assert {tick for tick in known if tick > now} <= done <= known, "not what was decided ahead of its time"

    def _check_ledger(self, schedule: ModelSchedule, skips: list[SkipRecord]) -> None:
        """Ranges are exact, share no tick with each other, and hold none that ran."""
        skipped: set[int] = set()
        for skip in map(skip_range, skips):
            ticks = schedule.specs[skip.revision].ticks(skip.first, skip.last)
            assert skipped.isdisjoint(ticks), "two skips of one tick"
            skipped |= set(ticks)
            assert (ticks[0], ticks[-1], len(ticks)) == (skip.first, skip.last, skip.count), "not those of its revision"
            assert not schedule.ran.intersection(ticks), "a tick was skipped and ran"

    def _check_overlap(self) -> None:
        """While all runs of a schedule have the same limit, at most that many are leased."""
        for each in self.state.model.schedules:
            active = self.state.model.active_runs(each)
            limits = {(run.spec.overlap == "allow", run.spec.max_concurrent) for run in active}
            if len(limits) == 1:
                [(allowed, maximum)] = limits
                assert allowed or sum(run.status != "waiting" for run in active) <= maximum, "more at once than allowed"

    async def come_to_rest(self) -> None:
        """After the faults, with rescues and claims, everything becomes final."""
        for each in WORKERS:
            await self.step(Died(each))
        rounds = 0
        while any(run.active for run in self.state.model.runs):
            rounds += 1
            assert rounds < 400, "runs do not come to an end"
            self.state.now += 100
            for operation in (Rescued(), Claimed("ann"), Claimed("bob")):
                await self.step(operation)
            await self.step(FinishedAll())


Opened = Callable[[], AbstractAsyncContextManager[tuple[Store, Store]]]


def try_histories(runner: asyncio.Runner, opened: Opened, examples: int) -> None:
    """Many histories, always the same ones unless TICKBIRD_FUZZ requests more."""

    async def play(history: tuple[list[Spec], list[Operation]]) -> None:
        async with opened() as stores:
            await History(stores).play(*history)

    @settings(
        max_examples=examples * FUZZ,
        deadline=None,
        derandomize=FUZZ == 1,
        database=None,
        print_blob=True,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )
    @given(histories)
    def tried(history: tuple[list[Spec], list[Operation]]) -> None:
        note("\n".join(["that is:", *(f"    {step!r}" for step in history[1] if step != Nothing())]))
        runner.run(play(history))

    tried()


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """A loop that outlives single histories."""
    with asyncio.Runner() as runner:
        yield runner


@asynccontextmanager
async def in_memory() -> AsyncIterator[tuple[Store, Store]]:
    """A store in memory, twice the same."""
    store = SqliteStore(":memory:")
    await store.open()
    try:
        yield store, store
    finally:
        await store.close()


def test_histories_in_memory(runner: asyncio.Runner) -> None:
    try_histories(runner, in_memory, 90)


async def test_a_burst_of_one_schedule_does_not_delay_others() -> None:
    crowd = Spec(every(20), catch_up="all", grace=0, overlap="allow")
    other = Spec(every(60), overlap="allow")
    late = (Advance(61.5), Plan(), Claimed("ann", 2), Died("ann"), Triggered("two"), Triggered("two"))
    later = (Advance(61.5), Rescued(), Plan(), Claimed("bob", 3), FinishedAll(), Claimed("ann"))
    async with in_memory() as stores:
        await History(stores).play([crowd, other], [AdvanceTo(), *late, *later])


def test_histories_on_a_file(runner: asyncio.Runner, tmp_path: Path) -> None:
    numbers = itertools.count()

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[Store, Store]]:
        path = str(tmp_path / f"{next(numbers)}.db")
        pair = SqliteStore(path), SqliteStore(path)
        for store in pair:
            await store.open()
        try:
            yield pair
        finally:
            for store in pair:
                await store.close()

    try_histories(runner, opened, 12)


def test_histories_on_postgresql(runner: asyncio.Runner, postgres_url: str) -> None:
    from tickbird.store.postgres import PostgresStore

    pair = PostgresStore(postgres_url), PostgresStore(postgres_url)

    async def begin() -> None:
        await pair[0].migrate()
        for store in pair:
            await store.open()

    async def end() -> None:
        for store in pair:
            await store.close()

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[Store, Store]]:
        async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
            await delete_rows(connection)
        yield pair

    runner.run(begin())
    try:
        try_histories(runner, opened, 30)
    finally:
        runner.run(end())
