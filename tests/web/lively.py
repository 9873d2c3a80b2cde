"""A shop with a past: hours of runs, failures and skips, made by the store's own verbs at instants gone by."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import ClaimedRun, Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

WORKERS = ("worker-a1f3", "worker-b7c0")
LEASE = 3_600.0


@dataclass(frozen=True)
class Plays:
    """A schedule of the shop: how long its runs take, and which of them fail."""

    name: str
    trigger: Trigger
    took: float
    # By the number of the run, and how long before now it ended.
    fails: Callable[[int, timedelta], str | None] = lambda number, ago: None
    options: dict[str, Any] = field(default_factory=dict)
    payload: dict[str, Any] = field(default_factory=dict)


def _bank(number: int, ago: timedelta) -> str | None:
    trace = 'Traceback (most recent call last):\n  File "shop/cards.py", line 41, in charge\n    bank.open()\n'
    return f"{trace}ConnectionError: the bank closed the connection" if ago < timedelta(minutes=75) else None


SHOP = (
    Plays("charge-cards", every(minutes=15), 41.0, _bank, {"tags": ["money"], "retries": 0}),
    Plays(
        "etl-orders", every(minutes=20), 1_500.0, options={"tags": ["data"], "description": "Orders to the warehouse"}
    ),
    Plays(
        "search-index", every(minutes=30), 420.0, lambda number, ago: "OSError: disk is slow" if number == 3 else None
    ),
    Plays("nightly-report", cron("0 3 * * *", tz="Europe/Rome"), 900.0, options={"tags": ["reports"]}),
    Plays("prices-tokyo", cron("*/10 * * * *", tz="Asia/Tokyo"), 6.0, payload={"city": "Tokyo"}),
    Plays("prices-new-york", cron("*/10 * * * *", tz="America/New_York"), 7.0, payload={"city": "New York"}),
    Plays("newsletter", cron("0 9-17 * * mon-fri", tz="Europe/Rome"), 130.0, options={"tags": ["mail"]}),
    Plays("heartbeat", every(minutes=1), 0.4),
    Plays("train-model", every(hours=1), 60.0, options={"queue": "gpu"}),
    Plays("thumbnails", every(minutes=45), 300.0, options={"overlap": "queue"}),
)


class Past:
    """Plays the shop from a start to now, with two workers and whatever the store decides."""

    def __init__(self, store: Store, now: datetime, hours: float = 3.5) -> None:
        self._store = store
        self._start = (now - timedelta(hours=hours)).replace(microsecond=0)
        self._end = now
        self._plays = {each.name: each for each in SHOP}
        self._counts: dict[str, int] = {}
        self._ends: list[tuple[datetime, int, ClaimedRun, Worker]] = []
        self._order = itertools.count()
        queues = {"queues": ("default",), "tasks": {each.name: {"queue": "default"} for each in SHOP}}
        self.workers = [
            Worker(id=each, namespace="default", app="shop", host="node-1", pid=7, version="0.1.0", slots=8, **queues)  # type: ignore[arg-type]
            for each in WORKERS
        ]

    async def play(self) -> None:
        """All of it."""
        for each in SHOP:
            definition = Definition(
                trigger=each.trigger, target=Target(each.name), payload=each.payload, **policies(each.options)
            )
            await self._command(each.name, Create(actor="ana", namespace="default", definition=definition))
        at: datetime | None = self._start
        while at is not None and at <= self._end:
            at = await self._step(at)
        await self._after()

    async def _step(self, at: datetime) -> datetime | None:
        while self._ends and self._ends[0][0] <= at:
            ended, _, run, _ = heapq.heappop(self._ends)
            error = self._plays[run.schedule or ""].fails(self._number(run.schedule or ""), self._end - ended)
            outcome = Outcome(run.id, run.attempt, "failed" if error else "succeeded", error=error)
            if error:
                outcome.failure_kind, outcome.failures = "raised", 1
            else:
                outcome.result = f"done by {run.schedule}"
            await self._store.leases.finish([outcome], now=ended)
        planned = await self._store.planning.plan_due(now=at)
        for place, worker in enumerate(self.workers):
            begun = at + timedelta(milliseconds=8 + 5 * place)
            targets = [("task", each.name) for each in SHOP]
            claimed = await self._store.leases.claim(worker, 4, LEASE, queues=["default"], targets=targets, now=begun)
            for run in claimed.runs:
                took = timedelta(seconds=self._plays[run.schedule or ""].took * (0.8 + 0.07 * (run.id % 6)))
                heapq.heappush(self._ends, (begun + took, next(self._order), run, worker))
        upcoming = [each for each in (planned.next_at, self._ends[0][0] if self._ends else None) if each is not None]
        return max(min(upcoming), at + timedelta(milliseconds=50)) if upcoming else None

    def _number(self, name: str) -> int:
        self._counts[name] = self._counts.get(name, -1) + 1
        return self._counts[name]

    async def _after(self) -> None:
        """How it stands now: workers that live, leases that last, and one schedule that somebody has paused."""
        for worker in self.workers:
            await self._store.workers.heartbeat(worker, live_for=86_400.0)
            held = [LeaseRef(run.id, run.attempt) for _, _, run, whose in self._ends if whose is worker]
            await self._store.leases.renew(worker, held, 86_400.0)
        until = to_seconds(self._end + timedelta(hours=2))
        pause = Pause(actor="ana", note="warehouse is being moved", until=until)
        await self._store.schedules.change("default", "newsletter", pause)

    async def _command(self, name: str, command: Command) -> None:
        await self._store.schedules.change("default", name, command, now=self._start)


async def play(store: Store, hours: float = 3.5) -> None:
    """Give a store such a past, up to its own present."""
    await Past(store, (await store.now()).astimezone(UTC), hours).play()
