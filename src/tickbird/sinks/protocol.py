"""The interface between a relay and the system that it sends events to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tickbird.domain.events.event import Event


class EventSink(Protocol):
    """Sends events to another system, in order per key."""

    async def open(self) -> None:
        """Prepare to send; does not wait for the system. Raises DefinitionError for an invalid setting."""
        ...

    async def send(self, events: Sequence[Event]) -> None:
        """Send events, and return after the system has acknowledged all of them; safe to call concurrently.

        Raises UnavailableError if some are not acknowledged: send all of them again, in the same order.
        Raises EventRefusedError if the system will never accept some of them: all others are acknowledged, except those
        in its `unsent`.
        """
        ...

    async def close(self) -> None:
        """Release connections and threads; `open` works again afterwards."""
        ...
