"""What people ask of a past whose runs were pruned: no tick runs twice, and each answer says what is not known."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from tickbird import NotFoundError, Run, Tickbird, cron
from tickbird.testing import Harness

START = datetime(2026, 1, 10, tzinfo=UTC)


async def test_backfill_retry_and_why_of_a_pruned_tick() -> None:
    bird, ran = Tickbird("sqlite://:memory:", app="shop"), Counter[str]()

    @bird.task(schedule=cron("0 2 * * *"))
    async def report(run: Run) -> None:
        ran[f"{run.scheduled_for:%d}"] += 1

    async with Harness(bird, start=START) as time:
        await time.advance(days=3)
        runs = await time.runs("report")
        await time.store.prune(older_than=0, keep=0, now=time.now)
        assert await time.runs("report") == []
        for run in runs:
            assert run.scheduled_for is not None
            with pytest.raises(NotFoundError, match=f"there is no run {run.id}"):
                await time.client.retry(run.id, actor="ana")
            told = await time.client.why("report", run.scheduled_for)
            assert (told.verdict, "pruned" in told.sentence) == ("no record", True)
        for _ in range(2):
            made = await time.client.backfill("report", START, time.now, actor="ana")
            assert (made.count, made.taken, made.pruned) == (0, 0, 3)
            assert made.pruned_until == runs[-1].scheduled_for
            await time.settle()
        await time.advance(days=1)
        assert ran == {"10": 1, "11": 1, "12": 1, "13": 1}
