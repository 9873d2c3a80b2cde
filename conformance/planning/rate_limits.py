"""Rate limits of queues: the number of starts per period, for all workers together."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.steps import (
    NAMESPACE,
    a_worker,
    change,
    claim,
    create,
    define,
    enqueue,
    finish,
    later,
    read,
    since,
    start,
)
from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus, RateLimit, read_rate
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.leases import ClaimResult
from tickbird.domain.runs.run import NewRun
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.store import Store

MAIL = "mail"
BOTH = ("default", MAIL)


async def rate(store: Store, text: str | None, at: float = 0, queue: str = MAIL) -> QueueStatus:
    """Let runs of the queue begin at this rate."""
    return await store.queues.set_rate(
        NAMESPACE, queue, None if text is None else read_rate(text), "ada", now=later(at)
    )


async def mails(store: Store, count: int, at: float = 0, **run: Any) -> list[int]:
    """Enqueue runs in the queue."""
    new = NewRun(define().target, {}, **{"queue": MAIL, **run})
    return list(await store.runs.enqueue(NAMESPACE, [new] * count, "ada", now=later(at)))


async def begin(store: Store, at: float, limit: int = 100, **options: Any) -> list[int]:
    """The runs that a claim of these queues starts."""
    found = await claim(store, at, limit, **{"queues": BOTH, **options})
    return [run.id for run in found.runs]


class RateLimits:
    """Starts in a queue with a rate limit."""

    async def test_starts_do_not_exceed_the_rate(self, store: Store) -> None:
        await rate(store, "3/min")
        ids = await mails(store, 8)
        assert await begin(store, 1) == ids[:3]
        assert await begin(store, 2) == []
        assert await begin(store, 60.999) == []
        assert await begin(store, 61) == ids[3:6]
        # An hour without a worker lets no more begin at its end.
        await mails(store, 4, 62)
        assert len(await begin(store, 3_700)) == 3
        assert len(await begin(store, 3_730)) == 0

    async def test_a_claim_says_when_the_next_may_begin(self, store: Store) -> None:
        await rate(store, "2/min")
        await mails(store, 3)
        await begin(store, 5, 1)
        await begin(store, 15, 1)
        assert (await claim(store, 20, queues=BOTH)).next_at == later(65)
        await enqueue(store, 20, delay=10)
        assert (await claim(store, 20, queues=BOTH)).next_at == later(30)
        await mails(store, 1, 20, delay=100, priority=9)
        assert len(await begin(store, 70)) == 2
        assert (await claim(store, 70, queues=BOTH)).next_at == later(120)

    async def test_many_begin_within_a_fraction_of_the_period(self, store: Store) -> None:
        await rate(store, "640/min")
        await mails(store, 900)
        assert len(await begin(store, 0.5, 400)) == 400
        assert len(await begin(store, 10, 400)) == 240
        assert len(await begin(store, 60.4, 400)) == 0
        assert len(await begin(store, 61, 400)) == 260

    async def test_the_most_important_begins_first_then_the_oldest(self, store: Store) -> None:
        await rate(store, "1/min")
        first, second = await mails(store, 2)
        [urgent] = await mails(store, 1, 1, priority=5)
        assert [await begin(store, 60 * minute) for minute in (1, 2, 3)] == [[urgent], [first], [second]]

    async def test_other_queues_do_not_wait(self, store: Store) -> None:
        await rate(store, "1/min")
        mail = await mails(store, 3)
        low, high = await enqueue(store, 1), await enqueue(store, 1, priority=3)
        assert await begin(store, 2, 2) == [high, mail[0]]
        assert await begin(store, 3, 2) == [low]
        assert await begin(store, 4, queues=["default"]) == []

    async def test_a_busy_queue_does_not_keep_one_with_a_rate_from_its_turn(self, store: Store) -> None:
        await mails(store, 30, queue="default")
        await rate(store, "1/min")
        [mail] = await mails(store, 1, -1)
        assert mail in [*await begin(store, 1, 2), *await begin(store, 1, 2)]

    async def test_queues_and_namespaces_have_separate_rates(self, store: Store) -> None:
        await rate(store, "1/min")
        await rate(store, "2/min", queue="calls")
        await mails(store, 3)
        await mails(store, 3, queue="calls")
        elsewhere = await enqueue(store, namespace="elsewhere", queue=MAIL)
        again = await enqueue(store, namespace="elsewhere", queue=MAIL)
        assert len(await begin(store, 1, queues=(MAIL, "calls"))) == 3
        worker = a_worker(namespace="elsewhere")
        assert await begin(store, 1, worker=worker) == [elsewhere, again]

    async def test_every_attempt_counts(self, store: Store) -> None:
        await rate(store, "2/min")
        first, second = await mails(store, 2)
        await finish(store, await start(store, 1, queues=BOTH), 2, "queued", failures=1)
        assert await begin(store, 3, 1) == [second]
        assert await begin(store, 60) == []
        assert await begin(store, 61) == [first]

    async def test_a_lost_worker_gives_nothing_back(self, store: Store) -> None:
        await rate(store, "1/min")
        [run_id] = await mails(store, 1)
        await start(store, 1, queues=BOTH, lease=5)
        assert list((await store.leases.rescue(now=later(10))).requeued) == [run_id]
        assert await begin(store, 11) == []
        assert await begin(store, 61) == [run_id]

    async def test_run_cancelled_before_its_start_does_not_count(self, store: Store) -> None:
        await rate(store, "1/min")
        first, second, third = await mails(store, 3)
        await store.runs.cancel(first, "ada", now=later(1))
        assert await begin(store, 2) == [second]
        assert await begin(store, 62) == [third]

    async def test_a_higher_rate_lets_more_begin_at_once(self, store: Store) -> None:
        await rate(store, "2/h")
        ids = await mails(store, 6)
        assert await begin(store, 1) == ids[:2]
        await rate(store, "5/min", 10)
        assert await begin(store, 11) == ids[2:5]
        assert await begin(store, 60) == []
        assert await begin(store, 61) == ids[5:]

    async def test_lower_rate_counts_earlier_starts(self, store: Store) -> None:
        await rate(store, "5/min")
        ids = await mails(store, 8)
        assert await begin(store, 1, 3) == ids[:3]
        await rate(store, "2/min", 2)
        assert await begin(store, 60) == []
        assert await begin(store, 61) == ids[3:5]

    async def test_without_a_rate_everything_flows(self, store: Store) -> None:
        await rate(store, "1/h")
        ids = await mails(store, 5)
        assert await begin(store, 1) == ids[:1]
        assert await rate(store, None, 2) == QueueStatus(MAIL, None, None, 0, 4, 1)
        assert await begin(store, 3) == ids[1:]
        # A rate limit that is set again starts with an empty history.
        await rate(store, "1/h", 4)
        [last, _] = await mails(store, 2, 4)
        assert await begin(store, 5) == [last]

    async def test_planned_run_waits_for_the_rate_limit(self, store: Store) -> None:
        await rate(store, "1/min")
        await create(store, queue=MAIL)
        worker = a_worker()
        hand_off = HandOff(worker, 9, 60, BOTH, [("task", "work")])
        planned = await store.planning.plan_due(hand_off=hand_off, now=later(60))
        assert (planned.runs, list(planned.leased)) == (1, [])
        await create(store, "free", at=60)
        assert [run.schedule for run in (await store.planning.plan_due(hand_off=hand_off, now=later(120))).leased] == [
            "free"
        ]
        assert len(await begin(store, 121)) == 1
        assert await begin(store, 122) == []

    async def test_nothing_is_claimed_to_begin_later(self, store: Store) -> None:
        await rate(store, "9/min")
        await mails(store, 5)
        await mails(store, 9, queue="default")
        found: ClaimResult = await store.leases.claim(
            a_worker(), 6, 60, queues=BOTH, targets=[("task", "work")], at_once=0, now=later(1)
        )
        assert {(await read(store, run)).queue for run in found.runs} == {"default"}
        assert len(found.runs) == 6
        found = await store.leases.claim(
            a_worker(), 6, 60, queues=BOTH, targets=[("task", "work")], at_once=2, now=later(2)
        )
        assert len(found.runs) == 2 or {(await read(store, run)).queue for run in found.runs} == {"default"}
        only = await store.leases.claim(
            a_worker(), 6, 60, queues=[MAIL], targets=[("task", "work")], at_once=2, now=later(3)
        )
        assert len(only.runs) == 2

    async def test_only_claimable_runs_count(self, store: Store) -> None:
        await rate(store, "1/min")
        await mails(store, 1)
        other = await enqueue(store, task="other", queue=MAIL)
        found = await claim(store, 1, queues=BOTH, tasks=("unknown",))
        assert (list(found.runs), found.next_at) == ([], None)
        assert await begin(store, 2, tasks=("other",)) == [other]
        assert await begin(store, 3) == []

    async def test_many_claimers_keep_to_the_rate(self, store: Store, other: Store) -> None:
        await rate(store, "10/min")
        ids = await mails(store, 45)
        await mails(store, 20, queue="default")
        begun: list[int] = []
        for minute in range(6):
            claims = (
                begin(each, 60 * minute + 1, 3, worker=a_worker(f"w{n}")) for n in range(8) for each in (store, other)
            )
            found = {run_id for run_ids in await asyncio.gather(*claims) for run_id in run_ids} & {*ids}
            assert len(found) <= 10
            found |= {*await begin(store, 60 * minute + 2)} & {*ids}
            assert len(found) == min(10, len(ids) - len(begun))
            begun += found
        assert sorted(begun) == sorted(ids)

    async def test_a_change_of_the_rate_amid_claims_loses_nothing(self, store: Store, other: Store) -> None:
        ids = await mails(store, 40)
        begun: list[int] = []
        for second in range(6):
            text = ("5/min", "9/min", None, "3/s", "1/h", None)[second]
            claims = asyncio.gather(*(begin(store, second, 4) for _ in range(3)))
            await rate(other, text, second)
            begun += [run_id for run_ids in await claims for run_id in run_ids]
        begun += await begin(store, 10)
        assert sorted(begun) == ids

    @needs("limits")
    async def test_queues_are_listed(self, store: Store) -> None:
        assert await store.queues.list(NAMESPACE) == []
        assert await rate(store, "2/min") == QueueStatus(MAIL, RateLimit(2, 60), None, 0, 0, 0)
        await mails(store, 4)
        await enqueue(store, concurrency_key="a")
        await enqueue(store, concurrency_key="a")
        await begin(store, 1, queues=[MAIL])
        mail, default = (
            QueueStatus(MAIL, RateLimit(2, 60), later(61), 0, 2, 2),
            QueueStatus("default", None, None, 1, 1, 0),
        )
        assert await store.queues.list(NAMESPACE, now=later(5)) == [default, mail]
        assert await store.queues.list(NAMESPACE, queue=MAIL, now=later(5)) == [mail]
        assert await store.queues.list("elsewhere") == []

    async def test_a_run_knows_its_turn(self, store: Store) -> None:
        ids = await mails(store, 6)
        assert await store.queues.find_position(ids[0], now=later(1)) is None
        await rate(store, "2/min")
        await begin(store, 1, 1)
        await begin(store, 11, 1)
        turns = [await store.queues.find_position(run_id, now=later(20)) for run_id in ids]
        assert turns[:2] == [None, None]
        assert [turn and (turn.runs_before, since(turn.at)) for turn in turns[2:]] == [
            (0, 61),
            (1, 71),
            (2, 121),
            (3, 131),
        ]
        [urgent] = await mails(store, 1, 20, priority=1)
        [delayed] = await mails(store, 1, 20, delay=3_600)
        assert await store.queues.find_position(urgent, now=later(20)) == QueuePosition(RateLimit(2, 60), 0, later(61))
        assert await store.queues.find_position(ids[2], now=later(20)) == QueuePosition(RateLimit(2, 60), 1, later(71))
        assert await store.queues.find_position(delayed, now=later(20)) == QueuePosition(
            RateLimit(2, 60), 5, later(3_620)
        )
        assert await store.queues.find_position(10**9) is None

    async def test_a_change_of_a_rate_is_audited(self, store: Store) -> None:
        await rate(store, "2/min", 1)
        await rate(store, "120/2h", 2)
        await rate(store, None, 3)
        records = [record for record in await store.ledger.list_audit(NAMESPACE) if record.action == "rate"]
        assert [(record.actor, record.at, record.detail) for record in reversed(records)] == [
            ("ada", later(1), {"queue": MAIL, "before": None, "after": "2/min"}),
            ("ada", later(2), {"queue": MAIL, "before": "2/min", "after": "120/2h"}),
            ("ada", later(3), {"queue": MAIL, "before": "120/2h", "after": None}),
        ]

    async def test_clock_set_back_delays_runs_only_briefly(self, store: Store) -> None:
        await rate(store, "1/min", 7_200)
        first, second = await mails(store, 2, -1)
        assert await begin(store, 7_200) == [first]
        assert await begin(store, 0) == []
        assert await begin(store, 59) == []
        assert await begin(store, 60) == [second]

    @pytest.mark.parametrize("overlap", ["queue", "allow"])
    async def test_a_schedule_waits_for_its_queue_as_for_a_worker(self, store: Store, overlap: str) -> None:
        await rate(store, "1/min")
        await create(store, queue=MAIL, overlap=overlap)
        for second in (1, 2):
            await change(store, Trigger(actor="ada"), second)
        first = await start(store, 3, queues=BOTH)
        await finish(store, first, 4)
        assert await begin(store, 5) == []
        assert len(await begin(store, 63)) == 1
