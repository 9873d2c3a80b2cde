"""The Kafka sink, on the cluster that is built into librdkafka."""

from __future__ import annotations

import asyncio
import logging
import sys
import uuid
from collections import Counter
from typing import Any

import pytest

from lab.kafka import (
    INVALID_RECORD,
    MESSAGE_TOO_LARGE,
    NONE,
    NOT_ENOUGH_REPLICAS,
    TOPIC_AUTHORIZATION_FAILED,
    UNKNOWN_TOPIC,
    KafkaCluster,
)
from tests.sinks.conftest import OpenSink
from tests.sinks.events import (
    check_relayed,
    headers_of,
    make_event,
    make_events,
    number_of,
    numbers_of,
    send_until_accepted,
)
from tickbird.domain.errors import DefinitionError, EventRefusedError, UnavailableError
from tickbird.sinks.kafka import KafkaSink


async def test_events_arrive_in_order_per_key(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    events = make_events(3_000, keys=20)
    sink = await open_sink()
    for start in range(0, len(events), 700):
        await sink.send(events[start : start + 700])
    messages = cluster.read("orders")
    assert check_relayed(messages, events) == 0
    partitions = Counter(message.partition() for message in messages if message.key() is not None)
    assert len(partitions) == 4


async def test_a_message_is_a_cloud_event(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    sink = await open_sink()
    await sink.send([make_event(7, "Kö-1", data={"text": "Übergröße"}), make_event(8, None, data=[1, None])])
    first, second = sorted(cluster.read("orders"), key=number_of)
    assert (first.key(), first.value()) == ("Kö-1".encode(), '{"text":"Übergröße"}'.encode())
    assert headers_of(first) == {
        "content-type": "application/json",
        "ce_specversion": "1.0",
        "ce_id": str(uuid.UUID(int=7)),
        "ce_source": "/tickbird/default",
        "ce_type": "OrderPaid",
        "ce_subject": "Kö-1",
        "ce_time": "2026-03-01T12:00:00Z",
        "ce_partitionkey": "Kö-1",
        "ce_topic": "orders",
        "ce_tenant": "acme",
        "ce_position": "7",
        "ce_incarnation": "1234",
        "ce_aggregateversion": "7",
        "ce_transactionid": str(uuid.UUID(int=1_000_000)),
        "ce_transactionordinal": "7",
        "ce_transactioncount": "9",
        "ce_traceparent": "00-7",
    }
    assert (second.key(), second.value()) == (None, b"[1,null]")
    assert not {"ce_subject", "ce_partitionkey", "ce_aggregateversion"} & headers_of(second).keys()


async def test_no_data_is_not_a_deletion(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    """A message without a value deletes its key from a compacted topic."""
    sink = await open_sink()
    event = make_event(1)
    object.__setattr__(event, "data", None)
    await sink.send([event])
    [message] = cluster.read("orders")
    assert message.value() == b"null"


async def test_topics_by_name_template_and_function(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    event = make_event(1, topic="orders.paid")
    await (await open_sink()).send([event])
    await (await open_sink(topic="all")).send([event])
    await (await open_sink(topic="{namespace}.{topic}.v1")).send([event])
    await (await open_sink(topic=lambda event: f"tenant-{event.tenant}")).send([event])
    for topic in ("orders.paid", "all", "default.orders.paid.v1", "tenant-acme"):
        assert numbers_of(cluster.read(topic)) == [1]


async def test_events_without_a_valid_topic_are_refused(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    def choose(event: Any) -> str:
        return {"a": "orders", "b": "no topic"}[event.key]

    sink = await open_sink(topic=choose)
    with pytest.raises(EventRefusedError) as refused:
        await sink.send([make_event(1, "a"), make_event(2, "b"), make_event(3, "c"), make_event(4, "b")])
    assert refused.value.reasons == {
        uuid.UUID(int=2): "'no topic' cannot be the name of a Kafka topic",
        uuid.UUID(int=3): "the function of its Kafka topic raised KeyError: 'c'",
    }
    assert refused.value.unsent == {uuid.UUID(int=4)}
    assert numbers_of(cluster.read("orders")) == [1]


async def test_a_refused_event_is_not_reported_before_earlier_events_of_its_key_are_sent(
    cluster: KafkaCluster, open_sink: OpenSink
) -> None:
    cluster.create_topic("orders")
    cluster.stop_broker()
    sink = await open_sink(timeout="1s", message_max_bytes=10_000)
    large = {"text": "x" * 20_000}
    with pytest.raises(UnavailableError):
        await sink.send([make_event(1, "a"), make_event(2, "a", data=large)])
    with pytest.raises(EventRefusedError) as refused:
        await sink.send([make_event(1, "a"), make_event(2, "a", data=large), make_event(3, "b", data=large)])
    assert {event_id.int for event_id in refused.value.reasons} == {3}
    assert {event_id.int for event_id in refused.value.unsent} == {1, 2}


async def test_a_stopped_broker_is_unavailable_until_it_starts(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    events = make_events(30, keys=3)
    sink, impatient_sink = await open_sink(), await open_sink(timeout="1s")
    await sink.send(events[:10])
    cluster.stop_broker()
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"not acknowledged within 1 s \(.*Connection refused"):
            await impatient_sink.send(events[10:20])
    cluster.start_broker()
    await sink.send(events[10:20])
    # The failed calls have left nothing that is sent later.
    assert check_relayed(cluster.read("orders"), events[:20]) == 0
    await send_until_accepted(impatient_sink, events[20:])
    check_relayed(cluster.read("orders"), events)


async def test_a_silent_broker_is_unavailable(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    events = make_events(40, keys=3)
    sink = await open_sink(timeout="1s")
    await send_until_accepted(sink, events[:10])
    cluster.delay_responses(60)
    with pytest.raises(UnavailableError, match="not acknowledged within 1 s"):
        await sink.send(events[10:30])
    cluster.delay_responses(0)
    await send_until_accepted(sink, events[10:])
    # The broker may have stored the events whose acknowledgements were lost.
    check_relayed(cluster.read("orders"), events)


async def test_a_cancelled_call_sends_nothing_later(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    sink = await open_sink(timeout="10m")
    cluster.create_topic("orders")
    cluster.stop_broker()
    call = asyncio.create_task(sink.send(make_events(10, keys=3)))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await asyncio.shield(call)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    cluster.start_broker()
    await sink.send([make_event(99)])
    assert numbers_of(cluster.read("orders")) == [99]


async def test_a_retry_of_the_broker_keeps_the_order(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    events = [make_event(number) for number in range(1, 40)]
    sink = await open_sink()
    cluster.respond_to_produce_requests(*[NOT_ENOUGH_REPLICAS] * 3)
    await sink.send(events)
    assert check_relayed(cluster.read("orders"), events) == 0


async def test_an_event_that_is_too_large_is_refused_alone(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    large = {"text": "x" * 20_000}
    events = [
        make_event(1, "a"),
        make_event(2, "a", data=large),
        make_event(3, "b"),
        make_event(4, "a"),
        make_event(5, None, data=large),
        make_event(6, None),
    ]
    sink = await open_sink(message_max_bytes=10_000)
    with pytest.raises(EventRefusedError, match=r"refuses 2 of 6 events, such as .*: Broker: Message size") as refused:
        await sink.send(events)
    assert {event_id.int for event_id in refused.value.reasons} == {2, 5}
    # A later event of the key waits; events without a key wait for nothing.
    assert {event_id.int for event_id in refused.value.unsent} == {4}
    assert sorted(numbers_of(cluster.read("orders"))) == [1, 3, 6]


async def test_the_largest_event_fits(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    sink = await open_sink()
    await sink.send([make_event(1, "k" * 500, data="x" * 999_998)])
    assert numbers_of(cluster.read("orders")) == [1]


@pytest.mark.parametrize("error", [MESSAGE_TOO_LARGE, INVALID_RECORD])
async def test_a_batch_that_the_broker_refuses_is_split(cluster: KafkaCluster, open_sink: OpenSink, error: int) -> None:
    """The broker refuses the batch, and then the third event when it comes alone."""
    cluster.create_topic("orders", partitions=1)
    events = [make_event(number, key) for number, key in enumerate("abcacb", start=1)]
    sink = await open_sink()
    cluster.respond_to_produce_requests(error, NONE, NONE, error)
    with pytest.raises(EventRefusedError, match="refuses 1 of 6 events") as refused:
        await sink.send(events)
    assert {event_id.int for event_id in refused.value.reasons} == {3}
    assert {event_id.int for event_id in refused.value.unsent} == {5}
    assert numbers_of(cluster.read("orders")) == [1, 2, 4, 6]
    # The producer that was stopped by the error is replaced.
    await sink.send([make_event(7)])
    assert numbers_of(cluster.read("orders")) == [1, 2, 4, 6, 7]


async def test_events_after_a_refused_batch_are_sent_after_it(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    """The batches after the refused one are held back until its events are sent, one by one."""
    cluster.create_topic("orders", partitions=1)
    events = [make_event(number, f"key-{number % 3}") for number in range(1, 31)]
    sink = await open_sink(batch_num_messages=5, max_in_flight=1)
    cluster.respond_to_produce_requests(NONE, MESSAGE_TOO_LARGE)
    await sink.send(events)
    assert numbers_of(cluster.read("orders")) == list(range(1, 31))


async def test_refused_events_are_reported_even_if_the_time_is_over(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    """Otherwise a batch with more refused events than the time allows would never make progress."""
    cluster.create_topic("orders", partitions=1)
    sink = await open_sink(timeout="4s")
    cluster.respond_to_produce_requests(MESSAGE_TOO_LARGE, MESSAGE_TOO_LARGE, *[NOT_ENOUGH_REPLICAS] * 1_000)
    with pytest.raises(EventRefusedError) as refused:
        await sink.send([make_event(1, "a"), make_event(2, "b"), make_event(3, "c")])
    assert {event_id.int for event_id in refused.value.reasons} == {1}
    assert {event_id.int for event_id in refused.value.unsent} == {2, 3}
    cluster.accept_produce_requests()
    await sink.send([make_event(2, "b"), make_event(3, "c")])
    assert numbers_of(cluster.read("orders")) == [2, 3]


@pytest.mark.parametrize(
    "error,reason",
    [(TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed"), (UNKNOWN_TOPIC, "Unknown topic or partition")],
)
async def test_an_error_of_the_topic_is_no_fault_of_an_event(
    cluster: KafkaCluster, open_sink: OpenSink, error: int, reason: str
) -> None:
    cluster.create_topic("orders")
    cluster.fail_topic("orders", error)
    sink, impatient_sink = await open_sink(), await open_sink(timeout="4s")
    with pytest.raises(UnavailableError, match=rf"Broker: {reason} \(Kafka topic orders\)\."):
        await impatient_sink.send(make_events(5, keys=2))
    cluster.fail_topic("orders", NONE)
    await sink.send(make_events(5, keys=2))
    assert check_relayed(cluster.read("orders"), make_events(5, keys=2)) == 0


async def test_calls_at_the_same_time_do_not_affect_each_other(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    sink = await open_sink(message_max_bytes=10_000)
    good = [[make_event(n * 1_000 + number, f"key-{n}") for number in range(1, 200)] for n in range(1, 6)]
    bad = [make_event(9_999, data="x" * 20_000)]
    *results, refused = await asyncio.gather(*(sink.send(batch) for batch in [*good, bad]), return_exceptions=True)
    assert results == [None] * 5
    assert isinstance(refused, EventRefusedError)
    assert check_relayed(cluster.read("orders"), [event for batch in good for event in batch]) == 0


async def test_a_sink_opens_again(cluster: KafkaCluster, open_sink: OpenSink) -> None:
    sink = await open_sink()
    await sink.send([make_event(1)])
    await sink.close()
    await sink.close()
    await sink.open()
    await sink.send([make_event(2)])
    assert numbers_of(cluster.read("orders")) == [1, 2]


@pytest.mark.parametrize(
    "name", ["acks", "enable_idempotence", "enable.gapless.guarantee", "delivery_timeout_ms", "transactional_id"]
)
def test_settings_that_order_depends_on_cannot_be_changed(name: str) -> None:
    with pytest.raises(DefinitionError, match=f"setting '{name}' cannot be changed"):
        KafkaSink("localhost:9092", **{name: "1"})


@pytest.mark.parametrize("arguments", [{"topic": "no topic"}, {"topic": "{type}"}, {"timeout": 0}, {"linger_ms": [1]}])
def test_invalid_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        KafkaSink("localhost:9092", **arguments)


@pytest.mark.parametrize(
    "name,value,reason",
    [
        ("no_such", "1", 'No such configuration property: "no.such"'),
        ("security_protocol", "fast", "security.protocol"),
        ("max_in_flight", 10, "max.in.flight"),
    ],
)
async def test_settings_that_the_library_refuses(name: str, value: Any, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        await KafkaSink("localhost:9092", **{name: value}).open()


async def test_a_secret_comes_from_the_environment_and_is_in_no_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, cluster: KafkaCluster
) -> None:
    caplog.set_level(logging.DEBUG)
    login = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", "sasl_username": "relay"}
    sink = KafkaSink(cluster.servers, timeout=1, sasl_password="env:KAFKA_PASSWORD", debug="all", **login)
    with pytest.raises(UnavailableError, match=r"variable KAFKA_PASSWORD, for sasl\.password, is not set"):
        await sink.open()
    monkeypatch.setenv("KAFKA_PASSWORD", "tr0ub4dor")
    await sink.open()
    with pytest.raises(UnavailableError) as unavailable:
        await sink.send([make_event(1)])
    await sink.close()
    assert caplog.records
    assert "tr0ub4dor" not in f"{caplog.text} {unavailable.value} {sink!r} {vars(sink)}"


async def test_a_secret_is_in_no_error_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_SETTING", "tr0ub4dor")
    with pytest.raises(DefinitionError, match=r"security\.protocol") as refused:
        await KafkaSink("localhost:9092", security_protocol="env:KAFKA_SETTING").open()
    assert "tr0ub4dor" not in str(refused.value)


async def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(DefinitionError, match=r"pip install 'tickbird\[kafka\]'"):
        await KafkaSink("localhost:9092").open()
