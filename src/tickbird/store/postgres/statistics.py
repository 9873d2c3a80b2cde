"""Statistics on PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from tickbird.domain.doctor.metrics import MAX_COUNTED, RECENTLY, NamespaceMetrics, measured
from tickbird.domain.runs.durations import MAX_RUNS_READ, DurationStats, duration_stats
from tickbird.store.postgres.database.database import NounStore
from tickbird.store.protocol.statistics import StatisticsStore


class PostgresStatistics(NounStore, StatisticsStore):
    async def read_metrics(
        self, namespace: str, *, maximum: int = MAX_COUNTED, now: datetime | None = None
    ) -> NamespaceMetrics:
        bounds = {"namespace": namespace, "now": now, "maximum": maximum, "recently": RECENTLY}
        rows = await self._db.fetch("measure", **bounds)
        [at] = [at for kind, _, _, at in rows if kind == "now"]
        return measured(at, [(kind, label, number, at) for kind, label, number, at in rows if kind != "now"], maximum)

    async def read_durations(self, namespace: str, names: Collection[str]) -> Mapping[str, DurationStats]:
        rows = await self._db.fetch_named(
            "durations", namespace=namespace, names=sorted(names), looked_at=MAX_RUNS_READ
        )
        return {row["name"]: duration_stats(row["seconds"]) for row in rows}
