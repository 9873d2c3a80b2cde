"""Declarations in code: every refusal is a clear error, and registers nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tickbird import DefinitionError, InvalidError, NotFoundError, PayloadError, Tickbird, TickbirdError, at, every
from tickbird.stores import open_store

HOURLY = every(hours=1)


def work() -> None: ...


@pytest.mark.parametrize(
    "options, words",
    [
        ({"tags": 5}, "tags"),
        ({"retries": -1}, "retries"),
        ({"retries": True}, "retries"),
        ({"retries": 10**10}, "retries"),
        ({"retrys": 3}, "Did you mean retries"),
        ({"priority": 10**12}, "priority"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": 1.5}, "timeout"),
        ({"timeout": 10**15}, "100 years"),
        ({"grace": "soon"}, "grace"),
        ({"overlap": "maybe"}, "overlap"),
        ({"queue": "a b"}, "queue"),
        ({"exclude": ["sat", "sun", "mon", "tue", "wed", "thu", "fri"]}, "all seven"),
        ({"exclude": ["someday"]}, "someday"),
        ({"start_at": datetime(2026, 1, 1)}, "zone"),
        ({"start_at": datetime(2027, 1, 1, tzinfo=UTC), "end_at": datetime(2026, 1, 1, tzinfo=UTC)}, "end_at"),
        ({"max_runs": 0}, "max_runs"),
        ({"description": "a\0b"}, "description"),
        ({"payload": {"x": 1}}, "payload"),
        ({"payload": [1]}, "payload"),
    ],
)
def test_an_invalid_option_is_refused(options: dict[str, Any], words: str) -> None:
    bird = Tickbird()
    with pytest.raises(InvalidError, match=words):
        bird.task(name="work", schedule=HOURLY, **options)(work)
    assert not bird.tasks
    assert not bird.declarations.schedules


@pytest.mark.parametrize(
    "options", [{"retries": -1}, {"retries": True}, {"priority": 10**12}, {"grace": 3}, {"nope": 1}]
)
def test_the_options_of_a_task_alone_are_checked_too(options: dict[str, Any]) -> None:
    bird = Tickbird()
    with pytest.raises(DefinitionError):
        bird.task(name="work", **options)(work)
    assert not bird.tasks


def generator() -> Any:
    yield 1


async def async_generator() -> Any:
    yield 1


def many(*numbers: int) -> None: ...


def positional(number: int, /) -> None: ...


def unresolvable(x: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821


class Shop:
    def method(self) -> None: ...

    @classmethod
    def of_class(cls) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        generator,
        async_generator,
        many,
        positional,
        unresolvable,
        functools.partial(work),
        Shop,
        Shop.__dict__["of_class"],
        3,
    ],
)
def test_an_invalid_task_is_refused(function: Any) -> None:
    bird = Tickbird()
    with pytest.raises(DefinitionError):
        bird.task(name="work", schedule=HOURLY)(function)
    assert not bird.tasks


@pytest.mark.parametrize("name", ["", "a b", "🐦", "a\0b", "x" * 201, "a/b", "é"])
def test_odd_names_are_refused(name: str) -> None:
    bird = Tickbird()
    with pytest.raises(DefinitionError, match="not a valid name"):
        bird.task(name=name)(work)
    task = bird.task(work)
    with pytest.raises(DefinitionError, match="not a valid name"):
        bird.schedule(name, task, HOURLY)


def test_a_duplicate_name_is_refused() -> None:
    bird = Tickbird()
    task = bird.task(work)
    with pytest.raises(DefinitionError, match="two tasks named 'work'"):
        bird.task(work)
    bird.schedule("a", task, HOURLY)
    with pytest.raises(DefinitionError, match="two schedules named 'a'"):
        bird.schedule("a", task, HOURLY)


def test_a_schedule_needs_a_task_and_a_trigger() -> None:
    bird = Tickbird()
    with pytest.raises(DefinitionError, match="is not a task"):
        bird.schedule("a", work, HOURLY)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError, match="no task"):
        bird.schedule("a", "nope", HOURLY)
    task = bird.task(work)
    with pytest.raises(DefinitionError, match="cron"):
        bird.schedule("a", task, "* * * * *")  # type: ignore[arg-type]
    with pytest.raises(NotFoundError):
        Tickbird().schedule("a", task, HOURLY)


def loop() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def deep() -> Any:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: float("inf"),
        lambda: [float("nan")],
        lambda: {"a": float("-inf")},
        object,
        loop,
        deep,
        lambda: b"\xff",
        lambda: "a\0b",
        lambda: "half \ud800",
        lambda: "x" * 2_000_000,
    ],
)
def test_a_payload_that_json_cannot_carry_is_refused(make: Callable[[], Any]) -> None:
    bird = Tickbird()

    @bird.task
    def take(value: Any = None) -> None: ...

    with pytest.raises(PayloadError):
        take.validate({"value": make()})


async def test_a_client_refuses_invalid_arguments() -> None:
    bird = Tickbird()
    bird.task(work)
    store = open_store("sqlite://:memory:")
    await store.open()
    client = bird.client_on(store)
    attempts: list[Callable[[], Any]] = [
        lambda: client.schedules.create("🐦", HOURLY, "work", actor="ana"),
        lambda: client.schedules.create("a", HOURLY, "nope", actor="ana"),
        lambda: client.schedules.create("a", at(datetime(2020, 1, 1, tzinfo=UTC)), "work", actor="ana"),
        lambda: client.schedules.create("a", HOURLY, "work", actor="ana", end_at=datetime(2020, 1, 1, tzinfo=UTC)),
        lambda: client.schedules.create("a", HOURLY, "work", actor=""),
        lambda: client.schedules.create("a", HOURLY, "work", actor="ana", payload={"x": 1}),
        lambda: client.schedules.create("a", HOURLY, "work", actor="ana", colour="red"),
        lambda: client.schedules.create("a", HOURLY, "work", actor="ana", tags=5),
        lambda: client.runs.enqueue("work", actor="ana", priority=10**12),
        lambda: client.runs.enqueue("work", actor="ana", delay=10**15),
        lambda: client.runs.enqueue("work", actor="ana", delay=5, at=datetime(2030, 1, 1, tzinfo=UTC)),
        lambda: client.runs.enqueue("work", actor="ana", at=datetime(2030, 1, 1)),
        lambda: client.runs.enqueue("work", actor="a\0"),
        lambda: client.schedules.list(limit=-1),
        lambda: client.schedules.list(state="odd"),  # type: ignore[arg-type]
        lambda: client.schedules.list(contains="\0"),
        lambda: client.runs.list(status="odd"),  # type: ignore[arg-type]
        lambda: client.runs.get(2**70),
        lambda: client.schedules.get("a\0b"),
        lambda: client.schedules.trigger("nope", actor="ana"),
    ]
    for attempt in attempts:
        with pytest.raises(TickbirdError):
            await attempt()
    assert not await client.schedules.list()
    assert not await client.runs.list()
    await store.close()
