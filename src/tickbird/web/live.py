"""Live pages: a word whenever something happens; one reader of the store for all that are open."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.responses import Response

from tickbird.api.feed import Feed, Follower
from tickbird.api.streams import Events, Streams, event
from tickbird.web.visits import Visit

# A busy store changes all the time: a page that is told so once in so many seconds is live enough.
_REST: Final = 1.0
_CHANGED: Final = event({}, name="changed")


class Glance(Follower):
    """Who only wants to know that something happened, not what."""

    def offer(self, block: bytes, most: int) -> None:
        """One word stands for all that comes before it is heard."""
        if not self.waiting:
            self.waiting.append(_CHANGED)
        self.news.set()


async def live(visit: Visit) -> Response:
    """Words as server-sent events."""
    feed: Feed = visit.request.app.state.feed
    streams: Streams = visit.request.app.state.streams
    await feed.check()
    follower = Glance(visit.namespace, visit.query.get("schedule") or None, ())
    answer: Response = streams.open(visit.request, lambda: _paced(feed.follow(follower, None)))
    return answer


async def _paced(events: Events) -> Events:
    try:
        async for block in events:
            yield block
            if block.startswith(b"event:"):
                await asyncio.sleep(_REST)
    finally:
        await events.aclose()
