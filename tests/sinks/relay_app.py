"""A worker that relays events to Kafka, and that tests kill."""

from __future__ import annotations

import asyncio
import os

from tickbird import Tickbird
from tickbird.engine.engine import EngineOptions
from tickbird.sinks.kafka import KafkaSink
from tickbird.worker import WorkerProcess

bird = Tickbird(os.environ.get("RELAY_URL", "sqlite://:memory:"), app="shop")
bird.relay(
    "orders.#",
    KafkaSink(
        os.environ.get("RELAY_SERVERS", "127.0.0.1:9"),
        topic="orders",
        timeout=3,
        linger_ms=0,
        message_max_bytes=100_000,
    ),
    group="kafka",
    batch=20,
    backoff=1,
)

if __name__ == "__main__":
    options = EngineOptions(lease=2.0, heartbeat=1.0, safety_poll=0.5, drain=10.0)
    asyncio.run(WorkerProcess(bird, options=options).run(signals=True))
