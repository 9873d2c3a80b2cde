"""Activity as streams: one reader of the store for all subscribers, filtered by namespace."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tickbird.api.streams.sse import Events, event
from tickbird.client import StoreClient
from tickbird.domain.errors import TickbirdError
from tickbird.domain.ledger.activity import (
    Activity,
    ActivityCursor,
    ActivityKind,
    ActivityPage,
    ActivityPosition,
    Watermark,
)
from tickbird.wire.codec import encode

log = logging.getLogger("tickbird.api")
# A cursor further ahead than this is from another store, or the clock was set back.
_MAX_CLOCK_LEAD: Final = timedelta(seconds=5)
_MAX_PAUSE: Final = 5.0


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """Intervals in seconds, and the maximum number of events that wait for a client."""

    # The interval of polls, and the delay after a wake-up.
    poll: float = 0.5
    rest: float = 0.1
    # How often a client without events gets the current cursor.
    quiet: float = 10.0
    waiting: int = 10_000


class Subscriber:
    """A client that follows a namespace, and the events that wait for it."""

    def __init__(self, namespace: str, schedule: str | None, kinds: Collection[ActivityKind]) -> None:
        self.namespace = namespace
        self._schedule = schedule
        self._kinds = frozenset(kinds)
        self.waiting: deque[bytes] = deque()
        self.news = asyncio.Event()
        self.slow = False
        # Activity up to this position is not sent by the feed; None: all is sent.
        self.begin: ActivityPosition | None = None

    def wants(self, activity: Activity) -> bool:
        return (
            activity.namespace == self.namespace
            and (self._schedule is None or activity.schedule == self._schedule)
            and (not self._kinds or activity.kind in self._kinds)
        )

    @property
    def has_enough(self) -> bool:
        """True if the subscriber needs no further events until it has read the waiting ones."""
        return False

    def offer(self, block: bytes, maximum: int) -> None:
        """Queue an event; a client with too many waiting events has to reconnect."""
        if len(self.waiting) >= maximum:
            self.slow = True
            self.waiting.clear()
        elif not self.slow:
            self.waiting.append(block)
        self.news.set()


class ActivityFeed:
    """Reads activity while there are subscribers."""

    def __init__(self, client: StoreClient, pauses: FeedOptions) -> None:
        self._client = client
        self._pauses = pauses
        self._followers: set[Subscriber] = set()
        self._horizon: Watermark | None = None
        # Held during a read, so that a new subscriber joins between two reads.
        self._lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._woken = asyncio.Event()
        # Set when a subscriber joins or has read its events.
        self._wanted = asyncio.Event()

    async def check(self) -> None:
        await self._client.store.activity.watermark()

    async def follow(self, follower: Subscriber, after: ActivityCursor | None) -> Events:
        """Stream activity after a cursor (default: from now on)."""
        try:
            async with self._lock:
                horizon = self._horizon = self._horizon or await self._client.store.activity.watermark()
                self._followers.add(follower)
                self._wanted.set()
                self._start()
            for block in await self._missed(follower, after, horizon):
                yield block
            while True:
                yield await self._next(follower)
                if follower.slow:
                    yield event({"reason": "slow"}, name="end")
                    return
        except TickbirdError as error:
            # The client reconnects and gets the rest.
            log.warning("activity stream ended: %s", error)
        finally:
            self._followers.discard(follower)
            if not self._followers:
                await self._stop()

    async def _missed(self, follower: Subscriber, after: ActivityCursor | None, horizon: Watermark) -> list[bytes]:
        if after is None:
            return [_at(horizon.cursor)]
        if after.at > horizon.at + _MAX_CLOCK_LEAD:
            return [_reset(horizon.cursor)]
        if after.position >= horizon.cursor.position:
            # Another server has read further than this one.
            follower.begin = after.position
            return [_at(after)]
        missed = await self._client.store.activity.read({follower.namespace}, after, horizon)
        if missed.more:
            return [_reset(horizon.cursor)]
        blocks = [_format(mark, activity) for mark, activity in missed.items if follower.wants(activity)]
        return [*blocks, _at(horizon.cursor)]

    async def _next(self, follower: Subscriber) -> bytes:
        """Return the waiting events; after a quiet time, only the current cursor."""
        try:
            async with asyncio.timeout(self._pauses.quiet):
                await follower.news.wait()
        except TimeoutError:
            if not follower.waiting and self._horizon is not None:
                return _at(self._horizon.cursor)
        follower.news.clear()
        blocks = b"".join(follower.waiting)
        follower.waiting.clear()
        self._wanted.set()
        return blocks

    def _start(self) -> None:
        if not self._tasks:
            works = (self._read, self._listen)
            self._tasks = [asyncio.create_task(work(), name="tickbird feed") for work in works]

    async def _stop(self) -> None:
        tasks, self._tasks, self._horizon = self._tasks, [], None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> None:
        pause, task = self._pauses.poll, asyncio.current_task()
        # A store that is being closed may swallow the cancellation.
        while task is not None and not task.cancelling():
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()
                    # Activity is visible only after all writers of its instant have committed.
                    await asyncio.sleep(self._pauses.rest)
            while all(follower.has_enough for follower in self._followers):
                self._wanted.clear()
                await self._wanted.wait()
            self._woken.clear()
            try:
                async with self._lock:
                    await self._poll()
                pause = self._pauses.poll
            except TickbirdError as error:
                pause = min(2 * pause, _MAX_PAUSE)
                log.warning("activity not readable: %s", error)
            except Exception:
                pause = _MAX_PAUSE
                log.exception("activity not readable")

    async def _poll(self) -> None:
        before = self._horizon
        assert before is not None
        horizon = await self._client.store.activity.watermark(before)
        if horizon is before:
            return
        page = ActivityPage(more=True)
        if horizon.at >= before.at:
            namespaces = {follower.namespace for follower in self._followers}
            page = await self._client.store.activity.read(namespaces, before.cursor, horizon)
        self._horizon = horizon
        if page.more:
            for follower in self._followers:
                follower.offer(_reset(horizon.cursor), self._pauses.waiting)
            if not all(follower.has_enough for follower in self._followers):
                log.warning("activity stream reset: backlog too large or clock went backwards")
        for mark, activity in page.items:
            block = _format(mark, activity)
            for follower in self._followers:
                if follower.wants(activity) and (follower.begin is None or mark.position > follower.begin):
                    follower.offer(block, self._pauses.waiting)

    async def _listen(self) -> None:
        # Without wake-ups, polls find the activity a little later.
        with suppress(TickbirdError):
            async with self._client.store.wakeups() as wakeups:
                async for _ in wakeups:
                    self._woken.set()


def _at(mark: ActivityCursor) -> bytes:
    """Format a comment with the current cursor as id, so that clients can resume from it without an event."""
    return f": still here\nid: {mark}\n\n".encode()


def _format(mark: ActivityCursor, activity: Activity) -> bytes:
    document = encode(activity)
    if (run := document["run"]) is not None:
        # Payloads and results are not sent to all subscribers.
        del run["payload"], run["result"]
    return event(document, name=activity.kind, place=str(mark))


def _reset(mark: ActivityCursor) -> bytes:
    reason = "events are missing: reload the data that you show"
    return event({"reason": reason}, name="reset", place=str(mark))
