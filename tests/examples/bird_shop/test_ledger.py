"""What the view shows is what the store recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from examples.bird_shop.ledger import Ledger
from examples.bird_shop.snapshot import Counts
from tickbird import Run, Tickbird, at, every
from tickbird.testing.harness import Harness

START = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
async def harness() -> AsyncIterator[Harness]:
    bird = Tickbird(app="shop")

    @bird.task(schedule=every(minutes=1))
    async def orders() -> str:
        return "7 orders"

    @bird.task(schedule=every(hours=1), retries=2)
    async def bank(run: Run) -> str:
        if run.attempt < 3:
            raise ConnectionError("the door sticks")
        return "charged"

    @bird.task(schedule=every(hours=2), retries=1)
    async def broken() -> None:
        raise OSError("no route")

    @bird.task(schedule=every(minutes=10), exclude=["mon"])
    async def weekly() -> None:
        pass

    async with Harness(bird, START) as harness:
        yield harness


async def looking(harness: Harness) -> Ledger:
    ledger = Ledger(harness.client, harness.store, harness.worker)
    await ledger.begin()
    return ledger


async def test_a_tick_is_told_with_its_start_and_its_end(harness: Harness) -> None:
    ledger = await looking(harness)
    await harness.advance(minutes=1)
    snapshot = await ledger.look()
    told = [(event.kind, event.name) for event in ledger.take_new()]
    assert told == [("tick", "orders"), ("start", "orders"), ("ok", "orders")]
    assert snapshot.counts == Counts(runs=1, succeeded=1)
    assert snapshot.events[-1].text.endswith("7 orders")


async def test_nothing_is_told_twice(harness: Harness) -> None:
    ledger = await looking(harness)
    await harness.advance(hours=3)
    assert (await ledger.look()).counts.runs == 184
    ledger.take_new()
    assert (await ledger.look()).counts.runs == 184
    assert ledger.take_new() == []


async def test_what_was_there_before_is_no_news(harness: Harness) -> None:
    await harness.advance(hours=1)
    ledger = await looking(harness)
    snapshot = await ledger.look()
    assert ledger.take_new() == []
    assert snapshot.counts == Counts()
    orders = next(row for row in snapshot.rows if row.name == "orders")
    assert orders.results == ("ok",) * 12


async def test_attempts_are_told_with_their_error(harness: Harness) -> None:
    ledger = await looking(harness)
    await harness.advance(hours=2, seconds=30)
    snapshot = await ledger.look()
    told = [event for event in ledger.take_new() if event.name in ("bank", "broken")]
    first = [event.kind for event in told if event.name == "bank"][:5]
    assert sorted(first) == ["ok", "retry", "retry", "start", "tick"]
    assert any("attempt 1: ConnectionError: the door sticks" in event.text for event in told)
    assert next(event.text for event in told if event.kind == "failed").endswith("attempt 2: OSError: no route")
    assert (snapshot.counts.failed, snapshot.counts.retried) == (1, 5)
    rows = {row.name: row for row in snapshot.rows}
    assert (rows["bank"].results, rows["broken"].results) == (("recovered", "recovered"), ("failed",))


async def test_a_skip_that_grows_is_told_by_what_it_grew(harness: Harness) -> None:
    ledger = await looking(harness)
    await harness.advance(minutes=10)
    await ledger.look()
    await harness.advance(minutes=30)
    assert (await ledger.look()).counts.skipped == 4
    skips = [event.text for event in ledger.take_new() if event.kind == "skip"]
    assert [text.partition(" calendar")[0].split(" up to")[0] for text in skips][1:] == ["3 ticks"]
    assert all(text.endswith("calendar: closed day") for text in skips)


async def test_an_outage_is_summed_up(harness: Harness) -> None:
    await harness.advance(minutes=1)
    harness.clock.move_to(datetime(2026, 3, 2, 0, 31, 30, tzinfo=UTC))
    ledger = await looking(harness)
    await harness.settle()
    snapshot = await ledger.look()
    assert str(snapshot.caught_up) == "caught up: 1 run for 30 missed ticks"
    assert "for 30 missed ticks" in next(event.text for event in snapshot.events if event.kind == "caught up")


async def test_a_one_shot_is_shown_as_ended_after_its_tick(harness: Harness) -> None:
    ledger = await looking(harness)
    await harness.client.schedules.create("shot", at(datetime(2026, 3, 2, 0, 0, 5, tzinfo=UTC)), "orders", actor="ada")
    await harness.advance(seconds=10)
    snapshot = await ledger.look()
    shot = next(row for row in snapshot.rows if row.name == "shot")
    assert (shot.activity, shot.results, shot.next_at) == ("ended", ("ok",), None)


async def test_a_manual_run_names_who_asked(harness: Harness) -> None:
    ledger = await looking(harness)
    await harness.client.schedules.trigger("orders", actor="ada")
    await harness.settle()
    await ledger.look()
    told = ledger.take_new()
    assert [event.kind for event in told] == ["manual", "start", "ok"]
    assert told[0].text.endswith("requested by ada")
