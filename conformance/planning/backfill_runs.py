"""The runs of a backfill: order and concurrency, next to other runs of the schedule."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.planning.backfills import backfill, instants, past
from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    claim,
    create,
    finish,
    get,
    later,
    plan,
    ranges,
    read,
    runs_of,
    since,
    start,
    ticks,
    work_off,
)
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.commands.define import Delete
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import ClaimedRun
from tickbird.store.protocol.store import Store


class BackfillRuns:
    """Order, progress and cancellation."""

    async def test_backfilled_runs_wait_for_the_active_one(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        running = await start(store, 61)
        await backfill(store, -120, -60, 62)
        assert await ticks(store) == [
            (60, "schedule", "running"),
            (-120, "backfill", "waiting"),
            (-60, "backfill", "waiting"),
        ]
        assert (await finish(store, running, 63)).released == 1
        [first] = (await claim(store, 64)).runs
        assert since(first.scheduled_for) == -120
        assert (await finish(store, first, 65)).released == 1

    async def test_a_tick_goes_before_a_backfill(self, store: Store) -> None:
        await create(store)
        await backfill(store, -300, -60, 10)
        first = await start(store, 11)
        # Second comes, second waits; but behind one run, not behind the whole backfill.
        await plan(store, 60)
        manual = (await change(store, Trigger(actor="ada"), 61)).run_ids[0]
        assert await ranges(store) == []
        await finish(store, first, 62)
        order = await work_off(store, 63)
        assert [(since(run.scheduled_for), run.origin) for run in order[:3]] == [
            (60, "schedule"),
            (None, "manual"),
            (-240, "backfill"),
        ]
        assert order[1].id == manual
        assert instants(order[2:]) == [-240, -180, -120, -60]

    @pytest.mark.parametrize(
        "overlap, maximum, concurrency, expected",
        [("skip", 1, 5, 1), ("skip", 3, 2, 2), ("queue", 3, 5, 3), ("allow", 1, 4, 4), ("replace", 2, 1, 1)],
    )
    async def test_how_many_of_a_backfill_run_at_once(
        self, store: Store, overlap: Any, maximum: int, concurrency: int, expected: int
    ) -> None:
        await past(store, 600, overlap=overlap, max_concurrent=maximum)
        await backfill(store, 60, 600, 610, concurrency=concurrency)
        going_on: list[ClaimedRun] = []
        order: list[int | None] = []
        for step in range(10):
            found = list((await claim(store, 611 + step)).runs)
            going_on += found
            order += instants(found)
            left = 10 - step
            assert len(going_on) == min(expected, left)
            await finish(store, going_on.pop(0), 611 + step)
        assert order == list(range(60, 660, 60))
        assert not (await claim(store, 700)).runs

    async def test_ticks_count_for_the_concurrency_of_a_backfill(self, store: Store) -> None:
        await create(store, max_concurrent=2)
        await plan(store, 60)
        await backfill(store, -300, -60, 61, concurrency=2)
        assert [status for _, _, status in await ticks(store)] == ["queued", "queued"] + ["waiting"] * 4

    async def test_two_backfills_have_a_concurrency_each(self, store: Store) -> None:
        await past(store, 600, overlap="allow")
        await backfill(store, 60, 300, 610, concurrency=2)
        await backfill(store, 360, 600, 611, concurrency=1)
        found = list((await claim(store, 612)).runs)
        assert instants(found) == [60, 360, 120]
        await finish(store, found[1], 613)
        assert instants(list((await claim(store, 614)).runs)) == [420]

    async def test_retried_backfill_run_keeps_its_slot(self, store: Store) -> None:
        await past(store, 300)
        await backfill(store, 60, 180, 310)
        first = await start(store, 311)
        done = await finish(store, first, 312, "queued", delay=100, failures=1)
        assert done.released == 0
        assert not (await claim(store, 350)).runs
        again = await start(store, 413)
        assert again.id == first.id
        assert (await finish(store, again, 414, "failed", failures=1)).released == 1
        assert instants(await work_off(store, 415)) == [120, 180]

    async def test_lost_or_cancelled_run_releases_the_next_backfill_run(self, store: Store) -> None:
        await past(store, 300, on_crash="fail")
        await backfill(store, 60, 240, 310)
        lost = await start(store, 311, lease=10)
        rescued = await store.leases.rescue(now=later(330))
        assert (rescued.failed, len(rescued.released)) == ([lost.id], 1)
        [queued] = [run for run in await runs_of(store) if run.status == "queued"]
        await store.runs.cancel(queued.id, "ada", now=later(331))
        assert [status for _, _, status in await ticks(store)] == ["failed", "cancelled", "queued", "waiting"]
        last = (await runs_of(store))[-1]
        await store.runs.cancel(last.id, "ada", now=later(332))
        assert instants(await work_off(store, 333)) == [180]

    async def test_a_backfill_of_a_paused_schedule_runs(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ada"), 10)
        await backfill(store, -60, 0, 310)
        assert instants(await work_off(store, 311)) == [-60, 0]
        assert (await get(store)).state == "paused"

    # Looking and cancelling

    async def test_progress_of_a_backfill(self, store: Store) -> None:
        await past(store, 600, overlap="allow")
        made = await backfill(store, 60, 600, 610, concurrency=3, note="why")
        assert made.backfill_id is not None
        [first, second, third] = (await claim(store, 611)).runs
        await finish(store, first, 612)
        await finish(store, second, 613, "failed")
        record = await store.backfills.get(NAMESPACE, made.backfill_id)
        assert record.counts == {"succeeded": 1, "failed": 1, "running": 1, "queued": 2, "waiting": 5}
        assert (record.active, record.done, record.total) == (8, 2, 10)
        assert (since(record.first), since(record.last), record.order, record.concurrency) == (60, 600, "oldest", 3)
        assert (record.created_at, record.cancelled_at) == (later(610), None)
        assert {run.backfill_id for run in await runs_of(store)} == {record.id}
        assert await store.backfills.list(NAMESPACE) == [record]
        assert await store.backfills.list(NAMESPACE, before=record.id) == []
        assert await store.backfills.list(NAMESPACE, schedule="another") == []
        assert await store.backfills.list("elsewhere") == []
        with pytest.raises(NotFoundError, match="no backfill"):
            await store.backfills.get("elsewhere", record.id)
        assert third.origin == "backfill"

    async def test_cancel_a_backfill(self, store: Store) -> None:
        await past(store, 600)
        made = await backfill(store, 60, 300, 610)
        assert made.backfill_id is not None
        running = await start(store, 611)
        record = await store.backfills.cancel(NAMESPACE, made.backfill_id, "ada", note="too slow", now=later(612))
        assert record.counts == {"running": 1, "cancelled": 4}
        assert (record.cancelled_at, record.cancelled_by) == (later(612), "ada")
        gone = (await runs_of(store))[-1]
        assert gone.reason == f"backfill {record.id} cancelled by ada: too slow"
        assert (gone.finished_at, gone.cancel_requested_by) == (later(612), "ada")
        audit = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (audit.action, audit.detail["cancelled"], audit.schedule) == ("cancel_backfill", 4, NAME)
        assert (await read(store, running)).cancel_requested_at is None
        with pytest.raises(ConflictError, match="no run left to cancel"):
            await store.backfills.cancel(NAMESPACE, record.id, "ada", now=later(613))
        record = await store.backfills.cancel(NAMESPACE, record.id, "ada", stop_running=True, now=later(614))
        assert (await read(store, running)).cancel_requested_at == later(614)
        assert record.cancelled_at == later(612)
        assert (await finish(store, running, 615, "cancelled")).released == 0

    async def test_cancelled_backfill_releases_other_runs(self, store: Store) -> None:
        await past(store, 600)
        made = await backfill(store, 60, 300, 610)
        await backfill(store, 360, 420, 611)
        manual = (await change(store, Trigger(actor="ada"), 612)).run_ids[0]
        assert made.backfill_id is not None
        await store.backfills.cancel(NAMESPACE, made.backfill_id, "ada", now=later(613))
        order = await work_off(store, 614)
        assert order[0].id == manual
        assert instants(order[1:]) == [360, 420]

    async def test_cancelling_a_missing_backfill_is_refused(self, store: Store) -> None:
        with pytest.raises(NotFoundError, match=r"there is no backfill 77\. `tickbird backfills`"):
            await store.backfills.cancel(NAMESPACE, 77, "ada")

    @pytest.mark.parametrize("command", [Delete(actor="ada", cancel_runs=True), Pause(actor="ada", cancel_runs=True)])
    async def test_cancelling_all_runs_ends_a_backfill(self, store: Store, command: Any) -> None:
        await past(store, 300)
        made = await backfill(store, 60, 240, 310)
        await change(store, command, 311)
        assert made.backfill_id is not None
        assert (await store.backfills.get(NAMESPACE, made.backfill_id)).counts == {"cancelled": 4}

    async def test_a_backfill_outlives_its_schedule(self, store: Store) -> None:
        await past(store, 300)
        await backfill(store, 60, 180, 310)
        await change(store, Delete(actor="ada"), 311)
        assert instants(await work_off(store, 312)) == [60, 120, 180]

    async def test_backfills_are_pruned_with_their_runs(self, store: Store) -> None:
        await past(store, 300)
        made = await backfill(store, 60, 120, 310)
        await finish(store, await start(store, 311), 312)
        await store.runs.prune(older_than=10, keep=0, now=later(400))
        assert made.backfill_id is not None
        record = await store.backfills.get(NAMESPACE, made.backfill_id)
        assert (record.counts, record.done) == ({"queued": 1}, 1)
        await work_off(store, 401)
        await store.runs.prune(older_than=10, keep=0, now=later(500))
        await store.runs.prune(older_than=10, keep=0, now=later(500))
        assert await store.backfills.list(NAMESPACE) == []
