"""Events: publish, stamp and read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from tickbird.domain.events.event import Event, NewEvent
from tickbird.domain.events.stamping import StampResult


class EventStore(Protocol):
    async def publish(
        self, namespace: str, events: Sequence[NewEvent], *, source: str, actor: str, now: datetime | None = None
    ) -> Sequence[UUID]:
        """Publish events together; returns their ids. An id that exists already is not published again.

        Raises ConflictError if a key does not have the expected version.
        """

    async def add_stream(self, namespace: str) -> None:
        """Create the log of a namespace, so that its first event is stamped at once."""

    async def add_streams(self) -> int:
        """Create the logs of namespaces to which plain SQL has published the first event; returns their number."""

    async def stamp(self, since: str | None = None, *, limit: int = 10_000, now: datetime | None = None) -> StampResult:
        """Publish the events of queued runs, then give committed events of all namespaces their positions.

        `since` is the value that the caller's last pass returned; None: read all events without a position.
        """

    async def stop_polling(self) -> None:
        """Let publishers send wake-ups: this process stops polling for events."""

    async def prune(
        self,
        *,
        older_than: float,
        max_events: int | None = None,
        limit: int = 1_000,
        now: datetime | None = None,
    ) -> int:
        """Delete the oldest events of each namespace, at most `limit`; returns the number of all.

        These are older than this many seconds, or have `max_events` newer positions. A group that has not read them is
        stopped, with the reason. Keys keep their versions.
        """

    async def read(
        self,
        namespace: str,
        after: int = 0,
        *,
        topics: Sequence[str] = (),
        key: str | None = None,
        limit: int = 100,
    ) -> Sequence[Event]:
        """Stamped events after a position, in order; with patterns of topics, only matching ones."""

    async def get(self, namespace: str, event_id: UUID) -> Event | None:
        """One event; without a position until it is stamped."""

    async def head(self, namespace: str) -> int:
        """The last position of a namespace; 0 if it has no event."""
