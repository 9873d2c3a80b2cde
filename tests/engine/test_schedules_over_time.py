"""Complete schedules over simulated time: the real planner, store and engine steps, a manual clock, no sleeps."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tickbird
from tickbird import Run, Tickbird, after, any_of, at, cron, every
from tickbird.stores import open_store
from tickbird.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)


async def test_every_minute_for_ten_minutes_is_ten_runs_and_none_early() -> None:
    bird = Tickbird()
    started: list[tuple[datetime | None, datetime]] = []

    @bird.task(schedule=cron("* * * * *"))
    async def tick(run: Run) -> None:
        started.append((run.scheduled_for, harness.now))

    async with Harness(bird, START) as harness:
        await harness.advance(minutes=10)
        runs = await harness.runs("tick")
    assert [run.scheduled_for for run in runs] == [START + timedelta(minutes=n) for n in range(1, 11)]
    assert all(run.status == "succeeded" and run.attempt == 1 for run in runs)
    assert all(tick is not None and now >= tick for tick, now in started)


async def test_a_day_of_five_minutes_under_slow_steps_stays_on_the_anchor() -> None:
    bird = Tickbird()

    @bird.task(schedule=every(minutes=5), grace=3600)
    def work() -> None: ...

    async with Harness(bird, START + timedelta(seconds=17)) as harness:
        for step in range(1, 24 * 60 + 1):
            # Steps are late by a varying number of seconds.
            harness.clock.move_to(START + timedelta(minutes=step, seconds=17 + step % 41))
            await harness.settle()
        runs = await harness.runs("work")
        skips = await harness.skips("work")
    ticks = [run.scheduled_for for run in runs]
    assert ticks == [START + timedelta(minutes=5 * n) for n in range(1, 289)]
    assert not skips


async def test_a_year_does_not_drift() -> None:
    bird = Tickbird()

    @bird.task(schedule=every(days=1, tz="Europe/Rome"))
    def daily() -> None: ...

    async with Harness(bird, START) as harness:
        await harness.advance(days=365)
        runs = await harness.runs("daily")
    assert len(runs) == 365
    assert {run.scheduled_for.hour for run in runs if run.scheduled_for} == {22, 23}


async def test_three_weeks_over_a_clock_change() -> None:
    bird = Tickbird()

    @bird.task(schedule=cron("0 9 * * 1-5", tz="America/New_York"))
    def digest() -> None: ...

    async with Harness(bird, datetime(2026, 3, 2, tzinfo=UTC)) as harness:
        await harness.advance(weeks=3)
        runs = await harness.runs("digest")
    hours = Counter(run.scheduled_for.hour for run in runs if run.scheduled_for)
    assert hours == {14: 5, 13: 10}


async def test_errors_are_retried_with_growing_waits_and_then_fail() -> None:
    bird = Tickbird()
    moments: list[datetime] = []

    @bird.task(schedule=at(START + timedelta(minutes=1)), retries=3, backoff=60)
    async def broken() -> None:
        moments.append(harness.now)
        raise RuntimeError("no luck")

    async with Harness(bird, START) as harness:
        await harness.advance(hours=1)
        [run] = await harness.runs("broken")
        attempts = await harness.client.runs.list_attempts(run.id)
    assert (run.status, run.attempt, run.failures, run.failure_kind) == ("failed", 4, 4, "raised")
    assert run.error is not None
    assert "no luck" in run.error
    assert str(Path(tickbird.__file__).parent) not in run.error, "the traceback shows the task's own frames"
    waits = [(b - a).total_seconds() for a, b in itertools.pairwise(moments)]
    assert len(waits) == 3
    assert all(wait <= 60 * 2**n for n, wait in enumerate(waits))
    assert [attempt.attempt for attempt in attempts] == [1, 2, 3, 4]


@pytest.mark.parametrize("policy, expected", [("one", 1), ("latest", 1), ("all", 5), ("skip", 0)])
async def test_five_missed_ticks_are_caught_up_by_policy(policy: str, expected: int) -> None:
    bird = Tickbird()

    @bird.task(schedule=every(hours=1), catch_up=policy)
    def hourly() -> None: ...

    async with Harness(bird, START) as harness:
        harness.clock.move_to(START + timedelta(hours=5, minutes=30))
        await harness.settle()
        missed = await harness.runs("hourly")
        skips = await harness.skips("hourly")
        await harness.advance(hours=1)
        later = (await harness.runs("hourly"))[len(missed) :]
    assert len(missed) == expected
    assert sum(skip.count for skip in skips) == 5 - expected
    assert [(run.scheduled_for, run.origin) for run in later] == [(START + timedelta(hours=6), "schedule")]


async def test_a_manual_run_leaves_the_cursor_alone() -> None:
    bird = Tickbird()

    @bird.task(schedule=every(hours=1))
    def hourly() -> None: ...

    async with Harness(bird, START) as harness:
        await harness.advance(minutes=59)
        before = await harness.client.schedules.get("hourly")
        run = await harness.client.schedules.trigger("hourly", actor="ana")
        await harness.settle()
        assert (await harness.client.runs.get(run.id)).status == "succeeded"
        assert (await harness.client.schedules.get("hourly")).cursor == before.cursor
        await harness.advance(minutes=1)
        ticks = [run for run in await harness.runs("hourly") if run.scheduled_for]
    assert [run.scheduled_for for run in ticks] == [START + timedelta(hours=1)]


async def test_a_run_enqueued_for_later_starts_then() -> None:
    bird = Tickbird()
    started: list[tuple[datetime, int]] = []

    @bird.task
    async def work(run: Run, number: int) -> None:
        started.append((harness.now, number))

    async with Harness(bird, START) as harness:
        await work.using(delay="2h").enqueue(number=2)
        await work.using(at=START + timedelta(hours=1)).enqueue(number=1)
        await work.enqueue(number=0)
        await harness.advance(hours=3)
    assert started == [
        (START, 0),
        (START + timedelta(hours=1), 1),
        (START + timedelta(hours=2), 2),
    ]


async def test_any_of_runs_a_shared_instant_once() -> None:
    bird = Tickbird()

    @bird.task(schedule=any_of(every(minutes=10), every(minutes=15)))
    def both() -> None: ...

    async with Harness(bird, START) as harness:
        await harness.advance(hours=1)
        runs = await harness.runs("both")
    minutes = [int((run.scheduled_for - START).total_seconds() // 60) for run in runs if run.scheduled_for]
    assert minutes == [10, 15, 20, 30, 40, 45, 50, 60]


async def test_two_workers_share_ten_minutes(tmp_path: Path) -> None:
    bird = Tickbird()
    ran: list[tuple[str, datetime | None]] = []

    @bird.task(schedule=cron("* * * * *"))
    async def tick(run: Run) -> None:
        assert run.scheduled_for is not None
        assert one.now >= run.scheduled_for, "never early"
        ran.append((run.scheduled_for.isoformat(), run.due_at))

    url = f"sqlite:///{tmp_path}/shared.db"
    async with Harness(bird, START, store=open_store(url)) as one, Harness(bird, START, store=open_store(url)) as two:
        for second in range(0, 601, 7):
            for harness in (one, two) if second % 2 else (two, one):
                harness.clock.move_to(START + timedelta(seconds=second))
            await asyncio.gather(one.settle(), two.settle())
        one.clock.move_to(START + timedelta(seconds=600))
        await one.settle()
        runs = await one.runs("tick")
    assert [run.scheduled_for for run in runs] == [START + timedelta(minutes=n) for n in range(1, 11)]
    assert len(ran) == len(set(ran)) == 10


async def test_a_report_runs_after_the_load_of_its_day() -> None:
    bird = Tickbird()
    order: list[tuple[str, int, int]] = []
    fails = {3, 4}

    @bird.task(schedule=cron("0 6 * * *"), depends_on=after("clean", within="6h", wait="2h"), catch_up="latest")
    def report(run: Run) -> None:
        order.append(("report", harness.now.day, harness.now.hour))

    @bird.task(schedule=cron("0 5 * * *"), depends_on=[after("load", within="5h")])
    def clean() -> None:
        order.append(("clean", harness.now.day, harness.now.hour))

    @bird.task(schedule=cron("0 1 * * *"))
    def load() -> None:
        if harness.now.day in fails:
            raise ValueError("no data")

    async with Harness(bird, START + timedelta(hours=12)) as harness:
        # Created in the order in which they need each other.
        assert [row.actor for row in await harness.client.audit.list()] == ["sync"] * 3
        await harness.advance(days=1)
        assert order == [("clean", 2, 5), ("report", 2, 6)]
        await harness.advance(days=1)
        assert [(run.status, run.reason) for run in await harness.runs("report")][1:] == [("cancelled", "dependency")]
        assert [(skip.reason, skip.note) for skip in await harness.skips("clean")] == [("dependency", "load")]
        # On the fourth day an operator repairs it, while the report waits.
        await harness.advance_to(START + timedelta(days=3, hours=7))
        assert [run.waiting_for_dependency for run in await harness.runs("report")] == [False, False, True]
        await harness.client.schedules.trigger("clean", actor="ada")
        await harness.settle()
        assert order[2:] == [("clean", 4, 7), ("report", 4, 7)]
        for name in ("load", "clean", "report"):
            assert (await harness.client.ticks.verify(name)).ok


async def test_a_queue_with_a_rate_is_worked_off_at_that_rate() -> None:
    bird = Tickbird()
    begun: list[timedelta] = []
    others = 0

    @bird.task(queue="mail")
    async def letter() -> None:
        begun.append(harness.now - START)

    @bird.task(schedule=every(seconds=10))
    def tick() -> None:
        nonlocal others
        others += 1

    async with Harness(bird, START) as harness:
        await harness.client.queues.set_rate("mail", "2/min", actor="ada")
        for _ in range(7):
            await letter.enqueue()
        await harness.advance(seconds=90)
        [mail] = [queue for queue in await harness.client.queues.list() if queue.name == "mail"]
        assert (mail.queued, mail.next_at) == (3, START + timedelta(seconds=120))
        await harness.client.queues.set_rate("mail", "1/s", actor="ada")
        await harness.advance(seconds=10)
    assert [one.total_seconds() for one in begun] == [0, 0, 60, 60, 90, 91, 92]
    assert others == 10


async def test_a_backlog_of_one_schedule_does_not_delay_others() -> None:
    bird = Tickbird()
    begun: list[str | None] = []

    @bird.task
    def work(run: Run) -> None:
        begun.append(run.schedule)

    bird.schedule("many", work, every(seconds=1), overlap="allow", catch_up="all", catch_up_limit=300)
    for number in range(20):
        bird.schedule(f"other{number}", work, every(minutes=5))
    async with Harness(bird, START, slots=4) as harness:
        await harness.settle()
        harness.clock.move_to(START + timedelta(minutes=5))
        await harness.settle()
    assert len(begun) == 320
    assert set(begun[:24]) == {"many", *(f"other{number}" for number in range(20))}
