"""Pings over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tickbird.client.base import page_size
from tickbird.client.http.base import Remote, instant, instant_ceil, schedule_path
from tickbird.client.pings import Pings
from tickbird.domain.time.instants import to_micros
from tickbird.wire.decode.parts import Document
from tickbird.wire.decode.parts import instant as read_instant


class RemotePings(Remote, Pings):
    """The verbs about pings."""

    async def ping(self, name: str, at: datetime | None = None) -> datetime:
        """Note that the old system ran this schedule's work, now or at an instant; twice the same is one."""
        return await self._post(f"{schedule_path(name)}/pings", _read, {"at": instant(at)})

    async def pings(
        self, name: str, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        """The pings of a schedule from `first` to `last`, oldest first, a page at a time: `after` is the last one."""
        page_size(limit)
        query = {"first": instant(first), "last": instant_ceil(last)}
        found = await self._pages(f"{schedule_path(name)}/pings", _read, limit, to_micros(after), query)
        return [at for at in found if first <= at <= last]


def _read(document: Document) -> datetime:
    return read_instant(document["at"])
