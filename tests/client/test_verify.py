"""The audit: over random years it proves every tick, and names each row that was tampered with."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tickbird import Tickbird, cron, every
from tickbird.domain.errors import InvalidError, NotFoundError, TickbirdError
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.triggers.trigger import at
from tickbird.store.sqlite import SqliteStore
from tickbird.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)
TRIGGERS = (
    every(hours=5),
    every(hours=12),
    cron("30 2 * * *", tz="Europe/Rome"),
    cron("0 9 * * 1-5", tz="America/New_York"),
    cron("15 */6 * * *"),
)


class Year:
    """A year of random things done to a few schedules, the same for the same seed."""

    def __init__(self, harness: Harness, seed: int) -> None:
        self.harness = harness
        self.random = random.Random(seed)
        self.names: list[str] = []

    async def play(self, days: int = 365) -> None:
        for number in range(4):
            name = f"s{number}"
            self.names.append(name)
            await self.create(name)
        end = START + timedelta(days=days)
        while self.harness.now < end:
            pause = timedelta(hours=self.random.choice((1, 7, 30, 100)), seconds=self.random.randrange(4_000))
            if self.random.random() < 0.2:
                # An outage: time goes on, and nobody plans.
                self.harness.clock.move_to(self.harness.now + pause)
            else:
                await self.harness.advance_to(self.harness.now + pause)
            # Paused already, ended, without a next tick: as it may be for a person.
            with suppress(TickbirdError):
                await self.act(self.random.choice(self.names))
        await self.harness.advance(seconds=1)

    async def create(self, name: str) -> None:
        policies: dict[str, Any] = {
            "catch_up": self.random.choice(("one", "latest", "all", "skip")),
            "overlap": self.random.choice(("skip", "queue", "replace", "allow")),
            "spread": self.random.choice((0, 0, 3_600)),
            "exclude": self.random.choice(((), ("sat", "sun"))),
            "catch_up_limit": self.random.choice((3, 100)),
        }
        trigger = self.random.choice(TRIGGERS)
        await self.harness.client.schedules.create(name, trigger, "work", actor="ada", **policies)

    async def act(self, name: str) -> None:
        client, now = self.harness.client, self.harness.now
        away = timedelta(seconds=self.random.choice((60, 7_200, 90_000)))
        match self.random.randrange(18):
            case 0:
                await client.schedules.pause(name, actor="ada", until=self.random.choice((None, now + away)))
            case 1 | 2:
                await client.schedules.resume(name, actor="ada")
            case 3:
                await client.schedules.update(name, actor="ada", trigger=self.random.choice(TRIGGERS))
            case 4:
                await client.schedules.update(name, actor="ada", retries=self.random.randrange(9))
            case 5:
                await client.schedules.update(name, actor="ada", max_runs=self.random.choice((None, None, 5, 500)))
            case 6:
                await client.schedules.skip(name, self.random.choice((1, 3)), actor="ada")
            case 7:
                await client.schedules.skip(name, until=now + away, actor="ada")
            case 8:
                await client.schedules.reschedule(name, now + away, actor="ada")
            case 9:
                await client.schedules.trigger(name, actor="ada")
            case 10:
                await client.schedules.update(name, actor="ada", spread=self.random.choice((0, 600)))
            case 11 | 12 | 13:
                await self.override(name)
            case 14:
                overrides = await client.overrides.list(name)
                if overrides:
                    await client.overrides.undo(name, self.random.choice(overrides).scheduled_for, actor="ada")
            case 15 | 16:
                await self.run_ahead(name)
            case _:
                await client.schedules.delete(name, actor="ada")
                if self.random.random() < 0.8:
                    await self.create(name)

    async def run_ahead(self, name: str) -> None:
        """A tick runs ahead of its time, and soon there is another grid."""
        client = self.harness.client
        if self.random.random() < 0.5:
            await client.schedules.skip(name, self.random.choice((1, 4)), actor="ada")
        await client.schedules.reschedule(name, self.harness.now + timedelta(minutes=1), actor="ada")
        await self.harness.advance(minutes=2)
        if self.random.random() < 0.3:
            await client.schedules.delete(name, actor="ada")
            await self.create(name)
        else:
            await client.schedules.update(name, actor="ada", trigger=self.random.choice(TRIGGERS))

    async def override(self, name: str) -> None:
        client, away = self.harness.client, timedelta(seconds=self.random.choice((-80_000, -4_000, 0, 60, 90_000)))
        ticks = [tick.scheduled_for for tick in await client.ticks.next(name, 6)]
        if ticks:
            tick = self.random.choice(ticks)
            what: dict[str, Any] = self.random.choice(({"skip": True}, {"payload": {}}, {"move_to": tick + away}))
            await client.overrides.put(name, tick, actor="ada", **what)


def app() -> Tickbird:
    bird = Tickbird()

    @bird.task
    def work() -> None: ...

    return bird


def named(audit: LedgerReport) -> list[tuple[str, str | None, int]]:
    """What was found: kind, first tick and how many."""
    return [(each["kind"], each["first"], each["count"]) for each in audit.to_json()["findings"]]


@pytest.mark.parametrize("seed", range(8))
async def test_a_random_year_is_proven(seed: int) -> None:
    async with Harness(app(), START) as harness:
        year = Year(harness, seed)
        await year.play()
        for name in year.names:
            audit = await harness.client.ticks.verify(name)
            assert audit.ok, (seed, name, named(audit))
            assert audit.expected == audit.runs + audit.skipped
            # Small pages, and the parts of a range, tell the same.
            assert await harness.client.ticks.verify(name, page=3) == audit
            middle = START + timedelta(days=180, hours=5, seconds=7)
            parts = [
                await harness.client.ticks.verify(name, None, middle),
                await harness.client.ticks.verify(name, middle + timedelta(seconds=1), harness.now),
            ]
            assert all(part.ok for part in parts), (seed, name, [named(part) for part in parts])
            assert sum(part.expected for part in parts) == audit.expected, (seed, name)


@pytest.mark.parametrize("edit", ["description", "retries", "calendar"])
async def test_an_edit_of_an_ended_schedule_leaves_its_past_as_it_was(edit: str) -> None:
    async with Harness(app(), START + timedelta(minutes=30)) as harness:
        client = harness.client
        await client.calendars.put("days", {"dates": ["2026-07-01"]}, actor="ada")
        await client.schedules.create("s", every(hours=1), "work", actor="ada", max_runs=2, calendars=["days"])
        await harness.advance(hours=6)
        before = await client.ticks.verify("s"), await client.ticks.why("s", START + timedelta(hours=4))
        if edit == "calendar":
            await client.calendars.put("days", {"dates": ["2026-07-02"]}, actor="ada")
        elif edit == "retries":
            await client.schedules.update("s", actor="ada", retries=1)
        else:
            await client.schedules.update("s", actor="ada", description="x")
        await harness.advance(hours=1)
        audit, why = await client.ticks.verify("s"), await client.ticks.why("s", START + timedelta(hours=4))
        assert (audit, why.sentence) == (before[0], before[1].sentence)
        assert (audit.ok, audit.runs) == (True, 2)
        assert why.sentence == "Not run: the schedule ended after 2 runs (max_runs=2)."
        await client.schedules.update("s", actor="ada", max_runs=3)
        await harness.advance(hours=2)
        revived = await client.ticks.verify("s")
        assert (revived.ok, revived.runs) == (True, 3)


class Tampered:
    """A week of an hourly schedule in a file, whose rows a hand may change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.harness = Harness(app(), START, store=SqliteStore(f"sqlite:///{path}"))

    async def week(self) -> None:
        client = self.harness.client
        await client.schedules.create("hourly", every(hours=1), "work", actor="ada", overlap="allow")
        await self.harness.advance(days=2)
        await client.schedules.pause("hourly", actor="ada")
        await self.harness.advance(days=1)
        await client.schedules.resume("hourly", actor="ada")
        await self.harness.advance(days=4)

    def write(self, statement: str, *values: Any) -> None:
        with sqlite3.connect(self.path) as db:
            assert db.execute(statement, values).rowcount == 1
        db.close()


