"""Why a run was due at another instant than its tick."""

from __future__ import annotations

from conformance.steps import NAME, NAMESPACE, change, create, epoch, later, plan, work_off
from tests.client.why.questions import ask, step
from tickbird.domain.planning.commands.ticks import Reschedule
from tickbird.domain.schedules.definition import spread_offset
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


class TestMoved:
    async def test_by_a_reschedule(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ana", to=epoch(200), note="later"), 30)
        coming = await ask(store, 60, now=40)
        assert coming.verdict == "will run"
        assert coming.sentence.startswith(
            "Will run at 2026-01-01 00:03:20 UTC, moved from 2026-01-01 00:01:00 UTC by ana"
        )
        await plan(store, 200)
        await work_off(store, 200)
        answer = await ask(store, 60, now=210)
        assert answer.verdict == "ran"
        assert step(answer, "late").ok is True
        assert step(answer, "reschedule").text == (
            "Moved from 2026-01-01 00:01:00 UTC to 2026-01-01 00:03:20 UTC by ana: “later”."
        )
        there = await ask(store, 200, now=210)
        assert there.verdict == "not a tick"
        assert "but ana moved the tick of 2026-01-01 00:01:00 UTC to this instant" in there.sentence

    async def test_by_the_spread(self, store: Store) -> None:
        await create(store, NAME, every(hours=1), spread=600)
        offset = spread_offset(NAMESPACE, NAME, 600)
        assert offset > 1
        coming = await ask(store, 3600, now=3600 + offset - 1)
        assert coming.verdict == "will run"
        assert step(coming, "spread").at == later(3600 + offset)
        due = await ask(store, 3600 + offset, now=0)
        assert (due.verdict, step(due, "spread").at) == ("not a tick", later(3600))
        await plan(store, 3600 + offset)
        await work_off(store, 3600 + offset)
        assert step(await ask(store, 3600, now=4300), "spread").at == later(3600 + offset)
