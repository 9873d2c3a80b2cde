"""Why a tick has a run, how the run ended, and why it was late."""

from __future__ import annotations

from conformance.steps import change, create, finish, later, plan, runs_of, start, work_off
from tests.client.why.questions import alive, ask, names, step
from tickbird.domain.planning.commands.run import Trigger
from tickbird.store.protocol.store import Store


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
        assert answer.sentence == f"Run {run.id} has been running on worker w1 since 2026-01-01 00:01:01 UTC."
        assert step(answer, "worker").ok is True

    async def test_is_running_on_a_worker_that_is_gone(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await start(store, 61, lease=60)
        answer = await ask(store, 60, now=70)
        assert (answer.verdict, step(answer, "worker").ok) == ("running", False)
        assert (
            "no longer live. The run is not rescued until its lease expires at 2026-01-01 00:02:01 UTC"
            in answer.sentence
        )

    async def test_is_running_past_its_lease(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await start(store, 61, lease=10)
        await alive(store, 100)
        answer = await ask(store, 60, now=100)
        assert "its lease expired at 2026-01-01 00:01:11 UTC. The next maintenance step rescues it" in answer.sentence

    async def test_is_asked_to_stop(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await alive(store, 60)
        run = await start(store, 61)
        await store.runs.cancel(run.id, "ben", now=later(65))
        answer = await ask(store, 60, now=70)
        assert "is being cancelled" in answer.sentence
        assert step(answer, "cancel").ok is False
        assert (
            step(answer, "cancel").text
            == "Cancellation was requested by ben at 2026-01-01 00:01:05 UTC. The run has not stopped yet."
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
            f"Run {run.id} will be retried at 2026-01-01 00:01:52 UTC: KeyError: 'a'; attempt 1 failed."
        )
        assert step(answer, "queue").text == "Attempt 2 may start at 2026-01-01 00:01:52 UTC."

    async def test_lost_its_worker(self, store: Store) -> None:
        await create(store, on_crash="fail")
        await plan(store, 60)
        run = await start(store, 60, lease=10)
        await store.leases.rescue(now=later(80))
        answer = await ask(store, 60, now=100)
        assert answer.sentence == (f"Run {run.id} failed: its worker was lost after 1 attempt, and it is not retried.")
        assert step(answer, "attempts").text == "Attempt 1 on worker w1 lost its worker at 2026-01-01 00:01:20 UTC."

    async def test_was_put_back_by_a_drain(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 60)
        await finish(store, run, 62, "queued", reason="requeued: its worker was stopping")
        await work_off(store, 63)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "ran"
        assert answer.sentence.endswith("It took 2 attempts.")
        assert "was requeued because its worker was shutting down" in step(answer, "attempts").text


class TestLate:
    async def test_because_nothing_planned_it(self, store: Store) -> None:
        await create(store)
        await plan(store, 135)
        await alive(store, 125)
        [run] = await work_off(store, 136)
        answer = await ask(store, 60, now=140)
        assert answer.sentence == (
            f"Ran as run {run.id} at 2026-01-01 00:02:16 UTC, 1 min 16 s late "
            "because no worker planned it until 2026-01-01 00:02:15 UTC."
        )
        late = step(answer, "late")
        assert late.ok is False
        assert late.text == (
            "Planned 1 min 15 s late: it was due at 2026-01-01 00:01:00 UTC, and no worker planned it until "
            "2026-01-01 00:02:15 UTC; no worker alive now was running before 2026-01-01 00:02:05 UTC."
        )
        caught_up = step(answer, "catch_up")
        assert caught_up.text == (
            "Caught up after its due time (catch_up=one): it covers 2 ticks from 2026-01-01 00:01:00 UTC "
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
            f"Ran as run {run.id} at 2026-01-01 00:01:40 UTC, 40 s late because no worker claimed it for 40 s."
        )
        assert (step(answer, "queue").ok, step(answer, "late").ok) == (False, True)

    async def test_first_attempt_of_several(self, store: Store) -> None:
        await create(store, retries=1)
        await plan(store, 60)
        run = await start(store, 100)
        await finish(store, run, 102, "queued", failures=1)
        await work_off(store, 110)
        answer = await ask(store, 60, now=120)
        assert step(answer, "queue").text == "Its first attempt started 40 s after it was planned."
        assert step(answer, "queue").ok is False
        assert "40 s late because its first attempt started 40 s after it was planned" in answer.sentence
