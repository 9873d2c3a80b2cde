"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fastapi import Request
from fastapi.responses import PlainTextResponse

from tickbird.api.auth.auth import Access
from tickbird.client import StoreClient
from tickbird.domain.doctor.metrics import NamespaceMetrics
from tickbird.domain.doctor.prometheus import write_gauges
from tickbird.single_flight_cache import SingleFlightCache, from_end
from tickbird.wire.operations import viewer

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# Seconds between two reads of the store, however many requests there are.
READ_INTERVAL: Final = 5.0
_MAX_NAMESPACES: Final = 1_000


class MetricsCache:
    """The metrics of each namespace, in a TTL cache."""

    def __init__(self, client: StoreClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._metrics: SingleFlightCache[str, NamespaceMetrics] = SingleFlightCache(
            from_end(READ_INTERVAL), max_entries=_MAX_NAMESPACES, clock=clock
        )

    async def of(self, namespace: str) -> NamespaceMetrics:
        return await self._metrics.get_or_compute(namespace, partial(self._read, namespace))

    async def _read(self, namespace: str) -> NamespaceMetrics:
        store = self._client.store
        metrics = await store.statistics.read_metrics(namespace)
        has = store.capabilities
        if "leadership" in has:
            metrics = metrics.with_leader(await store.leadership.get(limit=1))
        return metrics.with_events(
            await store.events.head(namespace) if "events" in has else 0,
            await store.consumers.list(namespace) if "consumers" in has else (),
        )


@viewer.get("metrics", "/metrics", "Get metrics for Prometheus", content={"text/plain": {"type": "string"}})
async def metrics(request: Request, access: Access) -> Any:
    """Get the gauges of a namespace: counts up to a maximum, ages of the oldest work, recent outcomes."""
    gauges: MetricsCache = request.app.state.gauges
    text = write_gauges(access.namespace, await gauges.of(access.namespace))
    return PlainTextResponse(text, media_type=MEDIA_TYPE)
