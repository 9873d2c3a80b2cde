"""What `why` says of a tick that is not decided yet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.steps import NAME, T0, change, create, epoch, get, later, plan, start
from tests.client.why.questions import DAY, W1, alive, ask, names, step
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.planning.upcoming import upcoming_ticks
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store


class TestToCome:
    async def test_will_run(self, store: Store) -> None:
        await create(store)
        await alive(store, 0)
        answer = await ask(store, 120, now=10)
        assert (answer.verdict, answer.sentence) == ("will run", "Will run at 2026-01-01 00:02:00 UTC.")
        assert names(answer) == [(True, each) for each in ("schedule", "grid", "state", "overlap")]

    async def test_will_run_but_nobody_serves_it(self, store: Store) -> None:
        await create(store, queue="gpu")
        await alive(store, 0)
        answer = await ask(store, 120, now=10)
        assert answer.verdict == "will run"
        assert answer.sentence == (
            "Will run at 2026-01-01 00:02:00 UTC, but at present no live worker serves queue 'gpu' (served: default)."
        )

    async def test_will_run_unless_a_run_is_in_the_way(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        run = await start(store, 61)
        await alive(store, 61)
        answer = await ask(store, 120, now=70)
        assert answer.sentence == (
            f"Will run at 2026-01-01 00:02:00 UTC, unless run {run.id}, running since 2026-01-01 00:01:01 UTC on "
            "worker w1, is not final by then (overlap=skip)."
        )
        assert (step(answer, "overlap").ok, step(answer, "overlap").run_id) == (None, run.id)
        assert (await ask(store, 180, now=70)).sentence == "Will run at 2026-01-01 00:03:00 UTC."

    @pytest.mark.parametrize(
        "overlap, effect",
        [("queue", "this run waits for it"), ("replace", "it is cancelled, and this run follows")],
    )
    async def test_what_a_run_in_the_way_would_mean(self, store: Store, overlap: str, effect: str) -> None:
        await create(store, overlap=overlap)
        await plan(store, 60)
        await start(store, 61)
        answer = await ask(store, 120, now=70)
        assert effect in step(answer, "overlap").text

    async def test_a_manual_run_makes_it_wait(self, store: Store) -> None:
        await create(store)
        await change(store, Trigger(actor="ben"), 30)
        assert "this run waits for it" in step(await ask(store, 60, now=40), "overlap").text

    async def test_paused(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="db upgrade", until=epoch(150)), 30)
        answer = await ask(store, 120, now=40)
        assert answer.verdict == "will be skipped"
        assert answer.sentence == (
            "Will be skipped unless the schedule is resumed first: paused by ana since 2026-01-01 00:00:30 UTC "
            "until 2026-01-01 00:02:30 UTC: “db upgrade”."
        )
        assert step(answer, "state").ok is False
        after = await ask(store, 180, now=40)
        assert (after.verdict, step(after, "state").ok) == ("will run", True)

    async def test_excluded(self, store: Store) -> None:
        await create(store, NAME, cron("30 23 * * *", tz="America/New_York"), exclude=exclude("sat"))
        # 23:30 on Saturday 3 January in New York is 04:30 on Sunday in UTC.
        answer = await ask(store, 3 * DAY + 4.5 * 3600, now=0)
        assert answer.verdict == "will be skipped"
        assert answer.sentence == "Will be skipped: Sat 2026-01-03 in America/New_York is excluded (every Sat)."

    async def test_max_runs_used_up_before(self, store: Store) -> None:
        await create(store, NAME, every(days=1), max_runs=3, exclude=exclude("sat"))
        # Friday, Sunday and Monday are the three.
        last = await ask(store, 4 * DAY, now=0)
        assert (last.verdict, step(last, "window").text) == ("will run", "1 of max_runs=3 runs will be left.")
        assert step(last, "window").ok is True
        answer = await ask(store, 5 * DAY, now=0)
        assert (answer.verdict, answer.sentence) == (
            "ended",
            "Will not run: max_runs=3 will be reached first, after 0 runs.",
        )

    async def test_agrees_with_the_list_of_coming_ticks(self, store: Store) -> None:
        await create(store, NAME, every(hours=6), exclude=exclude("sun", "2026-01-09"), max_runs=40, spread=60)
        await change(store, Skip(actor="ana", count=3), 10)
        await change(store, Reschedule(actor="ana", to=epoch(3 * DAY)), 20)
        await change(store, Pause(actor="ana", until=epoch(5 * DAY)), 30)
        for paused in (True, False):
            if not paused:
                await change(store, Resume(actor="ana"), 40)
            listed = upcoming_ticks(await get(store), later(50), 60)
            assert {tick.skipped for tick in listed} >= {None, "calendar"}
            for tick in listed:
                answer = await ask(store, (tick.scheduled_for - T0).total_seconds(), now=50)
                assert answer.verdict == ("will be skipped" if tick.skipped else "will run"), tick


class TestUndecided:
    async def test_paused_and_recorded_at_resume(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="db upgrade"), 30)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "undecided"
        assert answer.sentence == (
            "Not run. It will be recorded as skipped when the schedule is resumed: "
            "paused by ana since 2026-01-01 00:00:30 UTC: “db upgrade”."
        )

    async def test_a_pause_told_again_goes_on(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", note="a"), 30)
        await change(store, Pause(actor="ben", note="b"), 40)
        told = (await ask(store, 60, now=100)).sentence
        assert "paused by ben since 2026-01-01 00:00:40 UTC: “b”, paused before by ana since" in told
        assert told.endswith("since 2026-01-01 00:00:30 UTC: “a”.")

    async def test_no_worker_plans(self, store: Store) -> None:
        await create(store)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "undecided"
        assert answer.sentence == (
            "Not decided: it was due 40 s ago, and no worker is alive to plan it; planned now, it would run as a "
            "catch-up run (catch_up=one)."
        )

    async def test_live_workers_only_execute(self, store: Store) -> None:
        await create(store)
        await alive(store, 60, replace(W1, kind="executor"))
        answer = await ask(store, 60, now=100)
        assert answer.sentence.startswith(
            "Not decided: it was due 40 s ago, and no live worker plans (1 worker only executes); planned now"
        )
        future = await ask(store, 120, now=100)
        assert future.sentence.endswith(", but at present no live worker plans (1 worker only executes).")

    async def test_the_last_worker_that_planned_was_lost(self, store: Store) -> None:
        await create(store)
        await alive(store, 5)
        await alive(store, 60, replace(W1, id="w2", kind="executor"))
        answer = await ask(store, 60, now=100)
        assert "no live worker plans (1 worker only executes) since worker w1 was lost (its last " in answer.sentence
        assert "(its last heartbeat was at 2026-01-01 00:00:05 UTC); planned now" in answer.sentence

    async def test_a_worker_of_another_namespace_plans(self, store: Store) -> None:
        await create(store)
        await alive(store, 60, replace(W1, namespace="elsewhere", kind="planner"))
        answer = await ask(store, 60, now=61)
        assert "it was due 1 s ago, and 1 live worker has not planned it yet" in answer.sentence

    async def test_a_live_worker_has_not_planned_it(self, store: Store) -> None:
        await create(store)
        await alive(store, 60)
        answer = await ask(store, 60, now=61)
        assert answer.sentence == (
            "Not decided: it was due 1 s ago, and 1 live worker has not planned it yet; planned now, it would run "
            "at once."
        )

    @pytest.mark.parametrize(
        "policy, tick, fate",
        [
            ({"catch_up": "skip"}, 60, "it would be skipped (misfire)"),
            ({}, 120, "it would be skipped (coalesced)"),
            ({"max_runs": 1, "catch_up": "all"}, 120, "it would not run, because max_runs=1 is reached first"),
            ({"catch_up": "all"}, 120, "it would run as a catch-up run (catch_up=all), after a wait"),
        ],
    )
    async def test_what_the_planner_would_do(self, store: Store, policy: dict[str, Any], tick: int, fate: str) -> None:
        await create(store, **policy)
        assert fate in (await ask(store, tick, now=200)).sentence

    async def test_a_pause_that_has_ended_awaits_the_planner(self, store: Store) -> None:
        await create(store)
        await change(store, Pause(actor="ana", until=epoch(90)), 30)
        answer = await ask(store, 60, now=100)
        assert answer.verdict == "undecided"
        assert "it would be skipped (paused)" in answer.sentence
        assert step(answer, "state").ok is None
