"""A Kafka cluster for each test, and sinks that are closed after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from lab.kafka import KafkaCluster
from tickbird.sinks.kafka import KafkaSink

OpenSink = Callable[..., Awaitable[KafkaSink]]


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster() as cluster:
        yield cluster


@pytest_asyncio.fixture
async def open_sink(cluster: KafkaCluster) -> AsyncIterator[OpenSink]:
    sinks: list[KafkaSink] = []

    async def open_one(**settings: Any) -> KafkaSink:
        sink = KafkaSink(cluster.servers, **settings)
        await sink.open()
        sinks.append(sink)
        return sink

    yield open_one
    for sink in sinks:
        await sink.close()
