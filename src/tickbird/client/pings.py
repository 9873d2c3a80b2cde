"""Pings: another system says that it really ran what a schedule is to do."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from tickbird.client.base import ClientBase, page_size
from tickbird.domain.errors import InvalidError
from tickbird.domain.time.instants import to_seconds, utc_text

# Clocks are not that far apart.
_MAX_CLOCK_LEAD: Final = timedelta(hours=1)


class Pings(ClientBase):
    """The verbs about pings."""

    async def ping(self, name: str, at: datetime | None = None) -> datetime:
        """Note that the old system ran this schedule's work, now or at an instant; twice the same is one."""
        schedule = await self._get(name)
        if at is not None:
            check_ping(at, await self._store.now())
        return await self._store.pings.add(schedule.id, at)

    async def pings(
        self, name: str, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        """The pings of a schedule from `first` to `last`, oldest first, a page at a time: `after` is the last one."""
        schedule = await self._find(name)
        return await self._store.pings.list(schedule.id, first, last, after=after, limit=page_size(limit))


def check_ping(at: datetime, now: datetime) -> None:
    """Nothing has run that is still to come."""
    to_seconds(at)
    if at > now + _MAX_CLOCK_LEAD:
        raise InvalidError(f"at: {utc_text(at)} is still to come;", field="at", hint="give when it really ran.")
