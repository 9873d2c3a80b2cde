"""Many schedules due at once: planned and run in bounded memory, and no other schedule is late."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.faults.burst import run_burst

SIZES = {"sqlite": 500, "postgres": 2_000}
# Seconds; longer than a batch on a busy machine.
MAX_LATENESS = 15
SCALE = int(os.environ.get("TICKBIRD_FUZZ", "1"))
# Bytes that planning and executing any number of them may add to a worker.
MAX_GROWTH = 100 << 20


@pytest.mark.timeout(600)
async def test_many_due_at_once(url: str, tmp_path: Path) -> None:
    size = SCALE * SIZES["sqlite" if url.startswith("sqlite") else "postgres"]
    report = await run_burst(url, tmp_path, size, max_lateness=MAX_LATENESS)
    assert report.late == []
    assert report.ticks >= 5
    before, after = report.memory
    assert after - before < MAX_GROWTH
