"""Queued runs that a worker cannot read: it leaves them to other workers, and continues with the rest."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from conformance.capabilities import needs
from conformance.schedules.plain_sql import Plain, raw
from conformance.steps import (
    NAME,
    NAMESPACE,
    a_worker,
    change,
    claim,
    create,
    enqueue,
    later,
    plan,
    read,
    runs_of,
)
from tickbird.domain.limits.rate_limits import read_rate
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.leases import ClaimResult
from tickbird.domain.runs.unreadable_runs import RECHECK_SECONDS
from tickbird.domain.schedules.codec import FORMAT
from tickbird.store.protocol.store import Store

PAYLOAD = {"amount": 500, "customer": "acme"}
UNREADABLE: dict[str, str] = {
    "newer-format": json.dumps(raw(v=FORMAT + 96, payload=PAYLOAD)),
    "unknown-zone": json.dumps(raw(trigger={"cron": "* * * * *", "tz": "Mars/Olympus"}, payload=PAYLOAD)),
    "unknown-field": json.dumps(raw(colour="red", payload=PAYLOAD)),
    "long-number": '{"v": 1, "grace": ' + "1" * 5_000 + "}",
    "text": '"hello"',
}
LONG_NUMBER = '{"n": ' + "1" * 5_000 + "}"


def is_idle(claimed: ClaimResult) -> bool:
    """Whether the worker sleeps after this claim, instead of claiming again at once."""
    return not claimed.runs and (claimed.next_at is None or claimed.next_at >= claimed.now + timedelta(seconds=1))


async def begin(store: Store) -> None:
    """Clear the cache of unreadable runs, which other tests may have filled."""
    await claim(store, -2 * RECHECK_SECONDS)


class UnreadableRuns:
    """A run is executed with all that it was created with, or not at all."""

    @pytest.mark.parametrize("flaw", UNREADABLE)
    async def test_a_run_of_an_unreadable_revision_is_left_to_another_worker(
        self, store: Store, other: Store, plain: Plain, flaw: str
    ) -> None:
        await begin(other)
        schedule = await create(store, payload=PAYLOAD, timeout=30, retries=2)
        await plan(store, 60)
        [run] = await runs_of(store)
        await plain.rewrite_revision(schedule.id, 1, UNREADABLE[flaw])
        await create(store, "healthy", at=60)
        await change(store, Trigger(actor="ada"), 61, name="healthy")
        # One slot: the run that cannot be read stands in front.
        [healthy] = (await claim(other, 61, 1)).runs
        assert healthy.schedule == "healthy"
        left = await claim(other, 61)
        assert is_idle(left)
        [unreadable] = left.unreadable
        assert (unreadable.schedule, unreadable.revision) == (NAME, 1)
        assert unreadable.error
        found = await read(store, run.id)
        assert (found.status, found.attempt, found.worker, found.started_at) == ("queued", 0, None, None)
        assert found.available_at == run.available_at
        # This store has read the revision before: it stands for a worker that can.
        able = await claim(store, 62, worker=a_worker("able"))
        [taken] = able.runs
        assert (taken.id, taken.attempt, taken.payload) == (run.id, 1, PAYLOAD)
        assert taken.definition is not None
        assert (taken.definition.timeout, taken.definition.retries) == (30, 2)
        assert able.unreadable == ()

    async def test_run_of_a_missing_revision_is_not_claimed(self, store: Store, other: Store, plain: Plain) -> None:
        await begin(other)
        schedule = await create(store, payload=PAYLOAD)
        await change(store, Trigger(actor="ada"), 10)
        await plain.delete_revision(schedule.id, 1)
        left = await claim(other, 11)
        assert is_idle(left)
        assert [(unreadable.schedule, unreadable.revision) for unreadable in left.unreadable] == [(NAME, 1)]

    async def test_many_unreadable_runs_do_not_hide_a_good_one(self, store: Store, other: Store, plain: Plain) -> None:
        await begin(other)
        for number in range(30):
            schedule = await create(store, f"newer-{number:02}", payload=PAYLOAD)
            for _ in range(3):
                await change(store, Trigger(actor="ada"), 10, name=schedule.name)
            await plain.rewrite_revision(schedule.id, 1, UNREADABLE["newer-format"])
        good = await enqueue(store, 20)
        assert [run.id for run in (await claim(other, 21, 1)).runs] == [good]
        left = await claim(other, 21, 1)
        assert is_idle(left)
        assert len(left.unreadable) == 30

    async def test_run_with_an_unreadable_payload_is_not_claimed(
        self, store: Store, other: Store, plain: Plain
    ) -> None:
        await begin(other)
        bad = await enqueue(store, payload=PAYLOAD)
        good = await enqueue(store, payload=PAYLOAD)
        await plain.rewrite_payload(bad, LONG_NUMBER)
        assert [run.id for run in (await claim(other, 1, 1)).runs] == [good]
        left = await claim(other, 2)
        assert is_idle(left)
        assert [unreadable.run_id for unreadable in left.unreadable] == [bad]

    async def test_an_unreadable_run_is_claimed_once_it_is_repaired(
        self, store: Store, other: Store, plain: Plain
    ) -> None:
        await begin(other)
        schedule = await create(store, payload=PAYLOAD)
        await change(store, Trigger(actor="ada"), 10)
        bad = await enqueue(store, 10, payload=PAYLOAD)
        await plain.rewrite_revision(schedule.id, 1, UNREADABLE["newer-format"])
        await plain.rewrite_payload(bad, LONG_NUMBER)
        assert is_idle(await claim(other, 11))
        await plain.rewrite_revision(schedule.id, 1, json.dumps(raw(payload=PAYLOAD)))
        await plain.rewrite_payload(bad, json.dumps(PAYLOAD))
        claimed = [*(await claim(other, 12 + RECHECK_SECONDS)).runs]
        claimed += (await claim(other, 12 + RECHECK_SECONDS)).runs
        assert [run.payload for run in claimed] == [PAYLOAD, PAYLOAD]
        assert (await claim(other, 13 + RECHECK_SECONDS)).unreadable == ()

    @needs("queues")
    async def test_unreadable_run_in_a_rate_limited_queue_causes_no_busy_loop(
        self, store: Store, other: Store, plain: Plain
    ) -> None:
        await begin(other)
        await store.queues.set_rate(NAMESPACE, "mail", read_rate("1/min"), "ada", now=later(0))
        schedule = await create(store, queue="mail", payload=PAYLOAD)
        await change(store, Trigger(actor="ada"), 10)
        await plain.rewrite_revision(schedule.id, 1, UNREADABLE["newer-format"])
        good = await enqueue(store, 11, queue="mail")
        # It begins nothing, so it uses up nothing of the rate.
        assert [run.id for run in (await claim(other, 12, 1, queues=("mail",))).runs] == [good]
        assert is_idle(await claim(other, 80, queues=("mail",)))
        assert is_idle(await claim(other, 81, queues=("mail",)))
