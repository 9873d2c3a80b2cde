"""Long random histories: in any order of events, each tick is decided once and no run waits forever."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from conformance.steps import (
    NAMESPACE,
    YEAR,
    a_worker,
    change,
    claim,
    create,
    epoch,
    finish,
    get,
    later,
    plan_all,
    ranges,
    runs_of,
    since,
    ticks,
)
from tickbird.domain.errors import TickbirdError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import TICK_ORIGINS, ClaimedRun, RunRecord, Status
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.schedules.fields import Overlap
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

OVERLAPS: tuple[Overlap, ...] = ("skip", "queue", "replace", "allow")


class History:
    """One random history of four schedules, the same for the same seed on every store."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.now = 0
        self.policies: dict[str, dict[str, Any]] = {}
        self.held: list[ClaimedRun] = []
        # When each schedule last succeeded.
        self.succeeded: dict[str, int] = {}
        # What the store answered to each step, and how everything stood in the end.
        self.trace: list[Any] = []

    async def play(self, steps: int = 50) -> None:
        """Create the schedules, then apply the actions one by one and check the promises after each."""
        for number, overlap in enumerate(OVERLAPS):
            # A priority each, so that claims come in one order on every store.
            self.policies[overlap] = {
                "trigger": every(seconds=self.random.choice((20, 60))),
                "overlap": overlap,
                "priority": number,
                "max_concurrent": self.random.choice((1, 1, 2)),
                "catch_up": self.random.choice(("one", "latest", "all", "skip")),
                "catch_up_limit": self.random.choice((2, 100)),
                "start_within": self.random.choice((None, None, 90)),
                "spread": self.random.choice((0, 15)),
                "on_crash": self.random.choice(("retry", "fail")),
            }
            self.policies[overlap]["depends_on"] = self.dependencies(number)
            await create(self.store, overlap, **self.policies[overlap])
        things = (self.plan, self.plan, self.plan, self.claim, self.claim, self.finish, self.finish, self.command)
        for _ in range(steps):
            self.now += self.random.choice((0, 5, 20, 20, 60, 60, 300))
            do = self.random.choice((*things, self.command, self.cancel, self.renew, self.rescue, self.prune))
            self.trace.append((do.__name__, self.now, await self._answer(do)))
            for name in OVERLAPS:
                await self.check(name)
        for name in OVERLAPS:
            schedule = await get(self.store, name)
            self.trace.append((name, schedule.state, schedule.revision, schedule.cursor))
            self.trace.append((await ticks(self.store, name), await ranges(self.store, name)))

    def dependencies(self, number: int) -> tuple[After, ...]:
        """On some of the schedules before it; nothing waits longer than it may start."""
        policies = self.policies[OVERLAPS[number]]
        waits = (0, 45, 200) if policies["start_within"] is None and policies["catch_up"] != "skip" else (0, 8)
        needed = [name for name in OVERLAPS[:number] if self.random.random() < 0.4]
        return tuple(After(name, self.random.choice((0, 60, 400)), self.random.choice(waits)) for name in needed)

    async def _answer(self, do: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await do()
        except TickbirdError as error:
            return type(error).__name__

    async def check(self, name: str) -> None:
        """No tick twice, no more at once than allowed, and no one waits while there is room."""
        schedule = await get(self.store, name)
        labels = [tick for tick, _, _ in await ticks(self.store, name) if tick is not None]
        assert len(labels) == len(set(labels)), (name, self.trace)
        rows = sorted((first or 0, last or 0) for _, first, last, _ in await ranges(self.store, name))
        for (_, last), (first, _) in pairwise(rows):
            assert last < first, (name, rows, self.trace)
        for first, last in rows:
            assert not [tick for tick in labels if first <= tick <= last], (name, rows, labels, self.trace)
        for run in await runs_of(self.store, name):
            self.check_dependencies(name, run)
        active = [
            run.status for run in await self.store.runs.list_active(schedule.id) if not run.waiting_for_dependency
        ]
        going = len(active) - active.count("waiting")
        if name == "allow":
            assert "waiting" not in active, self.trace
        else:
            maximum = self.policies[name]["max_concurrent"]
            assert going <= maximum, (name, active, self.trace)
            assert going == maximum or "waiting" not in active, (name, active, self.trace)

    def check_dependencies(self, name: str, run: RunRecord) -> None:
        """Dependencies of started runs are met, and those of waiting runs are not."""
        if run.origin not in TICK_ORIGINS or run.status == "cancelled":
            return
        needs = [(each, since(run.due_at) or 0) for each in self.policies[name]["depends_on"]]
        met = [self.succeeded.get(each.schedule, -YEAR) >= due_at - each.within for each, due_at in needs]
        # One whose deadline has passed before all was met waits for the next rescue.
        late = any(self.now > due_at + each.wait for each, due_at in needs)
        fits = late or not all(met) if run.waiting_for_dependency else all(met)
        assert fits, (name, run, self.succeeded, self.trace)

    async def plan(self) -> Any:
        return await plan_all(self.store, self.now)

    async def claim(self) -> Any:
        found = (await claim(self.store, self.now, self.random.choice((1, 3)), lease=120)).runs
        self.held += found
        return [(claimed.schedule, since(claimed.scheduled_for), claimed.attempt) for claimed in found]

    async def finish(self) -> Any:
        if not self.held:
            return None
        run = self.held.pop(self.random.randrange(len(self.held)))
        ends: tuple[Status, ...] = ("succeeded", "succeeded", "failed", "cancelled", "queued")
        status = self.random.choice(ends)
        delay = self.random.choice((0, 30))
        finished = await finish(self.store, run, self.now, status, delay=delay, failures=int(status == "failed"))
        if finished.accepted and status == "succeeded":
            assert run.schedule is not None
            self.succeeded[run.schedule] = self.now
        return len(finished.accepted), finished.released

    async def renew(self) -> Any:
        held = [LeaseRef(run.id, run.attempt) for run in self.held]
        renewed = await self.store.leases.renew(a_worker(), held, 120, now=later(self.now))
        return len(renewed.held), len(renewed.cancelled)

    async def rescue(self) -> Any:
        rescued = await self.store.leases.rescue(now=later(self.now))
        ended = len(rescued.failed), len(rescued.misfired), len(rescued.unmet)
        return len(rescued.requeued), ended, len(rescued.released)

    async def prune(self) -> Any:
        # Skips would be pruned with the runs; keep them all, so that the end can be compared.
        return await self.store.runs.prune(older_than=1e6, keep=5, now=later(self.now))

    async def cancel(self) -> Any:
        runs = [run for name in OVERLAPS for run in await runs_of(self.store, name)]
        if not runs:
            return None
        run = self.random.choice(runs)
        return (await self.store.runs.cancel(run.id, "ada", now=later(self.now))).status

    async def command(self) -> Any:
        name = self.random.choice(OVERLAPS)
        schedule = await self.store.schedules.get(NAMESPACE, name)
        if schedule is not None and schedule.state == "deleted":
            made = await create(self.store, name, at=self.now, **self.policies[name])
            return made.state, made.revision
        every_ = self.random.choice((20, 45, 60))
        commands: list[Command] = [
            Trigger(actor="ada"),
            Trigger(actor="ada", payload={"n": 1}),
            Pause(actor="ada", until=self.random.choice((None, epoch(self.now + 90)))),
            Pause(actor="ada", cancel_runs=True),
            Resume(actor="ada"),
            Resume(actor="ada"),
            Skip(actor="ada", count=self.random.choice((1, 3))),
            Reschedule(actor="ada", to=epoch(self.now + self.random.choice((5, 200)))),
            Update(actor="ada", fields={"retries": self.random.randrange(9)}),
            Update(actor="ada", fields={"trigger": {"every": {"seconds": every_}}}),
            Delete(actor="ada", cancel_runs=self.random.choice((True, False))),
        ]
        command = self.random.choice(commands)
        changed = await change(self.store, command, self.now, name=name)
        return type(command).__name__, name, changed.schedule.state, changed.schedule.revision, len(changed.run_ids)


class Histories:
    """The same rules hold after every step."""

    @pytest.mark.parametrize("seed", range(6))
    async def test_a_random_history_keeps_every_promise(self, store: Store, seed: int) -> None:
        await History(store, seed).play()
