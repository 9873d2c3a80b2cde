"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from fastapi import Request
from fastapi.responses import PlainTextResponse

from tickbird.api.auth.auth import Access
from tickbird.client import StoreClient
from tickbird.domain.doctor.metrics import RECENTLY, NamespaceMetrics
from tickbird.single_flight_cache import SingleFlightCache, from_end
from tickbird.wire.operations import viewer

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# Seconds between two reads of the store, however many requests there are.
READ_INTERVAL: Final = 5.0
_MAX_NAMESPACES: Final = 1_000
_STATES: Final = ("active", "paused", "parked", "ended")
_ACTIVE: Final = ("waiting", "queued", "running")
_FINAL: Final = ("succeeded", "failed", "cancelled")
# Name, what it means, and its values by label; the names stay.
Metric = tuple[str, str, Mapping[tuple[tuple[str, str], ...], float]]


class MetricsCache:
    """The metrics of each namespace, in a TTL cache."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._metrics: SingleFlightCache[str, NamespaceMetrics] = SingleFlightCache(
            from_end(READ_INTERVAL), max_entries=_MAX_NAMESPACES, clock=clock
        )

    async def of(self, namespace: str) -> NamespaceMetrics:
        return await self._metrics.get_or_compute(
            namespace, partial(self._client.store.statistics.read_metrics, namespace)
        )


@viewer.get("metrics", "/metrics", "Get metrics for Prometheus", content={"text/plain": {"type": "string"}})
async def metrics(request: Request, access: Access) -> Any:
    """Get the gauges of a namespace: counts up to a maximum, ages of the oldest work, recent outcomes."""
    gauges: MetricsCache = request.app.state.gauges
    text = exposed(access.namespace, await gauges.of(access.namespace))
    return PlainTextResponse(text, media_type=MEDIA_TYPE)


def exposed(namespace: str, measures: NamespaceMetrics) -> str:
    """The text that Prometheus reads."""
    lines: list[str] = []
    for name, meaning, values in _metrics(measures):
        lines += [f"# HELP tickbird_{name} {meaning}", f"# TYPE tickbird_{name} gauge"]
        for labels, value in values.items():
            pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in (("namespace", namespace), *labels))
            lines.append(f"tickbird_{name}{{{pairs}}} {value}")
    return "\n".join(lines) + "\n"


def _metrics(measures: NamespaceMetrics) -> Iterator[Metric]:
    unlabelled = ()
    yield "schedules", "Schedules by state.", _by("state", _STATES, measures.schedules)
    yield "runs", "Runs that are not final, by status.", _by("status", _ACTIVE, measures.runs)
    yield "runs_held", "Waiting runs that are held until a person releases them.", {unlabelled: measures.held}
    yield (
        "runs_ended_recently",
        f"Runs that became final in the last {RECENTLY} seconds, by status.",
        _by("status", _FINAL, measures.ended),
    )
    yield (
        "queued_age_seconds",
        "Age of the oldest queued run that could have started.",
        {unlabelled: _age(measures.now, measures.queued_since)},
    )
    yield (
        "planning_lag_seconds",
        "Age of the oldest tick that is due and not planned.",
        {unlabelled: _age(measures.now, measures.due_since)},
    )
    yield "workers", "Live workers.", {unlabelled: measures.workers}
    yield "workers_draining", "Live workers that claim no new runs.", {unlabelled: measures.draining}
    yield "worker_slots", "Runs that live workers can execute at a time.", {unlabelled: measures.slots}
    yield "counts_capped", "1 if a count has reached its maximum.", {unlabelled: int(measures.capped)}


def _by(label: str, known: tuple[str, ...], counts: Mapping[str, int]) -> dict[tuple[tuple[str, str], ...], float]:
    return {((label, value),): counts.get(value, 0) for value in known}


def _age(now: datetime, since: datetime | None) -> float:
    return 0.0 if since is None else round(max(0.0, (now - since).total_seconds()), 3)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
