"""Clock jumps: which ones raise an alarm, what stops meanwhile, and when the store's clock is trusted again."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tickbird import Tickbird, every
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.engine.clock import ACCEPT_AFTER, TOLERANCE, ClockGuard, StoreClock
from tickbird.engine.code_sync import Declarations, sync
from tickbird.engine.maintenance import Maintenance, Retention
from tickbird.engine.readiness import WorkerReadiness
from tickbird.testing import Harness, ManualClock
from tickbird.worker import describe_worker

START = datetime(2026, 1, 1, tzinfo=UTC)


class Looks:
    """A guard that observes a store's clock which a test moves."""

    def __init__(self) -> None:
        self.clock = ManualClock(START)
        self.watch = ClockGuard(self.clock)
        self.look()

    def look(self) -> bool:
        """Compare now; is there an alarm?"""
        self.watch.observe(self.clock.now(), self.clock.monotonic())
        return self.watch.alarmed

    def after(self, seconds: float) -> bool:
        """Let time pass, then observe."""
        self.clock.move_to(self.clock.now() + timedelta(seconds=seconds))
        return self.look()

    def jump(self, seconds: float) -> bool:
        """Set the clock, then observe."""
        self.clock.jump(seconds=seconds)
        return self.look()

    def believes(self) -> bool:
        """True if the store would plan at the shown time."""
        expected = self.watch.expected()
        assert expected is not None
        return expected[0] <= self.clock.now() <= expected[1]


@pytest.fixture
def looks() -> Looks:
    """After the first observation."""
    return Looks()


def test_before_the_first_answer_every_instant_will_do() -> None:
    assert ClockGuard(ManualClock(START)).expected() is None


@pytest.mark.parametrize("seconds", [86_400, -86_400, TOLERANCE + 1, -TOLERANCE - 1])
def test_a_jump_alarms_and_is_not_believed(looks: Looks, seconds: float, caplog: pytest.LogCaptureFixture) -> None:
    looks.clock.jump(seconds=seconds)
    assert not looks.believes()
    assert looks.look()
    assert not looks.believes()
    [record] = caplog.records
    assert record.levelno == logging.ERROR
    assert ("jumped ahead by" if seconds > 0 else "jumped back by") in record.getMessage()


@pytest.mark.parametrize("seconds", [86_400, -86_400])
def test_it_is_believed_after_five_minutes(looks: Looks, seconds: float) -> None:
    looks.jump(seconds)
    assert looks.after(ACCEPT_AFTER - 1)
    assert not looks.believes()
    assert not looks.after(1)
    assert looks.believes()
    # From here on, the shown time is the reference.
    assert looks.jump(-seconds)


@pytest.mark.parametrize("seconds", [86_400, -86_400])
def test_it_is_believed_at_once_when_it_is_set_right(looks: Looks, seconds: float) -> None:
    looks.jump(seconds)
    looks.after(100)
    assert not looks.jump(-seconds)
    assert looks.believes()


def test_a_clock_that_jumps_again_has_five_more_minutes_to_wait(looks: Looks) -> None:
    looks.jump(3_600)
    assert looks.after(ACCEPT_AFTER - 1)
    assert looks.jump(3_600)
    assert looks.after(ACCEPT_AFTER - 1)
    assert not looks.after(1)


def test_small_corrections_and_drift_never_alarm(looks: Looks) -> None:
    for turn in range(2_000):
        # A clock that runs a tenth too fast, and is corrected whenever it is half a minute ahead.
        looks.clock.jump(seconds=-TOLERANCE if turn % 10 == 9 else 3)
        assert looks.believes()
        assert not looks.after(30)


def test_the_new_clock_may_drift_before_it_is_believed(looks: Looks) -> None:
    looks.jump(3_600)
    for _ in range(10):
        assert looks.jump(20)
        looks.after(ACCEPT_AFTER / 10)
    assert not looks.watch.alarmed


@pytest.mark.parametrize("shown_after", [0, 300, 600])
def test_a_slow_response_is_not_a_jump(looks: Looks, shown_after: float) -> None:
    asked_at, shown = looks.clock.monotonic(), looks.clock.now() + timedelta(seconds=shown_after)
    looks.clock.move_to(START + timedelta(seconds=600))
    looks.watch.observe(shown, asked_at)
    assert not looks.watch.alarmed
    assert looks.believes()


