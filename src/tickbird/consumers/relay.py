"""Relays: consumers that send events to a sink, such as Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tickbird.domain.errors import DefinitionError
from tickbird.domain.events.event import Event
from tickbird.sinks.protocol import EventSink


class Relay:
    """Sends batches to a sink, which it opens on first use."""

    def __init__(self, sink: EventSink, group: str) -> None:
        if not all(callable(getattr(sink, name, None)) for name in ("open", "send", "close")):
            raise DefinitionError(
                f"relay {group!r}: {type(sink).__name__} is not a sink.",
                field="sink",
                hint="Pass an object with the coroutines open(), send(events) and close().",
            )
        self._sink = sink
        # Created on use, because an app is imported before its loop runs.
        self._opening: asyncio.Lock | None = None
        self._is_open = False

    async def send(self, batch: Sequence[Event]) -> None:
        """The function of the consumer."""
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if not self._is_open:
                await self._sink.open()
                self._is_open = True
        await self._sink.send(batch)

    async def close(self) -> None:
        """Close the sink if it was opened; the next batch opens it again."""
        if self._is_open:
            self._is_open, self._opening = False, None
            await self._sink.close()
