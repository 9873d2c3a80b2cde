"""The consumers of an app."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from tickbird.domain.errors import DefinitionError

# Loads on first use, so that importing an app's code stays fast.
if TYPE_CHECKING:
    from tickbird.consumers.consumer import Consumer
    from tickbird.domain.events.deliveries import DeliveryOutcome
    from tickbird.domain.events.groups import Start
    from tickbird.sinks.protocol import EventSink

F = TypeVar("F", bound=Callable[..., Any])


class ConsumerRegistry(ABC):
    """The consumers that an app's code registers on import. Workers declare their groups in the store."""

    def __init__(self) -> None:
        # By group.
        self.consumers: dict[str, Consumer] = {}

    def consumer(
        self,
        topics: str | Iterable[str],
        *,
        group: str,
        batch: int | None = None,
        concurrency: int = 4,
        start: Start = "earliest",
        infrastructure: Iterable[type[BaseException]] = (),
        **options: Any,
    ) -> Callable[[F], F]:
        """Deliver the events of these topics to a function: one Event per call, or with `batch`, an EventBatch.

        The workers of this app share the offsets of the group. Options: retries, backoff, timeout, as for tasks.
        """

        def register(function: F) -> F:
            self._add(
                topics,
                self.prepare(function),
                group=group,
                batch=batch,
                concurrency=concurrency,
                start=start,
                infrastructure=infrastructure,
                **options,
            )
            return function

        return register

    def relay(
        self,
        topics: str | Iterable[str],
        sink: EventSink,
        *,
        group: str,
        batch: int = 500,
        concurrency: int = 4,
        start: Start = "earliest",
        infrastructure: Iterable[type[BaseException]] = (),
        **options: Any,
    ) -> None:
        """Send the events of these topics to a sink, in order per key. Options are those of a consumer."""
        from tickbird.consumers.relay import Relay

        relay = Relay(sink, group)
        self._add(
            topics,
            relay.send,
            group=group,
            batch=batch,
            concurrency=concurrency,
            start=start,
            infrastructure=infrastructure,
            close=relay.close,
            **options,
        )

    def _add(
        self,
        topics: str | Iterable[str],
        function: Callable[..., Any],
        *,
        group: str,
        close: Callable[[], Awaitable[None]] | None = None,
        **options: Any,
    ) -> None:
        from tickbird.consumers.consumer import OPTIONS, new_consumer

        if unknown := sorted(options.keys() - OPTIONS):
            raise DefinitionError(
                f"consumer {group!r}: {unknown[0][:60]!r} is not an option of a consumer.",
                field=unknown[0],
                hint=f"Options: {', '.join(sorted(OPTIONS))}.",
            )
        if close is not None:
            options["close"] = close
        consumer = new_consumer(topics, function, group=group, commit=self.commit_outcome, **options)
        if group in self.consumers:
            raise DefinitionError(
                f"there are two consumers of the group {group!r}.",
                field="group",
                hint="Use another group for one of them.",
            )
        self.consumers[group] = consumer

    @abstractmethod
    def prepare(self, function: Callable[..., Any]) -> Callable[..., Any]: ...

    @abstractmethod
    def commit_outcome(self, connection: Any, outcome: DeliveryOutcome) -> Any: ...
