"""Runs are leased, renewed and finished under a fencing token, and given out in order."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from conformance.steps import (
    NAME,
    NAMESPACE,
    Outcome,
    a_worker,
    change,
    claim,
    create,
    define,
    enqueue,
    finish,
    later,
    plan,
    read,
    start,
)
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import NewRun, RunRecord, Status
from tickbird.domain.schedules.definition import Target
from tickbird.domain.time.instants import LATEST
from tickbird.store.protocol.store import Store

RESULTS: list[Any] = [None, True, 0, 1.5, "ça", [1, [2]], {"deep": {"null": None, "🐦": []}}, "x" * 50_000]

_CYCLE: list[Any] = []
_CYCLE.append(_CYCLE)
UNENCODABLE: dict[str, Any] = {"integer": 10**5_000, "member": {"n": [10**5_000]}, "object": object(), "cycle": _CYCLE}


class Runs:
    """From enqueued to final."""

    async def test_enqueued_run_is_readable(self, store: Store) -> None:
        new = NewRun(Target("work"), {"n": 1}, queue="slow", priority=3)
        [run_id] = await store.runs.enqueue(NAMESPACE, [new], "ada", now=later(5))
        run = await read(store, run_id)
        assert (run.namespace, run.schedule_id, run.schedule, run.revision) == (NAMESPACE, None, None, None)
        assert (run.target, run.payload, run.queue, run.priority) == (Target("work"), {"n": 1}, "slow", 3)
        assert (run.status, run.scheduled_for, run.attempt, run.actor) == ("queued", None, 0, "ada")
        assert (run.due_at, run.available_at, run.created_at) == (later(5), later(5), later(5))
        assert (run.start_by, run.covers, run.started_at, run.finished_at) == (None, None, None, None)

    async def test_a_run_may_start_until_the_last_instant(self, store: Store) -> None:
        new = NewRun(Target("work"), {}, at=LATEST, start_within=60)
        [run_id] = await store.runs.enqueue(NAMESPACE, [new], "ada", now=later(0))
        run = await read(store, run_id)
        assert (run.due_at, run.start_by) == (LATEST, LATEST)

    async def test_enqueue_many_gives_an_id_each_in_order(self, store: Store) -> None:
        new = [NewRun(Target("work"), {"n": number}) for number in range(50)]
        ids = await store.runs.enqueue(NAMESPACE, new, "ada", now=later(0))
        assert len(set(ids)) == 50
        assert [(await read(store, run_id)).payload["n"] for run_id in ids] == list(range(50))
        assert list(await store.runs.enqueue(NAMESPACE, [], "ada", now=later(0))) == []

    async def test_enqueued_retry_has_retry_of(self, store: Store) -> None:
        [first] = await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {})], "ada", now=later(0))
        [second] = await store.runs.enqueue(
            NAMESPACE, [NewRun(Target("work"), {}, retry_of=first)], "ada", now=later(1)
        )
        before, after = await read(store, first), await read(store, second)
        assert (before.origin, before.retry_of) == ("manual", None)
        assert (after.origin, after.retry_of) == ("retry", first)

    async def test_unknown_run(self, store: Store) -> None:
        assert await store.runs.get(987_654_321) is None
        assert list(await store.runs.list_attempts(987_654_321)) == []
        with pytest.raises(NotFoundError):
            await store.runs.cancel(987_654_321, "ada", now=later(0))

    async def test_claim_starts_the_run(self, store: Store) -> None:
        run_id = await enqueue(store)
        claimed = await claim(store, 1, lease=30)
        [found] = claimed.runs
        assert (claimed.now, found.definition, found.id) == (later(1), None, run_id)
        assert (found.attempt, found.failures, found.target, found.origin) == (1, 0, "work", "manual")
        assert (found.due_at, found.scheduled_for, found.covers, found.schedule) == (later(0), None, None, None)
        run = await read(store, run_id)
        assert (run.status, run.attempt, run.worker) == ("running", 1, "w1")
        assert (run.started_at, run.lease_until) == (later(1), later(31))
        assert list((await claim(store, 2)).runs) == []

    async def test_claim_brings_the_definition_of_its_revision(self, store: Store) -> None:
        await create(store, retries=5, timeout=30)
        await plan(store, 60)
        [found] = (await claim(store, 60)).runs
        assert found.definition == define(retries=5, timeout=30)
        assert (found.schedule, found.scheduled_for) == (NAME, later(60))

    async def test_claim_goes_by_priority_then_age(self, store: Store) -> None:
        order = []
        for name, priority, at_ in (("a", 0, 1), ("b", 5, 3), ("c", 0, 0), ("d", 5, 2), ("e", -5, 0), ("f", 0, 1)):
            order.append((name, await enqueue(store, at_, priority=priority)))
        names = {run_id: name for name, run_id in order}
        first = await claim(store, 10, 2)
        rest = await claim(store, 10, 10)
        assert "".join(names[found.id] for found in [*first.runs, *rest.runs]) == "dbcafe"

    async def test_claim_takes_only_given_queues_and_tasks(self, store: Store) -> None:
        mine = await enqueue(store, queue="a")
        await enqueue(store, queue="b")
        await enqueue(store, queue="a", task="other")
        claimed = await claim(store, 1, queues=("a", "c"), tasks=("work", "unknown"))
        assert [found.id for found in claimed.runs] == [mine]
        for queues, tasks in (((), ("work",)), (("a", "b"), ())):
            assert list((await claim(store, 1, queues=queues, tasks=tasks)).runs) == []
        assert len((await claim(store, 1, queues=("a", "b"), tasks=("work", "other"))).runs) == 2

    async def test_waiting_runs_are_listed_by_queue_and_target(self, store: Store) -> None:
        await enqueue(store, 3, task="old", queue="gpu")
        for at in (5, 6, 7):
            await enqueue(store, at)
        await enqueue(store, 5, delay=60, queue="later")
        await enqueue(store, 4, namespace="elsewhere")
        await enqueue(store, 4, task="running")
        await claim(store, 4, tasks=["running"])
        listed = await store.runs.list_waiting(NAMESPACE, now=later(10))
        assert [(runs.queue, runs.target, runs.count, runs.since) for runs in listed] == [
            ("gpu", Target("old"), 1, later(3)),
            ("default", Target("work"), 3, later(5)),
        ]
        assert [runs.queue for runs in await store.runs.list_waiting(NAMESPACE, now=later(65))][-1] == "later"

    async def test_claim_takes_no_more_than_there_is_room_for(self, store: Store) -> None:
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {})] * 5, "ada", now=later(0))
        assert [len((await claim(store, 1, limit)).runs) for limit in (2, 2, 2, 2)] == [2, 2, 1, 0]

    async def test_namespaces_do_not_work_for_each_other(self, store: Store) -> None:
        await enqueue(store, namespace="one")
        two = await enqueue(store, namespace="two")
        claimed = await claim(store, 1, worker=a_worker("w2", namespace="two"))
        assert [found.id for found in claimed.runs] == [two]
        claimed = await claim(store, 1, worker=a_worker("w2", namespace="two"))
        assert (list(claimed.runs), claimed.next_at) == ([], None)

    async def test_a_run_is_not_available_before_its_time(self, store: Store) -> None:
        delayed = await enqueue(store, 10, delay=50)
        dated = await enqueue(store, 10, at=later(90))
        claimed = await claim(store, 59.999)
        assert (list(claimed.runs), claimed.next_at) == ([], later(60))
        # A worker that claimed runs claims again at once, after it has started them.
        claimed = await claim(store, 60)
        assert ([found.id for found in claimed.runs], claimed.next_at) == ([delayed], later(60))
        claimed = await claim(store, 60)
        assert (list(claimed.runs), claimed.next_at) == ([], later(90))
        claimed = await claim(store, 90)
        assert ([found.id for found in claimed.runs], claimed.next_at) == ([dated], later(90))
        assert (await claim(store, 90)).next_at is None

    async def test_next_at_covers_only_claimable_runs(self, store: Store) -> None:
        await enqueue(store, delay=10, queue="elsewhere")
        await enqueue(store, delay=20, task="unknown")
        assert (await claim(store, 0)).next_at is None
        await enqueue(store, delay=30)
        assert (await claim(store, 0)).next_at == later(30)

    async def test_next_at_covers_remaining_work(self, store: Store) -> None:
        for _ in range(3):
            await enqueue(store)
        claimed = await claim(store, 5, 2)
        assert claimed.next_at is not None
        assert claimed.next_at <= later(5)

    async def test_start_within_passed_is_not_given_out(self, store: Store) -> None:
        run_id = await enqueue(store, 10, start_within=20)
        assert (await read(store, run_id)).start_by == later(30)
        assert list((await claim(store, 31)).runs) == []
        assert [found.id for found in (await claim(store, 30)).runs] == [run_id]

    async def test_renew_extends_the_lease(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=30)
        renewed = await store.leases.renew(a_worker(), [LeaseRef(run.id, 1)], 30, now=later(20))
        assert (renewed.now, renewed.held, renewed.cancelled) == (later(20), frozenset({run.id}), frozenset())
        assert (await read(store, run)).lease_until == later(50)
        assert (await store.leases.renew(a_worker(), [], 30, now=later(20))).held == frozenset()

    async def test_renew_needs_the_worker_and_the_attempt(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=30)
        assert not (await store.leases.renew(a_worker("w2"), [LeaseRef(run.id, 1)], 30, now=later(5))).held
        for attempt in (0, 2):
            assert not (await store.leases.renew(a_worker(), [LeaseRef(run.id, attempt)], 30, now=later(5))).held
        assert (await read(store, run)).lease_until == later(30)

    async def test_expired_lease_without_rescue_can_be_renewed(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 0, lease=30)
        assert (await store.leases.renew(a_worker(), [LeaseRef(run.id, 1)], 30, now=later(100))).held == {run.id}
        assert (await read(store, run)).lease_until == later(130)

    async def test_renew_reports_lost_leases(self, store: Store) -> None:
        for _ in range(3):
            await enqueue(store)
        one, two, three = (await claim(store, 0)).runs
        await finish(store, two, 1)
        held = [LeaseRef(run.id, run.attempt) for run in (three, two, one)]
        assert (await store.leases.renew(a_worker(), held, 30, now=later(2))).held == {one.id, three.id}

    @pytest.mark.parametrize("result", RESULTS, ids=lambda result: str(result)[:10])
    async def test_success_keeps_its_result(self, store: Store, result: Any) -> None:
        await enqueue(store)
        run = await start(store, 1)
        finished = await finish(store, run, 2, result=result)
        assert (finished.now, finished.accepted) == (later(2), frozenset({run.id}))
        done = await read(store, run)
        assert (done.status, done.finished_at, done.lease_until) == ("succeeded", later(2), None)
        assert (done.started_at, done.attempt, done.failures, done.crashes) == (later(1), 1, 0, 0)
        assert (done.result, done.error, done.failure_kind) == (result, None, None)
        assert list(await store.runs.list_attempts(run.id)) == []

    async def test_failure_keeps_its_error(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await finish(store, run, 2, "failed", error="ValueError: “no”", failure_kind="raised", failures=1)
        done = await read(store, run)
        assert (done.status, done.finished_at, done.failures, done.crashes) == ("failed", later(2), 1, 0)
        assert (done.error, done.failure_kind, done.result) == ("ValueError: “no”", "raised", None)
        [attempt] = await store.runs.list_attempts(run.id)
        assert (attempt.attempt, attempt.worker, attempt.outcome) == (1, "w1", "failed")
        assert (attempt.started_at, attempt.ended_at, attempt.error) == (later(1), later(2), "ValueError: “no”")

    async def test_cancelled_outcome_keeps_its_reason(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await finish(store, run, 2, "cancelled", reason="asked to stop")
        done = await read(store, run)
        assert (done.status, done.finished_at, done.reason) == ("cancelled", later(2), "asked to stop")

    async def test_another_attempt_comes_after_its_delay(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await finish(store, run, 2, "queued", error="boom", failure_kind="raised", delay=30.5, failures=1)
        waiting = await read(store, run)
        assert (waiting.status, waiting.available_at, waiting.failures) == ("queued", later(32.5), 1)
        assert (waiting.worker, waiting.lease_until, waiting.finished_at) == (None, None, None)
        claimed = await claim(store, 32)
        assert (list(claimed.runs), claimed.next_at) == ([], later(32.5))
        again = await start(store, 33, worker=a_worker("w2"))
        assert (again.id, again.attempt, again.worker, again.started_at) == (run.id, 2, "w2", later(33))
        await finish(store, again, 34)
        [attempt] = await store.runs.list_attempts(run.id)
        assert (attempt.attempt, attempt.worker, attempt.outcome) == (1, "w1", "retried")
        assert (attempt.started_at, attempt.ended_at, attempt.error) == (later(1), later(2), "boom")
        assert (await read(store, run)).status == "succeeded"

    async def test_a_drain_uses_up_nothing(self, store: Store) -> None:
        await enqueue(store)
        for number in range(1, 6):
            run = await start(store, number)
            assert run.attempt == number
            await finish(store, run, number, "queued")
        run = await read(store, run)
        assert (run.status, run.failures, run.crashes, run.attempt) == ("queued", 0, 0, 5)
        assert [attempt.outcome for attempt in await store.runs.list_attempts(run.id)] == ["drained"] * 5

    async def test_run_requeued_before_its_start_keeps_its_deadline(self, store: Store) -> None:
        for _ in range(2):
            await enqueue(store, start_within=60)
        begun, unbegun = (await claim(store, 1)).runs
        outcomes = [
            Outcome(begun.id, 1, "queued"),
            Outcome(unbegun.id, 1, "queued", started=False),
        ]
        await store.leases.finish(outcomes, now=later(2))
        assert [(await read(store, run)).start_by for run in (begun, unbegun)] == [None, later(60)]
        assert list((await store.leases.rescue(now=later(61))).misfired) == [unbegun.id]

    async def test_finish_needs_the_current_attempt(self, store: Store) -> None:
        await enqueue(store)
        first = await start(store, 1)
        await finish(store, first, 2, "queued")
        second = await start(store, 3)
        before = await read(store, first)
        assert (await finish(store, first, 4, result="late")).accepted == frozenset()
        assert await read(store, first) == before
        assert (await finish(store, second, 5)).accepted == {second.id}

    @pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled"])
    async def test_a_final_status_never_changes(self, store: Store, status: Status) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await finish(store, run, 2, status)
        before = await read(store, run)
        ends: tuple[Status, ...] = ("succeeded", "failed", "cancelled", "queued")
        for again in ends:
            assert not (await finish(store, run, 3, again)).accepted
        assert not (await store.leases.renew(a_worker(), [LeaseRef(run.id, 1)], 30, now=later(3))).held
        with pytest.raises(ConflictError, match=f"run {run.id} is already {status}"):
            await store.runs.cancel(run.id, "ada", now=later(3))
        await store.leases.rescue(now=later(10_000))
        assert list((await claim(store, 10_000)).runs) == []
        assert await read(store, run) == before

    async def test_finishing_many_accepts_each_on_its_own(self, store: Store) -> None:
        for _ in range(4):
            await enqueue(store)
        runs = list((await claim(store, 0)).runs)
        await finish(store, runs[1], 1)
        outcomes = [
            Outcome(runs[0].id, 1, "succeeded", result={"n": 0}),
            Outcome(runs[1].id, 1, "failed"),
            Outcome(runs[2].id, 7, "succeeded"),
            Outcome(runs[3].id, 1, "queued", delay=5),
            Outcome(987_654_321, 1, "succeeded"),
        ]
        assert (await store.leases.finish(outcomes, now=later(2))).accepted == {runs[0].id, runs[3].id}
        assert [(await read(store, run)).status for run in runs] == ["succeeded", "succeeded", "running", "queued"]
        assert (await store.leases.finish([], now=later(2))).accepted == frozenset()

    @pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled", "queued"])
    @pytest.mark.parametrize("alone", [True, False])
    async def test_only_the_worker_that_holds_a_run_ends_it(self, store: Store, status: Status, alone: bool) -> None:
        # As after a restore to an earlier point: the same id and attempt, given out to another worker.
        run_id = await enqueue(store)
        holder, former = a_worker("holder"), a_worker("former")
        await start(store, 0, worker=holder)
        before = await read(store, run_id)
        outcome = Outcome(run_id, 1, status, result="former", releases_no_run=alone)
        assert not (await store.leases.finish([outcome], worker=former, now=later(1))).accepted
        assert await read(store, run_id) == before
        assert not await store.runs.list_attempts(run_id)
        assert (await store.leases.finish([outcome], worker=holder, now=later(2))).accepted == {run_id}
        assert (await read(store, run_id)).status == status

    async def test_a_run_that_never_started_cannot_finish(self, store: Store) -> None:
        run_id = await enqueue(store)
        for attempt in (0, 1):
            assert not (await store.leases.finish([Outcome(run_id, attempt, "succeeded")], now=later(1))).accepted
        assert (await read(store, run_id)).status == "queued"

    async def test_cancel_of_a_queued_run_is_final(self, store: Store) -> None:
        run_id = await enqueue(store)
        run = await store.runs.cancel(run_id, "ada", reason="not today", now=later(3))
        assert (run.status, run.finished_at, run.reason) == ("cancelled", later(3), "not today")
        assert await read(store, run_id) == run
        assert list((await claim(store, 4)).runs) == []
        with pytest.raises(ConflictError):
            await store.runs.cancel(run_id, "ada", now=later(5))

    async def test_cancel_of_a_running_run_requests_a_stop(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        asked = await store.runs.cancel(run.id, "ada", reason="enough", now=later(3))
        assert (asked.status, asked.cancel_requested_at, asked.cancel_requested_by) == ("running", later(3), "ada")
        renewed = await store.leases.renew(a_worker(), [LeaseRef(run.id, 1)], 30, now=later(4))
        assert (renewed.held, renewed.cancelled) == (frozenset({run.id}), frozenset({run.id}))
        await finish(store, run, 5, "cancelled")
        assert (await read(store, run)).status == "cancelled"

    async def test_a_cancelled_run_gets_no_further_attempt(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await store.runs.cancel(run.id, "ada", now=later(2))
        assert (await finish(store, run, 3, "queued", failures=1)).accepted == {run.id}
        done = await read(store, run)
        assert (done.status, done.finished_at) == ("cancelled", later(3))

    async def test_run_with_a_cancel_request_may_still_succeed(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1)
        await store.runs.cancel(run.id, "ada", now=later(2))
        await finish(store, run, 3, result=7)
        done = await read(store, run)
        assert (done.status, done.result) == ("succeeded", 7)

    async def test_cancel_is_audited(self, store: Store) -> None:
        run_id = await enqueue(store)
        await store.runs.cancel(run_id, "bo", reason="why", now=later(3))
        told = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (told.action, told.actor, told.run_id, told.at) == ("cancel", "bo", run_id, later(3))

    @pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "x" * 2_000_000], ids=["nul", "surrogate", "huge"])
    async def test_unstorable_text_affects_no_other_run(self, store: Store, text: str) -> None:
        for _ in range(3):
            await enqueue(store)
        good, bad, odd = (await claim(store, 0)).runs
        outcomes = [
            Outcome(good.id, 1, "succeeded", result=1),
            Outcome(bad.id, 1, "failed", error=f"ValueError: {text}", failure_kind="raised", failures=1),
            Outcome(odd.id, 1, "succeeded", result={"text": text, text[:9]: [text]}),
        ]
        assert (await store.leases.finish(outcomes, now=later(1))).accepted == {good.id, bad.id, odd.id}
        failed = await read(store, bad)
        assert failed.status == "failed"
        assert failed.error is not None
        assert failed.error.startswith("ValueError: ")
        assert (await read(store, odd)).status == "succeeded"
        assert [attempt.outcome for attempt in await store.runs.list_attempts(bad.id)] == ["failed"]

    @pytest.mark.parametrize("result", UNENCODABLE.values(), ids=UNENCODABLE)
    async def test_a_result_that_cannot_be_encoded_is_refused_with_its_batch(self, store: Store, result: Any) -> None:
        for _ in range(2):
            await enqueue(store)
        good, bad = (await claim(store, 0)).runs
        outcomes = [Outcome(good.id, 1, "succeeded", result=1), Outcome(bad.id, 1, "succeeded", result=result)]
        with pytest.raises(InvalidError):
            await store.leases.finish(outcomes, now=later(1))
        assert [(await read(store, run)).status for run in (good, bad)] == ["running"] * 2
        assert (await store.leases.finish(outcomes[:1], now=later(1))).accepted == {good.id}

    @pytest.mark.parametrize("text", ["a\0b", "a\ud800b"], ids=["nul", "surrogate"])
    async def test_a_payload_that_a_database_refuses_is_refused_clearly(self, store: Store, text: str) -> None:
        with pytest.raises(InvalidError):
            await create(store, payload={"text": text})
        await create(store)
        with pytest.raises(InvalidError):
            await change(store, Trigger(actor="ada", payload={"text": text}), 10)
        with pytest.raises(InvalidError):
            await enqueue(store, payload={"text": text})
        assert list(await store.runs.list(NAMESPACE)) == []

    async def test_list_runs_pages_by_id(self, store: Store) -> None:
        await create(store, overlap="allow")
        for number in range(1, 8):
            await plan(store, number * 60)
        await enqueue(store, 500)
        await enqueue(store, 500, namespace="elsewhere")
        everything = await store.runs.list(NAMESPACE)
        assert len(everything) == 8
        assert [run.id for run in everything] == sorted((run.id for run in everything), reverse=True)
        first = await store.runs.list(NAMESPACE, limit=3)
        second = await store.runs.list(NAMESPACE, before=first[-1].id, limit=100)
        assert [*first, *second] == list(everything)
        assert len(await store.runs.list(NAMESPACE, schedule=NAME)) == 7
        assert list(await store.runs.list(NAMESPACE, schedule="unknown")) == []
        page = await store.runs.list(NAMESPACE, schedule=NAME, before=everything[2].id, limit=2)
        assert [run.id for run in page] == [run.id for run in everything[3:5]]

    async def test_list_runs_by_status(self, store: Store) -> None:
        await create(store)
        for _ in range(4):
            await enqueue(store)
        runs = list((await claim(store, 1, 3)).runs)
        await finish(store, runs[0], 2)
        await finish(store, runs[1], 2, "failed")
        counts: dict[Status, int] = {"queued": 1, "running": 1, "succeeded": 1, "failed": 1, "cancelled": 0}
        for status, count in counts.items():
            found = await store.runs.list(NAMESPACE, status=status)
            assert [run.status for run in found] == [status] * count
        assert list(await store.runs.list(NAMESPACE, schedule=NAME, status="queued")) == []

    @pytest.mark.parametrize("status", get_args(Status))
    async def test_pages_of_a_status(self, store: Store, status: Status) -> None:
        for name in ("one", "two"):
            await create(store, name, overlap="allow", task=name)
        for minute in range(1, 7):
            await plan(store, minute * 60)
        ends: dict[Status, Status] = {"succeeded": "succeeded", "failed": "failed", "cancelled": "cancelled"}
        for run in (await claim(store, 400, 8, tasks=("one", "two"))).runs:
            await finish(store, run, 401, ends.get(status, "succeeded"))
        await claim(store, 402, 2, tasks=("one", "two"))
        for name in ("one", "two"):
            await change(store, Trigger(actor="ada"), 403, name=name)
            await create(store, f"{name}-behind", overlap="queue", task=name, at=403)
        for minute in range(7, 10):
            await plan(store, minute * 60)
        everything = list(await store.runs.list(NAMESPACE))
        for schedule in (None, "one", "two-behind", "unknown"):
            wanted = [run for run in everything if run.status == status and schedule in (None, run.schedule)]
            paged: list[RunRecord] = []
            while page := await store.runs.list(
                NAMESPACE, schedule=schedule, status=status, before=paged[-1].id if paged else None, limit=2
            ):
                paged += page
            assert paged == wanted
        assert any(run.status == status for run in everything)
        assert list(await store.runs.list("elsewhere", status=status)) == []

    async def test_active_runs_are_not_final(self, store: Store) -> None:
        schedule = await create(store, catch_up="all")
        await plan(store, 330)
        run = await start(store, 331)
        await finish(store, run, 332)
        await start(store, 333)
        active = await store.runs.list_active(schedule.id)
        assert [found.status for found in active] == ["running", "waiting", "waiting", "waiting"]
        assert [found.id for found in active] == sorted(found.id for found in active)
