"""Statistics on SQLite."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from tickbird.domain.doctor.metrics import MAX_COUNTED, RECENTLY, NamespaceMetrics, measured
from tickbird.domain.runs.durations import MAX_RUNS_READ, DurationStats, duration_stats
from tickbird.domain.time.instants import MICROSECOND, from_micros, to_micros
from tickbird.store.protocol.statistics import StatisticsStore
from tickbird.store.sqlite.database.connection import Session
from tickbird.store.sqlite.database.database import NounStore, read_transaction
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.rows import dump


class SqliteStatistics(NounStore, StatisticsStore):
    async def read_metrics(
        self, namespace: str, *, maximum: int = MAX_COUNTED, now: datetime | None = None
    ) -> NamespaceMetrics:
        at = read_clock(now)
        bounds = {
            "namespace": namespace,
            "now": to_micros(at),
            "maximum": maximum,
            "recently": timedelta(seconds=RECENTLY) // MICROSECOND,
        }
        rows = await self._db.fetch("measure", **bounds)
        return measured(at, [(*row, from_micros(when)) for *row, when in rows], maximum)

    @read_transaction
    def read_durations(self, db: Session, namespace: str, names: Collection[str]) -> Mapping[str, DurationStats]:
        bounds = {"namespace": namespace, "names": dump(sorted(names)), "looked_at": MAX_RUNS_READ}
        durations: dict[str, list[float]] = {}
        for name, micros in db.execute(SQL["durations"], bounds):
            durations.setdefault(name, []).append(timedelta(microseconds=micros).total_seconds())
        return {name: duration_stats(seconds) for name, seconds in durations.items()}
