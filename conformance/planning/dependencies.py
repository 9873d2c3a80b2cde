"""Dependencies: ticks that run, wait or are skipped by how other schedules fared."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    NAME,
    NAMESPACE,
    a_worker,
    change,
    create,
    define,
    enqueue,
    epoch,
    finish,
    get,
    later,
    plan,
    plan_all,
    ranges,
    read,
    runs_of,
    since,
    skips_of,
    start,
    statuses,
    ticks,
)
from tickbird.domain.errors import ConflictError, DefinitionError
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule
from tickbird.domain.runs.leases import FinishResult
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.codec import encode_definition
from tickbird.domain.schedules.dependencies import After, LastSuccess, after
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store

# Ticks that do not come by themselves in these tests.
RARELY = every(days=1)
WITHIN = (after("load", within=30),)
WAITING = (after("load", within=30, wait=90),)


async def create_load(store: Store, name: str = "load", **policies: Any) -> None:
    """A schedule to depend on; its task has its own name."""
    await create(store, name, RARELY, task=name, **policies)


async def end_run(store: Store, at: float, name: str = "load", status: Status = "succeeded") -> FinishResult:
    """One manual run of such a schedule, from beginning to end."""
    await change(store, Trigger(actor="ada"), at, name=name)
    return await finish(store, await start(store, at, tasks=(name,)), at, status)


class Dependencies:
    """One schedule after another."""

    @pytest.mark.parametrize("at_, runs", [(29, False), (30, True), (31, True), (60, True)])
    async def test_success_counts_within_its_period(self, store: Store, at_: int, runs: bool) -> None:
        await create_load(store)
        await create(store, depends_on=WITHIN)
        await end_run(store, at_)
        await plan(store, 60)
        assert await statuses(store) == ["queued"] * runs
        assert await ranges(store) == [("dependency", 60, 60, 1)] * (not runs)

    async def test_success_before_the_period_does_not_count(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WITHIN)
        await end_run(store, 29.999)
        await plan(store, 60)
        assert await ranges(store) == [("dependency", 60, 60, 1)]

    async def test_a_skip_names_the_other_and_grows(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WITHIN)
        for at_ in (60, 120, 180):
            await plan(store, at_)
        [skip] = await skips_of(store)
        assert (skip.reason, skip.count, skip.note, skip.run_id) == ("dependency", 3, "load", None)
        await end_run(store, 235)
        await plan(store, 240)
        assert await ticks(store) == [(240, "schedule", "queued")]

    @pytest.mark.parametrize("status", ["failed", "cancelled", "queued"])
    async def test_only_a_success_counts(self, store: Store, status: Status) -> None:
        await create_load(store)
        await create(store, depends_on=WITHIN)
        await end_run(store, 55, status=status)
        await plan(store, 60)
        assert await ranges(store) == [("dependency", 60, 60, 1)]

    async def test_success_before_the_dependency_was_added_counts(self, store: Store) -> None:
        await create_load(store)
        await end_run(store, 40)
        await end_run(store, 50, status="failed")
        await create(store, depends_on=WITHIN, at=55)
        assert await store.schedules.last_successes(NAMESPACE, ["load", "none"]) == {
            "load": LastSuccess((await get(store, "load")).id, epoch(40))
        }
        await plan(store, 60)
        assert await statuses(store) == ["queued"]

    async def test_ticks_of_an_outage_are_checked_at_their_own_due_at(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=(after("load", within=100),), catch_up="all")
        await end_run(store, 30)
        await plan_all(store, 330)
        assert [tick for tick, *_ in await ticks(store)] == [60, 120]
        assert await ranges(store) == [("dependency", 180, 300, 3)]

    async def test_waiting_run_is_released_by_the_success(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await plan(store, 60)
        [waiting] = await runs_of(store)
        assert (waiting.status, waiting.waiting_for_dependency, waiting.due_at) == ("waiting", True, later(60))
        assert list((await store.leases.rescue(now=later(61))).released) == []
        assert (await end_run(store, 70, status="failed")).released == 0
        assert (await end_run(store, 75)).released == 1
        released = await read(store, waiting)
        assert (released.status, released.waiting_for_dependency, released.available_at) == ("queued", False, later(75))
        assert (await start(store, 76)).id == waiting.id

    @pytest.mark.parametrize("at_, status", [(150, "queued"), (150.001, "waiting")])
    async def test_the_deadline_is_the_last_instant(self, store: Store, at_: float, status: str) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING, overlap="allow")
        await plan(store, 60)
        await end_run(store, at_)
        assert (await statuses(store))[0] == status

    async def test_a_run_whose_deadline_is_past_is_cancelled(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await plan(store, 60)
        [waiting] = await runs_of(store)
        looked = await store.leases.rescue(now=later(150))
        assert (list(looked.unmet), looked.next_at) == ([], later(150))
        rescued = await store.leases.rescue(now=later(151))
        assert (list(rescued.unmet), list(rescued.misfired), rescued.next_at) == ([waiting.id], [], None)
        cancelled = await read(store, waiting)
        assert (cancelled.status, cancelled.reason, cancelled.error) == ("cancelled", "dependency", "waited for load")
        assert (cancelled.finished_at, cancelled.waiting_for_dependency) == (later(151), False)
        assert (await end_run(store, 152)).released == 0
        assert await statuses(store) == ["cancelled"]

    async def test_late_ticks_wait_while_their_deadline_is_to_come(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING, catch_up="all", overlap="allow")
        await plan_all(store, 230)
        # Those of 60 and 120 had until 150 and 210.
        assert await ranges(store) == [("dependency", 60, 120, 2)]
        assert await ticks(store) == [(180, "catch_up", "waiting")]
        await end_run(store, 231)
        assert await ticks(store) == [(180, "catch_up", "queued")]

    async def test_every_dependency_must_hold(self, store: Store) -> None:
        for name in ("load", "clean"):
            await create_load(store, name)
        await create(store, depends_on=(*WAITING, after("clean", within=600, wait=60)))
        await plan(store, 60)
        assert (await end_run(store, 70)).released == 0
        assert [run.waiting_for_dependency for run in await runs_of(store)] == [True]
        assert (await end_run(store, 80, "clean")).released == 1
        assert await statuses(store) == ["queued"]

    async def test_the_first_deadline_ends_the_wait(self, store: Store) -> None:
        for name in ("load", "clean"):
            await create_load(store, name)
        await create(store, depends_on=(*WAITING, after("clean", within=600, wait=30)))
        await plan(store, 60)
        rescued = await store.leases.rescue(now=later(91))
        [run] = await runs_of(store)
        assert (list(rescued.unmet), run.error, rescued.next_at) == ([run.id], "waited for clean", None)

    async def test_dependency_without_wait_skips_at_once(self, store: Store) -> None:
        for name in ("load", "clean"):
            await create_load(store, name)
        await create(store, depends_on=(*WAITING, after("clean", within=600)))
        await plan(store, 60)
        assert [(skip.reason, skip.note) for skip in await skips_of(store)] == [("dependency", "clean")]

    async def test_many_schedules_wait_for_one(self, store: Store) -> None:
        await create_load(store)
        for number in range(5):
            await create(store, f"s{number}", depends_on=WAITING)
        await plan(store, 60)
        assert (await end_run(store, 70)).released == 5

    async def test_waiting_run_is_active_for_the_next_tick(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await plan(store, 60)
        await plan(store, 120)
        [run] = await runs_of(store)
        assert [(skip.reason, skip.run_id) for skip in await skips_of(store)] == [("overlap", run.id)]
        assert [each.id for each in await store.runs.list_active((await get(store)).id)] == [run.id]

    async def test_the_first_that_waits_stays_by_queue(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING, overlap="queue")
        await plan(store, 60)
        await plan(store, 120)
        assert await ticks(store) == [(60, "schedule", "waiting")]
        assert await ranges(store) == [("overlap", 120, 120, 1)]

    async def test_newer_tick_replaces_a_waiting_run_and_stops_no_run(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING, overlap="replace")
        await end_run(store, 59)
        await plan(store, 60)
        running = await start(store, 61)
        await plan(store, 120)
        assert (await read(store, running)).cancel_requested_at is None
        await plan(store, 180)
        assert await statuses(store) == ["running", "cancelled", "waiting"]
        assert (await end_run(store, 190)).released == 0
        assert [run.waiting_for_dependency for run in await runs_of(store)] == [False] * 3
        assert (await finish(store, running, 200)).released == 1
        # What the cancelled one waited for is forgotten in the end.
        assert (await store.leases.rescue(now=later(400))).next_at is None

    async def test_a_satisfied_run_waits_for_the_one_before(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING, overlap="queue")
        await end_run(store, 59)
        await plan(store, 60)
        running = await start(store, 61)
        await plan(store, 120)
        assert [run.waiting_for_dependency for run in await runs_of(store)] == [False, True]
        # The end of the one before does not release what still waits for another schedule.
        assert (await finish(store, running, 125)).released == 0
        assert (await end_run(store, 130)).released == 1

    @needs("limits")
    async def test_a_satisfied_run_waits_for_its_key(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING, concurrency_key="warehouse")
        blocker = await enqueue(store, concurrency_key="warehouse")
        await plan(store, 60)
        await store.runs.cancel(blocker, "ada", now=later(61))
        assert await statuses(store) == ["waiting"]
        blocker = await enqueue(store, 62, concurrency_key="warehouse")
        assert (await end_run(store, 70)).released == 0
        await store.runs.cancel(blocker, "ada", now=later(71))
        assert await statuses(store) == ["queued"]

    async def test_manual_runs_depend_on_nothing(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await plan(store, 60)
        await change(store, Trigger(actor="ada"), 61)
        assert await ticks(store) == [(60, "schedule", "waiting"), (None, "manual", "queued")]
        await finish(store, await start(store, 62), 63)

    @needs("backfills")
    async def test_backfills_depend_on_nothing(self, store: Store) -> None:
        await create_load(store)
        await create(store, "other", depends_on=WITHIN, at=152)
        await plan_all(store, 240)
        new = NewBackfill(actor="ada", first=epoch(180), last=epoch(180))
        assert (await store.backfills.create(NAMESPACE, "other", new, now=later(241))).count == 1
        assert await statuses(store, "other") == ["queued"]

    async def test_a_manual_run_counts_as_a_success_and_so_does_one_of_a_tick(self, store: Store) -> None:
        await create(store, "load", task="load")
        await create(store, depends_on=(after("load", within=0, wait=30),))
        await plan(store, 60)
        assert (await finish(store, await start(store, 61, tasks=("load",)), 62)).released == 1

    async def test_waiting_run_can_be_cancelled(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await plan(store, 60)
        [run] = await runs_of(store)
        assert (await store.runs.cancel(run.id, "ada", reason="no", now=later(61))).status == "cancelled"
        assert (await end_run(store, 70)).released == 0
        assert await statuses(store) == ["cancelled"]

    async def test_pause_cancels_waiting_runs_only_with_cancel_runs(self, store: Store) -> None:
        await create_load(store)
        for name in ("a", "b"):
            await create(store, name, depends_on=WAITING)
        await plan(store, 60)
        await change(store, Pause(actor="ada"), 61, name="a")
        await change(store, Pause(actor="ada", cancel_runs=True), 61, name="b")
        assert (await statuses(store, "a"), await statuses(store, "b")) == (["waiting"], ["cancelled"])
        assert (await end_run(store, 70)).released == 1

    async def test_a_run_keeps_waiting_as_it_was_planned(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await plan(store, 60)
        await change(store, Update(actor="ada", fields={"depends_on": []}), 61)
        assert await statuses(store) == ["waiting"]
        await store.runs.prune(older_than=0, keep=0, now=later(65))
        assert (await end_run(store, 70)).released == 1
        assert await statuses(store) == ["queued"]

    async def test_edit_first_decides_due_ticks(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WAITING)
        await create(store, "strict", depends_on=WITHIN)
        for name in (NAME, "strict"):
            await change(store, Update(actor="ada", fields={"retries": 3}), 65, name=name)
        assert [(run.waiting_for_dependency, run.revision) for run in await runs_of(store)] == [(True, 1)]
        assert [(skip.reason, skip.revision) for skip in await skips_of(store, "strict")] == [("dependency", 1)]

    async def test_dependency_of_a_moved_tick_is_checked_at_due_at(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WITHIN)
        await end_run(store, 5)
        await change(store, Reschedule(actor="ada", to=epoch(35)), 10)
        await plan(store, 35)
        assert [(since(run.scheduled_for), since(run.due_at)) for run in await runs_of(store)] == [(60, 35)]

    async def test_namespaces_do_not_meet(self, store: Store) -> None:
        await create(store, "load", RARELY, namespace="elsewhere")
        with pytest.raises(DefinitionError, match=r"there is no schedule 'load'\. Create it first"):
            await create(store, depends_on=WITHIN)

    async def test_dependency_on_a_missing_schedule_is_refused(self, store: Store) -> None:
        await create_load(store)
        await change(store, Delete(actor="ada"), 1, name="load")
        with pytest.raises(DefinitionError, match="there is no schedule 'load'"):
            await create(store, depends_on=WITHIN, at=2)
        await create(store, at=3)
        with pytest.raises(DefinitionError, match="there is no schedule 'lode'"):
            await change(store, Update(actor="ada", fields={"depends_on": [{"after": "lode", "within": 5}]}), 4)
        assert (await get(store)).revision == 1

    async def test_dependency_cycle_is_refused(self, store: Store) -> None:
        needs = Update(actor="ada", fields={"depends_on": [{"after": "c", "within": 5}]})
        with pytest.raises(DefinitionError, match="'a' would depend on itself: a → a"):
            await create(store, "a", depends_on=(After("a", 5),))
        await create(store, "a")
        await create(store, "c")
        with pytest.raises(DefinitionError, match="'c' would depend on itself: c → c"):
            await change(store, needs, 1, name="c")
        await create(store, "b", depends_on=(After("a", 5),))
        await change(store, Update(actor="ada", fields={"depends_on": [{"after": "b", "within": 5}]}), 2, name="c")
        with pytest.raises(DefinitionError, match=r"'a' would depend on itself: a → c → b → a\. Remove one of these"):
            await change(store, needs, 3, name="a")
        # A diamond is not a cycle.
        await create(store, "d", depends_on=(After("a", 5), After("b", 5), After("c", 5)))

    async def test_concurrent_edits_create_no_cycle(self, store: Store, other: Store) -> None:
        for number in range(5):
            one, two = f"a{number}", f"b{number}"
            await create(store, one)
            await create(store, two)
            answers = await asyncio.gather(
                change(store, Update(actor="ada", fields={"depends_on": [After(two, 5).to_json()]}), 1, name=one),
                change(other, Update(actor="bo", fields={"depends_on": [After(one, 5).to_json()]}), 1, name=two),
                return_exceptions=True,
            )
            [refused] = [answer for answer in answers if isinstance(answer, BaseException)]
            assert isinstance(refused, DefinitionError)

    async def test_schedule_with_dependents_is_not_deleted(self, store: Store) -> None:
        await create_load(store)
        for name in ("b", "a"):
            await create(store, name, depends_on=WITHIN)
        with pytest.raises(ConflictError, match=r"'load' cannot be deleted: a, b depend on it\. Remove it"):
            await change(store, Delete(actor="ada"), 1, name="load")
        await change(store, Delete(actor="ada"), 2, name="a")
        with pytest.raises(ConflictError, match="'load' cannot be deleted: b depends on it"):
            await change(store, Delete(actor="ada"), 3, name="load")
        await change(store, Update(actor="ada", fields={}, unset=frozenset({"depends_on"})), 4, name="b")
        await change(store, Delete(actor="ada"), 5, name="load")

    async def test_deleting_and_depending_at_once(self, store: Store, other: Store) -> None:
        for number in range(5):
            await create_load(store, f"load{number}")
            definition = define(depends_on=(After(f"load{number}", 5),))
            command = Create(actor="ada", namespace=NAMESPACE, definition=definition)
            answers = await asyncio.gather(
                change(store, command, 1, name=f"s{number}"),
                change(other, Delete(actor="bo"), 1, name=f"load{number}"),
                return_exceptions=True,
            )
            [refused] = [answer for answer in answers if isinstance(answer, BaseException)]
            assert isinstance(refused, DefinitionError | ConflictError)

    async def test_sql_dependency_on_a_missing_schedule(self, store: Store, plain: Plain) -> None:
        definition = encode_definition(define(depends_on=(After("load", 30, 90),)))
        await plain.insert(NAMESPACE, NAME, definition)
        await plan_all(store, 0)
        await plan_all(store, 60)
        assert [(skip.reason, skip.note) for skip in await skips_of(store)] == [("dependency", "load")]
        # From when it is there, it can be waited for.
        await create_load(store)
        await plan_all(store, 120)
        assert await ticks(store) == [(120, "schedule", "waiting")]
        assert (await end_run(store, 125)).released == 1
        # Other fields can be changed, even if a dependency does not exist.
        await plain.redefine((await get(store)).id, {**definition, "depends_on": [{"after": "none", "within": 5}]})
        changed = await change(store, Update(actor="ada", fields={"retries": 2}), 130)
        assert changed.schedule.definition is not None
        assert changed.schedule.definition.retries == 2

    async def test_invalid_sql_dependency_is_parked(self, store: Store, plain: Plain) -> None:
        good = encode_definition(define())
        for name, value in (("a", "load"), ("b", ["load"]), ("c", [{"after": "load"}]), ("d", {"after": 1})):
            await plain.insert(NAMESPACE, name, {**good, "depends_on": value})
        await create_load(store)
        await create(store, depends_on=WITHIN)
        await plan_all(store, 60)
        assert [(await get(store, name)).state for name in "abcd"] == ["parked"] * 4
        assert "depends_on" in ((await get(store, "a")).error or "")
        await store.runs.prune(older_than=0, keep=0, now=later(65))
        with pytest.raises(ConflictError, match="c, clock depend on it"):
            await change(store, Delete(actor="ada"), 70, name="load")

    async def test_success_is_recorded_again_for_a_new_dependent(self, store: Store) -> None:
        await create_load(store)
        await create(store, depends_on=WITHIN)
        await change(store, Update(actor="ada", fields={}, unset=frozenset({"depends_on"})), 1)
        await store.runs.prune(older_than=3_600, keep=100, now=later(2))
        await end_run(store, 40)
        await change(store, Update(actor="ada", fields={"depends_on": [WITHIN[0].to_json()]}), 50)
        await plan(store, 60)
        assert await statuses(store) == ["queued"]

    async def test_success_during_planning_is_not_missed(self, store: Store, other: Store) -> None:
        await create_load(store)
        for number in range(10):
            await create(store, f"s{number}", depends_on=(after("load", within=0, wait=10_000),), overlap="replace")
        for at_ in range(60, 360, 60):
            await change(store, Trigger(actor="ada"), at_, name="load")
            run = await start(store, at_, tasks=("load",))
            await asyncio.gather(plan_all(store, at_), finish(other, run, at_), plan_all(other, at_, limit=3))
            found = [run.status for number in range(10) for run in await runs_of(store, f"s{number}")]
            assert found.count("waiting") == 0
            assert found.count("queued") == 10
            for number in range(10):
                await finish(store, await start(store, at_, worker=a_worker(f"w{number}")), at_)