def micros(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000


async def test_rows_that_were_tampered_with_are_named(tmp_path: Path) -> None:
    week = Tampered(tmp_path / "birds.db")
    async with week.harness as harness:
        await week.week()
        audit = await harness.client.ticks.verify("hourly")
        assert (audit.ok, audit.expected, audit.runs, audit.skipped) == (True, 168, 144, 24)
        week.write("DELETE FROM runs WHERE scheduled_for = ?", micros(START + timedelta(hours=7)))
        audit = await harness.client.ticks.verify("hourly")
        assert named(audit) == [("missing", "2026-01-01T07:00:00Z", 1)]
        assert (audit.ok, audit.expected, audit.runs) == (False, 168, 143)
        moved = START + timedelta(hours=9)
        week.write(
            "UPDATE runs SET scheduled_for = ? WHERE scheduled_for = ?", micros(moved) + 90_000_000, micros(moved)
        )
        audit = await harness.client.ticks.verify("hourly", moved - timedelta(minutes=1), moved + timedelta(hours=2))
        assert named(audit) == [("missing", "2026-01-01T09:00:00Z", 1), ("invented", "2026-01-01T09:01:30Z", 1)]
        invented = audit.findings[1]
        assert invented.text == f"run {invented.run_id} is off the grid in force"
        week.write("UPDATE skips SET first_at = first_at - 7200000000, count = count + 2")
        audit = await harness.client.ticks.verify("hourly", START + timedelta(days=1))
        assert named(audit) == [("doubled", "2026-01-02T23:00:00Z", 1), ("doubled", "2026-01-03T00:00:00Z", 1)]
        week.write("UPDATE skips SET first_at = first_at + 7200000000, count = count - 3")
        audit = await harness.client.ticks.verify("hourly", START + timedelta(days=1))
        assert named(audit) == [("miscounted", "2026-01-03T01:00:00Z", -1)]
        week.write("DELETE FROM skips")
        audit = await harness.client.ticks.verify("hourly", START + timedelta(days=1))
        assert named(audit) == [("missing", "2026-01-03T01:00:00Z", 24)]


async def test_a_run_before_the_schedule_or_while_it_was_deleted_is_invented(tmp_path: Path) -> None:
    week = Tampered(tmp_path / "birds.db")
    async with week.harness as harness:
        await week.week()
        await harness.client.schedules.delete("hourly", actor="ada")
        await harness.advance(days=1)
        await harness.client.schedules.create("hourly", every(hours=2), "work", actor="ada")
        await harness.advance(days=1)
        assert (await harness.client.ticks.verify("hourly")).ok
        first = START + timedelta(hours=1)
        for to in (START - timedelta(hours=3), START + timedelta(days=7, hours=3), START + timedelta(days=8, hours=3)):
            week.write("UPDATE runs SET scheduled_for = ? WHERE scheduled_for = ?", micros(to), micros(first))
            audit = await harness.client.ticks.verify("hourly")
            kinds = {(each.kind, each.first) for each in audit.findings}
            assert kinds == {
                ("missing", micros(START + timedelta(hours=1)) // 1_000_000),
                ("invented", int(to.timestamp())),
            }
            first = to


async def test_a_year_of_every_second_is_counted_and_not_walked() -> None:
    async with Harness(app(), START) as harness:
        await harness.client.schedules.create("beat", every(seconds=1), "work", actor="ada", catch_up="skip")
        await harness.client.schedules.pause("beat", actor="ada")
        await harness.advance(days=365)
        paused = await harness.client.ticks.verify("beat")
        assert (paused.ok, paused.expected, paused.open) == (True, 0, 365 * 86_400)
        await harness.client.schedules.resume("beat", actor="ada")
        audit = await harness.client.ticks.verify("beat")
        assert (audit.ok, audit.expected, audit.skipped) == (True, 365 * 86_400, 365 * 86_400)


async def test_what_was_pruned_is_not_missing() -> None:
    async with Harness(app(), START) as harness:
        await harness.client.schedules.create("hourly", every(hours=1), "work", actor="ada")
        await harness.advance(days=10)
        await harness.store.runs.prune(older_than=5 * 86_400.0, keep=1, now=harness.now)
        audit = await harness.client.ticks.verify("hourly")
        assert audit.ok
        assert audit.first == audit.complete_from
        assert audit.to_json()["complete_from"] == "2026-01-05T23:00:01Z"
        assert audit.expected == 5 * 24 + 1


async def test_late_ticks_that_nobody_planned_are_undecided() -> None:
    async with Harness(app(), START) as harness:
        await harness.client.schedules.create("hourly", every(hours=1), "work", actor="ada")
        await harness.advance(hours=5)
        harness.clock.move_to(harness.now + timedelta(hours=3, seconds=5))
        audit = await harness.client.ticks.verify("hourly")
        assert named(audit) == [("undecided", "2026-01-01T06:00:00Z", 3)]
        assert "no worker has planned them" in audit.findings[0].text
        before = await harness.client.ticks.verify("hourly", None, START + timedelta(hours=5))
        assert (before.ok, before.expected) == (True, 5)
        await harness.settle()
        assert (await harness.client.ticks.verify("hourly")).ok


async def test_ticks_that_came_while_parked_are_undecided(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    async with Harness(app(), START, store=SqliteStore(f"sqlite:///{path}")) as harness:
        client = harness.client
        await client.schedules.create("hourly", every(hours=1), "work", actor="ada")
        await harness.advance(hours=2)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE cursors SET state = 'parked', next_run_at = NULL")
            db.execute("UPDATE schedules SET error = 'refused'")
        await harness.advance(hours=22, seconds=30)
        audit = await client.ticks.verify("hourly")
        assert named(audit) == [("undecided", "2026-01-01T03:00:00Z", 22)]
        assert "tickbird resume" in audit.findings[0].text
        assert (await client.schedules.resume("hourly", actor="ada")).state == "active"
        await harness.advance(hours=3)
        audit = await client.ticks.verify("hourly")
        assert (audit.ok, audit.expected, audit.runs, audit.skipped) == (True, 27, 5, 22)


async def test_a_one_shot_that_was_past_is_one_misfire() -> None:
    bird = app()
    bird.schedule("party", "work", at(START - timedelta(days=3)))
    async with Harness(bird, START) as harness:
        assert (await harness.client.ticks.verify("party")).ok


async def test_a_senseless_range() -> None:
    async with Harness(app(), START) as harness:
        await harness.client.schedules.create("hourly", every(hours=1), "work", actor="ada")
        with pytest.raises(InvalidError, match="is before first"):
            await harness.client.ticks.verify("hourly", START, START - timedelta(seconds=1))
        with pytest.raises(InvalidError, match="has no time zone"):
            await harness.client.ticks.verify("hourly", datetime(2026, 1, 1))
        with pytest.raises(NotFoundError, match="Did you mean hourly"):
            await harness.client.ticks.verify("horly")
