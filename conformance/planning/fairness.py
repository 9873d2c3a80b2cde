"""Fairness: a burst of runs of one schedule or task does not starve the others in its queue."""

from __future__ import annotations

from collections import Counter

from conformance.capabilities import needs
from conformance.planning.concurrency import KEY, limit
from conformance.steps import (
    NAMESPACE,
    SECOND,
    change,
    claim,
    create,
    enqueue,
    epoch,
    finish,
    later,
    plan,
    plan_all,
    runs_of,
    statuses,
    ticks,
)
from tickbird.domain.limits.fairness import MINUTE
from tickbird.domain.limits.rate_limits import QueuePosition, RateLimit
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import ClaimedRun, NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.protocol.store import Store

HOUR = 3_600


async def serve(store: Store, at: float, claims: int, slots: int = 4) -> list[ClaimedRun]:
    """The runs that a worker starts in consecutive claims, each of which ends before the next."""
    begun: list[ClaimedRun] = []
    for _ in range(claims):
        found = (await claim(store, at, slots)).runs
        for run in found:
            await finish(store, run, at)
        begun += found
    return begun


async def others(store: Store, count: int, at: float) -> set[str | None]:
    """Schedules with one run each."""
    names = [f"other{number}" for number in range(count)]
    for name in names:
        await create(store, name, at=at)
        await change(store, Trigger(actor="ada"), at, name=name)
    return set(names)


