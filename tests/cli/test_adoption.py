"""Adoption of schedules in memory: the list, the canary, and the watch that undoes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tickbird import NotFoundError, Tickbird, every
from tickbird.cli.adoption import list_candidates, make_durable, return_to_memory, watch
from tickbird.domain.schedules.canary import is_in_share
from tickbird.testing.harness import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)


def an_app() -> Tickbird:
    bird = Tickbird(app="shop")

    @bird.task
    def work() -> None: ...

    bird.schedule("kept", work, every(minutes=1))
    for name in ("a", "b", "c"):
        bird.schedule(name, work, every(minutes=10), durable=False)
    return bird


async def _fates(harness: Harness, **options: Any) -> dict[str, str]:
    chosen = {"share": None, "names": (), **options}
    listed = await list_candidates(harness.client, "shop", harness.bird.declarations.schedules, **chosen)
    return {candidate.name: candidate.fate for candidate in listed}


async def test_only_schedules_in_memory_are_listed_with_the_ticks_of_both_sides() -> None:
    async with Harness(an_app(), START) as harness:
        await harness.client.schedules.update("b", actor="ada", trigger=every(minutes=20))
        await harness.client.schedules.update("c", actor="ada", durable=True)
        listed = await list_candidates(
            harness.client, "shop", harness.bird.declarations.schedules, share=None, names=()
        )
        assert [(item.name, item.fate, item.ticks_in_memory, item.ticks_durable) for item in listed] == [
            ("a", "adopt", 1008, 1008),
            ("b", "adopt", 1008, 504),
            ("c", "durable", 1008, 1008),
        ]
        assert [item.differs_at for item in listed] == [None, datetime(2026, 1, 1, 0, 10, tzinfo=UTC), None]
        assert await _fates(harness, names=("b",)) == {"a": "not chosen", "b": "adopt", "c": "durable"}
        with pytest.raises(NotFoundError):
            await _fates(harness, names=("missing",))


def test_share_is_stable_and_grows() -> None:
    names = [f"schedule-{number}" for number in range(5_000)]
    small = {name for name in names if is_in_share("default", name, 10)}
    large = {name for name in names if is_in_share("default", name, 50)}
    assert small < large
    assert 400 < len(small) < 600
    assert 2_300 < len(large) < 2_700
    assert all(is_in_share("default", name, 100) for name in names)


async def test_adopted_schedules_continue_and_stay_durable_after_a_deploy() -> None:
    async with Harness(an_app(), START) as harness:
        await harness.advance(minutes=25)
        await make_durable(harness.client, ["a"], "ada")
        problems = await watch(harness.client, ["a"], 86_400, sleep=lambda seconds: harness.advance(seconds=seconds))
        assert problems == {}
        assert harness.now == datetime(2026, 1, 2, 0, 25, tzinfo=UTC)
        ticks = [run.scheduled_for for run in await harness.runs("a")]
        assert len(ticks) == len(set(ticks)) == 146
        assert (await harness.client.schedules.get("a")).field_overrides == {"durable": True}
        assert (await harness.client.ticks.verify("a")).findings == ()


async def test_watch_reports_a_late_tick_and_the_adoption_is_undone() -> None:
    async with Harness(an_app(), START) as harness:
        await make_durable(harness.client, ["a", "b"], "ada")

        async def no_worker_for_a_while(seconds: float) -> None:
            # Time passes, and no worker plans in the first hour.
            if harness.now < datetime(2026, 1, 1, 1, tzinfo=UTC):
                harness.clock.move_to(datetime(2026, 1, 1, 1, 5, tzinfo=UTC))
            await harness.advance(seconds=seconds)

        problems = await watch(harness.client, ["a", "b"], 86_400, sleep=no_worker_for_a_while)
        assert set(problems) == {"a", "b"}
        assert problems["a"].startswith("late: the tick 2026-01-01T00:10")
        await return_to_memory(harness.client, ["a", "b"], "ada")
        schedule = await harness.client.schedules.get("a")
        assert (schedule.in_memory, schedule.field_overrides) == (True, {})
        before = len(await harness.runs("a"))
        await harness.advance(minutes=30)
        assert len(await harness.runs("a")) == before + 3


async def test_watch_reports_a_lost_tick() -> None:
    async with Harness(an_app(), START) as harness:
        await harness.client.schedules.update("a", actor="ada", catch_up="skip")
        await make_durable(harness.client, ["a"], "ada")

        async def late(seconds: float) -> None:
            harness.clock.move_to(datetime(2026, 1, 1, 0, 15, tzinfo=UTC))
            await harness.settle()

        problems = await watch(harness.client, ["a"], 3_600, sleep=late)
        assert problems["a"].startswith("lost: the tick 2026-01-01T00:10")


async def test_deploy_names_the_schedules_that_are_still_in_memory(caplog: pytest.LogCaptureFixture) -> None:
    from tickbird.engine.code_sync import sync

    async with Harness(an_app(), START) as harness:
        assert "in memory" not in caplog.text
        await make_durable(harness.client, ["a"], "ada")
        await sync(harness.store, harness.bird.declarations, harness.worker, now=harness.now)
        assert "1 schedule adopted, 2 schedules still in memory: b, c" in caplog.text
