"""The stamping step: events get their positions within milliseconds after the commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tickbird.engine.clock import Clock
from tickbird.store.protocol.events import EventStore

# Seconds between passes that found nothing; after the last one, the stamper waits for a wake-up. They are short,
# because publishers send no wake-up to a stamper that polls: an event waits for its next pass.
_DELAYS: Final = (0.001, *(30 * [0.002]))
# Seconds after which a pass reads all events without a position, in case an earlier pass has missed some.
_FULL_AFTER: Final = 60.0
# Seconds between searches for namespaces that have their first event. A wake-up may be for other reasons.
_STREAMS_AFTER: Final = 1.0


class StamperStep:
    """Polls quickly after an event was stamped, because more may follow, and otherwise waits for a wake-up."""

    def __init__(self, events: EventStore, clock: Clock, namespace: str, on_events: Callable[[], None]) -> None:
        self._events, self._clock, self._on_events = events, clock, on_events
        self._namespace = namespace
        self._has_stream = False
        self._since: str | None = None
        self._full_at = float("-inf")
        self._streams_at = float("-inf")
        # Passes that found nothing since the last event; at first, the stamper waits for a wake-up.
        self._idle = len(_DELAYS) + 1

    async def step(self) -> float | None:
        """One pass; returns the seconds until the next one, or None to wait for a wake-up."""
        now = self._clock.monotonic()
        since = self._since
        if now >= self._full_at:
            since, self._full_at = None, now + _FULL_AFTER
        if not self._has_stream:
            await self._events.add_stream(self._namespace)
            self._has_stream = True
        result = await self._events.stamp(since, now=self._clock.now())
        self._since = result.since
        if result.stamped:
            self._on_events()
        # A pass that looks at everything has looked for new namespaces too.
        has_looked = since is None or now >= self._streams_at
        if has_looked:
            self._streams_at = now + _STREAMS_AFTER
            if since is not None and await self._events.add_streams():
                self._since = None
                return 0.0
        if result.more:
            return 0.0
        if result.stamped:
            self._idle = 0
        elif result.other_polls_for is not None:
            # Another process stamps. If it is lost, publishers send no wake-ups until then.
            return result.other_polls_for
        if self._idle < len(_DELAYS):
            self._idle += 1
            return _DELAYS[self._idle - 1]
        if self._idle == len(_DELAYS):
            self._idle += 1
            await self._events.stop_polling()
            # An event may have been published just before, without a wake-up.
            return _DELAYS[0]
        # The wake-up may be about the first event of a namespace.
        return None if has_looked else self._streams_at - now
