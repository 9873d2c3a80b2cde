"""The health of a worker: the difference of its clock to the store's, whatever the latency."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tickbird.domain.time.zone_data import zone_source
from tickbird.engine.worker_health import WorkerHealth


@pytest.mark.parametrize(
    "asked_at,shown,answered_at,apart",
    [
        (100.0, 100.5, 101.0, 0.0),
        (100.0, 100.0, 100.0, 0.0),
        (100.0, 40.0, 101.0, 60.0),
        (100.0, 161.5, 101.5, -60.0),
        # A slow response is consistent with many clocks.
        (100.0, 110.0, 130.0, 0.0),
    ],
)
def test_an_instant_outside_of_request_and_response_is_a_difference(
    asked_at: float, shown: float, answered_at: float, apart: float
) -> None:
    times = iter((asked_at, answered_at))
    health = WorkerHealth(lambda: 3, lambda: next(times))
    assert health.snapshot() == {"zones": str(zone_source().data), "stuck": 3}
    health.observe(datetime.fromtimestamp(shown, UTC), health.wall())
    assert health.snapshot()["clock"] == apart


def test_without_a_clock_of_its_own_there_is_nothing_to_compare() -> None:
    health = WorkerHealth()
    health.observe(datetime.now(UTC), health.wall())
    assert "clock" not in health.snapshot()