def test_an_answer_that_took_long_does_not_end_an_alarm(looks: Looks) -> None:
    asked_at = looks.clock.monotonic()
    looks.jump(100)
    looks.clock.move_to(looks.clock.now() + timedelta(seconds=120))
    # The request was sent before the jump, so the response fits both clocks.
    looks.watch.observe(looks.clock.now() - timedelta(seconds=60), asked_at)
    assert looks.watch.alarmed
    assert not looks.believes()


@pytest.mark.parametrize("seconds", [3_600, -3_600])
def test_a_response_from_before_the_alarm_is_ignored(looks: Looks, seconds: float) -> None:
    shown, asked_at = looks.clock.now(), looks.clock.monotonic()
    assert not looks.after(1)
    assert looks.jump(seconds)
    looks.watch.observe(shown, asked_at)
    assert looks.watch.alarmed
    assert not looks.after(ACCEPT_AFTER)
    # Nor after the new clock has been accepted.
    looks.watch.observe(shown, asked_at)
    assert not looks.watch.alarmed
    assert looks.believes()


def test_an_answer_that_took_long_and_fits_nothing_is_a_jump(looks: Looks) -> None:
    asked_at = looks.clock.monotonic()
    looks.clock.move_to(looks.clock.now() + timedelta(seconds=60))
    looks.clock.jump(seconds=91)
    looks.watch.observe(looks.clock.now(), asked_at)
    assert looks.watch.alarmed


def test_an_answer_that_took_long_is_nothing_to_begin_with() -> None:
    clock = ManualClock(START)
    watch = ClockGuard(clock)
    watch.observe(START, clock.monotonic() - 600)
    assert watch.expected() is None


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="needs a clock that runs on while the machine sleeps")
def test_the_steady_clock_counts_sleep() -> None:
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= StoreClock().monotonic() <= time.clock_gettime(time.CLOCK_BOOTTIME)


def hourly() -> Tickbird:
    """An app with a task at every full hour, all of whose ticks run."""
    bird = Tickbird()

    @bird.task(schedule=every(hours=1), catch_up="all")
    def work() -> None: ...

    return bird


