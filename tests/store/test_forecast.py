"""The forecast against the real thing: the same stretch, played by a real store at the instants of a manual clock."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird.client import StoreClient
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.forecast.model import MICROS, Scenario, SlotPool
from tickbird.domain.forecast.simulator import Simulator
from tickbird.domain.forecast.stats import ForecastStats
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.testing.clock import ManualClock
from tickbird.testing.harness import _AtManualTime

START = datetime(2026, 1, 2, 22, 0, tzinfo=UTC)
WORKER = Worker(id="w", namespace="default", app="test", host="here", pid=1, version="1", slots=1)
# Leases so long that no renewal is needed.
_LONG = 10**8
Start = tuple[str, int, int]


@dataclass
class Came:
    """The results of an interval: the starts, and the ticks that did not run."""

    starts: list[Start] = field(default_factory=list)
    skips: Counter[tuple[str, str]] = field(default_factory=Counter)
    cancelled: Counter[tuple[str, str]] = field(default_factory=Counter)


class Recorded(ForecastStats):
    """As Tally, with every start."""

    def __init__(self, start: int, end: int, schedules: int) -> None:
        super().__init__(start, end, schedules)
        self.starts: list[tuple[int, int, int]] = []

    def started(self, index: int, queue: int, now: int, due: int, *, restarted: bool) -> None:
        super().started(index, queue, now, due, restarted=restarted)
        if not restarted:
            self.starts.append((index, due, now))

    def began(self, indexes: Sequence[int], queues: Sequence[int], now: int) -> None:
        """Many at once."""
        super().began(indexes, queues, now)
        self.starts += [(index, now // MICROS, now) for index in indexes]


def foreseen(stage: Scenario, *, long_way: bool = False) -> Came:
    """The forecast for the same input."""
    tally = Simulator(stage, Recorded, long_way=long_way).play()
    assert isinstance(tally, Recorded)
    names = [each.name for each in stage.schedules]
    return Came(
        sorted((names[place], due, now) for place, due, now in tally.starts),
        Counter({(names[p], why): n for why, each in tally.skips.items() for p, n in each.items()}),
        Counter({(names[p], why): n for why, each in tally.cancelled.items() for p, n in each.items()}),
    )


class Played:
    """A real store, moved from instant to instant: end runs, cancel late ones, plan ticks, claim runs."""

    def __init__(self, store: Store, stage: Scenario) -> None:
        self.store, self.stage = store, stage
        self.durations = {each.name: d for each, d in zip(stage.schedules, stage.durations, strict=True)}
        self.queues = {each.definition.queue for each in stage.schedules if each.definition}
        self.slots = stage.pools[0].slots or 10_000
        self.running: dict[int, tuple[int, int]] = {}
        self.starts: dict[int, Start] = {}

    async def play(self) -> Came:
        end = to_datetime(self.stage.end) - timedelta(microseconds=1)
        now = to_datetime(self.stage.start)
        while True:
            outage = next((o for o in self.stage.outages if o[0] <= now.timestamp() < o[1]), None)
            if outage is not None:
                # Runs that end at that instant still do.
                await self._finish(now)
                held = [LeaseRef(run_id, attempt) for run_id, (_, attempt) in self.running.items()]
                await self.store.leases.renew(WORKER, held, 0.001, now=now)
                self.running.clear()
                now = to_datetime(outage[1])
                if now > end:
                    break
            following = await self._at(now)
            if following is None or following > end:
                break
            now = max(following, now + timedelta(microseconds=1))
            begins = [to_datetime(o[0]) for o in self.stage.outages if to_datetime(o[0]) > now - timedelta(days=400)]
            now = min([now, *(b for b in begins if b <= now and b > self.last)])
        return await self._came()

    async def _finish(self, now: datetime, asked: frozenset[int] = frozenset()) -> None:
        micros = round(now.timestamp() * 10**6)
        due = [run_id for run_id, (at, _) in self.running.items() if at <= micros or run_id in asked]
        for run_id in sorted(due, key=lambda one: self.running[one][0]):
            status: Any = "cancelled" if run_id in asked else "succeeded"
            await self.store.leases.finish([Outcome(run_id, self.running.pop(run_id)[1], status)], now=now)

    async def _at(self, now: datetime) -> datetime | None:
        self.last = now
        await self._finish(now)
        rescued = await self.store.leases.rescue(now=now)
        planned = await self.store.planning.plan_due(now=now)
        while planned.more:
            planned = await self.store.planning.plan_due(now=now)
        # A run with a stop request stops at once.
        held = [LeaseRef(run_id, attempt) for run_id, (_, attempt) in self.running.items()]
        asked = (await self.store.leases.renew(WORKER, held, _LONG, now=now)).cancelled if held else frozenset()
        await self._finish(now, asked)
        rescued = await self.store.leases.rescue(now=now)
        free = self.slots - len(self.running)
        claimed = None
        if free:
            claimed = await self.store.leases.claim(
                WORKER, free, _LONG, queues=self.queues, targets=[("task", "t")], now=now
            )
            for run in claimed.runs:
                assert run.schedule is not None
                micros = round(now.timestamp() * 10**6)
                self.starts.setdefault(run.id, (run.schedule, to_seconds(run.due_at), micros))
                self.running[run.id] = micros + self.durations[run.schedule], run.attempt
        ends = [datetime.fromtimestamp(at / 10**6, UTC) for at, _ in self.running.values()]
        waits = [planned.next_at, *ends]
        if rescued.next_at is not None and rescued.next_at < now + timedelta(days=1):
            waits.append(max(rescued.next_at, now) + timedelta(microseconds=1))
        if claimed is not None and claimed.next_at is not None:
            waits.append(claimed.next_at)
        waits += [to_datetime(o[0]) for o in self.stage.outages if to_datetime(o[0]) > now]
        return min((at for at in waits if at is not None and at > now), default=None)

    async def _came(self) -> Came:
        came = Came(sorted(self.starts.values()))
        for each in self.stage.schedules:
            stored = await self.store.schedules.get("default", each.name)
            assert stored is not None
            first = to_datetime(self.stage.start)
            found = await self.store.ledger.tick_decisions(
                stored.id, first, to_datetime(self.stage.end - 1), limit=100_000
            )
            for skip in found.skips:
                came.skips[each.name, skip.reason] += skip.count
            for run in found.runs:
                if run.status in ("cancelled", "failed"):
                    why = "lost" if run.status == "failed" else run.reason or ""
                    came.cancelled[each.name, why if why in ("misfire", "dependency", "lost") else "replaced"] += 1
        return came


async def compare(
    definitions: dict[str, dict[str, Any]], *, rates: dict[str, RateLimit] | None = None, **stage: Any
) -> Came:
    """Play the same in a store and in a forecast, and expect no difference; returns the result."""
    clock, store = ManualClock(START), open_store("sqlite://:memory:")
    await store.open()
    try:
        client = StoreClient(_AtManualTime(store, clock))
        for name, given in definitions.items():
            options = {field: value for field, value in given.items() if field != "trigger"}
            await client.schedules.create(name, given["trigger"], "t", actor="test", unknown_task_ok=True, **options)
        for queue, rate in (rates or {}).items():
            await client.queues.set_rate(queue, str(rate), actor="test")
        schedules: list[Schedule] = [await client.schedules.get(name) for name in definitions]
        rng = random.Random(len(definitions))
        durations = stage.pop("durations", None) or [rng.randrange(1, 400) * 10**6 + 3 for _ in schedules]
        start = to_seconds(START)
        whole = Scenario(
            schedules=schedules,
            durations=durations,
            start=start,
            rates=rates or {},
            **{"end": start + 4 * 3_600, **stage},
        )
        real = await Played(store, whole).play()
    finally:
        await store.close()
    ahead, long_way = foreseen(whole), foreseen(whole, long_way=True)
    for found in (ahead, long_way):
        assert found.starts == real.starts
        assert +found.skips == +real.skips
        assert +found.cancelled == +real.cancelled
    return ahead


def _random(rng: random.Random, count: int, *, alone: bool) -> dict[str, dict[str, Any]]:
    """Schedules of all kinds; `alone`: no two tick at the same instant, so that the order is defined."""
    found: dict[str, dict[str, Any]] = {}
    for number in range(count):
        minutes = rng.choice((1, 2, 5, 10, 30, 60))
        offset = number if alone else 0
        options: dict[str, Any] = {
            "trigger": every(minutes=minutes, anchor=datetime(2026, 1, 1, 0, 0, offset, tzinfo=UTC)),
            "overlap": rng.choice(("skip", "queue", "replace", "allow")),
            "catch_up": rng.choice(("one", "latest", "all", "skip")),
            "grace": rng.choice((0, 10, 600)),
        }
        if rng.random() < 0.2:
            options["max_concurrent"] = 2
        if rng.random() < 0.2:
            options["max_runs"] = rng.randrange(1, 30)
        if rng.random() < 0.2:
            options["exclude"] = Calendar(weekdays=frozenset({5}))
        if rng.random() < 0.3:
            options["start_within"] = rng.choice((0, 30, 300))
        if rng.random() < 0.2 and not alone:
            options["spread"] = 90
        if rng.random() < 0.2:
            options["on_crash"] = "fail"
        if number and rng.random() < 0.3:
            wait = rng.choice((0, 0, 120))
            if options["catch_up"] != "skip" and "start_within" not in options:
                options["depends_on"] = (After(f"s{rng.randrange(number)}", rng.choice((60, 600)), wait),)
        found[f"s{number}"] = options
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_as_many_slots_as_are_needed(seed: int) -> None:
    """Every run, skip and start is as the store has it, over an outage and a day that calendars close."""
    rng = random.Random(seed)
    begin = to_seconds(START) + rng.randrange(600, 9_000)
    outages = [(begin, begin + rng.choice((30, 700, 5_000)))]
    came = await compare(_random(rng, 12, alone=False), outages=outages)
    assert came.starts
    assert came.skips


@pytest.mark.parametrize("seed", range(3))
async def test_too_few_slots(seed: int) -> None:
    """The same with runs that wait for slots."""
    rng = random.Random(100 + seed)
    begin = to_seconds(START) + rng.randrange(600, 9_000)
    durations = [rng.randrange(1, 200) * 10**6 + 7 * number for number in range(12)]
    made = _random(rng, 12, alone=True)
    for number, options in enumerate(made.values()):
        # The order of runs that return at the same instant is undefined; with priorities it is defined.
        options["priority"] = 50 - number
        if options["overlap"] == "allow":
            options["catch_up"] = "one"
    came = await compare(made, durations=durations, pools=(SlotPool(4),), outages=[(begin, begin + 1_200)])
    assert any(now > due * MICROS for _, due, now in came.starts)


async def test_keys_and_rates() -> None:
    """Runs of a key wait for each other, and runs of a queue with a rate limit for their turn."""
    minute = every(minutes=1)
    definitions: dict[str, dict[str, Any]] = {
        "a": {"trigger": minute, "concurrency_key": "db", "priority": 3, "overlap": "queue"},
        "b": {"trigger": every(minutes=2), "concurrency_key": "db", "priority": 2, "overlap": "skip"},
        "c": {"trigger": every(minutes=3), "concurrency_key": "db", "priority": 1, "overlap": "skip"},
        "d": {"trigger": minute, "queue": "slow", "overlap": "queue"},
        "e": {"trigger": every(minutes=5), "queue": "slow", "priority": 5},
    }
    durations = [50 * 10**6 + 1, 20 * 10**6 + 2, 40 * 10**6 + 3, 10**6, 2 * 10**6]
    came = await compare(
        definitions, durations=durations, rates={"slow": RateLimit(5, 600)}, end=to_seconds(START) + 3 * 3_600
    )
    assert came.skips["c", "overlap"] or came.skips["a", "overlap"]
    assert any(now > due * MICROS for name, due, now in came.starts if name == "d")


async def test_decisions_of_operators() -> None:
    """Pauses with an end, moved and skipped ticks, and closed days that ticks are moved off."""
    clock, store = ManualClock(START), open_store("sqlite://:memory:")
    await store.open()
    client = StoreClient(_AtManualTime(store, clock))
    for name in ("paused", "moved", "skipped"):
        await client.schedules.create(name, cron("*/10 * * * *"), "t", actor="test", unknown_task_ok=True)
    closed = Calendar(weekdays=frozenset({5, 6}))
    await client.schedules.create(
        "rolled", cron("30 23 * * *"), "t", actor="test", unknown_task_ok=True, exclude=closed, roll="next"
    )
    await client.schedules.pause("paused", actor="ann", until=START + timedelta(minutes=65))
    await client.schedules.reschedule("moved", START + timedelta(minutes=34), actor="ann")
    await client.schedules.skip("skipped", 4, actor="ann")
    schedules = [await client.schedules.get(name) for name in ("paused", "moved", "skipped", "rolled")]
    start = to_seconds(START)
    stage = Scenario(schedules=schedules, durations=[10**6] * 4, start=start, end=start + 4 * 86_400)
    real = await Played(store, stage).play()
    await store.close()
    for found in (foreseen(stage), foreseen(stage, long_way=True)):
        assert found.starts == real.starts
        assert +found.skips == +real.skips
    assert {why for _, why in real.skips} == {"paused", "rescheduled", "operator"}
    assert [due for name, due, _ in real.starts if name == "rolled"] == [
        to_seconds(datetime(2026, 1, 2, 23, 30, tzinfo=UTC)),
        to_seconds(datetime(2026, 1, 5, 23, 30, tzinfo=UTC)),
    ]
