"""Statistics: numbers about many runs and schedules."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from tickbird.domain.doctor.metrics import MAX_COUNTED, NamespaceMetrics
from tickbird.domain.runs.durations import DurationStats


class StatisticsStore(Protocol):
    async def read_metrics(
        self, namespace: str, *, maximum: int = MAX_COUNTED, now: datetime | None = None
    ) -> NamespaceMetrics:
        """Counts of active and recently ended runs and of schedules in a namespace, each up to `maximum`."""

    async def read_durations(self, namespace: str, names: Collection[str]) -> Mapping[str, DurationStats]:
        """Durations of the last successful runs of these schedules; omits schedules without any."""
