"""Lost runs: with on_crash="ask", a run of a lost worker waits for the answer whether it had its effect."""

from __future__ import annotations

import asyncio

import pytest

from conformance.capabilities import needs
from conformance.steps import (
    NAMESPACE,
    a_worker,
    claim,
    create,
    enqueue,
    finish,
    later,
    plan,
    read,
    runs_of,
    start,
)
from tickbird.domain.dashboard_rows import RunFilter
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.runs.lost_runs import EFFECT_CONFIRMED, LOST_CALLS, ReconcileCall, ReconcileReport, Resolution
from tickbird.domain.runs.run import RunRecord, Status
from tickbird.store.protocol.store import Store

ASK = -3


async def lose(store: Store, at: float = 0) -> RunRecord:
    """A run whose worker was lost, 20 seconds after it was claimed."""
    run = await start(store, at, lease=10)
    rescued = await store.leases.rescue(now=later(at + 20))
    assert (list(rescued.undecided), list(rescued.requeued), list(rescued.failed)) == ([run.id], [], [])
    return await read(store, run)


async def call(store: Store, at: float, *, worker: str = "w2", lease: float = 40, limit: int = 10) -> ReconcileCall:
    """Lease exactly one call."""
    [leased] = await store.lost_runs.claim(a_worker(worker), ["work"], limit, lease, now=later(at))
    return leased


def said(leased: ReconcileCall, effect: str, error: str | None = None) -> ReconcileReport:
    run = leased.run
    return ReconcileReport(
        run_id=run.id,
        attempt=run.attempt,
        number=leased.number,
        effect=effect,  # type: ignore[arg-type]
        error=error,
    )


