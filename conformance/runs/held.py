"""Held runs: late runs of a long outage wait for an operator, and everything else continues."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from conformance.steps import (
    NAME,
    NAMESPACE,
    SECOND,
    change,
    claim,
    create,
    define,
    finish,
    get,
    later,
    plan,
    plan_all,
    ranges,
    read,
    runs_of,
    since,
    start,
    statuses,
    ticks,
    work_off,
)
from tickbird.domain.errors import ConflictError, DefinitionError, InvalidError, NotFoundError
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.runs.held import Drop, Release
from tickbird.store.protocol.store import Store


async def outage(store: Store, minutes: int, *, hold_above: int | None = 2, **policies: Any) -> None:
    """A schedule that was not planned for some minutes, except for its newest tick."""
    await create(store, catch_up="all", hold_above=hold_above, **policies)
    await plan_all(store, minutes * 60)


async def held_ticks(store: Store) -> list[int | None]:
    """The ticks of the held runs, oldest first."""
    return [since(run.scheduled_for) for run in await store.held.list_runs(NAMESPACE, NAME)]


class HeldRuns:
    """They are listed, released or dropped, and nothing but a person does any of it."""

    async def test_an_outage_above_the_limit_is_held(self, store: Store) -> None:
        await outage(store, 5)
        # The tick on time runs as if nothing had happened.
        assert await ticks(store) == [
            (60, "catch_up", "waiting"),
            (120, "catch_up", "waiting"),
            (180, "catch_up", "waiting"),
            (240, "catch_up", "waiting"),
            (300, "schedule", "queued"),
        ]
        assert [run.held for run in await runs_of(store)] == [True] * 4 + [False]
        assert await held_ticks(store) == [60, 120, 180, 240]
        [told] = await store.held.list_schedules(NAMESPACE)
        assert (told.schedule, told.count, since(told.first), since(told.last)) == (NAME, 4, 60, 240)
        assert told.since == later(300)
        [row] = await store.schedules.list(NAMESPACE)
        assert row.held == 4
        assert await store.held.list_schedules("elsewhere") == []
        assert await store.held.list_schedules(NAMESPACE, schedule="another") == []

    @pytest.mark.parametrize("hold_above, held", [(None, 0), (4, 0), (3, 4), (0, 4)])
    async def test_how_long_an_outage_must_be(self, store: Store, hold_above: int | None, held: int) -> None:
        await outage(store, 5, hold_above=hold_above)
        assert len(await held_ticks(store)) == held

    async def test_held_runs_are_not_released_by_themselves(self, store: Store) -> None:
        await outage(store, 5)
        assert (await finish(store, await start(store, 301), 302)).released == 0
        rescued = await store.leases.rescue(now=later(303))
        assert (list(rescued.released), rescued.next_at) == ([], None)
        await plan_all(store, 360)
        assert [run.scheduled_for for run in await work_off(store, 361)] == [later(360)]
        assert await held_ticks(store) == [60, 120, 180, 240]
        assert await ranges(store) == []

    async def test_held_runs_cause_no_skip_and_no_wait(self, store: Store) -> None:
        await outage(store, 5, overlap="skip")
        await finish(store, await start(store, 301), 302)
        await plan(store, 360)
        assert (await ticks(store))[-1] == (360, "schedule", "queued")

    async def test_late_ticks_join_those_that_are_held(self, store: Store) -> None:
        await outage(store, 5)
        # One late tick alone would run at once; behind held ones it would overtake them.
        await plan_all(store, 420)
        assert await held_ticks(store) == [60, 120, 180, 240, 360]
        await store.held.resolve(NAMESPACE, NAME, Drop(actor="ada"), now=later(421))
        await work_off(store, 422)
        await plan_all(store, 540)
        assert await held_ticks(store) == []

    async def test_more_late_ticks_than_one_plan_makes_are_all_held(self, store: Store) -> None:
        await create(store, trigger=SECOND, catch_up="all", catch_up_limit=2_003, hold_above=50, grace=1)
        await plan_all(store, 3_000)
        [told] = await store.held.list_schedules(NAMESPACE)
        assert told.count == 2_003
        assert since(told.last) == 2_998

    @pytest.mark.parametrize("overlap", ["replace", "queue", "allow"])
    async def test_held_runs_with_other_overlap_policies(self, store: Store, overlap: Any) -> None:
        await create(store, catch_up="all", hold_above=1, overlap=overlap)
        await plan(store, 60)
        running = await start(store, 61)
        await plan_all(store, 300)
        found = await ticks(store)
        assert [tick for tick, _, status in found if status == "waiting"][:3] == [120, 180, 240]
        assert await held_ticks(store) == [120, 180, 240]
        expected = {"replace": "waiting", "queue": "waiting", "allow": "queued"}[overlap]
        assert found[-1] == (300, "schedule", expected)
        asked = (await read(store, running)).cancel_requested_at is not None
        assert asked == (overlap == "replace")

    # Release

    async def test_release_all(self, store: Store) -> None:
        await outage(store, 5)
        await work_off(store, 301)
        assert await store.held.resolve(NAMESPACE, NAME, Release(actor="ada", note="disk is back"), now=later(310)) == 4
        assert await held_ticks(store) == []
        assert (await statuses(store))[:4] == ["queued", "waiting", "waiting", "waiting"]
        order = await work_off(store, 311)
        assert [since(run.scheduled_for) for run in order] == [60, 120, 180, 240]
        run = (await runs_of(store))[0]
        assert (run.released_at, run.released_by, run.held) == (later(310), "ada", False)
        audit = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (audit.actor, audit.action, audit.schedule, audit.at) == ("ada", "release_held", NAME, later(310))
        assert audit.detail == {"count": 4, "note": "disk is back", "per_minute": None}

    async def test_release_some_oldest_first(self, store: Store) -> None:
        await outage(store, 5, overlap="allow")
        await work_off(store, 301)
        assert await store.held.resolve(NAMESPACE, NAME, Release(actor="ada", count=3), now=later(310)) == 3
        assert await held_ticks(store) == [240]
        assert [since(run.scheduled_for) for run in (await claim(store, 311)).runs] == [60, 120, 180]

    @pytest.mark.parametrize("overlap", ["allow", "skip"])
    async def test_release_at_a_rate(self, store: Store, overlap: Any) -> None:
        await outage(store, 5, overlap=overlap)
        await work_off(store, 301)
        await store.held.resolve(NAMESPACE, NAME, Release(actor="ada", per_minute=2), now=later(310))
        for place in range(4):
            turn = 310 + 30 * place
            assert not (await claim(store, turn - 1)).runs
            [run] = (await claim(store, turn)).runs
            assert since(run.scheduled_for) == 60 * (place + 1)
            await finish(store, run, turn + 1)
        assert {run.available_at - run.released_at for run in (await runs_of(store))[:4] if run.released_at} == {
            timedelta(seconds=30 * place) for place in range(4)
        }

    async def test_released_runs_wait_for_the_active_run(self, store: Store) -> None:
        await outage(store, 5)
        running = await start(store, 301)
        await store.held.resolve(NAMESPACE, NAME, Release(actor="ada"), now=later(310))
        assert not (await claim(store, 311)).runs
        assert (await finish(store, running, 312)).released == 1

    # Drop

    async def test_drop_all(self, store: Store) -> None:
        await outage(store, 5)
        assert await store.held.resolve(NAMESPACE, NAME, Drop(actor="ada", note="stale"), now=later(310)) == 4
        gone = (await runs_of(store))[:4]
        assert {(run.status, run.reason, run.finished_at, run.cancel_requested_by) for run in gone} == {
            ("cancelled", "dropped", later(310), "ada")
        }
        assert await store.held.list_schedules(NAMESPACE) == []
        audit = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (audit.action, audit.detail) == ("drop_held", {"count": 4, "note": "stale"})

    async def test_drop_the_oldest_and_release_the_rest(self, store: Store) -> None:
        await outage(store, 5)
        await work_off(store, 301)
        await store.held.resolve(NAMESPACE, NAME, Drop(actor="ada", count=3), now=later(310))
        await store.held.resolve(NAMESPACE, NAME, Release(actor="ada"), now=later(311))
        assert [since(run.scheduled_for) for run in await work_off(store, 312)] == [240]

    async def test_one_held_run_can_be_cancelled(self, store: Store) -> None:
        await outage(store, 5)
        [first, *_] = await store.held.list_runs(NAMESPACE, NAME)
        await store.runs.cancel(first.id, "ada", now=later(310))
        assert await held_ticks(store) == [120, 180, 240]
        assert [run.id for run in await store.held.list_runs(NAMESPACE, NAME, after=first.id + 1, limit=1)] == [
            first.id + 2
        ]

    async def test_a_held_run_that_must_have_started_is_a_misfire(self, store: Store) -> None:
        await outage(store, 5, start_within=1_000)
        rescued = await store.leases.rescue(now=later(1_100))
        assert len(rescued.misfired) == 1
        assert await held_ticks(store) == [120, 180, 240]

    async def test_cancelling_all_runs_drops_held_ones(self, store: Store) -> None:
        await outage(store, 5)
        await change(store, Delete(actor="ada", cancel_runs=True), 310)
        assert await statuses(store) == ["cancelled"] * 5

    async def test_held_runs_of_a_deleted_schedule_can_be_dropped(self, store: Store) -> None:
        await outage(store, 5)
        await change(store, Delete(actor="ada"), 310)
        assert await store.held.resolve(NAMESPACE, NAME, Drop(actor="ada"), now=later(311)) == 4

    # What cannot be

    async def test_nothing_is_held(self, store: Store) -> None:
        await create(store)
        for decision in (Release(actor="ada"), Drop(actor="ada")):
            with pytest.raises(ConflictError, match=r"no run of schedule 'clock' is held\. `tickbird held`"):
                await store.held.resolve(NAMESPACE, NAME, decision)
            with pytest.raises(NotFoundError, match="there is no schedule 'nothing'"):
                await store.held.resolve(NAMESPACE, "nothing", decision)

    @pytest.mark.parametrize("options", [{"count": 0}, {"count": True}, {"per_minute": 0}, {"per_minute": 1.5}])
    async def test_invalid_release_is_refused(self, options: dict[str, Any]) -> None:
        [field] = options
        with pytest.raises(InvalidError, match=f"{field} must be a whole number from 1"):
            Release(actor="ada", **options)

    async def test_only_what_catches_up_all_can_be_held(self, store: Store) -> None:
        with pytest.raises(DefinitionError, match=r"hold_above: '3' needs catch_up=\"all\""):
            define(hold_above=3)
        await outage(store, 1)
        with pytest.raises(DefinitionError, match="hold_above"):
            await change(store, Update(actor="ada", fields={"catch_up": "one"}), 70)
        assert (await get(store)).revision == 1
