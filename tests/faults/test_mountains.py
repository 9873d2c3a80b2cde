"""Many schedules due at once: planned and run in bounded memory, and nobody else is late for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tickbird.testing.faults.mountain import climb

SIZES = {"sqlite": 500, "postgres": 2_000}
# In seconds; more than any batch may take on a machine that does much else.
LATE = 15
SCALE = int(os.environ.get("TICKBIRD_FUZZ", "1"))
# What planning and executing any number of them may add to a worker.
ROOM = 100 << 20


@pytest.mark.timeout(600)
async def test_many_due_at_once(url: str, tmp_path: Path) -> None:
    size = SCALE * SIZES["sqlite" if url.startswith("sqlite") else "postgres"]
    climbed = await climb(url, tmp_path, size, late_after=LATE)
    assert climbed.late == []
    assert climbed.ticks >= 5
    before, after = climbed.memory
    assert after - before < ROOM
