"""Many tasks and two store instances at once: everything happens exactly once, and no run waits forever."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from itertools import cycle
from typing import Any

from conformance.steps import (
    NAME,
    NAMESPACE,
    SECOND,
    Outcome,
    a_worker,
    change,
    claim,
    create,
    define,
    enqueue,
    finish,
    get,
    later,
    plan,
    plan_all,
    ranges,
    read,
    runs_of,
    since,
    start,
    statuses,
    ticks,
    work_off,
)
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.leases import LeaseRef
from tickbird.domain.runs.run import ClaimedRun, NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.protocol.store import Store


async def race(*contenders: Coroutine[Any, Any, Any]) -> list[Any]:
    """All at once; a ConflictError is an answer like any other."""
    answers = await asyncio.gather(*contenders, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, ConflictError):
            raise answer
    return answers


def won(answers: list[Any]) -> list[Any]:
    """The results of the accepted calls."""
    return [answer for answer in answers if not isinstance(answer, ConflictError)]


class Races:
    """Concurrent planners, claimers, finishers and commands."""

    async def test_ten_planners_plan_each_tick_once(self, store: Store, other: Store) -> None:
        for number in range(200):
            await create(store, f"s{number}")
        stores = cycle((store, other))
        counts = await race(*(plan_all(next(stores), 60, limit=30) for _ in range(10)))
        assert sum(runs for runs, _ in counts) == 200
        runs = await store.runs.list(NAMESPACE, limit=1_000)
        assert len(runs) == len({run.schedule_id for run in runs}) == 200

    async def test_eight_claimers_never_share_a_run(self, store: Store, other: Store) -> None:
        ids = await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {})] * 200, "ada", now=later(0))

        async def take(which: Store, name: str) -> list[ClaimedRun]:
            taken: list[ClaimedRun] = []
            while found := (await claim(which, 1, 7, worker=a_worker(name))).runs:
                taken += found
            return taken

        stores = cycle((store, other))
        hands = await race(*(take(next(stores), f"w{number}") for number in range(8)))
        taken = [run.id for hand in hands for run in hand]
        assert len(taken) == len(set(taken))
        # Claimers may step over rows that another one was just locking.
        taken += [run.id for run in await take(store, "last")]
        assert sorted(taken) == sorted(ids)
        for number, hand in enumerate(hands):
            assert {(await read(store, run)).worker for run in hand[:1]} <= {f"w{number}"}

    async def test_one_of_ten_creators_wins(self, store: Store, other: Store) -> None:
        stores = cycle((store, other))
        create_ = Create(actor="ada", namespace=NAMESPACE, definition=define())
        answers = await race(*(change(next(stores), create_, 0) for _ in range(10)))
        assert len(won(answers)) == 1
        schedule = await get(store)
        assert (schedule.revision, len(await store.schedules.list_revisions(schedule.id))) == (1, 1)
        assert len(await store.ledger.list_audit(NAMESPACE)) == 1

    async def test_one_of_ten_editors_of_a_revision_wins(self, store: Store, other: Store) -> None:
        await create(store)
        stores = cycle((store, other))
        edits = (Update(actor=f"p{n}", fields={"priority": n}, revision=1) for n in range(1, 11))
        answers = await race(*(change(next(stores), edit, 5) for edit in edits))
        [winner] = won(answers)
        assert (await get(store)) == winner.schedule
        assert winner.schedule.revision == 2

    async def test_edits_without_a_revision_come_one_after_the_other(self, store: Store, other: Store) -> None:
        schedule = await create(store)
        stores = cycle((store, other))
        names = ("priority", "retries", "grace", "catch_up_limit", "max_concurrent")
        edits = [Update(actor="ada", fields={name: 7}) for name in names]
        await race(*(change(next(stores), edit, 5) for edit in edits))
        after = await get(store)
        assert after.definition == define(priority=7, retries=7, grace=7, catch_up_limit=7, max_concurrent=7)
        assert after.revision == 6
        assert [record.revision for record in await store.schedules.list_revisions(schedule.id)] == [6, 5, 4, 3, 2, 1]

    async def test_planning_and_editing_decide_each_tick_once(self, store: Store, other: Store) -> None:
        await create(store, NAME, SECOND, overlap="allow", catch_up="all")
        for now in range(10, 60, 10):
            update = Update(actor="ada", fields={"priority": now})
            await race(
                plan_all(store, now),
                change(other, update, now),
                plan_all(other, now),
                change(store, Trigger(actor="bo"), now),
            )
        found = [tick for tick, origin, _ in await ticks(store) if origin != "manual"]
        assert sorted(tick for tick in found if tick is not None) == list(range(1, 51))
        assert await ranges(store) == []
        for run in await runs_of(store):
            assert run.revision is not None
            assert run.revision <= 6

    async def test_nothing_is_planned_after_a_pause_was_acknowledged(self, store: Store, other: Store) -> None:
        for number in range(10):
            name = f"s{number}"
            await create(store, name, SECOND, overlap="allow")
            await race(
                change(other, Pause(actor="ada"), 5, name=name),
                *(plan(which, 5, limit=3) for which in (store, other, store)),
            )
            before = await ticks(store, name)
            await race(plan(store, 9), plan(other, 9))
            assert await ticks(store, name) == before

    async def test_a_finish_that_meets_a_planner_loses_no_waiter(self, store: Store, other: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        for number in range(2, 22):
            now = number * 60
            running = await start(store, now - 30)
            await race(finish(store, running, now), plan(other, now))
            # Either the planner saw it finished, or the finish saw the waiter.
            assert (await statuses(store))[-1] == "queued", number
        assert await ranges(store) == []

    async def test_a_trigger_that_meets_a_finish_is_not_left_waiting(self, store: Store, other: Store) -> None:
        await create(store)
        await plan(store, 60)
        for number in range(15):
            now = 61 + number
            running = await start(store, now, lease=1_000)
            await race(finish(store, running, now), change(other, Trigger(actor="ada"), now))
            assert (await statuses(store))[-1] == "queued", number

    async def test_one_finish_of_an_attempt_counts(self, store: Store, other: Store) -> None:
        for number in range(10):
            await enqueue(store)
            run = await start(store, 1)
            stores = cycle((store, other))
            answers = await race(*(finish(next(stores), run, 2, result=n) for n in range(4)))
            assert [bool(answer.accepted) for answer in answers].count(True) == 1, number

    async def test_one_rescue_of_an_attempt_counts(self, store: Store, other: Store) -> None:
        for _ in range(20):
            await enqueue(store)
        runs = list((await claim(store, 0, lease=10)).runs)
        answers = await race(*(which.leases.rescue(now=later(20)) for which in (store, other, store, other)))
        answers.append(await store.leases.rescue(now=later(20)))
        taken = [run_id for answer in answers for run_id in answer.requeued]
        assert sorted(taken) == sorted(run.id for run in runs)
        assert {(await read(store, run)).crashes for run in runs} == {1}

    async def test_finish_and_rescue_agree_on_one_outcome(self, store: Store, other: Store) -> None:
        for number in range(15):
            await enqueue(store)
            run = await start(store, number * 100, lease=10)
            finished, rescued = await race(
                finish(store, run, number * 100 + 20), other.leases.rescue(now=later(number * 100 + 20))
            )
            after = await read(store, run)
            if finished.accepted:
                assert (after.status, after.crashes, list(rescued.requeued)) == ("succeeded", 0, [])
            else:
                assert (after.status, after.crashes, list(rescued.requeued)) == ("queued", 1, [run.id])
                await work_off(store, number * 100 + 30)

    async def test_cancel_and_claim_agree(self, store: Store, other: Store) -> None:
        for number in range(15):
            run_id = await enqueue(store, number)
            cancelled, claimed = await race(
                store.runs.cancel(run_id, "ada", now=later(number)), claim(other, number, 1)
            )
            after = await read(store, run_id)
            if claimed.runs:
                assert (after.status, after.cancel_requested_by) == ("running", "ada")
            else:
                assert (after.status, cancelled.status) == ("cancelled", "cancelled")

    async def test_renewals_and_finishes_of_many_runs_do_not_jam(self, store: Store, other: Store) -> None:
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {})] * 60, "ada", now=later(0))
        runs = list((await claim(store, 0)).runs)
        held = [LeaseRef(run.id, run.attempt) for run in runs]
        outcomes = [Outcome(run.id, run.attempt, "succeeded") for run in runs]
        await race(
            store.leases.renew(a_worker(), held, 30, now=later(5)),
            other.leases.finish(outcomes[::-1], now=later(5)),
            store.leases.finish(outcomes, now=later(5)),
            other.leases.renew(a_worker(), held[::-1], 30, now=later(5)),
            store.leases.rescue(now=later(5)),
        )
        assert {(await read(store, run)).status for run in runs} == {"succeeded"}

    async def test_delete_and_create_leave_one_line_of_revisions(self, store: Store, other: Store) -> None:
        schedule = await create(store)
        create_ = Create(actor="ada", namespace=NAMESPACE, definition=define())
        for number in range(5):
            await race(
                change(store, Delete(actor="ada"), number + 1),
                change(other, create_, number + 1),
                change(store, create_, number + 1),
            )
            if (await get(store)).state == "deleted":
                await change(store, create_, number + 1)
        revisions = [record.revision for record in await store.schedules.list_revisions(schedule.id)]
        assert revisions == list(range(len(revisions), 0, -1))
        assert (await get(store)).revision == len(revisions)

    async def test_work_of_another_process_wakes_this_one(self, store: Store, other: Store) -> None:
        async with store.wakeups() as signals:
            await enqueue(other)
            async with asyncio.timeout(20):
                await anext(signals)
            await create(other)
            async with asyncio.timeout(20):
                await anext(signals)

    async def test_writes_of_one_instance_are_visible_to_another(self, store: Store, other: Store) -> None:
        await create(store)
        await change(other, Update(actor="ada", fields={"priority": 4}), 5)
        await change(store, Update(actor="ada", fields={"payload": {"n": 1}}), 6)
        assert (await get(other)) == (await get(store))
        await plan(other, 60)
        [run] = await runs_of(store)
        assert (run.priority, run.payload, run.revision) == (4, {"n": 1}, 3)

    async def test_a_cancelled_call_commits_whole_or_not_at_all(self, store: Store, other: Store) -> None:
        for number in range(30):
            await create(store, f"s{number}")
        for pauses in range(12):
            tasks = [asyncio.create_task(which.planning.plan_due(5, now=later(60))) for which in (store, other)]
            for _ in range(pauses):
                await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await plan_all(store, 60)
        runs = await store.runs.list(NAMESPACE, limit=100)
        assert len(runs) == len({run.schedule_id for run in runs}) == 30
        assert {since((await get(store, f"s{number}")).cursor.planned_until) for number in range(30)} == {60}

    async def test_two_slots_released_at_once_release_two_runs(self, store: Store, other: Store) -> None:
        for number in range(8):
            name = f"s{number}"
            await create(store, name, max_concurrent=2, catch_up="all")
            await plan_all(store, 330)
            one, two = (await claim(store, 331)).runs
            await race(finish(store, one, 332), finish(other, two, 332), store.leases.rescue(now=later(332)))
            await store.leases.rescue(now=later(333))
            assert await statuses(store, name) == ["succeeded"] * 2 + ["queued"] * 2 + ["waiting"], number
            await change(store, Delete(actor="ada", cancel_runs=True), 334, name=name)

    async def test_triggers_and_ticks_at_once_never_run_side_by_side(self, store: Store, other: Store) -> None:
        for number in range(8):
            name = f"s{number}"
            await create(store, name)
            await race(
                plan(store, 60),
                change(other, Trigger(actor="ada"), 60, name=name),
                change(store, Trigger(actor="bo"), 60, name=name),
                plan(other, 60),
            )
            assert sorted(await statuses(store, name)) == ["queued", "waiting", "waiting"], number

    async def test_a_replacement_that_meets_a_finish_is_not_left_waiting(self, store: Store, other: Store) -> None:
        await create(store, overlap="replace")
        await plan(store, 60)
        for number in range(2, 17):
            running = await start(store, number * 60 - 30, lease=1_000)
            await race(finish(store, running, number * 60), plan(other, number * 60))
            assert (await statuses(store))[-1] == "queued", number
            assert (await read(store, running)).status == "succeeded"

    async def test_store_can_be_reopened(self, store: Store, other: Store) -> None:
        await create(store)
        if other is not store:
            for _ in range(2):
                await other.close()
            await other.open()
        assert await get(other) == await get(store)
