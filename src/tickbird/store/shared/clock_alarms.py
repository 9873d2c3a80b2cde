"""Who among the live workers does not go by the store's clock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from tickbird.domain.alarms import CLOCK_JUMPED
from tickbird.store.protocol.store import Worker

_CLOSE: Final = timedelta(minutes=1)


def who_distrusts(workers: Iterable[Worker], now: datetime) -> Worker | None:
    """A worker that has seen the clock jump. One last seen at an instant to come was lost while the clock was ahead."""
    found = (worker for worker in workers if CLOCK_JUMPED in worker.held)
    return next((worker for worker in found if worker.seen_at is not None and worker.seen_at <= now + _CLOSE), None)
