"""A worker of the soak: `python -m bench.soak.worker`. Short leases, so that faults pass quickly."""

from __future__ import annotations

import asyncio
import logging

from bench.soak.app import bird
from bench.soak.leak import await_leak
from tickbird.engine.engine import EngineOptions
from tickbird.worker import WorkerProcess

if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(process)d %(name)s %(message)s")
    await_leak()
    bird.reference = "bench.soak.app:bird"
    options = EngineOptions(lease=4.0, heartbeat=2.0, safety_poll=4.0, drain=5.0)
    asyncio.run(WorkerProcess(bird, slots=20, options=options).run(signals=True))
