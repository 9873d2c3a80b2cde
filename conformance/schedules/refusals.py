"""Plans that fail for a cause outside of the schedule's row: tried again, and nothing is lost."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import cycle

import pytest

from conformance.schedules.plain_sql import Plain, raw
from conformance.steps import NAMESPACE, change, create, get, later, plan, ranges, ticks
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.commands.pause import Resume
from tickbird.domain.time import zone_data, zones
from tickbird.store.protocol.store import Store

MESSAGE = "not at this hour"

# No other test uses them.
_ZONES = cycle(("Antarctica/Davis", "Antarctica/Mawson", "Antarctica/Syowa", "Antarctica/Vostok"))


@contextmanager
def no_new_files() -> Iterator[None]:
    """Let this process open no file or connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Refusals:
    """A trigger, a constraint or a lack of rights is not the fault of a schedule."""

    async def test_refused_schedule_stays_active_and_is_retried(self, store: Store, plain: Plain) -> None:
        names = [f"s{number}" for number in range(9)]
        schedules = {name: await create(store, name, overlap="allow") for name in names}
        await plain.refuse_rows("runs", schedules["s4"].id, MESSAGE)
        planned = await plan(store, 60)
        assert (planned.runs, planned.parked, planned.more) == (8, (), False)
        [refused] = planned.refused
        assert (refused.schedule, refused.error) == ("s4", MESSAGE)
        # It is looked at again soon, and not over and over.
        assert planned.next_at is not None
        assert later(60) < refused.retry_at == planned.next_at <= later(60) + timedelta(seconds=15)
        schedule = await get(store, "s4")
        assert (schedule.state, schedule.error, schedule.cursor.planned_until) == (
            "active",
            MESSAGE,
            schedules["s4"].cursor.planned_until,
        )
        assert (await plan(store, 60)).refused == ()
        # It delays no schedule of later batches.
        assert (await plan(store, 120)).runs == 8
        await plain.accept_rows()
        runs = sum([(await plan(store, 150)).runs, (await plan(store, 150)).runs])
        assert runs == 1
        healed = await get(store, "s4")
        assert (healed.state, healed.error, healed.revision) == ("active", None, 1)
        # By the catch-up policy, as after any outage: nothing is lost, nothing is recorded as invalid.
        assert await ticks(store, "s4") == [(60, "catch_up", "queued")]
        assert await ranges(store, "s4") == [("coalesced", 120, 120, 1)]
        assert (await plan(store, 180)).runs == 9
        for name in names:
            assert [tick for tick, _, _ in await ticks(store, name)][-1] == 180

    async def test_a_refusal_ends_in_the_next_step_if_its_cause_is_gone(self, store: Store, plain: Plain) -> None:
        schedule = await create(store, overlap="allow")
        await plain.refuse_rows("runs", schedule.id, MESSAGE)
        [refused] = (await plan(store, 60)).refused
        await plain.accept_rows()
        seconds = (refused.retry_at - later(0)).total_seconds()
        assert (await plan(store, seconds)).runs == 1
        assert await ticks(store) == [(60, "schedule", "queued")]
        assert (await get(store)).error is None

    async def test_another_planner_clears_the_error(self, store: Store, other: Store, plain: Plain) -> None:
        schedule = await create(store, overlap="allow")
        await plain.refuse_rows("runs", schedule.id, MESSAGE)
        assert (await plan(store, 60)).refused
        await plain.accept_rows()
        assert (await plan(other, 61)).runs == 1
        healed = await get(store)
        assert (healed.state, healed.error) == ("active", None)
        assert (await plan(store, 100)).runs == 0
        assert (await plan(store, 120)).runs == 1

    async def test_many_refused_schedules_recover_together(self, store: Store, plain: Plain) -> None:
        for number in range(60):
            await create(store, f"s{number:02}")
        await plain.refuse_rows("runs", None, MESSAGE)
        refused = 0
        for _ in range(60):
            planned = await plan(store, 60)
            refused += len(planned.refused)
            if not planned.more:
                break
        assert refused == 60
        assert {row.schedule.state for row in await store.schedules.list(NAMESPACE, limit=100)} == {"active"}
        await plain.accept_rows()
        runs = 0
        for _ in range(60):
            planned = await plan(store, 80)
            runs += planned.runs
            if not planned.more and (planned.next_at is None or planned.next_at > later(80)):
                break
        assert runs == 60
        assert {row.schedule.error for row in await store.schedules.list(NAMESPACE, limit=100)} == {None}

    async def test_a_planner_that_can_open_no_file_parks_nothing(self, store: Store, plain: Plain) -> None:
        await create(store, "healthy")
        # As if no test of this process had read it. Decoded triggers are cached too, so each store has its own zone.
        zone_data._info.cache_clear()
        name = next(_ZONES)
        zones._zones.pop(name, None)
        trigger = {"cron": "* * * * *", "tz": name}
        await plain.insert(NAMESPACE, "zoned", raw(trigger=trigger))
        with no_new_files():
            planned = await plan(store, 60)
        assert (planned.runs, planned.parked) == (1, ())
        assert [refused.schedule for refused in planned.refused] == ["zoned"]
        assert "open files" in ((await get(store, "zoned")).error or "")
        await plan(store, 70)
        zoned = await get(store, "zoned")
        assert (zoned.state, zoned.error) == ("active", None)

    async def test_the_doctor_reports_a_refused_schedule(self, store: Store, plain: Plain) -> None:
        schedule = await create(store, overlap="allow")
        await create(store, "healthy")
        await plain.refuse_rows("runs", schedule.id, MESSAGE)
        await plan(store, 60)
        condition = await store.inspect(NAMESPACE, now=later(600))
        assert condition.work is not None
        assert [(refused.name, refused.error) for refused in condition.work.refused] == [("clock", MESSAGE)]
        # That others are planned must not be doubted for it.
        assert condition.work.due.count == 1

    async def test_a_parked_schedule_that_can_be_planned_is_resumed(self, store: Store, plain: Plain) -> None:
        schedule = await create(store, overlap="allow")
        await plan(store, 60)
        await plain.park(schedule.id, "refused long ago")
        assert (await plan(store, 200)).schedules == 0
        resumed = (await change(store, Resume(actor="ada"), 200)).schedule
        assert (resumed.state, resumed.error, resumed.pause) == ("active", None, None)
        assert await ranges(store) == [("invalid", 120, 180, 2)]
        assert (await plan(store, 240)).runs == 1

    async def test_a_parked_schedule_that_cannot_be_planned_says_what_to_do(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, "broken", raw(overlap="perhaps"))
        await plan(store, 10)
        with pytest.raises(ConflictError, match=r"cannot be read.*tickbird set broken"):
            await change(store, Resume(actor="ada"), 20, name="broken")
