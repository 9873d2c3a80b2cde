"""Overlap: which ticks run, wait, are skipped or replaced, and which runs are released."""

from __future__ import annotations

import pytest

from conformance.steps import (
    Outcome,
    change,
    claim,
    create,
    finish,
    later,
    plan,
    plan_all,
    ranges,
    read,
    runs_of,
    since,
    skips_of,
    start,
    statuses,
    ticks,
    work_off,
)
from tickbird.domain.planning.commands.define import Delete
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import ClaimedRun, RunRecord
from tickbird.store.protocol.store import Store


class Overlap:
    """Each policy with one and with three concurrent runs."""

    @pytest.mark.parametrize("maximum", [1, 3])
    async def test_overlap_skip(self, store: Store, maximum: int) -> None:
        await create(store, max_concurrent=maximum)
        for number in range(1, maximum + 3):
            await plan(store, number * 60)
        runs = await runs_of(store)
        assert [run.status for run in runs] == ["queued"] * maximum
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), skip.count) == ("overlap", (maximum + 1) * 60, 2)
        assert skip.run_id == runs[0].id
        end = (maximum + 2) * 60
        await finish(store, await start(store, end + 1), end + 2)
        await plan_all(store, end + 60)
        assert len(await runs_of(store)) == maximum + 1

    @pytest.mark.parametrize("maximum", [1, 3])
    async def test_overlap_queue(self, store: Store, maximum: int) -> None:
        await create(store, overlap="queue", max_concurrent=maximum)
        for number in range(1, maximum + 4):
            await plan(store, number * 60)
        runs = await runs_of(store)
        assert [run.status for run in runs] == ["queued"] * maximum + ["waiting"]
        [skip] = await skips_of(store)
        assert (skip.reason, since(skip.first), skip.count) == ("overlap", (maximum + 2) * 60, 2)
        assert skip.run_id == runs[-1].id
        end = (maximum + 3) * 60
        finished = await finish(store, await start(store, end + 1), end + 2)
        assert finished.released == 1
        released = (await runs_of(store))[-1]
        assert (released.status, released.available_at) == ("queued", later(end + 2))
        await plan_all(store, end + 60)
        assert await statuses(store) == ["succeeded"] + ["queued"] * maximum + ["waiting"]

    @pytest.mark.parametrize("maximum", [1, 3])
    async def test_overlap_replace_cancels_runs_that_have_not_started(self, store: Store, maximum: int) -> None:
        await create(store, overlap="replace", max_concurrent=maximum)
        for number in range(1, maximum + 2):
            await plan(store, number * 60)
        runs = await runs_of(store)
        assert [run.status for run in runs] == ["cancelled"] * maximum + ["queued"]
        assert {(run.reason, run.finished_at) for run in runs[:maximum]} == {("replaced", later((maximum + 1) * 60))}
        assert await ranges(store) == []

    async def test_overlap_replace_stops_the_running_run(self, store: Store) -> None:
        await create(store, overlap="replace")
        await plan(store, 60)
        running = await start(store, 61)
        await plan(store, 120)
        assert await statuses(store) == ["running", "waiting"]
        asked = await read(store, running)
        assert asked.cancel_requested_at == later(120)
        await plan(store, 180)
        assert await statuses(store) == ["running", "cancelled", "waiting"]
        # Asked once is asked: the instant of the first time stays.
        assert (await read(store, running)).cancel_requested_at == later(120)
        assert list((await claim(store, 185)).runs) == []
        finished = await finish(store, running, 190, "cancelled")
        assert finished.released == 1
        assert await statuses(store) == ["cancelled", "cancelled", "queued"]

    async def test_overlap_replace_stops_only_as_many_as_needed(self, store: Store) -> None:
        await create(store, overlap="replace", max_concurrent=3)
        for at_ in (60, 120, 180):
            await plan(store, at_)
            await start(store, at_)
        await plan(store, 240)
        runs = await runs_of(store)
        assert [run.status for run in runs] == ["running", "running", "running", "waiting"]
        assert [run.cancel_requested_at is not None for run in runs] == [True, False, False, False]

    async def test_overlap_allow(self, store: Store) -> None:
        await create(store, overlap="allow")
        for number in range(1, 6):
            await plan(store, number * 60)
        await change(store, Trigger(actor="ada"), 310)
        assert await statuses(store) == ["queued"] * 6
        assert await ranges(store) == []

    async def test_a_retried_run_still_blocks(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await finish(store, await start(store, 61), 62, "queued", delay=600, failures=1)
        await plan(store, 120)
        assert await ranges(store) == [("overlap", 120, 120, 1)]

    async def test_tick_waits_for_a_manual_run(self, store: Store) -> None:
        await create(store)
        await change(store, Trigger(actor="ada"), 10)
        manual = await start(store, 11)
        await plan(store, 60)
        assert await ticks(store) == [(None, "manual", "running"), (60, "schedule", "waiting")]
        assert await ranges(store) == []
        assert list((await claim(store, 61)).runs) == []
        assert (await finish(store, manual, 62)).released == 1
        assert (await start(store, 62)).scheduled_for == later(60)

    async def test_manual_run_waits_for_a_tick(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        tick = await start(store, 61)
        await change(store, Trigger(actor="ada"), 62)
        assert await statuses(store) == ["running", "waiting"]
        assert (await finish(store, tick, 63)).released == 1
        assert (await start(store, 63)).origin == "manual"

    async def test_manual_runs_never_cause_a_skip(self, store: Store) -> None:
        await create(store, max_concurrent=2)
        for at_ in (1, 2, 3):
            await change(store, Trigger(actor="ada"), at_)
        assert await statuses(store) == ["queued", "queued", "waiting"]
        await plan(store, 60)
        await plan(store, 120)
        assert await statuses(store) == ["queued", "queued", "waiting", "waiting", "waiting"]
        assert await ranges(store) == []
        done = await work_off(store, 121)
        assert [since(run.scheduled_for) for run in done] == [None, None, None, 60, 120]

    async def test_one_slot_releases_one_waiting_run(self, store: Store) -> None:
        await create(store, max_concurrent=2, catch_up="all")
        await plan_all(store, 330)
        assert await statuses(store) == ["queued"] * 2 + ["waiting"] * 3
        one, two = (await claim(store, 331)).runs
        assert (await finish(store, two, 332)).released == 1
        assert await statuses(store) == ["running", "succeeded", "queued", "waiting", "waiting"]
        three = await start(store, 333)
        finished = await store.leases.finish([_done(one), _done(three)], now=later(334))
        assert finished.released == 2
        assert await statuses(store) == ["succeeded"] * 3 + ["queued"] * 2

    async def test_another_attempt_releases_no_run(self, store: Store) -> None:
        await create(store, overlap="queue")
        for at_ in (60, 120):
            await plan(store, at_)
        finished = await finish(store, await start(store, 121), 122, "queued", delay=60)
        assert (finished.released, await statuses(store)) == (0, ["queued", "waiting"])

    async def test_cancelling_the_blocker_releases_the_waiting_run(self, store: Store) -> None:
        await create(store, overlap="queue")
        for at_ in (60, 120):
            await plan(store, at_)
        first, second = await runs_of(store)
        await store.runs.cancel(first.id, "ada", now=later(130))
        assert await statuses(store) == ["cancelled", "queued"]
        assert (await start(store, 130)).id == second.id

    async def test_cancelling_a_waiting_run_releases_no_run(self, store: Store) -> None:
        await create(store, catch_up="all")
        await plan_all(store, 210)
        _, second, _ = await runs_of(store)
        cancelled = await store.runs.cancel(second.id, "ada", now=later(220))
        assert cancelled.status == "cancelled"
        assert await statuses(store) == ["queued", "cancelled", "waiting"]

    async def test_cancel_request_of_a_running_blocker_releases_no_run_yet(self, store: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        running = await start(store, 61)
        await plan(store, 120)
        await store.runs.cancel(running.id, "ada", now=later(130))
        assert await statuses(store) == ["running", "waiting"]
        await finish(store, running, 131, "cancelled")
        assert await statuses(store) == ["cancelled", "queued"]

    async def test_failed_lost_blocker_releases_the_waiting_run(self, store: Store) -> None:
        await create(store, overlap="queue", on_crash="fail")
        await plan(store, 60)
        lost = await start(store, 61, lease=10)
        await plan(store, 120)
        rescued = await store.leases.rescue(now=later(130))
        waiter = (await runs_of(store))[1]
        assert (list(rescued.failed), list(rescued.released)) == ([lost.id], [waiter.id])
        assert waiter.status == "queued"

    async def test_retried_lost_blocker_still_blocks(self, store: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        await start(store, 61, lease=10)
        await plan(store, 120)
        rescued = await store.leases.rescue(now=later(130))
        assert list(rescued.released) == []
        assert await statuses(store) == ["queued", "waiting"]

    async def test_misfired_blocker_releases_the_waiting_run(self, store: Store) -> None:
        await create(store, overlap="queue", start_within=90)
        for at_ in (60, 120):
            await plan(store, at_)
        rescued = await store.leases.rescue(now=later(151))
        first, second = await runs_of(store)
        assert (list(rescued.misfired), first.reason) == ([first.id], "misfire")
        assert (first.status, second.status) == ("cancelled", "queued")

    async def test_replace_releases_a_waiting_manual_run(self, store: Store) -> None:
        await create(store, overlap="replace")
        await plan(store, 60)
        await change(store, Trigger(actor="ada"), 70)
        assert await statuses(store) == ["queued", "waiting"]
        await plan(store, 120)
        assert await ticks(store) == [
            (60, "schedule", "cancelled"),
            (None, "manual", "queued"),
            (120, "schedule", "waiting"),
        ]
        assert [since(run.scheduled_for) for run in await work_off(store, 121)] == [None, 120]

    @pytest.mark.parametrize("command", [Pause(actor="ada", cancel_runs=True), Delete(actor="ada", cancel_runs=True)])
    async def test_cancelling_all_runs_releases_no_run(self, store: Store, command: Delete | Pause) -> None:
        await create(store, catch_up="all")
        await plan_all(store, 210)
        await start(store, 211)
        await change(store, command, 215)
        assert await statuses(store) == ["running", "cancelled", "cancelled"]

    async def test_catch_up_runs_wait_in_order_for_a_running_run(self, store: Store) -> None:
        await create(store, catch_up="all")
        await plan(store, 60)
        running = await start(store, 60)
        await plan_all(store, 330)
        assert await statuses(store) == ["running"] + ["waiting"] * 4
        await finish(store, running, 331)
        assert [since(run.scheduled_for) for run in await work_off(store, 332)] == [120, 180, 240, 300]
        assert await ranges(store) == []

    async def test_waiters_of_one_schedule_do_not_wait_for_another(self, store: Store) -> None:
        for name in ("a", "b"):
            await create(store, name, overlap="queue")
        for at_ in (60, 120):
            await plan(store, at_)
        a = (await runs_of(store, "a"))[0]
        taken = list((await claim(store, 121)).runs)
        await finish(store, next(run for run in taken if run.id == a.id), 122)
        assert await statuses(store, "a") == ["succeeded", "queued"]
        assert await statuses(store, "b") == ["running", "waiting"]

    async def test_waiting_runs_of_a_deleted_schedule_are_released(self, store: Store) -> None:
        await create(store, overlap="queue")
        await plan(store, 60)
        running = await start(store, 61)
        await plan(store, 120)
        await change(store, Delete(actor="ada"), 125)
        assert (await finish(store, running, 130)).released == 1
        assert await statuses(store) == ["succeeded", "queued"]


def _done(run: ClaimedRun | RunRecord) -> Outcome:
    return Outcome(run.id, run.attempt, "succeeded")
