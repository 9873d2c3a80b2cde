"""The events that one call of a consumer receives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import isawaitable
from typing import Any, overload

from tickbird.domain.errors import ConflictError, LeaseLostError
from tickbird.domain.events.event import Event


class EventBatch(Sequence[Event]):
    """Events of one partition, in order. Those that were published together are never split."""

    __slots__ = (
        "_commit",
        "_events",
        "_is_over",
        "attempt",
        "consumer",
        "group",
        "is_committed",
        "is_stale",
        "partition",
    )

    def __init__(
        self,
        events: Sequence[Event],
        *,
        group: str,
        consumer: str,
        partition: int,
        attempt: int = 1,
        commit: Callable[[Any], Any] | None = None,
    ) -> None:
        self._events = tuple(events)
        # The group whose offset moves; differs from the consumer's group for a scratch group.
        self.group = group
        self.consumer = consumer
        self.partition = partition
        # Counts from 1.
        self.attempt = attempt
        self._commit = commit
        self._is_over = False
        # The lease is lost, or the events were handled already. The next delivery begins at the stored offset.
        self.is_stale = False
        # The offset was written in a transaction of the caller, which may still be rolled back.
        self.is_committed = False

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Event, ...]: ...

    def __getitem__(self, index: int | slice) -> Event | tuple[Event, ...]:
        return self._events[index]

    def __len__(self) -> int:
        return len(self._events)

    def __repr__(self) -> str:
        return f"<EventBatch of {self.group}, partition {self.partition}: {len(self)} events, attempt {self.attempt}>"

    def commit(self, connection: Any) -> Any:
        """Write the offset in the transaction of your connection to the store's database.

        Returns an awaitable if the connection is async. Raises ConflictError if another worker has the events by now:
        let it roll your transaction back.
        """
        if self._commit is None:
            raise ConflictError("commit: this batch was not delivered by a worker.", hint="Call it in a consumer.")
        if self._is_over:
            raise ConflictError(
                "commit: the delivery of these events is over.", hint="Roll back: they are delivered again."
            )
        if self.is_committed:
            raise ConflictError("commit: the offset was written already.", hint="Call commit once per batch.")
        try:
            committed = self._commit(connection)
        except LeaseLostError:
            self.is_stale = True
            raise
        if isawaitable(committed):
            return self._when_committed(committed)
        self.is_committed = True
        return None

    async def _when_committed(self, committed: Any) -> None:
        try:
            await committed
        except LeaseLostError:
            self.is_stale = True
            raise
        self.is_committed = True

    def end(self) -> None:
        """Refuse later commits, for example of a thread that has ignored its timeout."""
        self._is_over = True
