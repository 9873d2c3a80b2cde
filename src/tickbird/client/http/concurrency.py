"""Limits over HTTP: of concurrency keys, and the rates of queues."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from tickbird.client.concurrency import Limits, check_limit_key, check_max_running
from tickbird.client.http.base import Remote
from tickbird.domain.limits.concurrency import MAX_KEY_LENGTH, ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus, RateLimit, read_rate
from tickbird.domain.text import check_name, check_text
from tickbird.wire.decode.concurrency import read_limit, read_queue
from tickbird.wire.decode.parts import Document

_PAGE = 1_000


class RemoteLimits(Remote, Limits):
    """The verbs about limits."""

    async def set_limit(self, key: str, max_running: int, *, actor: str) -> ConcurrencyLimit:
        """Let so many runs of a concurrency key go on at once; a higher limit lets waiting ones go at once."""
        body = {"max_running": check_max_running(max_running)}
        return await self._other("PUT", _path(check_limit_key(key)), read_limit, body)

    async def remove_limit(self, key: str, *, actor: str) -> ConcurrencyLimit:
        """Go back to one run of this concurrency key at a time."""
        return await self._other("DELETE", _path(key), read_limit)

    async def limits(self, *, after: str = "", limit: int | None = None) -> Sequence[ConcurrencyLimit]:
        """The concurrency keys that have a limit or active runs, by name, behind `after`; all, or so many."""
        check_text(after, "after")
        if limit is not None:
            return await self._pages("/limits", read_limit, limit, after)
        found: list[ConcurrencyLimit] = []
        while page := await self._pages("/limits", read_limit, _PAGE, found[-1].key if found else after):
            found += page
        return found

    async def set_queue_rate(self, queue: str, rate: RateLimit | str | None, *, actor: str) -> QueueStatus:
        """Let at most so many runs of a queue begin within so long, such as "100/min"; with None, as they come."""
        path = f"/queues/{check_name(queue, 'queue')}/rate"
        if rate is None:
            return await self._other("DELETE", path, _changed)
        wanted = rate if isinstance(rate, RateLimit) else read_rate(rate)
        return await self._other("PUT", path, _changed, {"rate": str(wanted)})

    async def queues(self) -> Sequence[QueueStatus]:
        """The queues that have a rate, active runs or a live worker, by name."""
        found: list[QueueStatus] = []
        while page := await self._pages("/queues", read_queue, _PAGE, found[-1].name if found else None):
            found += page
        return found


def _path(key: str) -> str:
    check_text(key, "key", minimum=1, maximum=MAX_KEY_LENGTH)
    return f"/limits/{quote(key, safe='') if key.strip('.') else key.replace('.', '%2E')}"


def _changed(document: Document) -> QueueStatus:
    return read_queue(document["queue"])
