"""Limits: of concurrency keys, and the rates of queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tickbird.client.base import ClientBase, page_size
from tickbird.domain.errors import InvalidError, NotFoundError
from tickbird.domain.limits.concurrency import MAX_KEY_LENGTH, MAX_LIMIT, ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueueStatus, RateLimit, read_rate
from tickbird.domain.text import check_name, check_new_name, check_text
from tickbird.domain.workers import Worker, executes


class Limits(ClientBase):
    """The verbs about limits."""

    async def set_limit(self, key: str, max_running: int, *, actor: str) -> ConcurrencyLimit:
        """Let so many runs of a concurrency key go on at once; a higher limit lets waiting ones go at once."""
        check_text(actor, "actor", minimum=1, maximum=200)
        check_max_running(max_running)
        return await self._store.limits.set(self._namespace, check_limit_key(key), max_running, actor)

    async def remove_limit(self, key: str, *, actor: str) -> ConcurrencyLimit:
        """Go back to one run of this concurrency key at a time."""
        check_text(actor, "actor", minimum=1, maximum=200)
        check_text(key, "key", minimum=1, maximum=MAX_KEY_LENGTH)
        if not any(limit.is_explicit for limit in await self._store.limits.list(self._namespace, key=key)):
            raise NotFoundError(f"there is no limit for {key!r};", hint="`tickbird limits` shows those that exist.")
        return await self._store.limits.set(self._namespace, key, None, actor)

    async def limits(self, *, after: str = "", limit: int | None = None) -> Sequence[ConcurrencyLimit]:
        """The concurrency keys that have a limit or active runs, by name, behind `after`; all, or so many."""
        check_text(after, "after")
        maximum = None if limit is None else page_size(limit)
        return await self._store.limits.list(self._namespace, after=after, limit=maximum)

    async def set_queue_rate(self, queue: str, rate: RateLimit | str | None, *, actor: str) -> QueueStatus:
        """Let at most so many runs of a queue begin within so long, such as "100/min"; with None, as they come."""
        check_text(actor, "actor", minimum=1, maximum=200)
        # One that is there by any name can lose its rate.
        (check_name if rate is None else check_new_name)(queue, "queue")
        if rate is not None and not isinstance(rate, RateLimit):
            rate = read_rate(rate)
        before = await self._store.queues.list(self._namespace, queue=queue)
        if rate is None and not any(each.rate for each in before):
            raise NotFoundError(f"queue {queue!r} has no rate;", hint="`tickbird queues` shows those that have one.")
        limited = await self._store.queues.set_rate(self._namespace, queue, rate, actor)
        return _served([limited], await self._store.workers.list(self._namespace))[0]

    async def queues(self) -> Sequence[QueueStatus]:
        """The queues that have a rate, active runs or a live worker, by name."""
        workers = await self._store.workers.list(self._namespace)
        found = {each.name: each for each in await self._store.queues.list(self._namespace)}
        for name in {name for worker in workers if executes(worker) for name in worker.queues} - found.keys():
            found[name] = QueueStatus(name, None, None, 0, 0, 0)
        return _served([found[name] for name in sorted(found)], workers)


def check_max_running(maximum: object) -> int:
    """How many runs of a key may go on at once, or an InvalidError."""
    if isinstance(maximum, bool) or not isinstance(maximum, int) or not 1 <= maximum <= MAX_LIMIT:
        raise InvalidError(
            f"max_running: {str(maximum)[:60]!r} is not a whole number from 1 to {MAX_LIMIT};",
            field="max_running",
            hint="to hold runs back altogether, pause their schedules.",
        )
    return maximum


def check_limit_key(key: str) -> str:
    """A key that a limit can be set for, or an InvalidError."""
    if not check_text(key, "key", minimum=1, maximum=MAX_KEY_LENGTH).isprintable():
        raise InvalidError(f"key: {key[:60]!r} is not a text on one line, as keys of runs are.", field="key")
    return key


def _served(found: Sequence[QueueStatus], workers: Sequence[Worker]) -> list[QueueStatus]:
    """Queues, each with the number of workers that serve it."""
    served = Counter(name for worker in workers if executes(worker) for name in set(worker.queues))
    return [replace(each, workers=served[each.name]) for each in found]
