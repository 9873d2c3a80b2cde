"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from tickbird.api.auth.auth import Viewer
from tickbird.client import StoreClient
from tickbird.domain.doctor.metrics import RECENTLY, NamespaceMetrics
from tickbird.single_flight_cache import SingleFlightCache, from_end

router = APIRouter(tags=["health"])
MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# However often somebody asks, the store is looked at only so often.
READ_INTERVAL: Final = 5.0
_MAX_NAMESPACES: Final = 1_000
_STATES: Final = ("active", "paused", "parked", "ended")
_ACTIVE: Final = ("waiting", "queued", "running")
_FINAL: Final = ("succeeded", "failed", "cancelled")
# Name, what it means, and its values by label; the names stay.
Metric = tuple[str, str, Mapping[tuple[tuple[str, str], ...], float]]


class MetricsCache:
    """What was measured of each namespace, for a few seconds."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._metrics: SingleFlightCache[str, NamespaceMetrics] = SingleFlightCache(
            from_end(READ_INTERVAL), max_entries=_MAX_NAMESPACES, clock=clock
        )

    async def of(self, namespace: str) -> NamespaceMetrics:
        """Those of a namespace."""
        return await self._metrics.get_or_compute(
            namespace, partial(self._client.store.statistics.read_metrics, namespace)
        )


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    operation_id="metrics",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: Request, access: Viewer) -> Any:
    """Gauges of a namespace: bounded counts of what is there, ages of what waits, and what has ended lately."""
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
    one = ()
    yield "schedules", "Schedules by state.", _by("state", _STATES, measures.schedules)
    yield "runs", "Runs that are not final, by status.", _by("status", _ACTIVE, measures.runs)
    yield "runs_held", "Waiting runs that are held until a person releases them.", {one: measures.held}
    yield (
        "runs_ended_recently",
        f"Runs that became final in the last {RECENTLY} seconds, by status.",
        _by("status", _FINAL, measures.ended),
    )
    yield (
        "queued_age_seconds",
        "How long the oldest queued run could have been started already.",
        {one: _age(measures.now, measures.queued_since)},
    )
    yield (
        "planning_lag_seconds",
        "How long the oldest schedule that is due has been due.",
        {one: _age(measures.now, measures.due_since)},
    )
    yield "workers", "Live workers.", {one: measures.workers}
    yield "workers_draining", "Live workers that take nothing new.", {one: measures.draining}
    yield "worker_slots", "Runs that live workers can execute at a time.", {one: measures.slots}
    yield "counts_capped", "1 where there is more than was counted.", {one: int(measures.capped)}


def _by(label: str, known: tuple[str, ...], counts: Mapping[str, int]) -> dict[tuple[tuple[str, str], ...], float]:
    return {((label, each),): counts.get(each, 0) for each in known}


def _age(now: datetime, since: datetime | None) -> float:
    return 0.0 if since is None else round(max(0.0, (now - since).total_seconds()), 3)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
