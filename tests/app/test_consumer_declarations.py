"""Consumers in code: every refusal is a clear error at the definition, and registers nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from tickbird import Backoff, DefinitionError, Event, EventBatch, InvalidError, Tickbird


async def handle(event: Event) -> None: ...


async def handle_batch(batch: EventBatch) -> None: ...


def two(event: Event, more: int) -> None: ...


def none() -> None: ...


def named(*, event: Event) -> None: ...


def generator(event: Event) -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    "topics, options, words",
    [
        ("orders paid", {}, "'orders paid' is not a pattern"),
        ((), {}, "1 to 20 patterns"),
        ([5], {}, "'5' is not a pattern"),
        ("a", {"group": "a b"}, "group: 'a b'"),
        ("a", {"group": ".."}, "part of a URL"),
        ("a", {"start": "now"}, "neither 'earliest' nor 'latest'"),
        ("a", {"batch": 0}, "batch: 0 is not"),
        ("a", {"batch": True}, "batch: True"),
        ("a", {"concurrency": 101}, "from 1 to 100"),
        ("a", {"retries": -1}, "retries"),
        ("a", {"timeout": "soon"}, "timeout"),
        ("a", {"backoff": "x"}, "backoff"),
        ("a", {"queue": "mail"}, "'queue' is not an option of a consumer"),
        ("a", {"infrastructure": [Exception]}, "infrastructure"),
        ("a", {"infrastructure": ["TimeoutError"]}, "infrastructure"),
        ("a", {"infrastructure": 5}, "infrastructure: 5 is not a class"),
        ("a", {"infrastructure": "TimeoutError"}, "infrastructure: TimeoutError is not a class"),
    ],
)
def test_an_invalid_option_is_refused(topics: Any, options: dict[str, Any], words: str) -> None:
    bird = Tickbird()
    with pytest.raises(InvalidError, match=words):
        bird.consumer(topics, **{"group": "billing", **options})(handle)
    assert not bird.consumers


@pytest.mark.parametrize(
    "function, options, words",
    [
        (two, {}, r"two\(event: 'Event', more: 'int'\) -> 'None' cannot be called with one argument, an Event"),
        (none, {"batch": 5}, "one parameter for an EventBatch"),
        (named, {}, "cannot be called with one argument"),
        (generator, {}, "generator"),
        (functools.partial(two, more=1), {}, "must be a function"),
        (handle, {"batch": 5}, "takes an Event, but is called with batches"),
        (handle_batch, {}, "takes an EventBatch, but is called once per event"),
    ],
)
def test_a_function_that_cannot_be_called_is_refused(
    function: Callable[..., Any], options: dict[str, Any], words: str
) -> None:
    bird = Tickbird()
    with pytest.raises(DefinitionError, match=words):
        bird.consumer("orders.*", group="billing", **options)(function)
    assert not bird.consumers


def test_a_group_has_one_consumer() -> None:
    bird = Tickbird()
    assert bird.consumer(["orders.*", "orders.*", "carts.#"], group="billing")(handle) is handle
    with pytest.raises(DefinitionError, match="two consumers of the group 'billing'"):
        bird.consumer("orders.*", group="billing")(handle)
    consumer = bird.consumers["billing"]
    assert consumer.group.topics == ("orders.*", "carts.#")
    assert (consumer.policies.retries, consumer.policies.timeout, consumer.concurrency) == (3, None, 4)


def test_options_have_the_forms_of_tasks() -> None:
    bird = Tickbird()
    bird.consumer("a", group="a", batch=5, retries=1, timeout="2m", backoff=Backoff(2, 8), start="latest")(handle_batch)
    consumer = bird.consumers["a"]
    assert (consumer.policies.timeout, consumer.policies.backoff, consumer.batch) == (120, Backoff(2, 8), 5)
    assert consumer.group.start == "latest"


class Sink:
    async def open(self) -> None: ...

    async def send(self, events: Sequence[Event]) -> None: ...

    async def close(self) -> None: ...


def test_a_relay_needs_a_sink() -> None:
    bird = Tickbird()
    with pytest.raises(DefinitionError, match="relay 'out': int is not a sink"):
        bird.relay("a", 5, group="out")  # type: ignore[arg-type]
    bird.relay("a", Sink(), group="out")
    assert bird.consumers["out"].batch == 500
    with pytest.raises(InvalidError, match="batch"):
        bird.relay("a", Sink(), group="more", batch=0)
