"""Live updates: notify all open pages of a namespace over SSE when it changes."""

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
# Minimum and maximum seconds between two notifications, because a busy store changes all the time.
_MIN_PAUSE: Final = 1.0
_MAX_PAUSE: Final = 10.0
_CHANGED: Final = event({}, name="changed")


class ChangeSubscriber(Subscriber):
    """A subscriber that needs to know only that something changed."""

    @property
    def has_enough(self) -> bool:
        """True while a notification is pending. More activity need not be read."""
        return bool(self.waiting)

    def offer(self, block: bytes, maximum: int) -> None:
        if not self.waiting:
            self.waiting.append(_CHANGED)
        self.news.set()


class NamespaceNotifier:
    """Follows one namespace for all of its open pages. They refresh at the same time and so share their queries."""

    def __init__(self, feed: ActivityFeed, readings: QueryCache, namespace: str) -> None:
        self._feed = feed
        self._readings = readings
        self._namespace = namespace
        self._listeners: set[asyncio.Event] = set()
        self._task: asyncio.Task[None] | None = None

    @property
    def has_subscribers(self) -> bool:
        return bool(self._listeners)

    async def listen(self) -> Events:
        """Yield a notification per change, until the activity feed stops."""
        news = asyncio.Event()
        self._listeners.add(news)
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._follow(), name="tickbird live pages")
            task = self._task
            # Covers changes since the page was rendered. Cached query results have expired by now.
            await asyncio.sleep(_MIN_PAUSE)
            yield _CHANGED
            while not task.done():
                await news.wait()
                news.clear()
                if not task.done():
                    yield _CHANGED
        finally:
            self._listeners.discard(news)
            if not self._listeners and self._task is not None:
                self._task.cancel()
                self._task = None

    async def _follow(self) -> None:
        events = self._feed.follow(ChangeSubscriber(self._namespace, None, ()), None)
        try:
            async for block in events:
                if block.startswith(b"event:"):
                    self._readings.expire(self._namespace)
                    self._notify()
                    # Wait longer if queries are slow, so that they do not pile up.
                    await asyncio.sleep(min(max(_MIN_PAUSE, 2 * self._readings.recent_max_seconds), _MAX_PAUSE))
        except TickbirdError as error:
            log.warning("live updates stopped: %s", error)
        finally:
            await events.aclose()
            # Wake the listeners. Their browsers reconnect.
            asyncio.get_running_loop().call_soon(self._notify)

    def _notify(self) -> None:
        for news in self._listeners:
            news.set()


class LiveUpdates:
    """The notifiers of all namespaces with open pages."""

    def __init__(self, feed: ActivityFeed, readings: QueryCache) -> None:
        self._feed = feed
        self._readings = readings
        self._notifiers: dict[str, NamespaceNotifier] = {}

    def of(self, namespace: str) -> NamespaceNotifier:
        """Return the notifier of a namespace, and drop those without subscribers."""
        self._notifiers = {
            name: notifier
            for name, notifier in self._notifiers.items()
            if notifier.has_subscribers or name == namespace
        }
        return self._notifiers.setdefault(namespace, NamespaceNotifier(self._feed, self._readings, namespace))


async def live(visit: PageRequest) -> Response:
    """Stream notifications as server-sent events."""
    state = visit.request.app.state
    feed: ActivityFeed = state.feed
    streams: SseConnections = state.streams
    beats: LiveUpdates = state.beats
    await feed.check()
    answer: Response = streams.open(visit.request, beats.of(visit.namespace).listen)
    return answer
