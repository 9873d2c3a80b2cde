"""Activity and pings over HTTP: instants are sent in whole seconds, so responses may hold too much."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from tickbird.client.activity import ActivityLog
from tickbird.client.http.operations import HttpNoun
from tickbird.client.pings import Pings
from tickbird.domain.ledger.activity import Activity
from tickbird.wire.operations import operations_of

_LIST_ACTIVITY: Final = operations_of(ActivityLog)["list"]
_LIST_PINGS: Final = operations_of(Pings)["list"]


class HttpActivityLog(HttpNoun, ActivityLog):
    """Activity of a server."""

    async def list(self, since: datetime, *, schedule: str | None = None, limit: int = 1_000) -> Sequence[Activity]:
        """Without activity before `since` in the same second."""
        asked = {"since": since, "schedule": schedule, "limit": limit}
        return [activity for activity in await self.send(_LIST_ACTIVITY, asked) if activity.at >= since]


class HttpPings(HttpNoun, Pings):
    """Pings of a server."""

    async def list(
        self,
        name: str,
        first: datetime | None = None,
        last: datetime | None = None,
        *,
        after: datetime | None = None,
        limit: int = 1_000,
    ) -> Sequence[datetime]:
        """Without pings outside of the range in the same second."""
        asked = {"name": name, "first": first, "last": last, "after": after, "limit": limit}
        pings: Sequence[datetime] = await self.send(_LIST_PINGS, asked)
        return [at for at in pings if (first is None or first <= at) and (last is None or at <= last)]
