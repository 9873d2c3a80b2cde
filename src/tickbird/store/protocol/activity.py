"""Activity: the live feed of changes in the store."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark


class ActivityStore(Protocol):
    async def watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        """The instant before which no more activity can be committed; `before` is the watermark of the last call."""

    async def read(
        self, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        """The activity of these namespaces after a cursor, up to the watermark; runs without payload and result.

        A reader that continues from cursor to cursor gets everything exactly once, in any order of commits.
        """
