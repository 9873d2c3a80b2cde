"""What happens, read once for all who follow it, and handed out to each by namespace."""

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
# A position further ahead than this is of another store, or the clock was set back.
_MAX_CLOCK_LEAD: Final = timedelta(seconds=5)
_MAX_PAUSE: Final = 5.0


@dataclass(frozen=True, slots=True)
class FeedOptions:
    """How often it is looked for what happens, in seconds; and how many events wait for a client."""

    # What nobody signals is found within so long; what is signalled, after a rest.
    poll: float = 0.5
    rest: float = 0.1
    # A client that hears nothing learns so often up to where that is all.
    quiet: float = 10.0
    waiting: int = 10_000


class Subscriber:
    """Somebody who follows a namespace, and what is on its way to them."""

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
        """Is it what they asked for?"""
        return (
            activity.namespace == self.namespace
            and (self._schedule is None or activity.schedule == self._schedule)
            and (not self._kinds or activity.kind in self._kinds)
        )

    @property
    def has_enough(self) -> bool:
        """Would more news tell them nothing, until they have heard what waits?"""
        return False

    def offer(self, block: bytes, maximum: int) -> None:
        """Send them this, after all that is on its way; who lets too much pile up is told to come back."""
        if len(self.waiting) >= maximum:
            self.slow = True
            self.waiting.clear()
        elif not self.slow:
            self.waiting.append(block)
        self.news.set()


class ActivityFeed:
    """Reads what happens while anybody follows: one reader for all of them."""

    def __init__(self, client: StoreClient, pauses: FeedOptions) -> None:
        self._client = client
        self._pauses = pauses
        self._followers: set[Subscriber] = set()
        self._horizon: Watermark | None = None
        # Held while anything is read, so that it is clear what of it is for somebody who joins.
        self._lock = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._woken = asyncio.Event()
        # Set whenever somebody has taken what waited for them, or has come.
        self._wanted = asyncio.Event()

    async def check(self) -> None:
        """Raise where nothing could be told."""
        await self._client.store.activity.watermark()

    async def follow(self, follower: Subscriber, after: ActivityCursor | None) -> Events:
        """What happens behind a place, or from now on, as it comes."""
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
            # They come back by themselves, and hear of the rest.
            log.warning("somebody cannot follow what happens at the moment: %s", error)
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
            # Another server has seen more than this one has.
            follower.begin = after.position
            return [_at(after)]
        missed = await self._client.store.activity.read({follower.namespace}, after, horizon)
        if missed.more:
            return [_reset(horizon.cursor)]
        told = [_format(mark, each) for mark, each in missed.items if follower.wants(each)]
        return [*told, _at(horizon.cursor)]

    async def _next(self, follower: Subscriber) -> bytes:
        """What waits for them; or the place that they have reached without hearing anything."""
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
        # Whatever a store that is being closed makes of it: who is asked to stop, stops.
        while task is not None and not task.cancelling():
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()
                    # What was dated just now may not be told of before everybody else can have written.
                    await asyncio.sleep(self._pauses.rest)
            while all(each.has_enough for each in self._followers):
                self._wanted.clear()
                await self._wanted.wait()
            self._woken.clear()
            try:
                async with self._lock:
                    await self._poll()
                pause = self._pauses.poll
            except TickbirdError as error:
                pause = min(2 * pause, _MAX_PAUSE)
                log.warning("what happens cannot be read at the moment: %s", error)
            except Exception:
                pause = _MAX_PAUSE
                log.exception("what happens cannot be read at the moment")

    async def _poll(self) -> None:
        before = self._horizon
        assert before is not None
        horizon = await self._client.store.activity.watermark(before)
        if horizon is before:
            return
        found = ActivityPage(more=True)
        if horizon.at >= before.at:
            namespaces = {each.namespace for each in self._followers}
            found = await self._client.store.activity.read(namespaces, before.cursor, horizon)
        self._horizon = horizon
        if found.more:
            for follower in self._followers:
                follower.offer(_reset(horizon.cursor), self._pauses.waiting)
            if not all(each.has_enough for each in self._followers):
                log.warning("those who follow what happens are told to look anew: too much, or the clock went back")
        for mark, activity in found.items:
            block = _format(mark, activity)
            for follower in self._followers:
                if follower.wants(activity) and (follower.begin is None or mark.position > follower.begin):
                    follower.offer(block, self._pauses.waiting)

    async def _listen(self) -> None:
        # What is not signalled is found all the same, a little later.
        with suppress(TickbirdError):
            async with self._client.store.wakeups() as wakeups:
                async for _ in wakeups:
                    self._woken.set()


def _at(mark: ActivityCursor) -> bytes:
    """Up to here that is all: an id without an event counts, too."""
    return f": still here\nid: {mark}\n\n".encode()


def _format(mark: ActivityCursor, activity: Activity) -> bytes:
    document = encode(activity)
    if (run := document["run"]) is not None:
        # Payloads and results are not sent to everyone who follows.
        del run["payload"], run["result"]
    return event(document, name=activity.kind, place=str(mark))


def _reset(mark: ActivityCursor) -> bytes:
    reason = "not everything can be told again: read what you show anew"
    return event({"reason": reason}, name="reset", place=str(mark))
