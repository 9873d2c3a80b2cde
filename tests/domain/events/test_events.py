"""Topics, patterns and checks of events."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.events.event import (
    Event,
    NewEvent,
    check_data,
    merge_payload,
    new_event,
    partition_of,
    tick_event_id,
)
from tickbird.domain.events.topics import check_patterns, check_topic, matches
from tickbird.domain.schedules.payload import check_payload
from tickbird.domain.targets.event import EventSpec, event
from tickbird.domain.targets.registry import read_target, write_target

TOPICS = ("orders", "orders.paid", "orders.paid.late", "stock", "stock.paid")


@pytest.mark.parametrize(
    "pattern,expected",
    [
        ("orders", {"orders"}),
        ("orders.*", {"orders.paid"}),
        ("*.paid", {"orders.paid", "stock.paid"}),
        ("orders.#", {"orders", "orders.paid", "orders.paid.late"}),
        ("#.late", {"orders.paid.late"}),
        ("#.paid.#", {"orders.paid", "orders.paid.late", "stock.paid"}),
        ("*", {"orders", "stock"}),
        ("#", set(TOPICS)),
        ("paid", set()),
    ],
)
def test_patterns_match_whole_words(pattern: str, expected: set[str]) -> None:
    assert {topic for topic in TOPICS if matches(topic, check_patterns(pattern))} == expected


@pytest.mark.parametrize("topic", ["", ".", "a.", ".a", "a..b", "a b", "a*", "ä", "a" * 201, None, 5])
def test_invalid_topics_are_refused(topic: object) -> None:
    with pytest.raises(InvalidError, match="topic"):
        check_topic(topic)


@pytest.mark.parametrize("pattern", ["", "a.**", "a.#b", "a..b", "a b"])
def test_invalid_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(InvalidError, match="pattern"):
        check_patterns(pattern)


@pytest.mark.parametrize(
    "fields",
    [
        {"type": ""},
        {"type": "x" * 201},
        {"key": ""},
        {"key": "k\0"},
        {"tenant": ""},
        {"headers": {"Trace": "a"}},
        {"headers": {"id": "a"}},
        {"headers": {"a": 5}},
        {"headers": []},
        {"data": float("nan")},
        {"data": object()},
        {"data": "x" * 1_000_001},
        {"expected_version": -1, "key": "k"},
        {"expected_version": "1", "key": "k"},
        {"expected_version": 1.0, "key": "k"},
        {"expected_version": 1},
    ],
)
def test_invalid_events_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidError):
        NewEvent(**{"topic": "a", "type": "A", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value,words",
    [
        ("\0", "contains a NUL character, which databases reject"),
        ({"a": ["b\0"]}, "contains a NUL character, which databases reject"),
        ({"a\0": 1}, "contains a NUL character, which databases reject"),
        ("\\\0", "contains a NUL character, which databases reject"),
        ({"a": "\ud800"}, "is not JSON"),
    ],
)
def test_data_that_databases_reject_is_refused_like_a_payload(value: object, words: str) -> None:
    with pytest.raises(DefinitionError, match=f"^data {words}"):
        NewEvent(topic="a", type="A", data=value)
    with pytest.raises(DefinitionError, match=f"^event: data {words}"):
        event("a", "A", data=value)
    with pytest.raises(DefinitionError, match=f"^payload {words}"):
        check_payload({"data": value})


@pytest.mark.parametrize(
    "fields,words",
    [
        ({"key": 1}, "key must be a text, not 1"),
        ({"headers": {"a": 1}}, "headers: a must be a text, not 1"),
        ({"headers": {1: "a", "b": "c"}}, "headers: '1' cannot be the name"),
        ({"headers": ["a"]}, "headers must be an object"),
        ({"topic": 1}, "topic"),
    ],
)
def test_values_of_wrong_types_are_named(fields: dict[str, Any], words: str) -> None:
    fields = {"topic": "a", "type": "A", **fields}
    with pytest.raises(InvalidError, match=words):
        new_event(**fields)
    with pytest.raises(DefinitionError, match=words):
        event(**fields)


def test_an_escape_of_a_backslash_is_no_nul_character() -> None:
    assert check_data("\\u0000") == '"\\\\u0000"'


def test_the_target_of_a_schedule() -> None:
    wrong: object
    spec = event("orders.nightly", "Due", key="k", data={"a": 1}, headers={"b": "2"}, tenant="t")
    document = {"event": spec.to_json()}
    assert document["event"] == {
        "topic": "orders.nightly",
        "type": "Due",
        "key": "k",
        "data": {"a": 1},
        "headers": {"b": "2"},
        "tenant": "t",
    }
    target = read_target(document)
    assert (target.kind, target.name, target.spec) == ("event", "orders.nightly", spec)
    assert write_target(target) == document
    assert EventSpec.from_json({"topic": "a", "type": "A"}).to_json() == {"topic": "a", "type": "A"}
    for wrong in ({}, {"topic": "a"}, {"topic": "a", "type": "A", "subject": "x"}, [], {"topic": "a b", "type": "A"}):
        with pytest.raises(DefinitionError, match="event: "):
            EventSpec.from_json(wrong)


def test_the_payload_of_a_run() -> None:
    assert merge_payload({"a": 1, "b": 1}, {"b": 2}) == {"a": 1, "b": 2}
    assert merge_payload([1], {"b": 2}) == {"b": 2}
    assert merge_payload([1], {}) == [1]
    assert merge_payload(None, None) == {}


def test_ids_and_partitions_never_change() -> None:
    assert tick_event_id("default", "nightly", 1_767_225_600) == UUID("daae477e-e057-3402-2a2a-2e8a82dcb969")
    assert partition_of("42", 16) == 12


def test_the_format_of_cloud_events() -> None:
    stored = Event(
        id=UUID(int=1),
        namespace="default",
        topic="orders",
        type="Paid",
        source="/shop",
        time=datetime(2026, 1, 1, tzinfo=UTC),
        data={"a": 1},
        key="k",
        headers={"traceparent": "00"},
        tenant=None,
        published_at=datetime(2026, 1, 1, tzinfo=UTC),
        partition=3,
        position=7,
        incarnation=5,
        version=2,
    )
    assert stored.to_cloud_event() == {
        "specversion": "1.0",
        "id": "00000000-0000-0000-0000-000000000001",
        "source": "/shop",
        "type": "Paid",
        "subject": "k",
        "time": "2026-01-01T00:00:00Z",
        "datacontenttype": "application/json",
        "partitionkey": "k",
        "topic": "orders",
        "position": 7,
        "aggregateversion": 2,
        "traceparent": "00",
        "incarnation": 5,
        "data": {"a": 1},
    }
    assert str(stored.resume_token) == "5:7"
    assert replace(stored, position=None).resume_token is None
    assert replace(stored, headers={"incarnation": "x"}).to_cloud_event()["incarnation"] == 5