class Fairness:
    """In which order runs of many schedules in one queue begin."""

    async def test_late_ticks_yield_to_other_schedules(self, store: Store) -> None:
        await create(store, "many", SECOND, overlap="allow", catch_up="all", catch_up_limit=1_000)
        await plan_all(store, 1_000)
        names = await others(store, 20, 1_001)
        begun = [run.schedule for run in await serve(store, 1_002, 6)]
        assert names <= set(begun)
        # If no other schedule waits, they are not deferred.
        rest = await serve(store, 1_003, 11, slots=100)
        assert begun.count("many") + len(rest) == 1_000
        mine = [run for run in rest if run.schedule == "many"]
        assert [run.scheduled_for for run in mine] == sorted(run.scheduled_for for run in mine if run.scheduled_for)
        assert Counter(await statuses(store, "many")) == {"succeeded": 1_000}

    async def test_triggered_runs_yield_to_other_schedules(self, store: Store) -> None:
        await create(store, "many", overlap="allow")
        for second in range(30):
            await change(store, Trigger(actor="ada"), second, name="many")
        names = await others(store, 4, 30)
        assert names <= {run.schedule for run in await serve(store, 31, 2)}
        begun = [run.id for run in await serve(store, 32, 10)]
        assert begun == sorted(begun)
        assert Counter(await statuses(store, "many")) == {"succeeded": 30}

    @needs("backfills")
    async def test_backfill_yields_to_other_schedules(self, store: Store) -> None:
        await create(store, "many", SECOND, overlap="allow")
        await change(store, Pause(actor="ada"), 0.5, name="many")
        await change(store, Resume(actor="ada"), 100.5, name="many")
        new = NewBackfill(actor="ada", first=epoch(1), last=epoch(100), concurrency=50)
        await store.backfills.create(NAMESPACE, "many", new, now=later(102))
        names = await others(store, 4, 103)
        assert names <= {run.schedule for run in await serve(store, 104, 2)}
        begun = [run.scheduled_for for run in await serve(store, 105, 40)]
        assert begun == sorted(filter(None, begun))
        assert {*await statuses(store, "many")} == {"succeeded"}
        assert sum(origin == "backfill" for _, origin, _ in await ticks(store, "many")) == 100

    @needs("limits")
    async def test_runs_released_together_yield_to_other_schedules(self, store: Store) -> None:
        await create(store, "many", overlap="allow", concurrency_key=KEY)
        await create(store, "other")
        for second in range(20):
            await change(store, Trigger(actor="ada"), second, name="many")
        await limit(store, 20, at=30)
        await change(store, Trigger(actor="ada"), 31, name="other")
        assert "other" in [run.schedule for run in await serve(store, 32, 1)]

    async def test_next_run_of_a_schedule_is_queued_last(self, store: Store) -> None:
        for name in "abc":
            await create(store, name)
        for name in "aaabbbccc":
            await change(store, Trigger(actor="ada"), 1, name=name)
        begun = [run.schedule for at in range(2, 11) for run in await serve(store, at, 1, slots=1)]
        assert "".join(map(str, begun)) == "abcabcabc"

    async def test_punctual_tick_does_not_pass_earlier_runs_of_its_schedule(self, store: Store) -> None:
        await create(store, "many", overlap="allow", catch_up="all")
        await plan_all(store, HOUR + 30)
        await plan(store, HOUR + 60)
        await create(store, "other", at=HOUR + 61)
        await plan(store, HOUR + 120)
        begun = await serve(store, HOUR + 120, 100, slots=1)
        assert [run.schedule for run in begun[:2]] == ["many", "other"]
        mine = [run.scheduled_for for run in begun if run.schedule == "many"]
        assert (len(mine), mine) == (62, sorted(filter(None, mine)))
        # Once the last of them would have been in the line, its ticks are in it at once.
        await plan_all(store, 3 * HOUR)
        await serve(store, 3 * HOUR, 5, slots=500)
        await plan(store, 6 * HOUR)
        assert (await ticks(store, "many"))[-1][2] == "queued"

    async def test_every_run_starts_eventually(self, store: Store) -> None:
        await create(store, "many", overlap="allow")
        for _ in range(5):
            await change(store, Trigger(actor="ada"), 1, name="many")
        await serve(store, 2, 1, slots=1)
        for number in range(1, 5):
            # Others come faster than they are served.
            now = 1 + number * MINUTE
            for _ in range(5):
                await enqueue(store, now - 2)
            assert [run.schedule for run in await serve(store, now - 2, 1, slots=1)] == [None]
            rescued = await store.leases.rescue(now=later(now))
            assert rescued.next_at == (later(now - 1 + MINUTE) if number < 4 else None)
            assert [run.schedule for run in await serve(store, now, 1, slots=1)] == ["many"]
        assert await statuses(store, "many") == ["succeeded"] * 5

    async def test_run_shows_the_end_of_its_deferral(self, store: Store) -> None:
        await create(store, "many", overlap="allow")
        for _ in range(3):
            await change(store, Trigger(actor="ada"), 1, name="many")
        other = await enqueue(store, 2)
        turns = [await store.queues.find_position(run.id, now=later(3)) for run in await runs_of(store, "many")]
        assert turns == [
            None,
            QueuePosition(None, 2, deferred_until=later(MINUTE)),
            QueuePosition(None, 3, deferred_until=later(2 * MINUTE)),
        ]
        assert await store.queues.find_position(other, now=later(3)) is None
        await store.queues.set_rate(NAMESPACE, "default", RateLimit(1, HOUR), "ada", now=later(4))
        last = (await runs_of(store, "many"))[-1]
        assert await store.queues.find_position(last.id, now=later(5)) == QueuePosition(
            RateLimit(1, HOUR), 3, later(5 + 3 * HOUR), later(2 * MINUTE)
        )

    async def test_higher_priority_is_not_deferred(self, store: Store) -> None:
        await create(store, "many", overlap="allow", priority=1)
        for _ in range(8):
            await change(store, Trigger(actor="ada"), 1, name="many")
        await others(store, 4, 2)
        assert {run.schedule for run in await serve(store, 3, 2)} == {"many"}

    async def test_two_bursts_share_the_queue(self, store: Store) -> None:
        for name in ("one", "two"):
            await create(store, name, overlap="allow")
            for _ in range(8):
                await change(store, Trigger(actor="ada"), 1, name=name)
        assert Counter(run.schedule for run in await serve(store, 2, 2)) == {"one": 4, "two": 4}

    async def test_deferred_run_is_retried(self, store: Store) -> None:
        await create(store, "many", overlap="allow")
        for _ in range(3):
            await change(store, Trigger(actor="ada"), 1, name="many")
        for run in (await claim(store, 2)).runs:
            await finish(store, run, 3, "queued", failures=1, delay=10)
        found = await claim(store, 4)
        assert (list(found.runs), found.next_at) == ([], later(13))
        assert len(await serve(store, 13, 1)) == 3

    @needs("limits")
    async def test_ten_schedules_have_equal_shares_of_a_key(self, store: Store) -> None:
        await limit(store, 3)
        names = [f"s{number}" for number in range(10)]
        for name in names:
            await create(store, name, overlap="queue", concurrency_key=KEY)
        for _ in range(5):
            for name in names:
                await change(store, Trigger(actor="ada"), 1, name=name)
        ran: Counter[str | None] = Counter()
        for number in range(1, 51):
            [run] = await serve(store, 1 + number, 1, slots=1)
            ran[run.schedule] += 1
            assert len(await store.limits.list_runs(NAMESPACE, KEY, limit=9)) <= 3
            # No schedule has had more than twice the slots of another that waits.
            assert max(ran.values()) - min(ran[name] for name in names) <= 1, ran
        assert ran == dict.fromkeys(names, 5)

    async def test_a_tick_does_not_wait_for_runs_that_were_enqueued_before(self, store: Store) -> None:
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {}) for _ in range(200)], "ada", now=later(0))
        await create(store, "tick", SECOND)
        await plan(store, 1)
        # One slot becomes free at a time, and the task is the same.
        begun = [run.schedule for run in await serve(store, 2, 2, slots=1)]
        assert "tick" in begun
        rest = await serve(store, 3, 4, slots=100)
        assert [run.id for run in rest] == sorted(run.id for run in rest)
        assert len(rest) == 199

    async def test_enqueued_runs_do_not_wait_for_those_of_another_task(self, store: Store) -> None:
        both = ("work", "other")
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {}) for _ in range(50)], "ada", now=later(0))
        mine = {await enqueue(store, 1, task="other") for _ in range(5)}
        begun = []
        for _ in range(10):
            [run] = (await claim(store, 2, 1, tasks=both)).runs
            begun.append(run.target)
        assert Counter(begun) == {"work": 5, "other": 5}
        assert not mine & {run.id for run in (await claim(store, 3, 100, tasks=both)).runs}

    async def test_a_claim_of_many_has_some_of_each_task(self, store: Store) -> None:
        for task, count in (("a", 90), ("b", 3), ("c", 90)):
            await store.runs.enqueue(NAMESPACE, [NewRun(Target(task), {}) for _ in range(count)], "ada", now=later(0))
        found = (await claim(store, 1, 21, tasks=("a", "b", "c"))).runs
        assert Counter(run.target for run in found) == {"a": 9, "b": 3, "c": 9}
        # A worker that claims ahead begins them in this order.
        assert [run.target for run in found[:6]] == ["a", "b", "c"] * 2

    async def test_runs_that_were_delayed_to_one_instant_let_others_pass(self, store: Store) -> None:
        await store.runs.enqueue(
            NAMESPACE, [NewRun(Target("work"), {}, delay=60) for _ in range(50)], "ada", now=later(0)
        )
        other = await enqueue(store, 61, task="other")
        begun = [run.id for _ in range(2) for run in (await claim(store, 62, 1, tasks=("work", "other"))).runs]
        assert other in begun

    async def test_another_queue_is_served_in_turn(self, store: Store) -> None:
        many = [NewRun(Target("work"), {}, queue="bulk") for _ in range(50)]
        await store.runs.enqueue(NAMESPACE, many, "ada", now=later(0))
        other = await enqueue(store, 1, task="other")
        queues = ("bulk", "default")
        begun = [
            run.id for _ in range(2) for run in (await claim(store, 2, 1, queues=queues, tasks=("work", "other"))).runs
        ]
        assert other in begun

    async def test_a_better_priority_comes_first_whosever_turn_it_is(self, store: Store) -> None:
        await store.runs.enqueue(
            NAMESPACE, [NewRun(Target("a"), {}, priority=1) for _ in range(6)], "ada", now=later(0)
        )
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("b"), {}, priority=1)], "ada", now=later(0))
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("c"), {}) for _ in range(6)], "ada", now=later(0))
        found = [
            run.target for slots in (1, 1, 5, 3) for run in (await claim(store, 1, slots, tasks=("a", "b", "c"))).runs
        ]
        assert sorted(found[:7]) == ["a"] * 6 + ["b"]
        assert found[7:] == ["c"] * 3

    async def test_a_rate_is_shared_too(self, store: Store) -> None:
        await store.queues.set_rate(NAMESPACE, "default", RateLimit(4, 60), "ada", now=later(0))
        await store.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {}) for _ in range(50)], "ada", now=later(0))
        for _ in range(2):
            await enqueue(store, 1, task="other")
        found = (await claim(store, 2, 10, tasks=("work", "other"))).runs
        assert Counter(run.target for run in found) == {"work": 2, "other": 2}
        assert not (await claim(store, 3, 10, tasks=("work", "other"))).runs

    async def test_tasks_that_a_worker_does_not_have_keep_nothing_back(self, store: Store) -> None:
        many = [NewRun(Target(f"foreign{number}"), {}, priority=number % 3) for number in range(50)]
        await store.runs.enqueue(NAMESPACE, many, "ada", now=later(0))
        mine = await enqueue(store, 1)
        assert [run.id for run in (await claim(store, 2, 5)).runs] == [mine]
        found = await claim(store, 3, 5)
        assert (list(found.runs), found.next_at) == ([], None)
