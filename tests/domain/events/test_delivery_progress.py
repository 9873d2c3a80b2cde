"""The decisions of a delivery, for random units and results of the consumer."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.events.deliveries import Delivery, DeliveryItem, DeliveryOutcome, PartitionLease, Unit
from tickbird.domain.events.delivery_progress import ConsumerError, DeliveryProgress, pause_after
from tickbird.domain.events.event import Event

LEASE = PartitionLease("default", "billing", 3, 7)
AT = datetime(2026, 1, 1, tzinfo=UTC)
AFTER = 10


def item(position: int, transaction: UUID | None = None, *, held: bool = False, failures: int = 0) -> DeliveryItem:
    event = Event(
        id=uuid4(),
        namespace="default",
        topic="a",
        type="A",
        source="tests",
        time=AT,
        data={},
        key="k",
        headers={},
        tenant=None,
        published_at=AT,
        partition=3,
        position=position,
        transaction_id=transaction,
    )
    return DeliveryItem(event, failures, held)


def delivery(items: list[DeliveryItem], *, crashes: int = 0, is_redelivery: bool = False) -> Delivery:
    return Delivery(
        lease=LEASE,
        consumer="billing",
        after=AFTER,
        through=items[-1].position + 5,
        items=tuple(items),
        crashes=crashes,
        is_redelivery=is_redelivery,
    )


def retry_in(failures: int) -> float | None:
    return 2.0 if failures <= 2 else None


@st.composite
def deliveries(draw: st.DrawFn) -> Delivery:
    items: list[DeliveryItem] = []
    position = AFTER
    most = draw(st.sampled_from([0, 0, 3]))
    for _ in range(draw(st.integers(1, 6))):
        size, held = draw(st.integers(1, 3)), draw(st.booleans())
        transaction = uuid4() if size > 1 else None
        for _ in range(size):
            position += 1
            items.append(item(position, transaction, held=held, failures=draw(st.integers(0, most))))
        position += draw(st.integers(0, 3))
    return delivery(items, crashes=draw(st.sampled_from([0, 0, 1, 3, 4])))


ERRORS = (ConsumerError("raised"), ConsumerError("refused", "refused"), ConsumerError("unavailable", "unavailable"))
RESULTS = st.sampled_from(["well", "well", "well", "committed", "stop", "still running", *ERRORS])


@given(deliveries(), st.booleans(), st.data())
def test_each_event_has_one_result_and_none_is_passed_over(
    given: Delivery, is_batch: bool, data: st.DataObject
) -> None:
    progress = DeliveryProgress(given, is_batch=is_batch, retry_in=retry_in)
    delivered: list[int] = []
    committed: list[DeliveryOutcome] = []
    while call := progress.next_call():
        called = [position for unit in call for position in unit.positions]
        assert not any(unit.is_held for unit in call)
        assert not delivered or delivered[-1] < called[0]
        result = data.draw(RESULTS)
        if result == "stop":
            break
        if result == "committed":
            committed.append(progress.commit_outcome(call))
        if isinstance(result, ConsumerError):
            progress.fail(call, result)
        elif result == "still running":
            progress.fail(call, ERRORS[0], has_ended=False)
        else:
            delivered += called
            progress.succeed(call, is_committed=result == "committed")
    outcomes = [*committed, progress.outcome()]
    # A store applies an outcome only if the offset is where it begins.
    for before, after in pairwise(outcomes):
        assert after.after == before.through
    assert outcomes[0].after == AFTER
    failed = outcomes[-1].failure.positions if outcomes[-1].failure else ()
    recorded = [position for outcome in outcomes for position in outcome.delivered]
    deferred = [position for outcome in outcomes for position in outcome.deferred]
    assert recorded == delivered
    assert all(outcome.failure is None and outcome.pause is None for outcome in committed)
    passed = [one.position for one in given.items if one.position <= outcomes[-1].through]
    assert sorted([*recorded, *deferred, *failed]) == passed
    held = {position for unit in given.units() if unit.is_held for position in unit.positions}
    assert set(deferred) == held & set(passed)
    if len(passed) == len(given.items):
        assert outcomes[-1].through == given.through
    if given.crashes > 3:
        assert recorded == []


def only(progress: DeliveryProgress) -> Unit:
    [unit] = progress.next_call()
    return unit


def test_a_batch_that_fails_is_called_unit_by_unit() -> None:
    progress = DeliveryProgress(delivery([item(11), item(12), item(13)]), is_batch=True, retry_in=retry_in)
    call = progress.next_call()
    assert [unit.positions for unit in call] == [(11,), (12,), (13,)]
    progress.fail(call, ERRORS[0])
    progress.succeed([only(progress)])
    progress.fail([only(progress)], ERRORS[0])
    assert progress.next_call() == ()
    outcome = progress.outcome()
    assert (outcome.delivered, outcome.through, outcome.pause) == ((11,), 12, None)
    assert outcome.failure is not None
    assert (outcome.failure.positions, outcome.failure.failures, outcome.failure.retry_in) == ((12,), 1, 2.0)


def test_retries_are_used_up_and_a_refused_event_has_none() -> None:
    for failures, error, expected in ((1, ERRORS[0], 2.0), (2, ERRORS[0], None), (0, ERRORS[1], None)):
        progress = DeliveryProgress(delivery([item(11, failures=failures)]), is_batch=True, retry_in=retry_in)
        progress.fail([only(progress)], error)
        failure = progress.outcome().failure
        assert failure is not None
        assert (failure.failures, failure.retry_in) == (failures + 1, expected)


def test_an_unavailable_system_fails_nothing() -> None:
    progress = DeliveryProgress(delivery([item(11), item(12)]), is_batch=False, retry_in=retry_in)
    progress.succeed([only(progress)])
    progress.fail([only(progress)], ERRORS[2])
    outcome = progress.outcome(pauses=3)
    assert (outcome.delivered, outcome.through, outcome.failure) == ((11,), 11, None)
    assert (outcome.pause, outcome.error) == (8.0, "unavailable")
    assert [pause_after(pauses) for pauses in (0, 1, 5, 6, 100_000)] == [1.0, 2.0, 32.0, 60.0, 60.0]


def test_a_unit_that_ends_workers_fails_without_a_call() -> None:
    alone = DeliveryProgress(delivery([item(11)], crashes=3), is_batch=True, retry_in=retry_in)
    assert only(alone).positions == (11,)
    lost = DeliveryProgress(delivery([item(11)], crashes=4), is_batch=True, retry_in=retry_in)
    assert lost.next_call() == ()
    failure = lost.outcome().failure
    assert failure is not None
    assert (failure.positions, failure.retry_in) == ((11,), None)
    assert failure.error == "the worker was lost 3 times while it handled this event"


def test_letters_that_have_failed_are_called_one_by_one() -> None:
    fresh = delivery([item(11), item(14)], is_redelivery=True)
    assert len(DeliveryProgress(fresh, is_batch=True, retry_in=retry_in).next_call()) == 2
    failed = delivery([item(11), item(14, failures=1)], is_redelivery=True)
    assert len(DeliveryProgress(failed, is_batch=True, retry_in=retry_in).next_call()) == 1
