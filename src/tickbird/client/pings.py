"""Pings: another system reports that it ran the work of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final

from tickbird.client.base import ClientBase, page_size
from tickbird.client.parameters import From, ScheduleName
from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import to_micros, to_seconds, utc_text
from tickbird.wire.codec import Ping
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta

# Clocks are not that far apart.
_MAX_CLOCK_LEAD: Final = timedelta(hours=1)
_LATELY: Final = timedelta(days=7)


class Pings(ClientBase):
    """`client.pings`"""

    @operator.post("ping", "/schedules/{name}/pings", "Report that it ran", status=201)
    async def create(self, name: ScheduleName, at: datetime | None = None) -> Ping:
        """Record that the old system ran this schedule's work, now or at an instant; the same instant twice is one."""
        schedule = await self._get(name)
        if at is not None:
            check_ping(at, await self._store.now())
        return await self._store.pings.add(schedule.id, at)

    @viewer.get("list_pings", "/schedules/{name}/pings", "The pings", page=to_micros)
    async def list(
        self,
        name: ScheduleName,
        first: Annotated[datetime | None, Meta(description="From here on (default: the last seven days).")] = None,
        last: Annotated[From | None, Meta(description="Up to here (default: now).")] = None,
        *,
        after: datetime | None = None,
        limit: int = 1_000,
    ) -> Sequence[Ping]:
        """When the old system reported that it ran this schedule's work, oldest first."""
        schedule = await self._find(name)
        end = await self._store.now() if last is None else last
        start = end - _LATELY if first is None else first
        return await self._store.pings.list(schedule.id, start, end, after=after, limit=page_size(limit))


def check_ping(at: datetime, now: datetime) -> None:
    """Nothing has run that is still to come."""
    to_seconds(at)
    if at > now + _MAX_CLOCK_LEAD:
        raise InvalidError(f"at: {utc_text(at)} is still to come;", field="at", hint="give when it really ran.")
