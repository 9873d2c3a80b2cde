"""Pings: another system reports that it ran the work of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final

from tickbird.client.base import ClientBase
from tickbird.client.parameters import From, ScheduleName
from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import to_micros, to_seconds, utc_text
from tickbird.wire.codec import Ping
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta

# A ping may be this far ahead, because clocks differ.
_MAX_CLOCK_LEAD: Final = timedelta(hours=1)
_LATELY: Final = timedelta(days=7)


class Pings(ClientBase):
    """Reports of another system that it ran a schedule."""

    @operator.post("ping", "/schedules/{name}/pings", "Record a ping", status=201)
    async def create(self, name: ScheduleName, at: datetime | None = None) -> Ping:
        """Record that the old scheduler ran this job, now or at an instant; the same instant is recorded once."""
        schedule = await self._get(name)
        if at is not None:
            check_ping(at, await self._store.now())
        return await self._store.pings.add(schedule.id, at)

    @viewer.get("list_pings", "/schedules/{name}/pings", "List pings", page=to_micros)
    async def list(
        self,
        name: ScheduleName,
        first: Annotated[datetime | None, Meta(description="The start of the range (default: seven days ago).")] = None,
        last: Annotated[From | None, Meta(description="The end of the range (default: now).")] = None,
        *,
        after: datetime | None = None,
        limit: int = 1_000,
    ) -> Sequence[Ping]:
        """List when the old scheduler ran this job, oldest first."""
        schedule = await self._find(name)
        end = await self._store.now() if last is None else last
        start = end - _LATELY if first is None else first
        return await self._store.pings.list(schedule.id, start, end, after=after, limit=limit)


def check_ping(at: datetime, now: datetime) -> None:
    to_seconds(at)
    if at > now + _MAX_CLOCK_LEAD:
        raise InvalidError(
            f"at: {utc_text(at)} is in the future.", field="at", hint="Send the instant at which the run started."
        )
