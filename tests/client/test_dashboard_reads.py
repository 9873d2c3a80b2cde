"""What a dashboard reads through the client: what needs a person, the coming load, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tickbird import every
from tickbird.client import StoreClient
from tickbird.domain.dashboard_rows import AuditFilter, RunFilter, ScheduleFilter
from tickbird.domain.errors import InvalidError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.web.dashboard_reads import DashboardReads

WORKER = Worker(
    id="w1",
    namespace="default",
    app="shop",
    host="h",
    pid=1,
    version="0",
    queues=("default",),
    slots=1,
    tasks={"work": {}},
)


async def made(store: Store, name: str, ago: float = 90, **policies: Any) -> None:
    """A schedule that was created so many seconds ago."""
    definition = Definition(trigger=every(minutes=1), target=Target("work"), **policies)
    command = Create(actor="ada", namespace="default", definition=definition)
    await store.schedules.change("default", name, command, now=await store.now() - timedelta(seconds=ago))


async def test_nothing_needs_a_person(store: Store) -> None:
    found = await DashboardReads(StoreClient(store)).findings()
    assert (found.findings, found.more, found.capped) == ((), 0, False)


async def test_what_needs_a_person_is_told_with_its_reason(store: Store) -> None:
    board = DashboardReads(StoreClient(store))
    await store.workers.heartbeat(WORKER, 600)
    await store.workers.heartbeat(replace(WORKER, id="w2", standby_reason="waits for its clock", queues=()), 600)
    await made(store, "bad", overlap="allow")
    await made(store, "gpu-work", queue="gpu", overlap="allow", catch_up="all")
    await store.planning.plan_due()
    [run] = (await store.leases.claim(WORKER, 1, 600, queues=["default"], targets=[("task", "work")])).runs
    await store.leases.finish(
        [Outcome(run.id, run.attempt, "failed", error="Traceback\n  x\nBoom: no data", failures=1)]
    )
    await made(store, "unplanned", ago=3_600)
    found = (await board.findings()).findings
    by_kind = {trouble.kind: trouble for trouble in found}
    assert [trouble.severity for trouble in found] == sorted(each.severity for each in found)
    assert by_kind["failing"].text == "bad failed once: Boom: no data."
    assert (by_kind["failing"].run_id, by_kind["failing"].count) == (run.id, 1)
    late = by_kind["late"]
    assert (late.schedule, late.queue) == ("gpu-work", "gpu")
    assert late.text.endswith("late: no live worker serves queue 'gpu' (served: default).")
    assert by_kind["worker"].text == "Worker w2 is held back: it waits for its clock."
    assert by_kind["unplanned"].schedule == "unplanned"
    assert by_kind["unplanned"].text.endswith("late: no worker has planned it.")
    less = await board.findings(maximum=1)
    assert (len(less.findings), less.more, less.findings[0].severity) == (1, len(found) - 1, "problem")


async def test_a_late_schedule_says_that_no_worker_plans(store: Store) -> None:
    board = DashboardReads(StoreClient(store))
    await made(store, "late", ago=3_600)
    [unplanned] = (await board.findings()).findings
    assert unplanned.text.endswith(" late: no worker is alive to plan it.")
    await store.workers.heartbeat(replace(WORKER, kind="executor"), 600)
    [unplanned] = (await board.findings()).findings
    assert unplanned.text.endswith(" late: no live worker plans (1 worker only executes).")
    # Workers of any namespace plan for all.
    await store.workers.heartbeat(replace(WORKER, id="w2", namespace="elsewhere"), 600)
    [unplanned] = (await board.findings()).findings
    assert unplanned.text.endswith(" late: no worker has planned it.")


async def test_late_runs_say_what_holds_them(store: Store) -> None:
    board = DashboardReads(StoreClient(store))
    await store.workers.heartbeat(WORKER, 600)
    for queue in ("default", "default"):
        await StoreClient(store).runs.enqueue("work", actor="ada", queue=queue, unknown_task_ok=True)
    assert (await store.leases.claim(WORKER, 1, 600, queues=["default"], targets=[("task", "work")])).runs
    [busy] = (await board.findings(late=-5)).findings
    assert "all slots of the workers that could claim it are busy (1 slot on 1)" in busy.text
    await store.workers.heartbeat(replace(WORKER, slots=5), 600)
    await store.queues.set_rate("default", "default", RateLimit(1, 3_600), "ada")
    [rated] = (await board.findings(late=-5)).findings
    assert "the rate limit of queue 'default' is 1/h" in rated.text


async def test_the_load_is_counted_through_all_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickbird.web.dashboard_reads._LOAD_PAGE", 2)
    for number in range(5):
        await made(store, f"s{number}")
    week = await DashboardReads(StoreClient(store)).load(hours=3)
    assert (week.schedules, len(week.hours)) == (5, 3)
    assert [hour.ticks for hour in week.hours] == [300, 300, 300]


@pytest.mark.parametrize(
    "kind, field, value",
    [
        (ScheduleFilter, "states", ["gone"]),
        (ScheduleFilter, "contains", "\0"),
        (RunFilter, "statuses", ["bad"]),
        (RunFilter, "origin", "bad"),
        (RunFilter, "worker", "\0"),
        (AuditFilter, "actor", "\0"),
    ],
)
def test_filter_with_invalid_value_is_refused(kind: type, field: str, value: object) -> None:
    with pytest.raises(InvalidError) as caught:
        kind(**{field: value})
    assert field.startswith(caught.value.field[:5])


async def test_what_is_out_of_bounds_is_refused(store: Store) -> None:
    board = DashboardReads(StoreClient(store))
    now = await store.now()
    for asked, field in (
        (board.schedules(limit=0), "limit"),
        (board.count(maximum=10**9), "maximum"),
        (board.newest_points(range(201)), "ids"),
        (board.timeline(now, now - timedelta(1)), "last"),
        (board.timings(now, limit=2_001), "limit"),
        (board.runs(limit=10_000), "limit"),
        (board.load(hours=0), "hours"),
        (board.findings(maximum=0), "maximum"),
    ):
        with pytest.raises(InvalidError) as caught:
            await asked
        assert caught.value.field == field