async def ticks(harness: Harness) -> list[int]:
    """The hours of the ticks that have run."""
    runs = await harness.runs("work")
    return [int((run.scheduled_for - START).total_seconds() // 3_600) for run in runs if run.scheduled_for]


async def test_a_clock_a_day_ahead_and_back_causes_neither_a_burst_nor_a_gap() -> None:
    async with Harness(hourly(), START) as harness:
        await harness.advance(minutes=90)
        harness.clock.jump(days=1)
        await harness.advance(minutes=2)
        assert await ticks(harness) == [1]
        harness.clock.jump(days=-1)
        await harness.advance(hours=2)
        assert await ticks(harness) == [1, 2, 3]


async def test_a_clock_that_stays_ahead_is_believed_and_its_ticks_caught_up() -> None:
    async with Harness(hourly(), START) as harness:
        await harness.advance(minutes=90)
        harness.clock.jump(hours=3)
        await harness.advance(minutes=4)
        assert await ticks(harness) == [1]
        await harness.advance(minutes=2)
        assert await ticks(harness) == [1, 2, 3, 4]


async def test_decisions_stay_when_the_clock_is_set_back() -> None:
    async with Harness(hourly(), START) as harness:
        await harness.advance(hours=4)
        harness.clock.jump(hours=-2)
        await harness.advance(hours=4)
        assert await ticks(harness) == [1, 2, 3, 4, 5, 6]


async def test_a_clock_jump_does_not_lose_live_workers_or_prune() -> None:
    bird, other = hourly(), Tickbird()

    @other.task(schedule=every(hours=1))
    def elsewhere() -> None: ...

    async with Harness(bird, START) as harness:
        store, clock = harness.store, harness.clock
        both = {**bird.declarations.schedules, **other.declarations.schedules}
        await sync(store, replace(bird.declarations, schedules=both), now=clock.now())
        await harness.advance(hours=1)
        upkeep = Maintenance(
            store,
            clock,
            harness.worker,
            bird.declarations,
            lease=30.0,
            heartbeat=15.0,
            retention=Retention(3_600, keep=0),
            on_runs=lambda: None,
        )
        await store.workers.heartbeat(describe_worker(other), 45, now=clock.now())
        await upkeep.heartbeat()
        clock.jump(days=1)
        clock.move_to(clock.now() + timedelta(minutes=2))
        await upkeep.heartbeat()
        assert (await upkeep.prune() or 0) > 0
        await upkeep.heartbeat()
        [told] = [worker.standby_reason for worker in await store.workers.list("default", now=clock.now())]
        assert told == "plans and rescues nothing: the store's clock has jumped ahead by 1 day, 0:00:00"
        assert await ticks(harness) == [1]
        assert (await harness.client.schedules.get("elsewhere")).state == "active"
        # After the clock is accepted, due work is done; a worker that has not observed it waits, and does not spin.
        clock.move_to(clock.now() + timedelta(seconds=ACCEPT_AFTER))
        assert (await upkeep.prune() or 0) > 0
        await upkeep.heartbeat()
        await upkeep.prune()
        await upkeep.heartbeat()
        assert not any(worker.standby_reason for worker in await store.workers.list("default", now=clock.now()))
        assert await ticks(harness) == []
        assert (await harness.client.schedules.get("elsewhere")).state == "paused"


def upkeep_of(harness: Harness, name: str) -> tuple[Maintenance, WorkerReadiness]:
    """Upkeep of another worker, with heartbeats far apart."""
    standing = WorkerReadiness(harness.store, harness.clock, plans=True)
    worker, retention = replace(harness.worker, id=name), Retention(3_600)
    upkeep = Maintenance(
        harness.store,
        harness.clock,
        worker,
        Declarations(worker.namespace, worker.app or "", {}),
        lease=30.0,
        heartbeat=600.0,
        retention=retention,
        on_runs=lambda: None,
        readiness=standing,
    )
    return upkeep, standing


async def test_an_alarm_ends_with_the_worker_that_raised_it() -> None:
    async with Harness(hourly(), START) as harness:
        clock = harness.clock
        other, _ = upkeep_of(harness, "other")
        await other.begin()
        clock.jump(hours=1)
        await other.heartbeat()
        await other.heartbeat()
        new, standing = upkeep_of(harness, "new")
        await new.begin()
        assert (standing.clock_alarm_by, standing.may_work) == ("other", False)
        # It is alive, and sees another jump: its alarm counts.
        clock.move_to(clock.now() + timedelta(seconds=ACCEPT_AFTER - 1))
        clock.jump(hours=1)
        await other.heartbeat()
        await other.heartbeat()
        for wait in (1, ACCEPT_AFTER - 1):
            clock.move_to(clock.now() + timedelta(seconds=wait))
            await new.heartbeat()
            assert standing.clock_alarm_by == "other"
        # It has sent nothing since, although by its heartbeats it would be live for half an hour.
        clock.move_to(clock.now() + timedelta(seconds=1))
        await new.heartbeat()
        assert (standing.clock_alarm_by, standing.may_work) == ("", True)


async def test_a_lease_does_not_end_by_a_jump() -> None:
    async with Harness(hourly(), START) as harness:
        store, clock = harness.store, harness.clock
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ana", now=clock.now())
        claimed = await store.leases.claim(
            harness.worker, 1, 60.0, queues=("default",), targets=[("task", "work")], now=clock.now()
        )
        clock.jump(hours=1)
        await harness._upkeep.rescue()
        run = await store.runs.get(claimed.runs[0].id)
        assert run is not None
        assert (run.status, run.crashes) == ("running", 0)


class Steady:
    """A monotonic clock, and a store with its own clock."""

    def __init__(self) -> None:
        self.elapsed = 0.0

    def now(self) -> None:
        return None

    def monotonic(self) -> float:
        return self.elapsed


@pytest.mark.parametrize(
    "jump, dated", [(86_400, START + timedelta(seconds=10)), (-86_400, None)], ids=["ahead", "back"]
)
def test_records_are_not_dated_by_a_clock_that_is_ahead(jump: float, dated: datetime | None) -> None:
    clock = Steady()
    watch = ClockGuard(clock)
    watch.observe(START, 0.0)
    assert watch.date() is None
    clock.elapsed = 10.0
    watch.observe(START + timedelta(seconds=10 + jump), 10.0)
    assert watch.alarmed
    assert watch.date() == dated
    watch.observe(START + timedelta(seconds=10), 10.0)
    assert watch.date() is None
