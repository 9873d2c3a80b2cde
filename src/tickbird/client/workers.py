"""Live workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note
from tickbird.domain.workers import Worker, no_such_worker
from tickbird.wire.operations import admin, viewer
from tickbird.wire.parameters import Meta


def check_worker_id(worker_id: str) -> None:
    if "/" in worker_id:
        raise no_such_worker(worker_id)


WorkerId = Annotated[str, Meta(min_length=1, max_length=1_000), Meta(check=check_worker_id)]


class Workers(ClientBase):
    """Live workers."""

    @viewer.get("list_workers", "/workers", "List workers", page=lambda worker: worker.id)
    async def list(self) -> Sequence[Worker]:
        """List the live workers of a namespace by id, with their queues, targets and health."""
        return sorted(await self._store.workers.list(self._namespace), key=lambda worker: worker.id)

    @viewer.get("get_worker", "/workers/{worker}", "Get a worker", keys={"worker_id": "worker"})
    async def get(self, worker_id: WorkerId) -> Worker:
        """Get a live worker by its id."""
        for worker in await self._store.workers.list(self._namespace):
            if worker.id == worker_id:
                return worker
        raise no_such_worker(worker_id)

    @admin.post(
        "drain_worker", "/workers/{worker}/drain", "Drain a worker", keys={"worker_id": "worker"}, audit="drain_worker"
    )
    async def drain(self, worker_id: WorkerId, *, actor: str, note: Note = "") -> Worker:
        """Ask a worker to finish its runs, claim no others and exit, as on SIGTERM; this cannot be undone.

        The worker sees the request at once, or with its next heartbeat. Draining it twice has no effect.
        """
        return await self._store.workers.drain(self._namespace, worker_id, actor, note=note)
