"""Live pages: a word whenever something happens, at the same moment to all pages of a namespace."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from starlette.responses import Response

from tickbird.api.streams.activity_feed import ActivityFeed, Subscriber
from tickbird.api.streams.sse import Events, SseConnections, event
from tickbird.domain.errors import TickbirdError
from tickbird.web.page_request import PageRequest
from tickbird.web.query_cache import QueryCache

log = logging.getLogger("tickbird.web")
# A busy store changes all the time: a page that is told so once in so many seconds is live enough.
_REST: Final = 1.0
_MAX_REST: Final = 10.0
_CHANGED: Final = event({}, name="changed")


class ChangeSubscriber(Subscriber):
    """Who only wants to know that something happened, not what."""

    @property
    def has_enough(self) -> bool:
        """One word is enough: as long as it was not heard, nothing is read of what else happens."""
        return bool(self.waiting)

    def offer(self, block: bytes, maximum: int) -> None:
        """One word stands for all that comes before it is heard."""
        if not self.waiting:
            self.waiting.append(_CHANGED)
        self.news.set()


class NamespaceNotifier:
    """Follows one namespace for all of its open pages: since they hear of it at once, they share what is read then."""

    def __init__(self, feed: ActivityFeed, readings: QueryCache, namespace: str) -> None:
        self._feed = feed
        self._readings = readings
        self._namespace = namespace
        self._heard: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def has_subscribers(self) -> bool:
        """Does anybody listen?"""
        return bool(self._heard)

    async def listen(self) -> Events:
        """Words, until the store can no longer be followed."""
        news = asyncio.Event()
        self._heard.add(news)
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._follow(), name="tickbird live pages")
            task = self._task
            # What happened after the page was made, and before this: readings are older by now, and made anew.
            await asyncio.sleep(_REST)
            yield _CHANGED
            while not task.done():
                await news.wait()
                news.clear()
                if not task.done():
                    yield _CHANGED
        finally:
            self._heard.discard(news)
            if not self._heard and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _follow(self) -> None:
        events = self._feed.follow(ChangeSubscriber(self._namespace, None, ()), None)
        try:
            async for block in events:
                if block.startswith(b"event:"):
                    self._readings.expire(self._namespace)
                    self._notify()
                    # A store that takes long to be read is not asked again before it has answered.
                    await asyncio.sleep(min(max(_REST, 2 * self._readings.recent_max_seconds), _MAX_REST))
        except TickbirdError as error:
            log.warning("live updates stopped: %s", error)
        finally:
            await events.aclose()
            # Whoever waits comes again, to a new one.
            asyncio.get_running_loop().call_soon(self._notify)

    def _notify(self) -> None:
        for news in self._heard:
            news.set()


class LiveUpdates:
    """One for each namespace that is looked at."""

    def __init__(self, feed: ActivityFeed, readings: QueryCache) -> None:
        self._feed = feed
        self._readings = readings
        self._beats: dict[str, NamespaceNotifier] = {}

    def of(self, namespace: str) -> NamespaceNotifier:
        """The one of a namespace; those that nobody hears any more are left behind."""
        self._beats = {name: beat for name, beat in self._beats.items() if beat.has_subscribers or name == namespace}
        return self._beats.setdefault(namespace, NamespaceNotifier(self._feed, self._readings, namespace))


async def live(visit: PageRequest) -> Response:
    """Words as server-sent events."""
    state = visit.request.app.state
    feed: ActivityFeed = state.feed
    streams: SseConnections = state.streams
    beats: LiveUpdates = state.beats
    await feed.check()
    answer: Response = streams.open(visit.request, beats.of(visit.namespace).listen)
    return answer
