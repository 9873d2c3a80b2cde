"""A tick ran ahead of its time before its grid was edited, through the real client: nothing is lost or repeated."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tickbird import Tickbird, cron, every
from tickbird.client import Client
from tickbird.domain.errors import ConflictError
from tickbird.domain.time.instants import to_datetime
from tickbird.store.sqlite import SqliteStore
from tickbird.testing import Harness

START = datetime(2026, 1, 5, 0, 30, tzinfo=UTC)
# The tick that runs ahead of its time.
FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC)
SIX = every(hours=6)


@pytest.fixture
async def time() -> AsyncIterator[Harness]:
    """A schedule that ticks once a month."""
    bird = Tickbird("sqlite://:memory:")

    @bird.task
    def work() -> None: ...

    async with Harness(bird, START) as harness:
        await harness.client.schedules.create("s", cron("0 0 1 * *"), "work", actor="ada")
        yield harness


async def reschedule(client: Client) -> None:
    await client.schedules.reschedule("s", START + timedelta(minutes=30), actor="ada")


async def override(client: Client) -> None:
    await client.overrides.put("s", FEBRUARY, move_to=START + timedelta(minutes=30), actor="ada")


async def update(client: Client) -> None:
    await client.schedules.update("s", trigger=SIX, actor="bo")


async def make_again(client: Client) -> None:
    await client.schedules.delete("s", actor="bo")
    await client.schedules.create("s", SIX, "work", actor="bo")


@pytest.mark.parametrize("move", [reschedule, override])
@pytest.mark.parametrize("edit", [update, make_again])
async def test_every_tick_of_the_new_grid_is_decided_once(
    time: Harness, move: Callable[[Client], Awaitable[None]], edit: Callable[[Client], Awaitable[None]]
) -> None:
    client = time.client
    await move(client)
    await time.advance(hours=2)
    await edit(client)
    assert (await client.ticks.next("s", 1))[0].scheduled_for == START.replace(hour=6, minute=0)
    await time.advance(days=10)
    audit = await client.ticks.verify("s")
    assert (audit.ok, audit.expected, audit.runs) == (True, 40, 40)
    told = await client.ticks.why("s", datetime(2026, 1, 7, 6, tzinfo=UTC))
    assert told.sentence.startswith("Ran as run")
    assert (await client.ticks.why("s", datetime(2026, 1, 20, 6, tzinfo=UTC))).verdict == "will run"
    await time.advance(days=20)
    ran = sorted(run.scheduled_for for run in await time.runs("s") if run.scheduled_for is not None)
    assert ran == [START.replace(hour=0, minute=0) + timedelta(hours=6 * number) for number in range(1, 121)]
    audit = await client.ticks.verify("s")
    assert (audit.ok, audit.expected, audit.runs, audit.skipped) == (True, 120, 120, 0)
    assert await time.skips("s") == []


async def test_it_is_shown_as_what_it_is(time: Harness) -> None:
    client = time.client
    await reschedule(client)
    await time.advance(hours=2)
    await client.schedules.update("s", trigger=cron("0 0 * * *"), actor="bo")
    assert await client.overrides.list("s") == []
    coming = {tick.scheduled_for: tick.skipped for tick in await client.ticks.next("s", 40)}
    assert [at for at, skipped in coming.items() if skipped] == [FEBRUARY]
    assert coming[FEBRUARY] == "done"
    told = await client.ticks.why("s", FEBRUARY)
    assert (told.verdict, told.run_id) == ("ran", (await time.runs("s"))[0].id)
    with pytest.raises(ConflictError, match="is decided already: run 1 of it succeeded"):
        await client.overrides.put("s", FEBRUARY, skip=True, actor="ada")
    with pytest.raises(ConflictError, match="is decided already: run 1 of it succeeded"):
        await client.overrides.undo("s", FEBRUARY, actor="ada")


async def test_what_was_skipped_before_it_is_told_too(time: Harness) -> None:
    client, march = time.client, datetime(2026, 3, 1, tzinfo=UTC)
    await client.schedules.skip("s", actor="ada", note="closed")
    await client.overrides.put("s", march, move_to=START + timedelta(minutes=30), actor="ada")
    await time.advance(hours=2)
    await client.schedules.update("s", trigger=cron("0 0 * * *"), actor="bo")
    await time.advance(days=70)
    assert (await client.ticks.why("s", FEBRUARY)).sentence == "Skipped (operator): ada skipped this tick: “closed”."
    assert (await client.ticks.why("s", march)).verdict == "ran"
    audit = await client.ticks.verify("s")
    assert (audit.ok, audit.expected, audit.skipped) == (True, 70, 1)
    ran = [run.scheduled_for for run in await time.runs("s")]
    assert (len(ran), len(set(ran)), FEBRUARY in ran) == (69, 69, False)


async def test_an_operator_sees_that_it_was_pruned(time: Harness) -> None:
    client = time.client
    await reschedule(client)
    await time.advance(hours=2)
    await client.schedules.update("s", trigger=cron("0 0 * * *"), actor="bo")
    await time.advance(days=10)
    while await time.store.runs.prune(older_than=86_400, keep=0, limit=100, now=time.now):
        pass
    told = await client.ticks.why("s", FEBRUARY)
    assert told.sentence.startswith("It was decided early, before the grid changed")
    await time.advance(days=20)
    ran = [run.scheduled_for for run in await time.runs("s")]
    assert FEBRUARY not in ran
    assert FEBRUARY + timedelta(days=1) in ran
    assert (await client.ticks.verify("s")).ok


async def test_the_audit_finds_what_is_lost_or_doubled_around_it(tmp_path: Path) -> None:
    bird, path = Tickbird(), tmp_path / "t.db"

    @bird.task
    def work() -> None: ...

    async with Harness(bird, START, store=SqliteStore(f"sqlite:///{path}")) as time:
        client = time.client
        await client.schedules.create("s", cron("0 0 1 * *"), "work", actor="ada")
        await reschedule(client)
        await time.advance(hours=2)
        await client.schedules.update("s", trigger=SIX, actor="bo")
        await time.advance(days=30)
        lost, micros = datetime(2026, 1, 9, tzinfo=UTC), 1_000_000
        with sqlite3.connect(path) as db:
            db.execute("DELETE FROM runs WHERE scheduled_for = ?", (int(lost.timestamp()) * micros,))
            db.execute(
                "INSERT INTO skips (schedule_id, revision, reason, first_at, last_at, count, decided_at, note) "
                "SELECT id, revision, 'misfire', ?1, ?1, 1, ?1, '' FROM schedules",
                (int(FEBRUARY.timestamp()) * micros,),
            )
        db.close()
        found = [(each.kind, to_datetime(each.first)) for each in (await client.ticks.verify("s")).findings]
        assert found == [("missing", lost), ("doubled", FEBRUARY)]
