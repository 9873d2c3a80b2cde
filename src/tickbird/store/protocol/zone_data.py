"""Time zone data: the version that cursors were computed with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.time.zone_data import ZoneData, ZoneRecomputeResult, ZoneRecord, Zones


class ZoneDataStore(Protocol):
    async def check(
        self, here: ZoneData | None = None, *, adopt: bool = False, actor: str = "", now: datetime | None = None
    ) -> Zones:
        """Compare time zone data, by default this process's, with the store's.

        Afterwards this process plans schedules outside of UTC only if the two are the same. With `adopt`, the store
        adopts newer data that it never had before; with an actor too, any data.
        """

    async def recompute(self, after: int = 0, limit: int = 500, *, now: datetime | None = None) -> ZoneRecomputeResult:
        """Recompute cursors that were computed with other time zone data, by schedule id, after `after`."""

    async def list(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The time zone data that the store has had, newest first."""
