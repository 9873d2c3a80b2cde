"""Queues, and the rates at which their runs may start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.domain.errors import NotFoundError
from tickbird.domain.explain.unserved_runs import unserved
from tickbird.domain.limits.rate_limits import QueueStatus, RateLimit, read_rate
from tickbird.domain.schedules.json_schema import NAME
from tickbird.domain.text import check_name, check_new_name
from tickbird.domain.workers import Worker, executes
from tickbird.wire.operations import editor, viewer
from tickbird.wire.parameters import Meta

RATE: Final = r"^[1-9][0-9]{0,5}/([1-9][0-9]{0,2})?(s|sec|second|seconds|m|min|minute|minutes|h|hour|hours|d|day|days)$"
QueueName = Annotated[str, Meta(schema={"pattern": NAME["pattern"]}, parse=lambda name: check_name(name, "queue"))]
Rate = Annotated[
    RateLimit | str,
    Meta(
        schema={"type": "string", "maxLength": 60, "pattern": RATE},
        description='Such as "100/min", "5/s", "20/3h" or "1000/day".',
    ),
]


async def _warnings(client: Any, queue: QueueStatus, _: Mapping[str, Any]) -> list[str]:
    reason = unserved(queue.name, await client.workers.list())
    return [f"{reason}: its runs stay queued until one does"] if reason else []


_RESPONSE: Final = {"audit": "rate", "envelope": "queue", "extras": {"warnings": _warnings}}


class Queues(ClientBase):
    """Queues and their rates."""

    @viewer.get("list_queues", "/queues", "List queues", page=lambda queue: queue.name)
    async def list(self) -> Sequence[QueueStatus]:
        """List the queues that have a rate, active runs or a live worker, by name."""
        workers = await self._store.workers.list(self._namespace)
        known = {queue.name: queue for queue in await self._store.queues.list(self._namespace)}
        for name in {name for worker in workers if executes(worker) for name in worker.queues} - known.keys():
            known[name] = QueueStatus(name, None, None, 0, 0, 0)
        return _count_workers([known[name] for name in sorted(known)], workers)

    @editor.put("set_rate", "/queues/{queue}/rate", "Set the rate of a queue", **_RESPONSE)
    async def set_rate(self, queue: QueueName, rate: Rate, *, actor: str) -> QueueStatus:
        """Limit how many runs of a queue may start within a period; runs that have already started count."""
        check_new_name(queue, "queue")
        return await self._set(queue, rate if isinstance(rate, RateLimit) else read_rate(rate), actor)

    @editor.delete("remove_rate", "/queues/{queue}/rate", "Remove the rate of a queue", **_RESPONSE)
    async def remove_rate(self, queue: QueueName, *, actor: str) -> QueueStatus:
        """Remove the limit on how fast the runs of a queue start; 404 if it has no rate limit."""
        if not any(status.rate for status in await self._store.queues.list(self._namespace, queue=queue)):
            raise NotFoundError(f"queue {queue!r} has no rate limit.", hint="`tickbird queues` lists the rate limits.")
        return await self._set(queue, None, actor)

    async def _set(self, queue: str, rate: RateLimit | None, actor: str) -> QueueStatus:
        changed = await self._store.queues.set_rate(self._namespace, queue, rate, actor)
        return _count_workers([changed], await self._store.workers.list(self._namespace))[0]


def _count_workers(queues: Sequence[QueueStatus], workers: Sequence[Worker]) -> Sequence[QueueStatus]:
    served = Counter(name for worker in workers if executes(worker) for name in set(worker.queues))
    return [replace(queue, workers=served[queue.name]) for queue in queues]
