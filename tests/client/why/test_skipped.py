"""Why a tick was skipped: every reason."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

from conformance.steps import NAME, change, create, epoch, finish, get, later, plan, runs_of, start, work_off
from tests.client.why.questions import DAY, AtTime, ask, names, step
from tickbird.client import StoreClient
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.planning.upcoming import upcoming_ticks
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store
from tickbird.store.sqlite import SqliteStore


def break_by_sql(path: Path, now: float) -> None:
    """Another program writes a definition that cannot be read, at that time."""
    changed_at = epoch(0) * 1_000_000 + int(now * 1_000_000)
    with closing(sqlite3.connect(path)) as connection, connection:
        broken = """UPDATE schedules SET definition = json_set(definition, '$.trigger', json('{"cron": "no"}'))"""
        connection.execute(broken)
        connection.execute("UPDATE cursors SET edited_at = ?1, next_run_at = ?1", (changed_at,))
        connection.execute("UPDATE revisions SET created_at = ? WHERE revision = 2", (changed_at,))


class TestSkipped:
    async def test_for_overlap(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 61)
        await plan(store, 120)
        await finish(store, run, 150)
        answer = await ask(store, 120, now=160)
        assert (answer.verdict, answer.run_id) == ("skipped", run.id)
        assert answer.sentence == (
            f"Skipped (overlap): overlap=skip: run {run.id} was still running since 2026-01-01 00:01:01 UTC; "
            "it succeeded at 2026-01-01 00:02:30 UTC."
        )
        assert names(answer) == [(True, "schedule"), (True, "grid"), (True, "state"), (False, "overlap")]
        assert step(answer, "overlap").run_id == run.id

    async def test_for_overlap_with_a_run_that_had_not_started(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await plan(store, 120)
        [run] = await runs_of(store)
        assert (
            f"run {run.id} was planned at 2026-01-01 00:01:00 UTC and not final; it is queued"
            in (await ask(store, 120, now=130)).sentence
        )

    async def test_for_overlap_behind_a_waiter(self, store: Store) -> None:
        await create(store, overlap="queue")
        for tick in (60, 120, 180):
            await plan(store, tick)
        _, waiter = await runs_of(store)
        answer = await ask(store, 180, now=190)
        assert f"overlap=queue: run {waiter.id} was already waiting since 2026-01-01 00:02:00 UTC" in answer.sentence

    async def test_for_overlap_with_a_newer_tick(self, store: Store) -> None:
        await create(store, NAME, every(seconds=1), overlap="replace")
        await plan(store, 3)
        [run] = await runs_of(store)
        answer = await ask(store, 2, now=4)
        assert f"run {run.id} of the newer tick 2026-01-01 00:00:03 UTC replaced it" in answer.sentence

    async def test_behind_a_run_that_was_pruned(self, store: Store) -> None:
        await create(store)
        for tick in (60, 120):
            await plan(store, tick)
        [run] = await work_off(store, 121)
        assert await store.runs.prune(older_than=0, keep=0, now=later(150)) > 0
        assert f"run {run.id} was not final (it is no longer stored)" in (await ask(store, 120, now=160)).sentence

    async def test_because_it_was_caught_up(self, store: Store) -> None:
        await create(store)
        await plan(store, 330)
        [run] = await runs_of(store)
        answer = await ask(store, 180, now=340)
        assert (answer.verdict, answer.run_id) == ("skipped", run.id)
        assert answer.sentence == (
            f"Skipped (coalesced): catch_up=one: it was 2 min 30 s late when planned, and run {run.id} of tick "
            "2026-01-01 00:01:00 UTC caught it up, which covers 5 ticks; that run is queued; the skip covers 4 ticks, "
            "from 2026-01-01 00:02:00 UTC to 2026-01-01 00:05:00 UTC."
        )
        assert step(answer, "catch_up").ok is False

    async def test_for_the_catch_up_limit(self, store: Store) -> None:
        await create(store, catch_up="all", catch_up_limit=2)
        await plan(store, 330)
        answer = await ask(store, 120, now=340)
        assert "catch_up=all runs at most the newest 2 ticks of an outage (catch_up_limit)" in answer.sentence
        assert "the skip covers 3 ticks" in answer.sentence

    async def test_as_a_misfire(self, store: Store) -> None:
        await create(store, catch_up="skip", grace=30)
        await plan(store, 330)
        answer = await ask(store, 300, now=340)
        assert answer.verdict == "queued"
        answer = await ask(store, 240, now=340)
        assert answer.sentence.startswith(
            "Skipped (misfire): no worker planned it until it was 1 min 30 s late, "
            "more than the 30 s that catch_up=skip allows"
        )
        assert "at most 3 min 30 s late" in (await ask(store, 120, now=340)).sentence

    async def test_as_a_misfire_of_start_within(self, store: Store) -> None:
        await create(store, start_within=60, catch_up="all")
        await plan(store, 200)
        answer = await ask(store, 120, now=210)
        assert "it was 1 min 20 s late, more than the 1 min that start_within allows" in answer.sentence

    async def test_because_it_was_past_when_code_declared_it(self, store: Store) -> None:
        await create(store, NAME, at(later(-60)), app="billing")
        answer = await ask(store, -60, now=10)
        assert answer.sentence == "Skipped (misfire): already past when the schedule was created."

    async def test_while_paused(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="db upgrade"), 30)
        await change(store, Resume(actor="ben"), 200)
        answer = await ask(store, 120, now=210)
        assert answer.sentence == (
            "Skipped (paused): it was paused by ana since 2026-01-01 00:00:30 UTC: “db upgrade”, resumed by ben at "
            "2026-01-01 00:03:20 UTC; the skip covers 3 ticks, from 2026-01-01 00:01:00 UTC to 2026-01-01 00:03:00 UTC."
        )
        assert step(answer, "state").ok is False

    async def test_while_paused_until_an_instant(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", until=epoch(150)), 30)
        await plan(store, 150)
        answer = await ask(store, 120, now=160)
        assert "paused by ana since 2026-01-01 00:00:30 UTC until 2026-01-01 00:02:30 UTC" in answer.sentence
        assert "resumed" not in answer.sentence

    async def test_while_paused_on_a_grid_that_was_then_left(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana"), 30)
        await change(store, Update(actor="ben", fields={"trigger": every(seconds=7).to_json()}), 200)
        answer = await ask(store, 120, now=210)
        assert (answer.verdict, "paused by ana" in answer.sentence) == ("skipped", True)
        assert (await ask(store, 119, now=210)).verdict == "not a tick"

    async def test_by_the_calendar(self, store: Store) -> None:
        await create(store, NAME, every(days=1), exclude=exclude("sat", "2026-01-04"))
        for day in (1, 2, 3):
            await plan(store, day * DAY)
            await work_off(store, day * DAY)
        weekday = await ask(store, 2 * DAY, now=4 * DAY)
        assert weekday.sentence.startswith("Skipped (calendar): Sat 2026-01-03 in UTC is excluded (every Sat)")
        date = await ask(store, 3 * DAY, now=4 * DAY)
        assert date.sentence.startswith("Skipped (calendar): Sun 2026-01-04 in UTC is excluded (that date)")
        allowed = await ask(store, 1 * DAY, now=4 * DAY)
        assert step(allowed, "calendar").text == "Its calendars do not exclude the day."

    async def test_by_an_operator(self, store: Store) -> None:
        await create(store)
        await change(store, Skip(actor="ana", count=2, note="no data"), 30)
        coming = await ask(store, 120, now=40)
        assert coming.verdict == "will be skipped"
        assert coming.sentence == "Will be skipped: ana skipped this tick: “no data”."
        assert step(coming, "skip").ok is False
        await plan(store, 120)
        answer = await ask(store, 60, now=130)
        assert answer.sentence.startswith("Skipped (operator): ana skipped this tick: “no data”; the skip covers 2")
        assert step(answer, "skip").ok is False

    async def test_by_a_reschedule(self, store: Store) -> None:
        await create(store)
        await change(store, Reschedule(actor="ana", to=epoch(200), note="later"), 30)
        coming = await ask(store, 120, now=40)
        assert coming.verdict == "will be skipped"
        past = "tick 2026-01-01 00:01:00 UTC was moved to 2026-01-01 00:03:20 UTC by ana: “later”, past this one"
        assert coming.sentence == f"Will be skipped: {past}."
        assert (await ask(store, 120, now=130)).sentence == f"Will be skipped: {past}."
        await plan(store, 200)
        [run] = await runs_of(store)
        answer = await ask(store, 120, now=210)
        assert answer.sentence.startswith(f"Skipped (rescheduled): {past}; run {run.id} is queued")
        assert (answer.run_id, step(answer, "reschedule").run_id) == (run.id, run.id)

    async def test_while_parked(self, tmp_path: Path) -> None:
        store = SqliteStore(str(tmp_path / "tickbird.db"))
        await store.open()
        try:
            await self._while_parked(store, tmp_path / "tickbird.db")
        finally:
            await store.close()

    async def _while_parked(self, store: Store, path: Path) -> None:
        await create(store)
        break_by_sql(path, 30)
        await plan(store, 70)
        undecided = await ask(store, 120, now=150)
        assert undecided.verdict == "undecided"
        assert undecided.sentence.startswith("Not run: the schedule is parked until it is repaired: cron 'no': ")
        assert (await ask(store, 180, now=150)).verdict == "will be skipped"
        await change(store, Update(actor="ben", fields={"trigger": every(seconds=60).to_json()}), 200)
        answer = await ask(store, 120, now=210)
        assert answer.sentence.startswith(
            "Skipped (invalid): it was parked because its definition could not be planned, repaired by ben at "
            "2026-01-01 00:03:20 UTC"
        )


async def test_a_shadow_says_so_of_past_and_future(store: Store) -> None:
    await create(store, shadow=True, max_runs=1)
    await plan(store, 120)
    past = await StoreClient(cast(Store, AtTime(store, later(125)))).ticks.why(NAME, later(60))
    assert past.sentence.startswith("Skipped (shadow): it was a shadow")
    ahead = await StoreClient(cast(Store, AtTime(store, later(125)))).ticks.why(NAME, later(600))
    assert (ahead.verdict, ahead.sentence) == (
        "will be skipped",
        "Will be skipped: it is a shadow (shadow=true), which only records its ticks.",
    )
    assert {tick.skipped for tick in upcoming_ticks(await get(store), later(125), 3)} == {"shadow"}
    audit = await StoreClient(cast(Store, AtTime(store, later(125)))).ticks.verify(NAME)
    assert (audit.ok, audit.skipped, audit.runs) == (True, 2, 0)
