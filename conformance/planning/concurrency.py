"""Concurrency keys: slots that runs of many schedules share."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import cycle

import pytest

from conformance.capabilities import needs
from conformance.steps import (
    NAMESPACE,
    SECOND,
    a_worker,
    change,
    claim,
    create,
    define,
    enqueue,
    epoch,
    finish,
    get,
    later,
    plan,
    plan_all,
    ranges,
    read,
    start,
    statuses,
)
from tickbird.domain.errors import DefinitionError
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import ClaimedRun, NewRun
from tickbird.store.protocol.store import Store

KEY = "warehouse"


async def limit(store: Store, maximum: int | None, key: str = KEY, at: float = 0) -> ConcurrencyLimit:
    """Set the limit of the key."""
    return await store.limits.set(NAMESPACE, key, maximum, "ada", now=later(at))


async def all_statuses(store: Store) -> Counter[str]:
    """The number of runs by status."""
    return Counter(run.status for run in await store.runs.list(NAMESPACE, limit=5_000))


async def going(store: Store, key: str = KEY) -> int:
    """How many runs of the key are queued or running."""
    return len(await store.limits.list_runs(NAMESPACE, key, limit=1_000))


class ConcurrencyLimits:
    """Which runs hold a slot, wait for one, and get it next."""

    async def test_one_at_a_time_across_schedules_by_default(self, store: Store) -> None:
        for name in ("a", "b", "c"):
            await create(store, name, concurrency_key=KEY)
        await plan(store, 60)
        assert await all_statuses(store) == {"queued": 1, "waiting": 2}
        assert await store.limits.list(NAMESPACE) == [ConcurrencyLimit(KEY, 1, False, 1, 2)]
        order = []
        for at_ in (61, 62, 63):
            run = await start(store, at_)
            assert (run.concurrency_key, list((await claim(store, at_)).runs)) == (KEY, [])
            order.append(run.schedule)
            await finish(store, run, at_)
        assert sorted(order, key=str) == ["a", "b", "c"]
        assert await store.limits.list(NAMESPACE) == []

    async def test_claimed_run_has_its_concurrency_key(self, store: Store) -> None:
        await create(store, concurrency_key=KEY)
        await create(store, "other")
        await plan(store, 60)
        assert {run.schedule: run.concurrency_key for run in (await claim(store, 61)).runs} == {
            "clock": KEY,
            "other": None,
        }

    async def test_explicit_limit_of_a_key(self, store: Store) -> None:
        assert await limit(store, 2) == ConcurrencyLimit(KEY, 2, True, 0, 0)
        for name in "abcd":
            await create(store, name, concurrency_key=KEY)
        await plan(store, 60)
        assert await all_statuses(store) == {"queued": 2, "waiting": 2}
        assert await store.limits.list(NAMESPACE, key=KEY) == [ConcurrencyLimit(KEY, 2, True, 2, 2)]
        assert await store.limits.list(NAMESPACE, key="other") == []
        assert await store.limits.list("elsewhere") == []

    async def test_keys_come_in_pages_whatever_they_are_known_by(self, store: Store) -> None:
        for key in "ad":
            await limit(store, 2, key)
        for key in "bcce":
            await enqueue(store, concurrency_key=key)
        whole = await store.limits.list(NAMESPACE)
        assert [(each.key, each.is_explicit, each.active, each.waiting) for each in whole] == [
            ("a", True, 0, 0),
            ("b", False, 1, 0),
            ("c", False, 1, 1),
            ("d", True, 0, 0),
            ("e", False, 1, 0),
        ]
        pages = [await store.limits.list(NAMESPACE, after=after, limit=2) for after in ("", "b", "d", "e")]
        assert pages == [whole[:2], whole[2:4], whole[4:], []]

    async def test_raising_a_limit_releases_waiting_runs_at_once(self, store: Store) -> None:
        for name in "abcde":
            await create(store, name, concurrency_key=KEY)
        await plan(store, 60)
        assert await limit(store, 3, at=61) == ConcurrencyLimit(KEY, 3, True, 3, 2)
        released = [run for run in await store.runs.list(NAMESPACE, status="queued") if run.available_at == later(61)]
        assert len(released) == 2
        [audited] = [record for record in await store.ledger.list_audit(NAMESPACE) if record.action == "limit"]
        assert (audited.actor, audited.detail) == ("ada", {"key": KEY, "before": None, "after": 3})

    async def test_lowering_a_limit_stops_no_run(self, store: Store) -> None:
        await limit(store, 3)
        for name in "abcde":
            await create(store, name, concurrency_key=KEY)
        await plan(store, 60)
        assert await limit(store, 1, at=61) == ConcurrencyLimit(KEY, 1, True, 3, 2)
        for at_ in (62, 63):
            assert (await finish(store, await start(store, at_), at_)).released == 0
        assert (await finish(store, await start(store, 64), 64)).released == 1
        assert await limit(store, None, at=65) == ConcurrencyLimit(KEY, 1, False, 1, 1)

    async def test_the_most_important_goes_first_then_the_oldest(self, store: Store) -> None:
        await enqueue(store, concurrency_key=KEY)
        running = await start(store, 0)
        first = await enqueue(store, 1, concurrency_key=KEY)
        second = await enqueue(store, 2, concurrency_key=KEY)
        urgent = await enqueue(store, 3, concurrency_key=KEY, priority=5)
        order = []
        for at_ in range(4, 7):
            assert (await finish(store, running, at_)).released == 1
            running = await start(store, at_)
            order.append(running.id)
        assert order == [urgent, first, second]

    async def test_keys_and_namespaces_do_not_meet(self, store: Store) -> None:
        await enqueue(store, concurrency_key="one")
        await enqueue(store, concurrency_key="two")
        await enqueue(store, namespace="elsewhere", concurrency_key="one")
        await enqueue(store)
        assert [run.status for run in await store.runs.list(NAMESPACE)] == ["queued"] * 3
        assert [run.status for run in await store.runs.list("elsewhere")] == ["queued"]

    async def test_concurrent_runs_take_only_free_slots(self, store: Store) -> None:
        await limit(store, 2)
        runs = [NewRun(define().target, {}, concurrency_key=KEY)] * 3 + [NewRun(define().target, {})]
        ids = await store.runs.enqueue(NAMESPACE, runs, "ada", now=later(0))
        assert [(await read(store, run_id)).status for run_id in ids] == ["queued", "queued", "waiting", "queued"]

    async def test_repeated_request_takes_one_slot(self, store: Store) -> None:
        await limit(store, 2)
        first, again = [await enqueue(store, at_, concurrency_key=KEY, idempotency_key="x") for at_ in (1, 2)]
        assert first == again
        ids = [first, *[await enqueue(store, 3, concurrency_key=KEY, idempotency_key=key) for key in "yz"]]
        assert [(await read(store, run_id)).status for run_id in ids] == ["queued", "queued", "waiting"]
        runs = [NewRun(define().target, {}, concurrency_key="other", idempotency_key=key) for key in ("u", None, "v")]
        mixed = await store.runs.enqueue(NAMESPACE, runs, "ada", now=later(4))
        assert [(await read(store, run_id)).status for run_id in mixed] == ["queued", "waiting", "waiting"]

    async def test_run_holds_its_slot_until_it_is_final(self, store: Store) -> None:
        first, second = await enqueue(store, concurrency_key=KEY), await enqueue(store, 1, concurrency_key=KEY)
        assert (await finish(store, await start(store, 2), 3, "queued", failures=1, delay=60)).released == 0
        assert (await read(store, second)).status == "waiting"
        await finish(store, await start(store, 70), 71, "failed")
        assert ((await read(store, first)).status, (await read(store, second)).status) == ("failed", "queued")

    async def test_cancel_gives_the_slot_to_the_next_run(self, store: Store) -> None:
        ids = [await enqueue(store, at_, concurrency_key=KEY) for at_ in range(4)]
        await store.runs.cancel(ids[2], "ada", now=later(5))
        await store.runs.cancel(ids[0], "ada", now=later(6))
        assert [(await read(store, run_id)).status for run_id in ids] == ["cancelled", "queued", "cancelled", "waiting"]

    async def test_run_of_a_lost_worker_holds_its_slot_until_it_fails(self, store: Store) -> None:
        first = await enqueue(store, concurrency_key=KEY, crash_limit=1)
        second = await enqueue(store, concurrency_key=KEY)
        await start(store, 1, lease=10)
        assert list((await store.leases.rescue(now=later(20))).requeued) == [first]
        assert (await read(store, second)).status == "waiting"
        await start(store, 21, lease=10)
        rescued = await store.leases.rescue(now=later(40))
        assert (list(rescued.failed), list(rescued.released)) == ([first], [second])

    async def test_misfire_releases_its_slot(self, store: Store) -> None:
        await enqueue(store, concurrency_key=KEY, start_within=5)
        second = await enqueue(store, concurrency_key=KEY)
        rescued = await store.leases.rescue(now=later(10))
        assert list(rescued.released) == [second]

    async def test_a_waiter_may_be_too_late(self, store: Store) -> None:
        await enqueue(store, concurrency_key=KEY)
        late = await enqueue(store, concurrency_key=KEY, start_within=5)
        assert list((await store.leases.rescue(now=later(10))).misfired) == [late]

    async def test_a_run_may_wait_for_its_schedule_and_for_its_key(self, store: Store) -> None:
        await create(store, "mine", overlap="queue", concurrency_key=KEY)
        await plan(store, 60)
        mine = await start(store, 61)
        await create(store, "yours", concurrency_key=KEY, at=62)
        await plan_all(store, 120)
        assert (await statuses(store, "mine"), await statuses(store, "yours")) == (["running", "waiting"], ["waiting"])
        # The key has a place for one of them, and both their schedules have.
        assert (await finish(store, mine, 121)).released == 1
        one = await start(store, 122)
        assert (await finish(store, one, 123)).released == 1
        two = await start(store, 124)
        assert {one.schedule, two.schedule} == {"mine", "yours"}

    async def test_room_in_the_key_is_not_room_in_the_schedule(self, store: Store) -> None:
        await limit(store, 2)
        await create(store, "mine", overlap="queue", concurrency_key=KEY)
        await enqueue(store, concurrency_key=KEY)
        await plan(store, 60)
        mine = await start(store, 61)
        loose = mine if mine.schedule is None else await start(store, 61)
        mine = mine if mine.schedule is not None else await start(store, 61)
        await plan(store, 120)
        assert (await finish(store, loose, 121)).released == 0
        assert await statuses(store, "mine") == ["running", "waiting"]
        assert (await finish(store, mine, 122)).released == 1

    async def test_oldest_waiting_run_of_a_schedule_goes_first(self, store: Store) -> None:
        await create(store, concurrency_key="tenant:{tenant}", payload={"tenant": "a"})
        blocker = await enqueue(store, concurrency_key="tenant:a")
        await change(store, Trigger(actor="ada"), 1)
        await change(store, Trigger(actor="ada", payload={"tenant": "b"}), 2)
        # Its key has room, but it would take the place in the schedule that the first one will need.
        assert await statuses(store) == ["waiting", "waiting"]
        await store.leases.rescue(now=later(3))
        assert await statuses(store) == ["waiting", "waiting"]
        await store.runs.cancel(blocker, "ada", now=later(4))
        assert await statuses(store) == ["queued", "waiting"]

    async def test_a_key_from_the_payload(self, store: Store) -> None:
        await create(
            store, overlap="allow", concurrency_key="tenant:{tenant}/{shard}", payload={"tenant": "a", "shard": 7}
        )
        await change(store, Trigger(actor="ada"), 1)
        await change(store, Trigger(actor="ada", payload={"tenant": "b", "shard": 1}), 2)
        made = (await change(store, Trigger(actor="ada"), 3)).run
        assert made is not None
        assert (made.concurrency_key, made.status) == ("tenant:a/7", "waiting")
        assert await statuses(store) == ["queued", "queued", "waiting"]
        with pytest.raises(DefinitionError, match="'shard', which is not in the payload"):
            await change(store, Trigger(actor="ada", payload={"tenant": "b"}), 4)

    async def test_a_waiting_run_is_active_for_the_overlap_of_its_schedule(self, store: Store) -> None:
        await enqueue(store, concurrency_key=KEY)
        await create(store, concurrency_key=KEY)
        await plan(store, 60)
        await plan(store, 120)
        assert await statuses(store) == ["waiting"]
        assert await ranges(store) == [("overlap", 120, 120, 1)]

    async def test_replaced_run_gives_its_slot_to_its_successor(self, store: Store) -> None:
        await create(store, overlap="replace", concurrency_key=KEY)
        await plan(store, 60)
        await plan(store, 120)
        assert await statuses(store) == ["cancelled", "queued"]

    async def test_catch_up_leaves_slots_to_others(self, store: Store) -> None:
        await limit(store, 2)
        await create(store, "many", SECOND, catch_up="all", concurrency_key=KEY)
        await plan_all(store, 60)
        await create(store, "few", at=61, concurrency_key=KEY)
        await change(store, Trigger(actor="ada"), 62, name="few")
        assert await statuses(store, "few") == ["queued"]
        assert (await statuses(store, "many")).count("queued") == 1

    @needs("backfills")
    async def test_backfill_waits_for_slots_after_other_runs(self, store: Store) -> None:
        await create(store, overlap="allow", concurrency_key=KEY)
        blocker = await enqueue(store, concurrency_key=KEY)
        schedule = await get(store)
        await change(store, Pause(actor="ada"), 1)
        await change(store, Resume(actor="ada"), 301)
        new = NewBackfill(actor="ada", first=epoch(60), last=epoch(240), concurrency=3)
        await store.backfills.create(NAMESPACE, schedule.name, new, now=later(302))
        assert await statuses(store) == ["waiting"] * 4
        await plan(store, 360)
        await store.runs.cancel(blocker, "ada", now=later(361))
        assert await statuses(store) == ["waiting"] * 4 + ["queued"]
        assert (await finish(store, await start(store, 362), 363)).released == 1
        await limit(store, 9, at=364)
        assert await statuses(store) == ["queued"] * 3 + ["waiting"] + ["succeeded"]

    @needs("backfills")
    async def test_cancelling_a_backfill_releases_other_runs(self, store: Store) -> None:
        await create(store, concurrency_key=KEY)
        await change(store, Pause(actor="ada"), 1)
        await change(store, Resume(actor="ada"), 301)
        new = NewBackfill(actor="ada", first=epoch(60), last=epoch(240))
        made = await store.backfills.create(NAMESPACE, (await get(store)).name, new, now=later(302))
        waiting = await enqueue(store, 303, concurrency_key=KEY)
        assert (await read(store, waiting)).status == "waiting"
        assert made.backfill_id is not None
        await store.backfills.cancel(NAMESPACE, made.backfill_id, "ada", now=later(304))
        assert (await read(store, waiting)).status == "queued"

    async def test_delete_with_runs_releases_other_runs(self, store: Store) -> None:
        await create(store, "a", concurrency_key=KEY)
        await change(store, Trigger(actor="ada"), 1, name="a")
        waiting = await enqueue(store, 2, concurrency_key=KEY)
        await change(store, Delete(actor="ada", cancel_runs=True), 3, name="a")
        assert (await read(store, waiting)).status == "queued"

    async def test_an_edit_gives_the_next_runs_a_key(self, store: Store) -> None:
        await create(store, overlap="allow")
        await plan(store, 60)
        await change(store, Update(actor="ada", fields={"concurrency_key": KEY}), 61)
        await plan(store, 120)
        await plan(store, 180)
        assert await statuses(store) == ["queued", "queued", "waiting"]

    async def test_the_first_run_of_a_new_schedule_may_wait(self, store: Store) -> None:
        await enqueue(store, concurrency_key=KEY)
        command = Create(actor="ada", namespace=NAMESPACE, definition=define(concurrency_key=KEY), first="now")
        await change(store, command, 1)
        assert await statuses(store) == ["waiting"]

    async def test_ten_schedules_share_three_slots(self, store: Store, other: Store) -> None:
        """Several claimers, planners and a rescuer at once: never four runs, and no run is forgotten."""
        await limit(store, 3)
        for number in range(10):
            policy = ("queue", "allow", "replace")[number % 3]
            await create(store, f"s{number}", overlap=policy, concurrency_key=KEY, max_concurrent=1 + number % 2)
        stores, maximum, ran = cycle((store, other)), 0, Counter[str | None]()

        async def serve(which: Store, name: str, at_: float) -> None:
            nonlocal maximum
            while found := (await claim(which, at_, 2, worker=a_worker(name))).runs:
                maximum = max(maximum, await going(which))
                await asyncio.gather(*(end(which, run, at_) for run in found))

        async def end(which: Store, run: ClaimedRun, at_: float) -> None:
            ran[run.schedule] += 1
            await finish(which, run, at_, "failed" if run.id % 5 == 0 else "succeeded")

        for round_ in range(1, 9):
            now = 60 * round_
            triggers = (change(next(stores), Trigger(actor="ada"), now, name=f"s{n}") for n in range(0, 10, 3))
            await asyncio.gather(
                plan_all(next(stores), now, limit=4),
                plan_all(next(stores), now, limit=4),
                *triggers,
                *(serve(next(stores), f"w{n}", now) for n in range(4)),
                store.leases.rescue(now=later(now)),
            )
            assert await going(store) <= 3
        await serve(store, "last", 600)
        assert 0 < maximum <= 3
        assert set(ran) == {f"s{number}" for number in range(10)}
        counts = await all_statuses(store)
        assert (counts["waiting"], counts["queued"], counts["running"]) == (0, 0, 0)

    async def test_slot_released_during_an_enqueue_is_not_lost(self, store: Store, other: Store) -> None:
        for number in range(15):
            key = f"k{number}"
            await enqueue(store, number, concurrency_key=key)
            running = await start(store, number)
            _, made = await asyncio.gather(finish(store, running, number), enqueue(other, number, concurrency_key=key))
            assert (await read(store, made)).status == "queued", number
            await finish(store, await start(store, number), number)
