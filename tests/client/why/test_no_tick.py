"""Instants at which there is no tick, no schedule or no record."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from conformance.steps import NAME, change, create, later, plan, work_off
from tests.client.why.questions import ask, names, step
from tickbird.client import StoreClient
from tickbird.domain.errors import InvalidError, NotFoundError, TriggerError
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


class TestNotATick:
    async def test_between_ticks(self, store: Store) -> None:
        await create(store)
        answer = await ask(store, 90, now=100)
        assert answer.verdict == "not a tick"
        assert answer.sentence == (
            "Not on the grid (Every 60 seconds): the tick before is 2026-01-01 00:01:00 UTC; "
            "the next one is 2026-01-01 00:02:00 UTC."
        )
        assert names(answer) == [(True, "schedule"), (False, "grid")]

    async def test_outside_the_window(self, store: Store) -> None:
        await create(store, start_at=later(120), end_at=later(240))
        early = await ask(store, 60, now=10)
        assert early.verdict == "not a tick"
        assert early.sentence == (
            "Outside the schedule's window (from 2026-01-01 00:02:00 UTC until 2026-01-01 00:04:00 UTC): "
            "there is no tick before; the next one is 2026-01-01 00:02:00 UTC."
        )
        assert (step(early, "grid").ok, step(early, "window").ok) == (True, False)
        assert "there is none after" in (await ask(store, 300, now=10)).sentence
        inside = await ask(store, 120, now=10)
        assert (inside.verdict, step(inside, "window").ok) == ("will run", True)

    async def test_ended_with_its_runs(self, store: Store) -> None:
        await create(store, max_runs=1)
        await plan(store, 60)
        for now in (90, 150):
            answer = await ask(store, 120, now=now)
            assert (answer.verdict, answer.sentence) == (
                "ended",
                "Not run: the schedule ended after 1 run (max_runs=1).",
            )

    async def test_inside_a_range_of_skips(self, store: Store) -> None:
        await create(store, catch_up="skip")
        await plan(store, 330)
        assert (await ask(store, 150, now=340)).verdict == "not a tick"

    async def test_the_grid_of_that_time_counts(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await work_off(store, 60)
        await change(store, Update(actor="ben", fields={"trigger": every(seconds=50).to_json()}), 70)
        assert (await ask(store, 60, now=80)).verdict == "ran"
        old = await ask(store, 50, now=80)
        assert (old.verdict, old.revision) == ("not a tick", 1)
        new = await ask(store, 100, now=80)
        assert (new.verdict, new.revision) == ("will run", 2)
        assert step(new, "schedule").text == "Revision 2 (update by ben at 2026-01-01 00:01:10 UTC) is in force."


class TestNoSuchScheduleThen:
    async def test_not_created_yet(self, store: Store) -> None:
        await create(store, at=60)
        answer = await ask(store, 60, now=100)
        assert (answer.verdict, answer.sentence) == (
            "no such schedule then",
            "The schedule was created by ada at 2026-01-01 00:01:00 UTC, after this instant.",
        )

    async def test_deleted(self, store: Store) -> None:
        await create(store)
        await change(store, Delete(actor="ben"), 70)
        answer = await ask(store, 120, now=100)
        assert (answer.verdict, answer.sentence) == (
            "no such schedule then",
            "The schedule was deleted by ben at 2026-01-01 00:01:10 UTC.",
        )
        # At the very instant of the delete the schedule was still there.
        assert (await ask(store, 70, now=100)).verdict == "not a tick"
        # The delete first planned what was due.
        assert (await ask(store, 60, now=100)).verdict == "queued"

    async def test_deleted_and_created_again(self, store: Store) -> None:
        await create(store)
        await change(store, Delete(actor="ben"), 70)
        await create(store, at=130)
        assert (await ask(store, 120, now=140)).verdict == "no such schedule then"
        assert (await ask(store, 180, now=140)).verdict == "will run"

    async def test_never(self, store: Store) -> None:
        with pytest.raises(NotFoundError):
            await ask(store, 60, now=0)

    async def test_naive_instants_are_refused(self, store: Store) -> None:
        await create(store)
        with pytest.raises(TriggerError, match="no time zone"):
            await StoreClient(store).ticks.why(NAME, datetime(2026, 1, 1))

    async def test_the_ends_of_time_are_accepted(self, store: Store) -> None:
        await create(store, NAME, cron("0 9 * * *", tz="Asia/Tokyo"))
        first, last = datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 29, 1, tzinfo=UTC)
        for beyond in (first - timedelta(seconds=1), last + timedelta(days=1)):
            with pytest.raises(InvalidError, match=r"at: .* is out of range"):
                await StoreClient(store).ticks.why(NAME, beyond)
        assert (await StoreClient(store).ticks.why(NAME, first)).verdict == "no such schedule then"
        assert (await StoreClient(store).ticks.why(NAME, last)).verdict == "not a tick"


class TestNoRecord:
    async def test_pruned(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await work_off(store, 60)
        await store.runs.prune(older_than=0, keep=0, now=later(100))
        answer = await ask(store, 60, now=110)
        assert answer.verdict == "no record"
        assert "the decision was pruned" in answer.sentence

    async def test_paused_when_the_schedule_was_deleted(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana"), 30)
        await change(store, Delete(actor="ben"), 100)
        answer = await ask(store, 60, now=110)
        assert (answer.verdict, answer.sentence) == (
            "skipped",
            "Skipped (paused): it was paused by ana since 2026-01-01 00:00:30 UTC.",
        )

    async def test_revisions_beyond_the_first_hundred_are_read(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        for number in range(120):
            await change(store, Update(actor="ben", fields={"description": str(number)}), 61 + number / 10)
        answer = await ask(store, 30, now=100)
        assert (answer.verdict, answer.revision) == ("not a tick", 1)
