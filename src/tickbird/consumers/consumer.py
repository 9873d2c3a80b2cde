"""Consumers: the function of a group, and how events are delivered to it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.events.deliveries import DeliveryOutcome
from tickbird.domain.events.groups import NewGroup, Start
from tickbird.domain.schedules.fields import Policies
from tickbird.domain.schedules.policy_input import policies

MAX_BATCH: Final = 10_000
MAX_CONCURRENCY: Final = 100
_RETRIES: Final = 3
# Events per delivery to a consumer that is called once per event.
_EVENTS_PER_DELIVERY: Final = 100

OPTIONS: Final = frozenset({"batch", "retries", "backoff", "timeout", "concurrency", "start", "infrastructure"})
# Writes an outcome in the transaction of a connection.
Commit = Callable[[Any, DeliveryOutcome], Any]


async def _close_nothing() -> None:
    """A function has nothing to close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """The function of a group."""

    group: NewGroup
    function: Callable[[Any], Any]
    # None: it is called once per event.
    batch: int | None
    # Retries, backoff and timeout.
    policies: Policies
    # Partitions at once per worker.
    concurrency: int
    # More classes of errors of other systems: they pause the partition, and no event fails.
    infrastructure: tuple[type[BaseException], ...] = ()
    commit: Commit
    # Called in the loop of the function when the worker ends.
    close: Callable[[], Awaitable[None]] = field(default=_close_nothing)

    @property
    def name(self) -> str:
        return self.group.name

    @property
    def read_limit(self) -> int:
        """The number of events per delivery."""
        return _EVENTS_PER_DELIVERY if self.batch is None else self.batch

    @property
    def blocking(self) -> bool:
        return not inspect.iscoroutinefunction(self.function)


def new_consumer(
    topics: str | Iterable[str],
    function: Callable[..., Any],
    *,
    group: str,
    batch: int | None,
    concurrency: int,
    start: Start,
    infrastructure: Iterable[type[BaseException]],
    commit: Commit,
    close: Callable[[], Awaitable[None]] = _close_nothing,
    **options: Any,
) -> Consumer:
    """Check the options of a consumer; raises InvalidError or DefinitionError."""
    patterns = (topics,) if isinstance(topics, str) else tuple(topics)
    declared = NewGroup(name=group, topics=tuple(dict.fromkeys(patterns)), start=start)
    if batch is not None:
        _check_count(group, "batch", batch, MAX_BATCH)
    _check_count(group, "concurrency", concurrency, MAX_CONCURRENCY)
    _check_function(function, group, batch)
    return Consumer(
        group=declared,
        function=function,
        batch=batch,
        policies=Policies(**policies({"retries": _RETRIES, **options})),
        concurrency=concurrency,
        infrastructure=_checked_classes(group, infrastructure),
        commit=commit,
        close=close,
    )


def _check_count(group: str, name: str, value: object, maximum: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= maximum:
        raise InvalidError(
            f"consumer {group!r}: {name}: {str(value)[:40]} is not a whole number from 1 to {maximum:,}.", field=name
        )


def _checked_classes(group: str, classes: Any) -> tuple[type[BaseException], ...]:
    checked = tuple(classes) if isinstance(classes, Iterable) and not isinstance(classes, type | str) else (classes,)
    for item in checked:
        if not isinstance(item, type) or not issubclass(item, Exception) or item is Exception:
            raise DefinitionError(
                f"consumer {group!r}: infrastructure: {str(item)[:60]} is not a class of errors of a system.",
                field="infrastructure",
                hint="Name subclasses of Exception, such as httpx.TransportError.",
            )
    return checked


def _check_function(function: Callable[..., Any], group: str, batch: int | None) -> None:
    """Raise DefinitionError unless it can be called with one event, or with one batch."""
    expected = "an EventBatch" if batch is not None else "an Event"
    if not inspect.isroutine(function) or isinstance(function, classmethod | staticmethod):
        raise DefinitionError(
            f"consumer {group!r} must be a function.", field="consumer", hint="Define it with `def` or `async def`."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise DefinitionError(f"consumer {group!r} is a generator.", field="consumer", hint="Remove the yield.")
    signature = inspect.signature(function)
    try:
        arguments = signature.bind(object()).arguments
    except TypeError:
        raise DefinitionError(
            f"consumer {group!r}: {function.__name__}{signature} cannot be called with one argument, {expected}.",
            field="consumer",
            hint=f"Define it with one parameter for {expected}.",
        ) from None
    annotation = signature.parameters[next(iter(arguments))].annotation
    # With `from __future__ import annotations` it is a text.
    named = (annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")).rpartition(".")[2]
    if named == "EventBatch" and batch is None:
        raise DefinitionError(
            f"consumer {group!r} takes an EventBatch, but is called once per event.",
            field="batch",
            hint="Pass batch=, the maximum number of events per call, or annotate the parameter with Event.",
        )
    if named == "Event" and batch is not None:
        raise DefinitionError(
            f"consumer {group!r} takes an Event, but is called with batches.",
            field="batch",
            hint="Omit batch=, or annotate the parameter with EventBatch.",
        )
