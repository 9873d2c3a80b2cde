"""Queries of the dashboard: filters, order, pages and limits."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.schedules.plain_sql import Plain, raw
from conformance.steps import (
    NAMESPACE,
    a_worker,
    change,
    create,
    enqueue,
    finish,
    later,
    plan,
    read,
    runs_of,
    start,
)
from tickbird.domain.dashboard_rows import AuditFilter, CappedCount, RunFilter, RunPoint, ScheduleFilter, SkipPoint
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.dependencies import After
from tickbird.store.protocol.store import Store


async def found(store: Store, **wanted: Any) -> list[str]:
    """The names of the schedules that are wanted, and as many are counted."""
    page = await store.dashboard.schedules(NAMESPACE, ScheduleFilter(**wanted))
    names = [row.schedule.name for row in page]
    assert await store.dashboard.count_schedules(NAMESPACE, ScheduleFilter(**wanted)) == CappedCount(len(names))
    return names


async def ended(store: Store, at: float, status: Status = "succeeded", **run: Any) -> int:
    """A run that was enqueued, begun and ended with this status."""
    await enqueue(store, at, priority=9, **run)
    begun = await start(store, at)
    await finish(store, begun, at + 1, status, error="Boom: no DATA\nsecond line" if status == "failed" else None)
    return begun.id


class DashboardReadings:
    """Bounded reads."""

    async def test_schedules_are_found_by_any_part_of_name_tag_or_target(self, store: Store) -> None:
        await create(store, "Nightly-Report", tags=("Mail", "half_off"), task="shop.digest")
        await create(store, "cleanup", tags=("night",), task="sweep", queue="slow", app="billing", fingerprint="f")
        await create(store, "other", task="work")
        await create(store, "nightly", namespace="elsewhere")
        assert await found(store, contains="NIGHT") == ["Nightly-Report", "cleanup"]
        assert await found(store, contains="digest") == ["Nightly-Report"]
        assert await found(store, contains="op.dig") == ["Nightly-Report"]
        assert await found(store, contains="mail") == ["Nightly-Report"]
        # Wildcards are letters like others.
        assert await found(store, contains="_") == ["Nightly-Report"]
        assert await found(store, contains="%") == await found(store, contains="\\") == []
        assert await found(store, contains="n*p") == []
        assert await found(store, tag="Mail", contains="report") == ["Nightly-Report"]
        # A tag is whole, and as it was written.
        assert await found(store, tag="mail") == await found(store, tag="Mai") == []
        assert await found(store, app="billing") == await found(store, queue="slow") == ["cleanup"]
        assert await found(store, queue="default", contains="o") == ["Nightly-Report", "other"]
        assert await found(store, app="billing", queue="default") == []

    async def test_edited_schedules_are_found_by_their_new_values(self, store: Store) -> None:
        await create(store, "a", tags=("old",))
        fields = {"tags": ["Fresh"], "target": {"task": "renamed"}}
        await change(store, Update(actor="ada", fields=fields), 1, name="a")
        assert await found(store, contains="old") == await found(store, tag="old") == []
        assert await found(store, contains="fresh") == await found(store, contains="named") == ["a"]
        await change(store, Delete(actor="ada"), 2, name="a")
        assert await found(store, contains="fresh") == []
        assert await found(store, contains="fresh", states=["deleted"]) == ["a"]

    async def test_schedules_that_plain_sql_wrote_are_found(self, store: Store, plain: Plain) -> None:
        await plain.insert(NAMESPACE, "Plain", raw(tags=["Hand made"], target={"task": "t.one"}))
        for name, broken in (("b1", {"tags": "x", "target": 5, "queue": 7}), ("b2", {"tags": [1, None, {"a": 2}]})):
            await plain.insert(NAMESPACE, name, {"v": 1, **broken})
        assert await found(store, contains="d MADE") == await found(store, contains="t.one") == ["Plain"]
        assert await found(store, contains="b1") == ["b1"]
        [row] = await store.dashboard.schedules(NAMESPACE, ScheduleFilter(contains="plain"))
        await plain.redefine(row.schedule.id, raw(tags=["other"], target={"task": "t.two"}))
        assert await found(store, contains="d made") == await found(store, contains="t.one") == []
        assert await found(store, contains="t.two") == await found(store, tag="other") == ["Plain"]

    async def test_schedules_are_found_by_several_states(self, store: Store) -> None:
        for name in ("a", "b", "c", "d"):
            await create(store, name)
        await change(store, Pause(actor="ada"), 1, name="b")
        await change(store, Delete(actor="ada"), 1, name="c")
        assert await found(store) == ["a", "b", "d"]
        assert await found(store, states=["active"]) == ["a", "d"]
        assert await found(store, states=["paused", "deleted"]) == ["b", "c"]
        assert await found(store, states=["parked"]) == []

    async def test_pages_of_schedules_go_both_ways(self, store: Store) -> None:
        names = [f"s{number}" for number in range(9)]
        for name in names:
            await create(store, name)

        async def page(**place: Any) -> list[str]:
            rows = await store.dashboard.schedules(NAMESPACE, ScheduleFilter(contains="s"), limit=4, **place)
            return [row.schedule.name for row in rows]

        assert await page() == names[:4]
        assert await page(after="s3") == names[4:8]
        assert await page(after="s7") == names[8:]
        assert await page(after="s8") == []
        assert await page(before="s8") == names[4:8]
        assert await page(before="s4") == names[:4]
        assert await page(before="s2") == names[:2]
        assert await page(before="s0") == []
        count = store.dashboard.count_schedules
        assert await count(NAMESPACE, ScheduleFilter(), 9) == CappedCount(9)
        assert str(await count(NAMESPACE, ScheduleFilter(), 8)) == "8+"

    async def test_failing_schedules_are_found(self, store: Store) -> None:
        for name in ("bad", "mended", "good"):
            await create(store, name, overlap="allow")
        outcomes: dict[str, list[Status]] = {
            "bad": ["succeeded", "failed", "failed"],
            "mended": ["failed", "failed", "succeeded"],
            "good": ["succeeded", "cancelled", "succeeded"],
        }
        for place in range(3):
            await plan(store, 60 * (place + 1))
            for _ in outcomes:
                run = await start(store, 60 * (place + 1) + 1)
                assert run.schedule is not None
                status = outcomes[run.schedule][place]
                error = f"Boom {place}\nand more" if status == "failed" else None
                await finish(store, run, 60 * (place + 1) + 2, status, error=error)
        assert await found(store, failing=True) == ["bad"]
        assert await found(store, failing=True, contains="good") == []
        [streak], more = await store.dashboard.streaks(NAMESPACE)
        assert (streak.schedule, streak.failures, streak.since, more) == ("bad", 2, later(122), False)
        assert streak.error.startswith("Boom 2")
        [row] = await store.dashboard.schedules(NAMESPACE, ScheduleFilter(failing=True))
        assert (row.failure_streak, row.last_run is not None and row.last_run.id) == (2, streak.run_id)
        assert await store.dashboard.streaks("elsewhere") == ([], False)

    async def test_marks_are_the_newest_runs_and_skips(self, store: Store) -> None:
        one = await create(store, "one", overlap="skip")
        two = await create(store, "two", overlap="allow")
        for at in (60, 120, 180):
            await plan(store, at)
        runs, skips = await store.dashboard.newest_points([one.id, two.id], 2)
        assert {type(mark) for mark in runs} == {RunPoint}
        assert [mark.status for mark in runs if mark.schedule_id == one.id] == ["queued"]
        newest = sorted(mark.due_at for mark in runs if mark.schedule_id == two.id)
        assert newest == [later(120), later(180)]
        [skip] = skips
        assert skip == SkipPoint(one.id, skip.id, "overlap", later(120), later(180), 2)
        assert await store.dashboard.newest_points([]) == ([], [])

    async def test_timeline_shows_failing_schedules_first(self, store: Store) -> None:
        for name in ("a", "b", "c", "d"):
            await create(store, name, overlap="allow")
        await create(store, "z", namespace="elsewhere")
        await plan(store, 60)
        for _ in range(3):
            run = await start(store, 61)
            if run.schedule != "b":
                await finish(store, run, 62, "failed" if run.schedule == "c" else "succeeded")
        shown = await store.dashboard.timeline(NAMESPACE, later(0), later(3_600))
        assert [schedule.name for schedule in shown.schedules] == ["c", "b", "a", "d"]
        assert all(schedule.definition is not None for schedule in shown.schedules)
        assert not shown.capped
        by_name = {schedule.name: shown.marks[schedule.id] for schedule in shown.schedules}
        told = {name: [getattr(mark, "status", None) for mark in marks] for name, marks in by_name.items()}
        assert told == {"a": ["succeeded"], "b": ["running"], "c": ["failed"], "d": ["queued"]}
        less = await store.dashboard.timeline(NAMESPACE, later(0), later(3_600), schedules=1)
        assert less.schedules[0].name == "c"
        assert (len(less.schedules) <= 2, less.capped) == (True, True)
        # What ended before is not in it, but who is to come.
        after = await store.dashboard.timeline(NAMESPACE, later(63), later(3_600))
        assert {schedule.name for schedule in after.schedules} == {"a", "b", "c", "d"}
        ended_then = {schedule.id for schedule in after.schedules if schedule.name in ("a", "c")}
        assert not ended_then & after.marks.keys()

    @needs("statistics")
    async def test_lateness_and_duration_count_from_the_first_attempt(self, store: Store) -> None:
        """All attempts and the pauses between them are part of a run, wherever it is read."""
        schedule = await create(store)
        await plan(store, 60)
        for attempt, status in ((1, "queued"), (2, "queued"), (3, "succeeded")):
            await finish(store, await start(store, 61 + 100 * attempt), 65 + 100 * attempt, status)  # type: ignore[arg-type]
        [mine] = await runs_of(store)
        assert (mine.started_at, mine.first_started_at, mine.finished_at) == (later(361), later(161), later(365))
        assert (mine.lateness, mine.duration) == (101.0, 204.0)
        [timing] = await store.dashboard.timings(NAMESPACE, since=later(0))
        [same] = await store.dashboard.timings(NAMESPACE, schedule_id=schedule.id, since=later(0))
        [mark], _ = await store.dashboard.newest_points([schedule.id])
        for seen in (timing, same, mark):
            assert (seen.due_at, seen.started_at, seen.finished_at) == (later(60), later(161), later(365))
        assert (await store.statistics.read_durations(NAMESPACE, [schedule.name]))[schedule.name].median == 204.0
        [load] = await store.dashboard.load(NAMESPACE)
        assert load.duration == 204.0
        # While it waits for another attempt, too.
        once = await enqueue(store, 400)
        await finish(store, await start(store, 401), 402, "queued", delay=60)
        waiting = await read(store, once)
        assert (waiting.lateness, waiting.duration) == (1.0, None)

    async def test_timings_are_of_runs_that_began(self, store: Store) -> None:
        schedule = await create(store, "s", overlap="allow")
        await plan(store, 60)
        first = await start(store, 65)
        await finish(store, first, 70)
        await plan(store, 120)
        second = await start(store, 121)
        await finish(store, second, 131, "failed")
        await plan(store, 180)
        for schedule_id in (None, schedule.id):
            newest, older = await store.dashboard.timings(NAMESPACE, schedule_id=schedule_id, since=later(0))
            assert (older.id, older.due_at, older.started_at, older.finished_at) == (
                first.id,
                later(60),
                later(65),
                later(70),
            )
            assert (newest.id, newest.status) == (second.id, "failed")
            told = await store.dashboard.timings(NAMESPACE, schedule_id=schedule_id, since=later(0), limit=1)
            assert [each.id for each in told] == [second.id]
            told = await store.dashboard.timings(NAMESPACE, schedule_id=schedule_id, since=later(100))
            assert [each.id for each in told] == [second.id]
        assert await store.dashboard.timings("elsewhere", since=later(0)) == []

    async def test_late_runs_are_listed_oldest_first(self, store: Store) -> None:
        await create(store, "s")
        await plan(store, 60)
        other = await enqueue(store, 10, queue="gpu")
        await enqueue(store, 100)
        late, more = await store.dashboard.late_runs(NAMESPACE, later(90))
        assert [(run.schedule, run.queue, run.target.name) for run in late] == [
            (None, "gpu", "work"),
            ("s", "default", "work"),
        ]
        assert (late[0].id, late[0].available_at, more) == (other, later(10), False)
        [first], more = await store.dashboard.late_runs(NAMESPACE, later(90), 1)
        assert (first.id, more) == (other, True)

    async def test_overdue_schedules_are_listed_oldest_first(self, store: Store) -> None:
        for place, name in enumerate(("b", "a")):
            await create(store, name, at=60 * place)
        await create(store, "z", namespace="elsewhere")
        found = await store.dashboard.overdue(NAMESPACE, later(130))
        assert [(schedule.name, schedule.next_run_at) for schedule in found] == [("b", later(60)), ("a", later(120))]
        assert [schedule.name for schedule in await store.dashboard.overdue(NAMESPACE, later(130), 1)] == ["b"]
        assert await store.dashboard.overdue(NAMESPACE, later(59)) == []

    async def test_load_is_read_page_by_page(self, store: Store) -> None:
        made = [
            await create(store, f"s{number}", payload={"big": "x" * 100}, tags=(f"{number}",)) for number in range(3)
        ]
        await change(store, Pause(actor="ada"), 1, name="s1")
        await create(store, "shadow", shadow=True)
        await plan(store, 60)
        for taken in (3, 5):
            await finish(store, await start(store, 61), 61 + taken)
        rows = await store.dashboard.load(NAMESPACE)
        assert [(row.id, row.name, row.queue) for row in rows] == [
            (made[0].id, "s0", "default"),
            (made[2].id, "s2", "default"),
        ]
        assert [row.duration for row in rows] == [3.0, 5.0]
        assert [row.next_run_at for row in rows] == [later(120)] * 2
        # What tells nothing of ticks is not in it, so that equal triggers are equal texts.
        assert rows[0].definition == rows[1].definition
        assert [row.name for row in await store.dashboard.load(NAMESPACE, limit=1)] == ["s0"]
        [last] = await store.dashboard.load(NAMESPACE, after=made[0].id, durations=False)
        assert (last.name, last.duration) == ("s2", None)

    async def test_runs_are_found_by_everything_at_once(self, store: Store) -> None:
        schedule = await create(store, "s", overlap="allow", task="work")
        await plan(store, 60)
        tick = await start(store, 61, worker=a_worker("w7"))
        await finish(store, tick, 62, "failed", error="Boom: no DATA\nsecond")
        plain = [await ended(store, 100 + 10 * number) for number in range(3)]
        bad = await ended(store, 200, "failed")
        waiting = await enqueue(store, 300, idempotency_key="order-7")
        assert await store.dashboard.key_of_run(NAMESPACE, waiting) == "order-7"
        for namespace, run_id in ((NAMESPACE, bad), (NAMESPACE, 10**9), ("elsewhere", waiting)):
            assert await store.dashboard.key_of_run(namespace, run_id) is None
        await enqueue(store, 300, namespace="elsewhere")

        async def ids(**wanted: Any) -> list[int]:
            page = await store.dashboard.runs(NAMESPACE, RunFilter(**wanted))
            assert page.reached is None
            return [run.id for run in page.rows]

        assert await ids() == [waiting, bad, *plain[::-1], tick.id]
        assert await ids(statuses=["failed"]) == [bad, tick.id]
        assert await ids(statuses=["failed", "queued"]) == [waiting, bad, tick.id]
        assert await ids(schedule="s") == await ids(worker="w7") == await ids(origin="schedule") == [tick.id]
        assert await ids(schedule="s", statuses=["failed"], error="no data") == [tick.id]
        assert await ids(schedule="s", statuses=["succeeded"]) == await ids(schedule="nobody") == []
        assert await ids(target="work", since=later(105), until=later(200)) == plain[:0:-1]
        assert await ids(target="other") == await ids(error="%") == []
        assert await ids(queue="default", statuses=["failed"]) == [bad, tick.id]
        assert await ids(queue="other") == await ids(key="none") == await ids(queue="other", statuses=["queued"]) == []
        assert schedule.id == tick.schedule_id

    @pytest.mark.parametrize("of", [None, "s"])
    async def test_pages_of_runs_go_both_ways(self, store: Store, of: str | None) -> None:
        await create(store, "s", overlap="allow")
        for at in range(60, 301, 60):
            await plan(store, at)

        async def page(**place: Any) -> tuple[list[int], int | None]:
            found = await store.dashboard.runs(NAMESPACE, RunFilter(schedule=of), limit=2, **place)
            return [run.id for run in found.rows], found.reached

        [newest, *_] = (await store.dashboard.runs(NAMESPACE, RunFilter(), limit=1)).rows
        ids = [run.id for run in (await store.dashboard.runs(NAMESPACE, RunFilter())).rows]
        assert (len(ids), ids[0]) == (5, newest.id)
        assert await page() == (ids[:2], ids[1])
        assert await page(before=ids[1]) == (ids[2:4], ids[3])
        assert await page(before=ids[3]) == (ids[4:], None)
        assert await page(after=ids[4]) == (ids[2:4], ids[2])
        assert await page(after=ids[2]) == (ids[:2], None)
        assert await page(after=ids[0]) == ([], None)

    @needs("limits")
    async def test_active_runs_are_found_in_a_long_history(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """By queue and by key, with many newer runs; and by id if there are many active ones."""
        going = [
            await enqueue(store, 0, queue="gpu", concurrency_key="disk"),
            await enqueue(store, 1, queue="gpu"),
            await enqueue(store, 2, concurrency_key="disk"),
        ]
        await enqueue(store, 2, queue="gpu", namespace="elsewhere", concurrency_key="disk")
        for at in range(10, 15):
            await ended(store, at)
        monkeypatch.setattr(f"{type(store.dashboard).__module__}.MAX_EXAMINED", 4)

        async def page(limit: int = 100, *, before: int | None = None, after: int | None = None, **wanted: Any) -> Any:
            wanted = {"statuses": ("waiting", "queued", "running"), **wanted}
            found = await store.dashboard.runs(NAMESPACE, RunFilter(**wanted), limit=limit, before=before, after=after)
            return [run.id for run in found.rows], found.reached

        [one, two, three] = going
        assert await page() == ([three, two, one], None)
        assert await page(queue="gpu", statuses=["queued"]) == ([two, one], None)
        assert await page(queue="gpu", statuses=["running"]) == await page(key="none") == ([], None)
        keyed = (await page(key="disk"))[0]
        assert keyed == [three, one]
        assert (await page(key="disk", queue="gpu"))[0] == [one]
        assert await page(2) == ([three, two], two)
        assert await page(2, before=two) == ([one], None)
        assert await page(1, after=one) == ([two], two)
        assert await page(2, after=one) == ([three, two], None)
        monkeypatch.setattr(f"{type(store.dashboard).__module__}.MAX_EXAMINED", 2)
        rows, reached = await page(statuses=["queued"])
        assert rows == []
        assert reached is not None

    async def test_empty_page_returns_the_reached_id(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        module = type(store.dashboard).__module__
        monkeypatch.setattr(f"{module}.MAX_EXAMINED", 3)
        ids = [await enqueue(store, number, task="rare" if number == 0 else "work") for number in range(6)]
        page = await store.dashboard.runs(NAMESPACE, RunFilter(target="rare"))
        assert (page.rows, page.reached) == ([], ids[3])
        page = await store.dashboard.runs(NAMESPACE, RunFilter(target="rare"), before=page.reached)
        assert [run.id for run in page.rows] == [ids[0]]
        upwards = await store.dashboard.runs(NAMESPACE, RunFilter(target="none"), after=ids[0])
        assert (upwards.rows, upwards.reached) == ([], ids[3])

    async def test_the_audit_is_found_by_everything_at_once(self, store: Store) -> None:
        for place, name in enumerate(("a", "b")):
            await create(store, name, at=place)
        await change(store, Pause(actor="Ben@example.com", note="x"), 10, name="a")
        await change(store, Pause(actor="cleo"), 20, name="b")
        await create(store, "a", namespace="elsewhere")

        async def told(**wanted: Any) -> list[tuple[str, str | None]]:
            page = await store.dashboard.audit(NAMESPACE, AuditFilter(**wanted))
            return [(entry.action, entry.schedule) for entry in page.rows]

        assert await told() == [("pause", "b"), ("pause", "a"), ("create", "b"), ("create", "a")]
        assert await told(actor="ben@EX") == [("pause", "a")]
        assert await told(action="create") == [("create", "b"), ("create", "a")]
        assert await told(schedule="b") == [("pause", "b"), ("create", "b")]
        assert await told(schedule="b", action="pause", actor="cle") == [("pause", "b")]
        assert await told(since=later(1), until=later(20)) == [("pause", "a"), ("create", "b")]
        assert await told(actor="%") == await told(schedule="nobody") == []
        page = await store.dashboard.audit(NAMESPACE, AuditFilter(), limit=3)
        assert page.reached == page.rows[-1].id
        rest = await store.dashboard.audit(NAMESPACE, AuditFilter(), before=page.reached, limit=3)
        assert ([entry.action for entry in rest.rows], rest.reached) == (["create"], None)
        back = await store.dashboard.audit(NAMESPACE, AuditFilter(), after=rest.rows[0].id, limit=2)
        assert [entry.id for entry in back.rows] == [entry.id for entry in page.rows[1:]]

    async def test_dependents_are_found_by_their_dependency(self, store: Store) -> None:
        await create(store, "load")
        for name in ("c", "a", "b"):
            await create(store, name, depends_on=(After("load", 60),))
        await create(store, "load", namespace="elsewhere")
        await create(store, "z", namespace="elsewhere", depends_on=(After("load", 60),))
        assert await store.dashboard.dependents(NAMESPACE, "load") == ["a", "b", "c"]
        assert await store.dashboard.dependents(NAMESPACE, "load", limit=2) == ["a", "b"]
        await change(store, Delete(actor="ada"), 5, name="b")
        assert await store.dashboard.dependents(NAMESPACE, "load") == ["a", "c"]
        assert await store.dashboard.dependents(NAMESPACE, "a") == []

    async def test_kinds_with_the_same_name_are_distinguished(self, store: Store) -> None:
        await enqueue(store)
        await enqueue(store, kind="other")
        late, _ = await store.dashboard.late_runs(NAMESPACE, later(90))
        assert {run.target.key for run in late} == {("task", "work"), ("other", "work")}
        for kind in ("task", "other"):
            page = await store.dashboard.runs(NAMESPACE, RunFilter(target="work", target_kind=kind))
            assert [run.target.key for run in page.rows] == [(kind, "work")]
