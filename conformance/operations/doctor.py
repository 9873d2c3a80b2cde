"""The snapshot for `doctor`: complete, of this namespace, and read-only."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from conformance.capabilities import needs
from conformance.events import steps
from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    NAMESPACE,
    a_worker,
    change,
    claim,
    create,
    enqueue,
    finish,
    get,
    later,
    plan,
    plan_all,
    runs_of,
    start,
)
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.doctor.snapshot import (
    ExpiredLeases,
    FailingSchedule,
    GroupHealth,
    OverdueSchedules,
    StoreSnapshot,
    Workload,
)
from tickbird.domain.events.deliveries import success
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.commands.define import Delete, RefreshCalendar
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.schedules.dependencies import After
from tickbird.store.protocol.store import Store

FRIDAY, SATURDAY = (Calendar(frozenset({date(2026, 1, day)})) for day in (2, 3))


async def look(store: Store, at: float, namespace: str = NAMESPACE) -> StoreSnapshot:
    """The snapshot at these seconds after T0."""
    condition = await store.inspect(namespace, now=later(at))
    assert condition.unseen == {}
    return condition


async def work(store: Store, at: float, namespace: str = NAMESPACE) -> Workload:
    """The workload of the snapshot."""
    seen = (await look(store, at, namespace)).work
    assert seen is not None
    return seen


class Inspections:
    """The facts of the snapshot."""

    async def test_empty_store_has_no_findings(self, store: Store) -> None:
        condition = await look(store, 0)
        seen = condition.work
        assert seen is not None
        assert [*seen.parked, *seen.waiting, *seen.scheduled, *seen.old_calendars, *seen.failing] == []
        assert (seen.due, seen.expired, seen.held_runs) == (OverdueSchedules(), ExpiredLeases(), 0)
        assert (condition.now, condition.workers, condition.planners, condition.copy_reason) == (later(0), [], 0, "")
        assert condition.schema.version == condition.schema.newest >= 1
        assert condition.schema.version == await store.schema_version()
        assert (condition.server is None) is (condition.kind == "sqlite") is (condition.file is not None)

    async def test_live_workers_are_reported_and_planners_counted(self, store: Store) -> None:
        health = {"clock": -3.5, "zones": "2026f (abc)", "stuck": 2}
        await store.workers.heartbeat(a_worker("a", health=health), 30, now=later(0))
        await store.workers.heartbeat(a_worker("b", kind="executor"), 30, now=later(0))
        await store.workers.heartbeat(a_worker("c", draining=True), 30, now=later(0))
        await store.workers.heartbeat(a_worker("d", kind="planner", namespace="elsewhere"), 30, now=later(0))
        await store.workers.heartbeat(a_worker("e"), 5, now=later(0))
        condition = await look(store, 10)
        assert {worker.id: dict(worker.health) for worker in condition.workers} == {"a": health, "b": {}, "c": {}}
        assert condition.planners == 2

    async def test_waiting_runs_are_reported_by_queue_and_task(self, store: Store) -> None:
        for at in (5, 3):
            await enqueue(store, at, task="report", queue="gpu")
        await enqueue(store, 4, task="mail", queue="gpu", priority=9)
        await enqueue(store, 6)
        await enqueue(store, 0, delay=3_600)
        await enqueue(store, 0, namespace="elsewhere")
        waiting = (await work(store, 10)).waiting
        found = sorted((each.queue, each.target.name, each.count, each.since) for each in waiting)
        assert found == [
            ("default", "work", 1, later(6)),
            ("gpu", "mail", 1, later(4)),
            ("gpu", "report", 2, later(3)),
        ]
        await claim(store, 10)
        assert {each.queue for each in (await work(store, 10)).waiting} == {"gpu"}

    @needs("queues")
    async def test_rate_limits_of_queues_are_reported(self, store: Store) -> None:
        await store.queues.set_rate(NAMESPACE, "gpu", RateLimit(5, 60), "ada", now=later(9))
        await store.queues.set_rate("elsewhere", "gpu", RateLimit(7, 60), "ada", now=later(9))
        assert (await work(store, 10)).rates == {"gpu": RateLimit(5, 60)}

    async def test_active_schedules_are_reported_by_queue_and_task(self, store: Store) -> None:
        await create(store, "one", queue="gpu", at=30)
        await create(store, "two", queue="gpu")
        await create(store, "three", task="other")
        await create(store, "paused", task="rest")
        await change(store, Pause(actor="ada"), 1, name="paused")
        await create(store, "theirs", namespace="elsewhere")
        scheduled = (await work(store, 31)).scheduled
        found = sorted((each.queue, each.target.name, each.count, each.next_at) for each in scheduled)
        assert found == [("default", "other", 1, later(60)), ("gpu", "work", 2, later(60))]

    async def test_overdue_schedules_of_all_namespaces_are_reported(self, store: Store) -> None:
        await create(store, "late")
        await create(store, "later", namespace="elsewhere", at=60)
        assert (await work(store, 59)).due.count == 0
        due = (await work(store, 130)).due
        assert (due.count, due.since, due.new) == (2, later(60), 0)
        await plan_all(store, 130)
        assert (await work(store, 130)).due.count == 0

    async def test_rows_that_no_planner_has_seen_are_counted(self, store: Store, plain: Plain) -> None:
        definition = {"v": 1, "trigger": {"every": {"minutes": 1}}, "target": {"task": "work"}}
        await plain.insert(NAMESPACE, "by-sql", definition)
        assert (await work(store, 0)).due.new == 1
        await plan(store, 0)
        assert (await work(store, 0)).due.new == 0

    async def test_runs_of_lost_workers_are_reported_after_their_lease(self, store: Store) -> None:
        await enqueue(store)
        await start(store, 0, lease=60)
        assert (await work(store, 59)).expired.count == 0
        expired = (await work(store, 100)).expired
        assert (expired.count, expired.since) == (1, later(60))
        await store.leases.rescue(now=later(100))
        assert (await work(store, 100)).expired.count == 0

    async def test_parked_schedules_are_reported_with_their_error(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, "broken", {"v": 1, "trigger": {"cron": "61 * * * *"}, "target": {"task": "work"}})
        await plain.insert("elsewhere", "theirs", {"v": 1})
        await plan(store, 0)
        [parked] = (await work(store, 0)).parked
        assert parked.name == "broken"
        assert parked.error == (await get(store, "broken")).error

    async def test_repeatedly_failing_schedules_are_reported(self, store: Store) -> None:
        for name, fails in (("bad", 6), ("mended", 6), ("new", 2)):
            await create(store, name, overlap="allow", task=name)
            for number in range(1, fails + 1):
                last = name == "mended" and number == fails
                await plan(store, number * 60)
                run = await start(store, number * 60, tasks=[name])
                await finish(store, run, number * 60, "succeeded" if last else "failed", error=f"no {number}")
        assert list((await work(store, 400)).failing) == [FailingSchedule("bad", 6, "no 6")]
        assert (await work(store, 400, "elsewhere")).failing == []
        # Cancelled runs do not count, and neither do deleted schedules.
        await plan(store, 420)
        [run] = [run for run in await runs_of(store, "bad") if run.status == "queued"]
        await store.runs.cancel(run.id, "ada", now=later(430))
        assert list((await work(store, 430)).failing) == [FailingSchedule("bad", 6, "no 6")]
        await change(store, Delete(actor="ada"), 440, name="bad")
        assert (await work(store, 440)).failing == []

    async def test_dependencies_on_inactive_schedules_are_reported(self, store: Store) -> None:
        for name in ("load", "clean", "idle"):
            await create(store, name)
        for name in ("b", "a"):
            await create(store, name, depends_on=(After("load", 60), After("clean", 60)))
        await create(store, "asleep", depends_on=(After("load", 60),))
        assert (await work(store, 10)).stuck == []
        for name in ("load", "idle", "asleep"):
            await change(store, Pause(actor="ada"), 20, name=name)
        assert (await work(store, 30)).stuck == [("a", "load", "paused"), ("b", "load", "paused")]
        assert (await work(store, 30, "elsewhere")).stuck == []

    @needs("held", "limits")
    async def test_held_runs_are_counted(self, store: Store) -> None:
        # One that waits for its turn is not held.
        for _ in range(2):
            await enqueue(store, concurrency_key="one")
        await create(store, "held", catch_up="all", hold_above=2)
        await plan_all(store, 300)
        seen = await work(store, 300)
        assert (seen.held_runs, seen.held_schedules) == (4, 1)
        assert (await work(store, 300, "elsewhere")).held_runs == 0

    @needs("calendars")
    async def test_schedules_with_an_outdated_calendar_are_reported(self, store: Store) -> None:
        await store.calendars.put(NAMESPACE, "fest", {}, FRIDAY, {}, "cy", now=later(0))
        await create(store, "first", calendars=("fest",))
        await create(store, "second", calendars=("fest",))
        await create(store, "without")
        assert (await work(store, 0)).old_calendars == []
        # As an interrupted put leaves them: the calendar is stored, and one of two schedules was told.
        await store.calendars.put(NAMESPACE, "fest", {}, SATURDAY, {}, "cy", now=later(1))
        await change(store, RefreshCalendar(actor="cy", calendar="fest"), 2, name="first")
        assert (await work(store, 3)).old_calendars == [("second", "fest")]
        assert (await work(store, 3, "elsewhere")).old_calendars == []

    async def test_zone_data_is_reported_but_not_adopted(self, store: Store) -> None:
        before = [record.generation for record in await store.zone_data.list()]
        zones = (await look(store, 0)).zones
        assert zones is not None
        assert (zones.digest is None) is (not before)
        assert [record.generation for record in await store.zone_data.list()] == before
        await store.zone_data.check(adopt=True, now=later(0))
        seen = (await look(store, 0)).zones
        assert seen is not None
        assert seen.digest == seen.here.digest

    @needs("consumers", "dead_letters", "events")
    async def test_groups_that_fail_rest_or_are_stopped_are_named(self, store: Store) -> None:
        for name in ("billing", "idle", "shut"):
            await steps.declare(store, group=name)
        await steps.publish(store, steps.A, steps.B, steps.C)
        await steps.consume(store, 0, groups=["billing"], fails=lambda event: event.key == steps.A)
        for delivery in (await steps.claim(store, 0, groups=["idle"], batch=1)).deliveries:
            assert await steps.finish(
                store,
                replace(success(delivery, (), is_whole=False), through=delivery.after, pause=30, error="refused"),
            )
        await store.consumers.stop(NAMESPACE, "shut", "ada", reason="closed")
        events = await store.events.read(NAMESPACE)
        seen = (await work(store, 10)).events
        billing, idle, shut = seen.groups
        assert billing.declared_at is not None
        assert billing == GroupHealth(name="billing", app="shop", declared_at=billing.declared_at, failed=1)
        assert (idle.name, idle.paused, idle.error) == ("idle", 2, "refused")
        assert idle.oldest_at == events[0].stamped_at
        assert (shut.state, shut.reason) == ("stopped", "closed")
        assert (seen.unstamped_since, seen.kept_since) == (None, None)
        assert [group.paused for group in (await work(store, 31)).events.groups] == [0, 0, 0]
        assert (await work(store, 10, "other")).events.groups == []
        # No code declares a scratch group: its original is what counts.
        await store.consumers.copy(NAMESPACE, "billing", "again", 3, "ada", now=later(20))
        again, *_ = (await work(store, 20)).events.groups
        assert (again.name, again.app, again.declared_at) == ("again", "shop", billing.declared_at)
        await store.consumers.delete(NAMESPACE, "again", "ada")
        # Retention removes the events that have no dead letter.
        await store.events.prune(older_than=-60, limit=2)
        seen = (await work(store, 10)).events
        assert seen.kept_since == events[2].stamped_at
        assert [group.state for group in seen.groups] == ["active", "stopped", "stopped"]
