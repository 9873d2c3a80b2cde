"""The store behind a server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tickbird.client.http.operations import HttpNoun
from tickbird.client.schedules import Schedules
from tickbird.client.system import System
from tickbird.domain.planning.zone_impact import ZoneImpact, check_days, is_zoned, iter_zone_impacts, sort_by_instant
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_seconds
from tickbird.wire.operations import operations_of

_OPERATIONS: Final = operations_of(System)


class HttpSystem(HttpNoun, System):
    """The store of a server."""

    async def zone_impact(self, days: int = 400, against: str | Path | None = None) -> Sequence[ZoneImpact]:
        """`against` is a folder of this machine, so its rules are applied here."""
        check_days(days)
        if against is None:
            moves: Sequence[ZoneImpact] = await self.send(_OPERATIONS["zone_impact"], {"days": days})
            return moves
        since = to_seconds(await self.now())
        schedules: list[Schedule] = []
        after = ""
        while rows := await self._noun(Schedules).list(after=after, limit=1_000):
            schedules += [row.schedule for row in rows if is_zoned(row.schedule)]
            after = rows[-1].schedule.name
        return sort_by_instant(iter_zone_impacts(schedules, against, since, since + days * 86_400))
