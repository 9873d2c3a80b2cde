"""Workers: the live ones, and their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tickbird.domain.workers import HeartbeatResult, Worker


class WorkerStore(Protocol):
    async def heartbeat(self, worker: Worker, live_for: float, *, now: datetime | None = None) -> HeartbeatResult:
        """Insert or refresh a worker's row; it counts as live for `live_for` seconds.

        If the schema is too new for this code, nothing is written, and the result reports it.
        """

    async def drain(
        self, namespace: str, worker_id: str, actor: str, *, note: str = "", now: datetime | None = None
    ) -> Worker:
        """Request a live worker to drain, which cannot be undone; no effect if it was requested before."""

    async def remove(self, worker_id: str) -> None:
        """Delete a worker's row."""

    async def list(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        """The live workers."""

    async def snapshot(self, namespace: str, *, now: datetime | None = None) -> tuple[datetime, Sequence[Worker]]:
        """The store's clock, and the workers that are live at that instant, in one round trip."""

    async def list_lost(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        """At most 100 workers that ended without removing their row, up to a day ago, the last one first."""

    async def count_planners(self, *, now: datetime | None = None) -> int:
        """The number of live workers of all namespaces that plan and do not drain."""
