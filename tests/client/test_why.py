"""`why` through the real client and store: every reason, from rows that the planner and the workers wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.steps import (
    NAME,
    NAMESPACE,
    T0,
    a_worker,
    change,
    claim,
    create,
    epoch,
    finish,
    get,
    later,
    plan,
    runs_of,
    start,
    work_off,
)
from tickbird.client import Client
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import NotFoundError, TriggerError
from tickbird.domain.explain.explanation import Explanation, Step
from tickbird.domain.planning.commands import Delete, Pause, Reschedule, Resume, Skip, Trigger, Update
from tickbird.domain.planning.upcoming import upcoming_ticks
from tickbird.domain.schedules.definition import spread_offset
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore

DAY = 86_400
W1 = a_worker("w1", queues=("default",), slots=2, tasks={"work": {}})


class AtTime:
    """A store whose clock stands where the test puts it."""

    def __init__(self, store: Store, now: datetime) -> None:
        self._store, self._now = store, now
        self.workers = SimpleNamespace(list=partial(store.workers.list, now=now))

    async def now(self) -> datetime:
        return self._now

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._store, verb)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    store = SqliteStore(":memory:")
    await store.open()
    yield store
    await store.close()


async def ask(store: Store, tick: float, *, now: float, name: str = NAME) -> Explanation:
    """Why, of an instant, at another; both in seconds after T0."""
    return await Client(cast(Store, AtTime(store, later(now)))).why(name, later(tick))


async def alive(store: Store, now: float, *workers: Any) -> None:
    """These workers are live for a minute from then."""
    for worker in workers or (W1,):
        await store.workers.heartbeat(worker, 60, now=later(now))


def break_by_sql(path: Path, now: float) -> None:
    """Another program writes a definition that cannot be read, at that time."""
    changed_at = epoch(0) * 1_000_000 + int(now * 1_000_000)
    with closing(sqlite3.connect(path)) as connection, connection:
        broken = """UPDATE schedules SET definition = json_set(definition, '$.trigger', json('{"cron": "no"}'))"""
        connection.execute(broken)
        connection.execute("UPDATE cursors SET changed_at = ?1, next_run_at = ?1", (changed_at,))
        connection.execute("UPDATE revisions SET at = ? WHERE revision = 2", (changed_at,))


def step(answer: Explanation, name: str) -> Step:
    """The only step of that name."""
    [found] = [each for each in answer.steps if each.name == name]
    return found


def names(answer: Explanation) -> list[tuple[bool | None, str]]:
    return [(each.ok, each.name) for each in answer.steps]


class TestARun:
    async def test_that_succeeded_on_time(self, store: Store) -> None:
        await create(store)
        await plan(store, 60.2)
        [run] = await work_off(store, 60.4)
        answer = await ask(store, 60, now=100)
        assert (answer.verdict, answer.run_id, answer.revision) == ("ran", run.id, 1)
        assert answer.sentence == f"Ran as run {run.id} at 2026-01-01 00:01:00 UTC."
        assert names(answer) == [
            (True, each) for each in ("schedule", "grid", "state", "late", "queue", "worker", "result")
        ]
        assert step(answer, "schedule").text == "Revision 1 (create by ada at 2026-01-01 00:00:00 UTC) was in force."
        assert step(answer, "grid").text == "On the grid: Every 60 seconds."
        assert step(answer, "late").text == "Planned 200 ms after it was due at 2026-01-01 00:01:00 UTC."
        assert step(answer, "worker").text == "Attempt 1 was on worker w1."

    async def test_parts_of_a_second_belong_to_the_tick_and_what_is_before_does_not(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        assert (await ask(store, 60.999999, now=61)).verdict == "queued"
        assert (await ask(store, 59.999999, now=61)).verdict == "not a tick"

    async def test_is_running(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await alive(store, 60)
        run = await start(store, 61)
        answer = await ask(store, 60, now=70)
        assert answer.verdict == "running"
        assert answer.sentence == f"Run {run.id} is running on worker w1 since 2026-01-01 00:01:01 UTC."
        assert step(answer, "worker").ok is True

    async def test_is_running_on_a_worker_that_is_gone(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await start(store, 61, lease=60)
        answer = await ask(store, 60, now=70)
        assert (answer.verdict, step(answer, "worker").ok) == ("running", False)
        assert (
            "no longer live; nothing takes the run over until its lease ends at 2026-01-01 00:02:01 UTC"
            in answer.sentence
        )

    async def test_is_running_past_its_lease(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await start(store, 61, lease=10)
        await alive(store, 100)
        answer = await ask(store, 60, now=100)
        assert "its lease ended at 2026-01-01 00:01:11 UTC: the next rescue takes it away" in answer.sentence

    async def test_is_asked_to_stop(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await alive(store, 60)
        run = await start(store, 61)
        await store.runs.cancel(run.id, "ben", now=later(65))
        answer = await ask(store, 60, now=70)
        assert "was asked to stop" in answer.sentence
        assert step(answer, "cancel").ok is False
        assert (
            step(answer, "cancel").text == "Asked to stop by ben at 2026-01-01 00:01:05 UTC, and has not stopped yet."
        )

    async def test_was_cancelled_by_a_person(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await runs_of(store)
        await store.runs.cancel(run.id, "ben", reason="not today", now=later(65))
        answer = await ask(store, 60, now=70)
        assert (answer.verdict, answer.sentence) == ("cancelled", f"Run {run.id} was cancelled: by ben: not today.")
        assert names(answer)[-2:] == [(False, "queue"), (False, "cancel")]

    async def test_failed_after_each_attempt(self, store: Store) -> None:
        await create(store, retries=1)
        await plan(store, 60)
        run = await start(store, 60)
        await finish(store, run, 62, "queued", error="Traceback…\nKeyError: 'a'", delay=5, failures=1)
        again = await start(store, 70)
        await finish(store, again, 72, "failed", error="ValueError: b", failure_kind="raised", failures=1)
        answer = await ask(store, 60, now=100)
        assert (answer.verdict, answer.sentence) == ("failed", f"Run {run.id} failed: after 2 attempts: ValueError: b.")
        assert [each.ok for each in answer.steps] == [True] * 6 + [False] * 3
        assert [each.text for each in answer.steps if each.name == "attempts"] == [
            "Attempt 1 on worker w1 failed at 2026-01-01 00:01:02 UTC: KeyError: 'a'.",
            "Attempt 2 on worker w1 failed at 2026-01-01 00:01:12 UTC: ValueError: b.",
        ]

    async def test_failed_and_was_retried_by_hand(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 60)
        await finish(store, run, 62, "failed", error="ValueError: b", failure_kind="raised", failures=1)
        retried = await change(store, Trigger(actor="cleo", retry_of=run.id), 70)
        await work_off(store, 71)
        answer = await ask(store, 60, now=100)
        assert answer.sentence.endswith(f"Retried by cleo as run {retried.run_ids[0]}, which succeeded.")
        assert step(answer, "retry").run_id == retried.run_ids[0]

    async def test_awaits_another_attempt(self, store: Store) -> None:
        await create(store, retries=1)
        await plan(store, 60)
        run = await start(store, 60)
        await finish(store, run, 62, "queued", error="KeyError: 'a'", delay=50, failures=1)
        answer = await ask(store, 60, now=70)
        assert answer.verdict == "queued"
        assert answer.sentence == (
            f"Run {run.id} is to be tried again at 2026-01-01 00:01:52 UTC: KeyError: 'a'; attempt 1 failed."
        )
        assert step(answer, "queue").text == "Attempt 2 may begin at 2026-01-01 00:01:52 UTC."

    async def test_lost_its_worker(self, store: Store) -> None:
        await create(store, on_crash="fail")
        await plan(store, 60)
        run = await start(store, 60, lease=10)
        await store.leases.rescue(now=later(80))
        answer = await ask(store, 60, now=100)
        assert answer.sentence == (
            f"Run {run.id} failed: its worker was lost after 1 attempt, and it is not tried again."
        )
        assert step(answer, "attempts").text == "Attempt 1 on worker w1 lost its worker at 2026-01-01 00:01:20 UTC."

    async def test_was_put_back_by_a_drain(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 60)
        await finish(store, run, 62, "queued", reason="put back: its worker was stopping")
        await work_off(store, 63)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "ran"
        assert answer.sentence.endswith("It took 2 attempts.")
        assert "was put back because its worker was stopping" in step(answer, "attempts").text


class TestLate:
    async def test_because_nothing_planned_it(self, store: Store) -> None:
        await create(store)
        await plan(store, 135)
        await alive(store, 125)
        [run] = await work_off(store, 136)
        answer = await ask(store, 60, now=140)
        assert answer.sentence == (
            f"Ran as run {run.id} at 2026-01-01 00:02:16 UTC, 1 min 16 s late "
            "because nothing planned it until 2026-01-01 00:02:15 UTC."
        )
        late = step(answer, "late")
        assert late.ok is False
        assert late.text == (
            "Planned 1 min 15 s late: it was due at 2026-01-01 00:01:00 UTC, and no worker planned it until "
            "2026-01-01 00:02:15 UTC; no worker alive now was running before 2026-01-01 00:02:05 UTC."
        )
        caught_up = step(answer, "catch_up")
        assert caught_up.text == (
            "Caught up after the fact (catch_up=one): it stands for 2 ticks from 2026-01-01 00:01:00 UTC "
            "to 2026-01-01 00:02:00 UTC."
        )

    async def test_because_it_waited_for_a_run(self, store: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        first = await start(store, 60)
        await plan(store, 120)
        await finish(store, first, 150)
        [second] = await work_off(store, 151)
        answer = await ask(store, 120, now=200)
        assert answer.sentence == (
            f"Ran as run {second.id} at 2026-01-01 00:02:31 UTC, 31 s late because it waited for run {first.id}."
        )
        waited = step(answer, "overlap")
        assert (waited.ok, waited.run_id) == (False, first.id)
        assert waited.text == (
            f"Waited 30 s for run {first.id}, until 2026-01-01 00:02:30 UTC (overlap=queue, max_concurrent=1)."
        )

    async def test_because_it_waited_for_a_manual_run(self, store: Store) -> None:
        await create(store)
        manual = (await change(store, Trigger(actor="ben"), 30)).run_ids[0]
        held = await start(store, 30)
        await plan(store, 60)
        await finish(store, held, 90)
        await work_off(store, 91)
        answer = await ask(store, 60, now=100)
        assert f"late because it waited for manual run {manual}" in answer.sentence

    async def test_because_no_worker_took_it(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await work_off(store, 100)
        answer = await ask(store, 60, now=110)
        assert answer.sentence == (
            f"Ran as run {run.id} at 2026-01-01 00:01:40 UTC, 40 s late because no worker took it for 40 s."
        )
        assert (step(answer, "queue").ok, step(answer, "late").ok) == (False, True)

    async def test_first_attempt_of_several(self, store: Store) -> None:
        await create(store, retries=1)
        await plan(store, 60)
        run = await start(store, 100)
        await finish(store, run, 102, "queued", failures=1)
        await work_off(store, 110)
        answer = await ask(store, 60, now=120)
        assert step(answer, "queue").text == "Its first attempt began 40 s after it was planned."
        assert step(answer, "queue").ok is False
        assert "40 s late because its first attempt began 40 s after it was planned" in answer.sentence


class TestWaitingAndQueued:
    async def test_waits_for_a_run(self, store: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        first = await start(store, 61)
        await plan(store, 120)
        answer = await ask(store, 120, now=130)
        assert answer.verdict == "waiting"
        _, second = await runs_of(store)
        assert answer.sentence == (
            f"Run {second.id} waits for run {first.id}, running since 2026-01-01 00:01:01 UTC on worker w1 "
            "(overlap=queue, max_concurrent=1)."
        )
        assert (step(answer, "overlap").ok, step(answer, "overlap").run_id) == (False, first.id)

    async def test_waits_in_a_line(self, store: Store) -> None:
        await create(store, catch_up="all")
        await plan(store, 200)
        answer = await ask(store, 180, now=210)
        first, _, third = await runs_of(store)
        assert answer.sentence.startswith(
            f"Run {third.id} waits for run {first.id}, queued since 2026-01-01 00:03:20 UTC, behind 1 other waiting run"
        )

    async def test_no_worker_is_alive(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await runs_of(store)
        answer = await ask(store, 60, now=70)
        assert answer.verdict == "queued"
        assert answer.sentence == (
            f"Run {run.id} is queued since 2026-01-01 00:01:00 UTC: no worker that executes is alive."
        )

    async def test_no_live_worker_serves_its_queue(self, store: Store) -> None:
        await create(store, queue="gpu")
        await plan(store, 60)
        await alive(store, 60)
        answer = await ask(store, 60, now=70)
        assert answer.sentence.endswith("no live worker serves queue 'gpu' (served: default).")
        assert (step(answer, "worker").ok, step(answer, "queue").text) == (
            False,
            "In queue 'gpu' since 2026-01-01 00:01:00 UTC (10 s).",
        )

    async def test_no_live_worker_knows_its_task(self, store: Store) -> None:
        await create(store, task="other")
        await plan(store, 60)
        await alive(store, 60)
        assert (await ask(store, 60, now=70)).sentence.endswith("no live worker knows task 'other'.")

    async def test_all_slots_are_busy(self, store: Store) -> None:
        await create(store, overlap="allow")
        for tick in (60, 120, 180):
            await plan(store, tick)
        await alive(store, 180)
        await claim(store, 181, 2, worker=W1)
        answer = await ask(store, 180, now=182)
        assert answer.sentence.endswith("all slots of the workers that could take it are busy (2 slots on 1).")

    async def test_a_worker_should_take_it(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await alive(store, 60)
        answer = await ask(store, 60, now=61)
        assert answer.sentence.endswith("a worker should take it at any moment.")
        assert step(answer, "worker").ok is None

    async def test_must_start_by(self, store: Store) -> None:
        await create(store, start_within=300)
        await plan(store, 60)
        answer = await ask(store, 60, now=70)
        assert "it is cancelled unless it starts by 2026-01-01 00:06:00 UTC" in step(answer, "queue").text

    async def test_did_not_start_in_time(self, store: Store) -> None:
        await create(store, start_within=300)
        await plan(store, 60)
        await store.leases.rescue(now=later(400))
        answer = await ask(store, 60, now=410)
        [run] = await runs_of(store)
        assert answer.verdict == "cancelled"
        assert answer.sentence == (
            f"Run {run.id} was cancelled: it had not started within 5 min of being due, "
            "by 2026-01-01 00:06:00 UTC (misfire)."
        )

    async def test_was_replaced(self, store: Store) -> None:
        await create(store, overlap="replace")
        await plan(store, 60)
        await plan(store, 120)
        answer = await ask(store, 60, now=130)
        first, second = await runs_of(store)
        assert answer.verdict == "cancelled"
        assert answer.sentence == f"Run {first.id} was cancelled: run {second.id} of a newer tick replaced it."


class TestSkipped:
    async def test_for_overlap(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 61)
        await plan(store, 120)
        await finish(store, run, 150)
        answer = await ask(store, 120, now=160)
        assert (answer.verdict, answer.run_id) == ("skipped", run.id)
        assert answer.sentence == (
            f"Skipped (overlap): overlap=skip: run {run.id} was still running since 2026-01-01 00:01:01 UTC; "
            "it succeeded at 2026-01-01 00:02:30 UTC."
        )
        assert names(answer) == [(True, "schedule"), (True, "grid"), (True, "state"), (False, "overlap")]
        assert step(answer, "overlap").run_id == run.id

    async def test_for_overlap_with_a_run_that_had_not_started(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await plan(store, 120)
        [run] = await runs_of(store)
        assert (
            f"run {run.id} was planned at 2026-01-01 00:01:00 UTC and not final; it is queued"
            in (await ask(store, 120, now=130)).sentence
        )

    async def test_for_overlap_behind_a_waiter(self, store: Store) -> None:
        await create(store, overlap="queue")
        for tick in (60, 120, 180):
            await plan(store, tick)
        _, waiter = await runs_of(store)
        answer = await ask(store, 180, now=190)
        assert f"overlap=queue: run {waiter.id} was already waiting since 2026-01-01 00:02:00 UTC" in answer.sentence

    async def test_for_overlap_with_a_newer_tick(self, store: Store) -> None:
        await create(store, NAME, every(seconds=1), overlap="replace")
        await plan(store, 3)
        [run] = await runs_of(store)
        answer = await ask(store, 2, now=4)
        assert f"run {run.id} of the newer tick 2026-01-01 00:00:03 UTC took its place" in answer.sentence

    async def test_behind_a_run_that_was_pruned(self, store: Store) -> None:
        await create(store)
        for tick in (60, 120):
            await plan(store, tick)
        [run] = await work_off(store, 121)
        assert await store.runs.prune(older_than=0, keep=0, now=later(150)) > 0
        assert f"run {run.id} was not final (it is no longer stored)" in (await ask(store, 120, now=160)).sentence

    async def test_because_it_was_caught_up(self, store: Store) -> None:
        await create(store)
        await plan(store, 330)
        [run] = await runs_of(store)
        answer = await ask(store, 180, now=340)
        assert (answer.verdict, answer.run_id) == ("skipped", run.id)
        assert answer.sentence == (
            f"Skipped (coalesced): catch_up=one: it was 2 min 30 s late when planned, and run {run.id} of tick "
            "2026-01-01 00:01:00 UTC caught it up, which stands for 5 ticks; that run is queued; so were 4 ticks in "
            "all, from 2026-01-01 00:02:00 UTC to 2026-01-01 00:05:00 UTC."
        )
        assert step(answer, "catch_up").ok is False

    async def test_for_the_catch_up_limit(self, store: Store) -> None:
        await create(store, catch_up="all", catch_up_limit=2)
        await plan(store, 330)
        answer = await ask(store, 120, now=340)
        assert "catch_up=all runs only the newest 2 ticks of an outage (catch_up_limit)" in answer.sentence
        assert "so were 3 ticks in all" in answer.sentence

    async def test_as_a_misfire(self, store: Store) -> None:
        await create(store, catch_up="skip", grace=30)
        await plan(store, 330)
        answer = await ask(store, 300, now=340)
        assert answer.verdict == "queued"
        answer = await ask(store, 240, now=340)
        assert answer.sentence.startswith(
            "Skipped (misfire): no worker planned it until it was 1 min 30 s late, "
            "more than the 30 s that catch_up=skip allows"
        )
        assert "at most 3 min 30 s late" in (await ask(store, 120, now=340)).sentence

    async def test_as_a_misfire_of_start_within(self, store: Store) -> None:
        await create(store, start_within=60, catch_up="all")
        await plan(store, 200)
        answer = await ask(store, 120, now=210)
        assert "it was 1 min 20 s late, more than the 1 min that start_within allows" in answer.sentence

    async def test_because_it_was_past_when_code_declared_it(self, store: Store) -> None:
        await create(store, NAME, at(later(-60)), app="billing")
        answer = await ask(store, -60, now=10)
        assert answer.sentence == "Skipped (misfire): already past when the schedule was created."

    async def test_while_paused(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="db upgrade"), 30)
        await change(store, Resume(actor="ben"), 200)
        answer = await ask(store, 120, now=210)
        assert answer.sentence == (
            "Skipped (paused): it was paused by ana since 2026-01-01 00:00:30 UTC: “db upgrade”, resumed by ben at "
            "2026-01-01 00:03:20 UTC; so were 3 ticks in all, from 2026-01-01 00:01:00 UTC to 2026-01-01 00:03:00 UTC."
        )
        assert step(answer, "state").ok is False

    async def test_while_paused_until_an_instant(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", until=epoch(150)), 30)
        await plan(store, 150)
        answer = await ask(store, 120, now=160)
        assert "paused by ana since 2026-01-01 00:00:30 UTC until 2026-01-01 00:02:30 UTC" in answer.sentence
        assert "resumed" not in answer.sentence

    async def test_while_paused_on_a_grid_that_was_then_left(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana"), 30)
        await change(store, Update(actor="ben", fields={"trigger": every(seconds=7).to_json()}), 200)
        answer = await ask(store, 120, now=210)
        assert (answer.verdict, "paused by ana" in answer.sentence) == ("skipped", True)
        assert (await ask(store, 119, now=210)).verdict == "not a tick"

    async def test_by_the_calendar(self, store: Store) -> None:
        await create(store, NAME, every(days=1), exclude=exclude("sat", "2026-01-04"))
        for day in (1, 2, 3):
            await plan(store, day * DAY)
            await work_off(store, day * DAY)
        weekday = await ask(store, 2 * DAY, now=4 * DAY)
        assert weekday.sentence.startswith("Skipped (calendar): Sat 2026-01-03 in UTC is excluded (every Sat)")
        date = await ask(store, 3 * DAY, now=4 * DAY)
        assert date.sentence.startswith("Skipped (calendar): Sun 2026-01-04 in UTC is excluded (that date)")
        allowed = await ask(store, 1 * DAY, now=4 * DAY)
        assert step(allowed, "calendar").text == "Its day is not excluded by the calendar."

    async def test_by_an_operator(self, store: Store) -> None:
        await create(store)
        await change(store, Skip(actor="ana", count=2, note="no data"), 30)
        coming = await ask(store, 120, now=40)
        assert coming.verdict == "will be skipped"
        assert coming.sentence == "Will be skipped: ana told it to skip this tick: “no data”."
        assert step(coming, "skip").ok is False
        await plan(store, 120)
        answer = await ask(store, 60, now=130)
        assert answer.sentence.startswith("Skipped (operator): ana told it to skip this tick: “no data”; so were 2")
        assert step(answer, "skip").ok is False

    async def test_by_a_reschedule(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ana", to=epoch(200), note="later"), 30)
        coming = await ask(store, 120, now=40)
        assert coming.verdict == "will be skipped"
        past = "tick 2026-01-01 00:01:00 UTC was moved to 2026-01-01 00:03:20 UTC by ana: “later”, past this one"
        assert coming.sentence == f"Will be skipped: {past}."
        assert (await ask(store, 120, now=130)).sentence == f"Will be skipped: {past}."
        await plan(store, 200)
        [run] = await runs_of(store)
        answer = await ask(store, 120, now=210)
        assert answer.sentence.startswith(f"Skipped (rescheduled): {past}; run {run.id} is queued")
        assert (answer.run_id, step(answer, "reschedule").run_id) == (run.id, run.id)

    async def test_while_parked(self, tmp_path: Path) -> None:
        store = SqliteStore(str(tmp_path / "tickbird.db"))
        await store.open()
        try:
            await self._while_parked(store, tmp_path / "tickbird.db")
        finally:
            await store.close()

    async def _while_parked(self, store: Store, path: Path) -> None:
        await create(store)
        break_by_sql(path, 30)
        await plan(store, 70)
        undecided = await ask(store, 120, now=150)
        assert undecided.verdict == "undecided"
        assert undecided.sentence.startswith("Not run: the schedule is parked until it is repaired: cron 'no': ")
        assert (await ask(store, 180, now=150)).verdict == "will be skipped"
        await change(store, Update(actor="ben", fields={"trigger": every(seconds=60).to_json()}), 200)
        answer = await ask(store, 120, now=210)
        assert answer.sentence.startswith(
            "Skipped (invalid): it was parked with a definition that could not be planned, repaired by ben at "
            "2026-01-01 00:03:20 UTC"
        )


class TestMoved:
    async def test_by_a_reschedule(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ana", to=epoch(200), note="later"), 30)
        coming = await ask(store, 60, now=40)
        assert coming.verdict == "will run"
        assert coming.sentence.startswith(
            "Will run at 2026-01-01 00:03:20 UTC, moved from 2026-01-01 00:01:00 UTC by ana"
        )
        await plan(store, 200)
        await work_off(store, 200)
        answer = await ask(store, 60, now=210)
        assert answer.verdict == "ran"
        assert step(answer, "late").ok is True
        assert step(answer, "reschedule").text == (
            "Moved from 2026-01-01 00:01:00 UTC to 2026-01-01 00:03:20 UTC by ana: “later”."
        )
        there = await ask(store, 200, now=210)
        assert there.verdict == "not a tick"
        assert "but ana moved the tick of 2026-01-01 00:01:00 UTC to this instant" in there.sentence

    async def test_by_the_spread(self, store: Store) -> None:
        await create(store, NAME, every(hours=1), spread=600)
        offset = spread_offset(NAMESPACE, NAME, 600)
        assert offset > 1
        coming = await ask(store, 3600, now=3600 + offset - 1)
        assert coming.verdict == "will run"
        assert step(coming, "spread").at == later(3600 + offset)
        due = await ask(store, 3600 + offset, now=0)
        assert (due.verdict, step(due, "spread").at) == ("not a tick", later(3600))
        await plan(store, 3600 + offset)
        await work_off(store, 3600 + offset)
        assert step(await ask(store, 3600, now=4300), "spread").at == later(3600 + offset)


class TestToCome:
    async def test_will_run(self, store: Store) -> None:
        await create(store)
        await alive(store, 0)
        answer = await ask(store, 120, now=10)
        assert (answer.verdict, answer.sentence) == ("will run", "Will run at 2026-01-01 00:02:00 UTC.")
        assert names(answer) == [(True, each) for each in ("schedule", "grid", "state", "overlap")]

    async def test_will_run_but_nobody_serves_it(self, store: Store) -> None:
        await create(store, queue="gpu")
        await alive(store, 0)
        answer = await ask(store, 120, now=10)
        assert answer.verdict == "will run"
        assert answer.sentence == (
            "Will run at 2026-01-01 00:02:00 UTC, but as things stand no live worker serves queue 'gpu' "
            "(served: default)."
        )

    async def test_will_run_unless_a_run_is_in_the_way(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 61)
        await alive(store, 61)
        answer = await ask(store, 120, now=70)
        assert answer.sentence == (
            f"Will run at 2026-01-01 00:02:00 UTC, unless run {run.id}, running since 2026-01-01 00:01:01 UTC on "
            "worker w1, is not final by then (overlap=skip)."
        )
        assert (step(answer, "overlap").ok, step(answer, "overlap").run_id) == (None, run.id)
        assert (await ask(store, 180, now=70)).sentence == "Will run at 2026-01-01 00:03:00 UTC."

    @pytest.mark.parametrize(
        "overlap, effect",
        [("queue", "this one waits for it"), ("replace", "it is asked to stop, and this one follows")],
    )
    async def test_what_a_run_in_the_way_would_mean(self, store: Store, overlap: str, effect: str) -> None:
        await create(store, overlap=overlap)
        await plan(store, 60)
        await start(store, 61)
        answer = await ask(store, 120, now=70)
        assert effect in step(answer, "overlap").text

    async def test_a_manual_run_makes_it_wait(self, store: Store) -> None:
        await create(store)
        await change(store, Trigger(actor="ben"), 30)
        assert "this one waits for it" in step(await ask(store, 60, now=40), "overlap").text

    async def test_paused(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="db upgrade", until=epoch(150)), 30)
        answer = await ask(store, 120, now=40)
        assert answer.verdict == "will be skipped"
        assert answer.sentence == (
            "Will be skipped unless it is resumed before: paused by ana since 2026-01-01 00:00:30 UTC "
            "until 2026-01-01 00:02:30 UTC: “db upgrade”."
        )
        assert step(answer, "state").ok is False
        after = await ask(store, 180, now=40)
        assert (after.verdict, step(after, "state").ok) == ("will run", True)

    async def test_excluded(self, store: Store) -> None:
        await create(store, NAME, cron("30 23 * * *", tz="America/New_York"), exclude=exclude("sat"))
        # 23:30 on Saturday 3 January in New York is 04:30 on Sunday in UTC.
        answer = await ask(store, 3 * DAY + 4.5 * 3600, now=0)
        assert answer.verdict == "will be skipped"
        assert answer.sentence == "Will be skipped: Sat 2026-01-03 in America/New_York is excluded (every Sat)."

    async def test_max_runs_used_up_before(self, store: Store) -> None:
        await create(store, NAME, every(days=1), max_runs=3, exclude=exclude("sat"))
        # Friday, Sunday and Monday are the three.
        last = await ask(store, 4 * DAY, now=0)
        assert (last.verdict, step(last, "window").text) == ("will run", "1 of max_runs=3 will be left.")
        assert step(last, "window").ok is True
        answer = await ask(store, 5 * DAY, now=0)
        assert (answer.verdict, answer.sentence) == (
            "ended",
            "Will not run: max_runs=3 will be used up before, with 0 used so far.",
        )

    async def test_agrees_with_the_list_of_coming_ticks(self, store: Store) -> None:
        await create(store, NAME, every(hours=6), exclude=exclude("sun", "2026-01-09"), max_runs=40, spread=60)
        await change(store, Skip(actor="ana", count=3), 10)
        await change(store, Reschedule(actor="ana", to=epoch(3 * DAY)), 20)
        await change(store, Pause(actor="ana", until=epoch(5 * DAY)), 30)
        for paused in (True, False):
            if not paused:
                await change(store, Resume(actor="ana"), 40)
            listed = upcoming_ticks(await get(store), later(50), 60)
            assert {tick.skipped for tick in listed} >= {None, "calendar"}
            for tick in listed:
                answer = await ask(store, (tick.scheduled_for - T0).total_seconds(), now=50)
                assert answer.verdict == ("will be skipped" if tick.skipped else "will run"), tick


class TestUndecided:
    async def test_paused_and_recorded_at_resume(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="db upgrade"), 30)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "undecided"
        assert answer.sentence == (
            "Not run, and recorded as skipped once it is resumed: paused by ana since 2026-01-01 00:00:30 UTC: "
            "“db upgrade”."
        )

    async def test_a_pause_told_again_goes_on(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="a"), 30)
        await change(store, Pause(actor="ben", note="b"), 40)
        told = (await ask(store, 60, now=100)).sentence
        assert "paused by ben since 2026-01-01 00:00:40 UTC: “b”, paused before by ana since" in told
        assert told.endswith("since 2026-01-01 00:00:30 UTC: “a”.")

    async def test_no_worker_plans(self, store: Store) -> None:
        await create(store)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "undecided"
        assert answer.sentence == (
            "Not decided: it was due 40 s ago, and no worker is alive to plan it; planned now, it would run as a "
            "catch-up run (catch_up=one)."
        )

    async def test_a_live_worker_has_not_planned_it(self, store: Store) -> None:
        await create(store)
        await alive(store, 60)
        answer = await ask(store, 60, now=61)
        assert answer.sentence == (
            "Not decided: it was due 1 s ago, and 1 live worker has not planned it yet; planned now, it would run "
            "at once."
        )

    @pytest.mark.parametrize(
        "policy, tick, fate",
        [
            ({"catch_up": "skip"}, 60, "it would be skipped (misfire)"),
            ({}, 120, "it would be skipped (coalesced)"),
            ({"max_runs": 1, "catch_up": "all"}, 120, "it would not run, for max_runs=1 is reached before"),
            ({"catch_up": "all"}, 120, "it would run as a catch-up run (catch_up=all), after waiting"),
        ],
    )
    async def test_what_the_planner_would_do(self, store: Store, policy: dict[str, Any], tick: int, fate: str) -> None:
        await create(store, **policy)
        assert fate in (await ask(store, tick, now=200)).sentence

    async def test_a_pause_that_has_ended_awaits_the_planner(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", until=epoch(90)), 30)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "undecided"
        assert "it would be skipped (paused)" in answer.sentence
        assert step(answer, "state").ok is None


class TestNotATick:
    async def test_between_ticks(self, store: Store) -> None:
        await create(store)
        answer = await ask(store, 90, now=100)
        assert answer.verdict == "not a tick"
        assert answer.sentence == (
            "Not on the grid (Every 60 seconds): the tick before is 2026-01-01 00:01:00 UTC; "
            "the next one is 2026-01-01 00:02:00 UTC."
        )
        assert names(answer) == [(True, "schedule"), (False, "grid")]

    async def test_outside_the_window(self, store: Store) -> None:
        await create(store, start_at=later(120), end_at=later(240))
        early = await ask(store, 60, now=10)
        assert early.verdict == "not a tick"
        assert early.sentence == (
            "Outside the schedule's window, from 2026-01-01 00:02:00 UTC until 2026-01-01 00:04:00 UTC: "
            "there is no tick before; the next one is 2026-01-01 00:02:00 UTC."
        )
        assert (step(early, "grid").ok, step(early, "window").ok) == (True, False)
        assert "there is none after" in (await ask(store, 300, now=10)).sentence
        inside = await ask(store, 120, now=10)
        assert (inside.verdict, step(inside, "window").ok) == ("will run", True)

    async def test_ended_with_its_runs(self, store: Store) -> None:
        await create(store, max_runs=1)
        await plan(store, 60)
        for now in (90, 150):
            answer = await ask(store, 120, now=now)
            assert (answer.verdict, answer.sentence) == (
                "ended",
                "Not run: the schedule ended after 1 run (max_runs=1).",
            )

    async def test_inside_a_range_of_skips(self, store: Store) -> None:
        await create(store, catch_up="skip")
        await plan(store, 330)
        assert (await ask(store, 150, now=340)).verdict == "not a tick"

    async def test_the_grid_of_that_time_counts(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await work_off(store, 60)
        await change(store, Update(actor="ben", fields={"trigger": every(seconds=50).to_json()}), 70)
        assert (await ask(store, 60, now=80)).verdict == "ran"
        old = await ask(store, 50, now=80)
        assert (old.verdict, old.revision) == ("not a tick", 1)
        new = await ask(store, 100, now=80)
        assert (new.verdict, new.revision) == ("will run", 2)
        assert step(new, "schedule").text == "Revision 2 (update by ben at 2026-01-01 00:01:10 UTC) is in force."


class TestNoSuchScheduleThen:
    async def test_not_created_yet(self, store: Store) -> None:
        await create(store, at=60)
        answer = await ask(store, 60, now=100)
        assert (answer.verdict, answer.sentence) == (
            "no such schedule then",
            "The schedule was created by ada at 2026-01-01 00:01:00 UTC, after this instant.",
        )

    async def test_deleted(self, store: Store) -> None:
        await create(store)
        await change(store, Delete(actor="ben"), 70)
        answer = await ask(store, 120, now=100)
        assert (answer.verdict, answer.sentence) == (
            "no such schedule then",
            "The schedule was deleted by ben at 2026-01-01 00:01:10 UTC.",
        )
        # At the very instant of the delete the schedule was still there.
        assert (await ask(store, 70, now=100)).verdict == "not a tick"
        # The delete first planned what was due.
        assert (await ask(store, 60, now=100)).verdict == "queued"

    async def test_deleted_and_created_again(self, store: Store) -> None:
        await create(store)
        await change(store, Delete(actor="ben"), 70)
        await create(store, at=130)
        assert (await ask(store, 120, now=140)).verdict == "no such schedule then"
        assert (await ask(store, 180, now=140)).verdict == "will run"

    async def test_never(self, store: Store) -> None:
        with pytest.raises(NotFoundError):
            await ask(store, 60, now=0)

    async def test_naive_instants_are_refused(self, store: Store) -> None:
        await create(store)
        with pytest.raises(TriggerError, match="no time zone"):
            await Client(store).why(NAME, datetime(2026, 1, 1))

    async def test_the_ends_of_time_are_accepted(self, store: Store) -> None:
        await create(store, NAME, cron("0 9 * * *", tz="Asia/Tokyo"))
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        assert (await Client(store).why(NAME, first)).verdict == "no such schedule then"
        assert (await Client(store).why(NAME, last)).verdict == "not a tick"


class TestNoRecord:
    async def test_pruned(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await work_off(store, 60)
        await store.runs.prune(older_than=0, keep=0, now=later(100))
        answer = await ask(store, 60, now=110)
        assert answer.verdict == "no record"
        assert "it was pruned" in answer.sentence

    async def test_paused_when_the_schedule_was_deleted(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana"), 30)
        await change(store, Delete(actor="ben"), 100)
        answer = await ask(store, 60, now=110)
        assert (answer.verdict, answer.sentence) == (
            "skipped",
            "Skipped (paused): it was paused by ana since 2026-01-01 00:00:30 UTC.",
        )

    async def test_revisions_beyond_the_first_hundred_are_read(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        for number in range(120):
            await change(store, Update(actor="ben", fields={"description": str(number)}), 61 + number / 10)
        answer = await ask(store, 30, now=100)
        assert (answer.verdict, answer.revision) == ("not a tick", 1)


async def test_a_shadow_says_so_of_past_and_future(store: Store) -> None:
    await create(store, shadow=True, max_runs=1)
    await plan(store, 120)
    past = await Client(cast(Store, AtTime(store, later(125)))).why(NAME, later(60))
    assert past.sentence.startswith("Skipped (shadow): it was a shadow")
    ahead = await Client(cast(Store, AtTime(store, later(125)))).why(NAME, later(600))
    assert (ahead.verdict, ahead.sentence) == (
        "will be skipped",
        "Will be skipped: it is a shadow (shadow=true), which records its ticks and runs nothing.",
    )
    assert {tick.skipped for tick in upcoming_ticks(await get(store), later(125), 3)} == {"shadow"}
    audit = await Client(cast(Store, AtTime(store, later(125)))).verify_ledger(NAME)
    assert (audit.ok, audit.skipped, audit.runs) == (True, 2, 0)
