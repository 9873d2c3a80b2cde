"""What needs the store itself, and cannot go through a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager

from tickbird.client.http.base import Remote
from tickbird.client.system import System
from tickbird.domain.errors import StoreError
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark


class StoreOnly(Remote, System):
    """The verbs that a server itself is made of: each says where to go instead."""

    async def activity_watermark(self, before: Watermark | None = None) -> Watermark:
        """Refused: `GET /api/v1/activity/stream` tells what happens."""
        raise _refused("what happens is read")

    async def read_activity(self, namespaces: Collection[str], after: ActivityCursor, until: Watermark) -> ActivityPage:
        """Refused: `GET /api/v1/activity/stream` tells what happens."""
        raise _refused("what happens is read")

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Refused: `GET /api/v1/activity/stream` tells what happens."""
        raise _refused("what happens is read")

    async def filter_live_tokens(self, ids: Collection[str]) -> frozenset[str]:
        """Refused: a server looks after its tokens itself."""
        raise _refused("tokens are looked after")


def _refused(what: str) -> StoreError:
    return StoreError(
        f"{what} on the store itself, not through a server;", hint="do it where the store can be reached, with its URL."
    )