class LostRuns:
    """Every test of lost runs."""

    async def test_a_lost_run_waits_for_an_answer(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        assert (run.status, run.undecided, run.attempt, run.crashes, run.failures) == ("waiting", True, 1, 1, 0)
        assert (run.lease_until, run.finished_at, run.worker, run.failure_kind) == (None, None, None, None)
        assert list((await claim(store, 100)).runs) == []
        [lost] = await store.lost_runs.list(NAMESPACE)
        assert (lost.run_id, lost.target, lost.schedule, lost.attempt, lost.lost_at) == (
            run.id,
            "work",
            None,
            1,
            later(20),
        )
        assert (lost.effect, lost.calls, lost.error, lost.resolved_at) == (None, 0, None, None)
        assert await store.lost_runs.list("other") == []
        assert await store.lost_runs.list(NAMESPACE, before=run.id) == []
        [attempt] = await store.runs.list_attempts(run.id)
        assert (attempt.outcome, attempt.worker) == ("lost", "w1")
        rescued = await store.leases.rescue(now=later(1_000))
        assert (list(rescued.undecided), list(rescued.released)) == ([], [])
        assert (await read(store, run)).undecided

    async def test_a_lost_run_wakes_workers_with_its_reconcile_function(self, store: Store, other: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        await start(store, 0, lease=10)
        async with other.wakeups() as signals:
            await store.leases.rescue(now=later(20))
            async with asyncio.timeout(10):
                await anext(signals)

    async def test_yes_ends_it(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        leased = await call(store, 21)
        assert (leased.run.id, leased.run.attempt, leased.run.target, leased.number) == (run.id, 1, "work", 1)
        assert await store.lost_runs.report(said(leased, "yes"), now=later(22))
        done = await read(store, run)
        assert (done.status, done.finished_at, done.reason, done.error, done.undecided) == (
            "succeeded",
            later(22),
            EFFECT_CONFIRMED,
            None,
            False,
        )
        assert await store.lost_runs.list(NAMESPACE) == []
        lost = await store.lost_runs.get(run.id)
        assert lost is not None
        assert (lost.effect, lost.resolved_at, lost.resolved_by, lost.calls) == ("yes", later(22), None, 1)
        assert not await store.lost_runs.report(said(leased, "no"), now=later(23))

    async def test_no_is_another_attempt(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        assert await store.lost_runs.report(said(await call(store, 21), "no"), now=later(22))
        back = await read(store, run)
        assert (back.status, back.attempt, back.crashes, back.undecided) == ("queued", 1, 1, False)
        second = await start(store, 23, worker=a_worker("w2"))
        assert (second.id, second.attempt) == (run.id, 2)
        await finish(store, second, 24)
        assert (await read(store, run)).status == "succeeded"

    async def test_unknown_waits_for_a_person(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        assert await store.lost_runs.report(said(await call(store, 21), "unknown", "boom"), now=later(22))
        assert await store.lost_runs.claim(a_worker(), ["work"], 10, 40, now=later(1_000)) == []
        [lost] = await store.lost_runs.list(NAMESPACE)
        assert (lost.effect, lost.error, lost.resolved_by) == ("unknown", "boom", None)
        await store.lost_runs.resolve(run.id, Resolution(actor="ada", effect="yes", note="seen it"), now=later(60))
        assert (await read(store, run)).status == "succeeded"
        lost = await store.lost_runs.get(run.id)  # type: ignore[assignment]
        assert (lost.effect, lost.error, lost.resolved_by, lost.note) == ("yes", None, "ada", "seen it")
        entry = (await store.ledger.list_audit(NAMESPACE, limit=1))[0]
        assert (entry.actor, entry.action, entry.run_id) == ("ada", "resolve", run.id)
        assert (entry.detail["effect"], entry.detail["note"]) == ("yes", "seen it")

    async def test_a_person_may_answer_first(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        leased = await call(store, 21)
        await store.lost_runs.resolve(run.id, Resolution(actor="ada", effect="no"), now=later(22))
        assert not await store.lost_runs.report(said(leased, "yes"), now=later(23))
        assert (await read(store, run)).status == "queued"
        with pytest.raises(ConflictError, match=rf"run {run.id} is queued, and waits for no answer"):
            await store.lost_runs.resolve(run.id, Resolution(actor="ada", effect="yes"), now=later(24))

    async def test_bad_answers_are_refused(self, store: Store) -> None:
        with pytest.raises(InvalidError, match="neither yes nor no"):
            Resolution(actor="ada", effect="unknown")  # type: ignore[arg-type]
        with pytest.raises(ConflictError, match="run 999999 is deleted"):
            await store.lost_runs.resolve(999_999, Resolution(actor="ada", effect="yes"))

    async def test_a_call_is_leased_and_fenced(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        await lose(store)
        first = await call(store, 21, lease=40)
        assert await store.lost_runs.claim(a_worker("w3"), ["work"], 10, 40, now=later(60)) == []
        second = await call(store, 62, worker="w3")
        assert second.number == 2
        assert not await store.lost_runs.report(said(first, "yes"), now=later(63))
        assert await store.lost_runs.report(said(second, "no"), now=later(64))

    async def test_only_workers_with_the_task_are_called(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        await lose(store)
        assert await store.lost_runs.claim(a_worker(), ["other"], 10, 40, now=later(21)) == []
        elsewhere = a_worker(namespace="elsewhere")
        assert await store.lost_runs.claim(elsewhere, ["work"], 10, 40, now=later(21)) == []

    async def test_calls_that_lose_their_workers_end(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        await lose(store)
        for number in range(3):
            assert (await call(store, 21 + 50 * number)).number == number + 1
        assert await store.lost_runs.claim(a_worker(), ["work"], 10, 40, now=later(200)) == []
        [lost] = await store.lost_runs.list(NAMESPACE)
        assert (lost.effect, lost.error, lost.calls) == ("unknown", LOST_CALLS, 3)

    async def test_each_loss_is_asked_about_until_the_limit(self, store: Store) -> None:
        run_id = await enqueue(store, crash_limit=-2)
        for crashes in (1, 2, 3):
            run = await lose(store, 100 * crashes)
            assert (run.id, run.attempt, run.crashes) == (run_id, crashes, crashes)
            leased = await call(store, 100 * crashes + 30)
            assert (leased.number, leased.run.attempt) == (1, crashes)
            assert await store.lost_runs.report(said(leased, "no"), now=later(100 * crashes + 31))
        done = await read(store, run_id)
        assert (done.status, done.failure_kind, done.crashes) == ("failed", "lost", 3)

    async def test_later_ticks_run_while_it_waits(self, store: Store) -> None:
        await create(store, on_crash="ask", catch_up="all", hold_above=2)
        await plan(store, 60)
        run = await lose(store, 60)
        assert await store.held.list_schedules(NAMESPACE) == []
        await plan(store, 120)
        later_run = await start(store, 121)
        assert [entry.id for entry in await runs_of(store)] == [run.id, later_run.id]
        await store.lost_runs.resolve(run.id, Resolution(actor="ada", effect="no"), now=later(130))
        assert (await read(store, run)).status == "waiting"
        await finish(store, later_run, 131)
        assert (await read(store, run)).status == "queued"
        second = await start(store, 132)
        assert (second.id, second.attempt) == (run.id, 2)

    async def test_a_cancelled_run_needs_no_answer(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        await store.runs.cancel(run.id, "ada", now=later(30))
        assert (await read(store, run)).status == "cancelled"
        assert await store.lost_runs.list(NAMESPACE) == []
        assert await store.lost_runs.claim(a_worker(), ["work"], 10, 40, now=later(31)) == []

    async def test_a_run_that_was_asked_to_stop_is_cancelled(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await start(store, 0, lease=10)
        await store.runs.cancel(run.id, "ada", now=later(5))
        assert list((await store.leases.rescue(now=later(20))).undecided) == []
        assert (await read(store, run)).status == "cancelled"

    async def test_it_leaves_its_slot(self, store: Store) -> None:
        first = await enqueue(store, crash_limit=ASK, concurrency_key="k")
        second = await enqueue(store, concurrency_key="k")
        run = await start(store, 0, lease=10)
        assert run.id == first
        rescued = await store.leases.rescue(now=later(20))
        assert (list(rescued.undecided), list(rescued.released)) == ([first], [second])
        await store.lost_runs.resolve(first, Resolution(actor="ada", effect="no"), now=later(30))
        assert (await read(store, first)).status == "waiting"
        await finish(store, await start(store, 31), 32)
        assert (await read(store, first)).status == "queued"

    @needs("dashboard")
    @needs("statistics")
    async def test_undecided_runs_are_counted_and_found(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        await enqueue(store)
        statuses: tuple[Status, ...]
        for statuses in ((), ("waiting",)):
            page = await store.dashboard.runs(NAMESPACE, RunFilter(undecided=True, statuses=statuses))
            assert [entry.id for entry in page.rows] == [run.id]
            assert page.rows[0].undecided
        assert [entry.undecided for entry in await store.runs.list(NAMESPACE)] == [False, True]
        measures = await store.statistics.read_metrics(NAMESPACE, now=later(30))
        assert (measures.undecided, measures.held, measures.runs["waiting"]) == (1, 0, 1)
        work = (await store.inspect(NAMESPACE, now=later(30))).work
        assert work is not None
        assert (work.undecided_runs, work.held_runs) == (1, 0)

    async def test_pruned_runs_leave_nothing(self, store: Store) -> None:
        await enqueue(store, crash_limit=ASK)
        run = await lose(store)
        await store.lost_runs.resolve(run.id, Resolution(actor="ada", effect="yes"), now=later(30))
        await store.runs.prune(older_than=60, keep=0, now=later(1_000))
        assert await store.lost_runs.get(run.id) is None
