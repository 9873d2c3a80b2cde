"""Overrides through the real client and store, as a person and a program see them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tickbird import Run, Tickbird, cron, every
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, PayloadError, TriggerError
from tickbird.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)
Made = tuple[Harness, list[tuple[datetime | None, int]]]


def hour(number: int) -> datetime:
    return START + timedelta(hours=number)


@pytest.fixture
async def hourly() -> AsyncIterator[Made]:
    """A schedule that ticks every hour, and what its task was called with."""
    bird = Tickbird("sqlite://:memory:", app="shop")
    called: list[tuple[datetime | None, int]] = []

    @bird.task(schedule=every(hours=1), overlap="allow")
    async def work(run: Run, limit: int = 100) -> None:
        called.append((run.scheduled_for, limit))

    async with Harness(bird, start=START + timedelta(minutes=5)) as time:
        yield time, called


async def test_skipped_moved_and_with_another_payload(hourly: Made) -> None:
    time, called = hourly
    client = time.client
    skipped = await client.overrides.put("work", hour(1), skip=True, actor="ana", note="closed")
    assert (skipped.skip, skipped.moved, skipped.due_at, skipped.actor) == (True, False, hour(1), "ana")
    moved = await client.overrides.put("work", hour(3), move_to=hour(5), payload={"limit": 5}, actor="ben")
    assert (moved.due_at, moved.payload, moved.passes_over) == (hour(5), {"limit": 5}, 2)
    coming = await client.ticks.next("work", 6)
    assert [tick.skipped for tick in coming] == ["operator", None, None, "rescheduled", "rescheduled", None]
    assert [tick.override and tick.override.actor for tick in coming] == ["ana", None, "ben", None, None, None]
    assert [tick.due_at for tick in coming][2] == hour(5)
    await time.advance(hours=6)
    assert called == [(hour(2), 100), (hour(3), 5), (hour(6), 100)]
    assert await client.overrides.list("work") == []
    audit = await client.ticks.verify("work")
    assert (audit.ok, audit.runs, audit.skipped) == (True, 3, 3)
    rows = [(row.action, row.actor) for row in await client.audit.list(schedule="work")]
    assert rows[:2] == [("override", "ben"), ("override", "ana")]


async def test_a_tick_moved_to_an_earlier_instant_is_proven_too(hourly: Made) -> None:
    time, called = hourly
    await time.client.overrides.put("work", hour(3), move_to=hour(2) + timedelta(minutes=1), actor="ana")
    await time.advance_to(hour(2) + timedelta(minutes=30))
    assert called == [(hour(1), 100), (hour(2), 100), (hour(3), 100)]
    assert (await time.client.ticks.verify("work")).ok
    await time.advance(hours=2)
    assert (await time.client.ticks.verify("work")).ok
    assert len(called) == 4


async def test_what_was_decided_early_is_proven_after_an_edit(hourly: Made) -> None:
    time, called = hourly
    await time.client.overrides.put("work", hour(3), skip=True, actor="ana")
    await time.client.overrides.put("work", hour(4), move_to=hour(2) + timedelta(minutes=1), actor="ana")
    await time.advance_to(hour(2) + timedelta(minutes=30))
    assert called == [(hour(1), 100), (hour(2), 100), (hour(4), 100)]
    await time.client.schedules.update("work", trigger=cron("15 * * * *"), actor="ana")
    await time.advance_to(hour(6))
    audit = await time.client.ticks.verify("work")
    assert (audit.ok, audit.findings) == (True, ())
    assert called[3:] == [(hour(number) + timedelta(minutes=15), 100) for number in (3, 4, 5)]


async def test_why_tells_it_before_and_after(hourly: Made) -> None:
    time, _ = hourly
    client = time.client
    await client.overrides.put("work", hour(1), skip=True, actor="ana", note="closed")
    await client.overrides.put("work", hour(2), payload={"limit": 5}, actor="ana", note="few")
    await client.overrides.put("work", hour(3), move_to=hour(5), payload={"limit": 7}, actor="ben")
    before = [await client.ticks.why("work", hour(number)) for number in range(1, 5)]
    assert [each.verdict for each in before] == ["will be skipped", "will run", "will run", "will be skipped"]
    assert before[0].sentence == "Will be skipped: ana skipped this tick: “closed”."
    assert ", with a payload changed by ana" in before[1].sentence
    assert ", moved from 2026-01-01 03:00:00 UTC by ben, with a payload changed by ben" in before[2].sentence
    assert "past this one" in before[3].sentence
    landing = await client.ticks.why("work", hour(5) + timedelta(minutes=0))
    assert landing.verdict == "will be skipped"
    await time.advance(hours=6)
    after = [await client.ticks.why("work", hour(number)) for number in range(1, 5)]
    assert [each.verdict for each in after] == ["skipped", "ran", "ran", "skipped"]
    assert after[0].sentence == "Skipped (operator): ana skipped this tick: “closed”."
    assert after[1].sentence.endswith(" ana changed its payload: “few”.")
    assert after[2].sentence.endswith(" ben moved it and changed its payload.")
    assert any("Moved from 2026-01-01 03:00:00 UTC to 2026-01-01 05:00:00 UTC by ben" in s.text for s in after[2].steps)


async def test_why_says_nothing_of_what_was_undone(hourly: Made) -> None:
    time, _ = hourly
    await time.client.overrides.put("work", hour(2), move_to=hour(4), actor="ben")
    await time.client.overrides.undo("work", hour(2), actor="ana")
    answers = [await time.client.ticks.why("work", hour(number)) for number in (2, 3)]
    await time.advance(hours=3)
    answers += [await time.client.ticks.why("work", hour(number)) for number in (2, 3)]
    assert [each.verdict for each in answers] == ["will run", "will run", "ran", "ran"]
    assert not any("oved" in step.text for each in answers for step in each.steps)


async def test_a_tick_of_the_past_is_refused_with_what_became_of_it(hourly: Made) -> None:
    time, _ = hourly
    await time.client.overrides.put("work", hour(2), skip=True, actor="ana", note="closed")
    await time.advance(hours=3)
    with pytest.raises(ConflictError, match=r"is decided already: run 1 of it succeeded\. Only upcoming ticks"):
        await time.client.overrides.put("work", hour(1), skip=True, actor="ana")
    with pytest.raises(ConflictError, match=r"it was skipped by ana for operator \(closed\)"):
        await time.client.overrides.undo("work", hour(2), actor="ana")
    with pytest.raises(ConflictError, match=r"'work' did not exist at .*T19:00:00Z. It was created at .*T00:05:00Z"):
        await time.client.overrides.put("work", hour(-5), skip=True, actor="ana")


async def test_bad_input(hourly: Made) -> None:
    time, _ = hourly
    client = time.client
    bad: list[tuple[type[Exception], str, dict[str, Any]]] = [
        (InvalidError, "changes nothing", {}),
        (InvalidError, "cannot be combined", {"skip": True, "payload": {}}),
        (InvalidError, "is in the past", {"move_to": hour(0)}),
        (PayloadError, "limit", {"payload": {"limit": "many"}}),
        (InvalidError, "payload", {"payload": [1]}),
        (TriggerError, "no time zone", {"move_to": datetime(2030, 1, 1)}),
        (InvalidError, "actor", {"skip": True, "actor": ""}),
        (InvalidError, "note", {"skip": True, "note": "\0"}),
        (ConflictError, "revision", {"skip": True, "revision": 9}),
    ]
    for kind, text, options in bad:
        with pytest.raises(kind, match=text):
            await client.overrides.put("work", hour(2), **{"actor": "ana", **options})
    for at, text in (
        (hour(2) + timedelta(seconds=1), "not a tick of 'work'"),
        (hour(2).replace(microsecond=5), "whole second"),
    ):
        with pytest.raises(InvalidError, match=text):
            await client.overrides.put("work", at, skip=True, actor="ana")
    with pytest.raises(TriggerError, match="no time zone"):
        await client.overrides.put("work", datetime(2026, 1, 1, 2), skip=True, actor="ana")
    with pytest.raises(NotFoundError, match="Did you mean work"):
        await client.overrides.put("wrk", hour(2), skip=True, actor="ana")
    with pytest.raises(NotFoundError, match="has no override"):
        await client.overrides.undo("work", hour(2), actor="ana")
    with pytest.raises(NotFoundError):
        await client.overrides.list("wrk")
    await client.schedules.skip("work", 3, actor="ben")
    with pytest.raises(NotFoundError, match="ben skipped it with `skip`"):
        await client.overrides.undo("work", hour(2), actor="ana")
    assert (await client.schedules.get("work")).revision == 2


async def test_where_nothing_is_to_come_nothing_can_be_decided(hourly: Made) -> None:
    client = hourly[0].client
    await client.schedules.create("once", cron("0 0 1 6 *"), "work", actor="ana", max_runs=1)
    await client.schedules.update("once", end_at=hour(20), actor="ana")
    assert (await client.schedules.get("once")).state == "ended"
    with pytest.raises(ConflictError, match="is ended and has no future ticks"):
        await client.overrides.put("once", hour(2), skip=True, actor="ana")


def test_without_an_event_loop(tmp_path: Path) -> None:
    bird = Tickbird(f"sqlite:///{tmp_path / 'tickbird.db'}")
    try:
        client = bird.sync
        client.schedules.create("daily", cron("0 9 * * *"), "work", actor="ana", unknown_task_ok=True)
        tick = client.ticks.next("daily", 3)[-1].scheduled_for
        client.overrides.put("daily", tick, skip=True, actor="ana")
        assert [each.scheduled_for for each in client.overrides.list("daily")] == [tick]
        client.overrides.undo("daily", tick, actor="ana")
        assert client.overrides.list("daily") == []
    finally:
        bird.close()
