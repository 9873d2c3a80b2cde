"""Maintenance of an idle worker, and the triggers of a definition sync."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import Tickbird, every
from tickbird.domain.errors import InvalidError
from tickbird.domain.events.event import NewEvent
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.engine.maintenance import Maintenance, Retention
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database.schema import MIGRATIONS
from tickbird.testing import ManualClock
from tickbird.worker import describe_worker

START = datetime(2026, 1, 1, tzinfo=UTC)
BEAT = 30.0
LEASE = 30.0


class Counting(SqliteStore):
    """Counts how often definitions were read."""

    def __init__(self, path_or_url: str) -> None:
        super().__init__(path_or_url)
        self.looks = 0
        self._list_of_app = self.schedules.list_of_app
        self.schedules.list_of_app = self.list_of_app  # type: ignore[method-assign]

    async def list_of_app(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        self.looks += 1
        return await self._list_of_app(namespace, app, names)


class Fleet:
    """Workers of an app on a store, with a clock that the test moves."""

    def __init__(self, store: Counting) -> None:
        self.store = store
        self.clock = ManualClock(START)

    async def start(self, *, retention: Retention | None = None, **schedules: Any) -> Maintenance:
        """A worker whose code declares these schedules of a task: name → trigger."""
        bird = Tickbird(app="shop")

        @bird.task
        def work() -> None: ...

        for name, trigger in schedules.items():
            bird.schedule(name, work, trigger)
        upkeep = Maintenance(
            self.store,
            self.clock,
            describe_worker(bird),
            bird.declarations,
            lease=LEASE,
            heartbeat=BEAT,
            retention=retention or Retention(),
            on_runs=lambda: None,
        )
        await upkeep.begin()
        self.store.looks = 0
        return upkeep

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.move_to(self.clock.now() + timedelta(seconds=seconds))

    async def state(self, name: str) -> str | None:
        """The state of a schedule."""
        schedule = await self.store.schedules.get("default", name)
        return None if schedule is None else schedule.state


@pytest.fixture
async def fleet() -> AsyncIterator[Fleet]:
    store = Counting("sqlite://:memory:")
    await store.open()
    yield Fleet(store)
    await store.close()


async def beat(fleet: Fleet, *workers: Maintenance, times: int = 1) -> None:
    """Send this number of heartbeats of each worker."""
    for _ in range(times):
        fleet.wait(BEAT)
        for worker in workers:
            assert await worker.heartbeat() == BEAT


async def test_heartbeats_read_nothing_while_no_worker_leaves(fleet: Fleet) -> None:
    first = await fleet.start(a=every(hours=1))
    await beat(fleet, first, times=5)
    second = await fleet.start(a=every(hours=1))
    await beat(fleet, first, second, times=5)
    assert fleet.store.looks == 0


async def test_schedules_of_a_lost_worker_are_paused_at_the_next_heartbeat(fleet: Fleet) -> None:
    stays, leaves = await fleet.start(a=every(hours=1)), await fleet.start(b=every(hours=1))
    await beat(fleet, stays, leaves)
    await leaves.end()
    await beat(fleet, stays)
    assert (await fleet.state("a"), await fleet.state("b")) == ("active", "paused")


async def test_a_worker_that_vanished_counts_for_three_heartbeats(fleet: Fleet) -> None:
    stays, vanishes = await fleet.start(a=every(hours=1)), await fleet.start(b=every(hours=1))
    await beat(fleet, stays, vanishes)
    await beat(fleet, stays, times=2)
    assert await fleet.state("b") == "active"
    await beat(fleet, stays)
    assert await fleet.state("b") == "paused"


async def test_a_worker_lost_right_after_its_start_is_detected(fleet: Fleet) -> None:
    stays = await fleet.start(a=every(hours=1))
    await beat(fleet, stays, times=3)
    leaves = await fleet.start(b=every(hours=1))
    await beat(fleet, stays, leaves)
    await leaves.end()
    await beat(fleet, stays)
    assert await fleet.state("b") == "paused"


async def test_a_worker_that_counted_as_lost_resumes_its_schedules(fleet: Fleet) -> None:
    frozen, other = await fleet.start(a=every(hours=1)), await fleet.start(b=every(hours=1))
    await beat(fleet, frozen, other)
    await beat(fleet, other, times=3)
    assert await fleet.state("a") == "paused"
    await beat(fleet, frozen)
    assert await fleet.state("a") == "active"


async def test_a_deleted_schedule_is_declared_again(fleet: Fleet) -> None:
    worker = await fleet.start(a=every(hours=1))
    await Tickbird().client_on(fleet.store).schedules.delete("a", actor="ana")
    await beat(fleet, worker, times=19)
    assert await fleet.state("a") == "deleted"
    await beat(fleet, worker)
    assert await fleet.state("a") == "active"


async def test_a_sync_that_failed_is_repeated(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    stays, leaves = await fleet.start(a=every(hours=1)), await fleet.start(b=every(hours=1))
    await beat(fleet, stays, leaves)
    await leaves.end()

    async def lost(*_: Any) -> Any:
        raise OSError("the answer is lost")

    with monkeypatch.context() as patch:
        patch.setattr(fleet.store.schedules, "list_of_app", lost)
        with pytest.raises(OSError, match="lost"):
            await beat(fleet, stays)
    assert await fleet.state("b") == "active"
    await beat(fleet, stays)
    assert await fleet.state("b") == "paused"


async def test_rescue_waits_two_leases_if_nothing_runs(fleet: Fleet) -> None:
    worker = await fleet.start()
    assert await worker.rescue() == 2 * LEASE


async def test_rescue_waits_until_the_next_lease_ends(fleet: Fleet) -> None:
    worker = await fleet.start()
    client = Tickbird().client_on(fleet.store)
    await client.runs.enqueue("work", actor="ana", at=START, unknown_task_ok=True)
    await fleet.store.leases.claim(worker.worker, 1, 12.0, queues=["default"], targets=[("task", "work")], now=START)
    assert await worker.rescue() == 12.0


async def test_a_worker_too_old_for_the_schema_drains(fleet: Fleet) -> None:
    worker, ended = await fleet.start(a=every(hours=1)), []
    worker._readiness.on_outdated = lambda: ended.append(True)
    await beat(fleet, worker)
    assert worker._readiness.may_work
    raised = f"UPDATE meta SET value = '{len(MIGRATIONS) + 1}' WHERE key = 'min_compatible'"
    await fleet.store._writer.run(lambda db: db.execute(raised))
    await beat(fleet, worker, times=2)
    assert not worker._readiness.may_work
    assert ended == [True]
    assert f"supports only {len(MIGRATIONS)}. Upgrade tickbird." in worker._readiness.outdated_reason


async def test_events_are_retained_by_number(fleet: Fleet) -> None:
    worker = await fleet.start(retention=Retention(max_events=2))
    events = [NewEvent(topic="a", type="A") for _ in range(3)]
    await fleet.store.events.publish("default", events, source="/test", actor="me", now=fleet.clock.now())
    await worker.prune()
    assert [event.position for event in await fleet.store.events.read("default")] == [2, 3]
    with pytest.raises(InvalidError, match="max_events must be at least 1"):
        Retention(max_events=0)
